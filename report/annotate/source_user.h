/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_user: the user with whose permissions source files are read. Debug information can name any file;
 * under root, a report must not show more than the owner of the program could read.
 */
#pragma once

#include "base/real_user.h"
#include "profile/profile.h"

/*
 * The user who ran sudo; otherwise the user whose processes were profiled, if there was one besides root
 * (nobody if several); otherwise, if the profile does not know, the owner of its file. False: use our own
 * permissions.
 */
bool source_user_find(const struct profile *profile, const char *path, struct user *ret);
