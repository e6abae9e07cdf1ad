/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence: a seccomp filter for a child process that reads foreign input. It may still use memory, threads,
 * files that are already open, and its channel to us. It cannot open, create or change files, run programs,
 * access other processes, or open connections: refused system calls fail with EPERM. The filter cannot be
 * removed, and applies to all future threads and children.
 */
#pragma once

#include <stdbool.h>

/* Applies to the calling thread, which must be the only one. Needs no privileges, only PR_SET_NO_NEW_PRIVS.
 * False if the kernel does not support such filters. */
bool fence_close(void);

/*
 * A filter for a whole command that reads foreign input but still opens and writes files (base/landlock
 * restricts which): it cannot run programs, open connections, or read or change other processes, the kernel
 * or the machine. With `runs_programs` it can do the first two.
 */
bool fence_refuse(bool runs_programs);
