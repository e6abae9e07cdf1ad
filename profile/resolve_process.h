/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_process: whether the process that a profile calls PID is still the one that has this pid. Pids are
 * reused, also on purpose: the names of code in /tmp/perf-PID.map and the debug files in /proc/PID/root must
 * not be those of a later process.
 */
#pragma once

#include "binary/elf/perfmap.h"
#include "profile/profile.h"

/* pid 0 in the result: several processes of the recording had this pid, so its perf map cannot be attributed
 * to any of them. */
struct jit_process resolve_process(const struct profile *profile, pid_t pid);
