/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_start: tells a process from a later one with the same pid. Pids are reused, also on purpose.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* When the process that has this pid now started, in ticks of sysconf(_SC_CLK_TCK) since the machine did; 0 =
 * there is none. A process that starts with the machine has 1. */
uint64_t process_start(pid_t pid);
/* From now on, file_open finds nothing below the root of this process if another one has its pid: one with
 * another start. Of one process at most. */
void process_guard_root(pid_t pid, uint64_t start);
