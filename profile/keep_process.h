/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_process: the part of a profile that belongs to some of its processes.
 */
#pragma once

#include "profile/profile.h"

/* Those of that name, or of that number. Everything else goes: contexts, values, threads, samples. */
void profile_keep_process(struct profile *profile, const char *process);
/* A copy of what those of exactly that name have, whether it looks like a number or not. */
struct profile *profile_copy_named(const struct profile *profile, const char *comm);
