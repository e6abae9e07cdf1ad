/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_user: the user with whose permissions source files are read. Debug information can name any file;
 * under root, a report must not show more than the owner of the program could read.
 */
#pragma once

#include "profile/profile.h"
#include "report/annotate/source_text.h"

/*
 * Limits a search to what may be shown for this profile. As root, files are read as the user who ran sudo;
 * otherwise as the user whose processes were profiled, if there was one besides root. Whoever can write the
 * profile can put any name into it, so its owner's permissions are a limit, too. Where two users remain, and
 * for what comes through a pipe, only files that everybody can read are shown.
 *
 * path: the file of the profile, "-" = standard input, NULL = it was recorded by this process. May be called
 * for several profiles.
 */
void source_user_limit(struct source_search *search, const struct profile *profile, const char *path);
