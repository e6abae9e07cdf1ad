/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence: what a child that reads foreign bytes may still ask of the kernel: memory, threads, files that are
 * open already, its channel to us. It can open, make or change no file, run no program, reach no other
 * process, and make no connection. What is refused gives EPERM. It cannot be undone, and holds for all
 * threads and children to come.
 */
#pragma once

#include <stdbool.h>

/* Of the calling thread, which must be the only one. Needs no privilege, but that none can be gained any more
 * (PR_SET_NO_NEW_PRIVS). False if the kernel knows no such filters. */
bool fence_close(void);

/*
 * The same kind of filter for a whole command that reads what others wrote, and still opens and writes files
 * of its own (base/landlock says which): it can run no program, make no connection, and neither look into nor
 * change other processes, the kernel or the machine. With `runs_programs` it can do the first two.
 */
bool fence_refuse(bool runs_programs);
