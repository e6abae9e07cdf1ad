/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_user: with whose rights source files are read. A program's debug information names any file it
 * likes; what root shows of it must not be more than who made the program could read himself.
 */
#pragma once

#include "base/real_user.h"
#include "profile/profile.h"

/*
 * Who typed sudo; else who ran what was profiled, if that was one user besides root (several: nobody's);
 * else, where the profile does not know it, the owner of its file. False: our own rights do.
 */
bool source_user_find(const struct profile *profile, const char *path, struct user *ret);
