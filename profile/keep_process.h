/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_process: the part of a profile that belongs to some of its processes.
 */
#pragma once

#include "profile/profile.h"

/* Keeps the processes of that name or pid, and removes everything else: contexts, values, threads, samples.
 */
void profile_keep_process(struct profile *profile, const char *process);
/* A copy of the part of the processes with exactly that name, even if it looks like a number. */
struct profile *profile_copy_named(const struct profile *profile, const char *comm);
