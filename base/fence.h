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
 * forks: it may have children, too, which cannot leave its process group. False if the kernel does not
 * support such filters. */
bool fence_close(bool forks);

struct fence_needs {
	bool children; /* fenced ones, as other users */
	bool programs; /* runs programs, which open connections */
};

/*
 * A filter for a whole command that reads foreign input but still opens and writes files (base/landlock
 * restricts which): it cannot run programs, open connections, change modes, owners or attributes of files, or
 * read or change other processes, the kernel or the machine. Only calls that it needs are allowed. What
 * programs need is not known: with `programs`, only the worst ones are refused.
 */
bool fence_refuse(const struct fence_needs *needs);
