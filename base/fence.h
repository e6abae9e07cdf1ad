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
