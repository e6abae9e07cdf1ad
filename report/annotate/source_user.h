/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_user: the user with whose permissions source files are read. Debug information can name any file;
 * under root, a report must not show more than the owner of the program could read.
 */
#pragma once

#include "base/real_user.h"
#include "profile/profile.h"

/*
 * Who typed sudo; else who ran what was profiled, if that was one user besides root (several: nobody's);
 * else, where the profile does not know it, the owner of its file. False: our own rights do.
 */
bool source_user_find(const struct profile *profile, const char *path, struct user *ret);
