/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup: scope guards.
 *
 * CLEANUP(f) calls f(&variable) when the variable goes out of scope; TAKE(variable) returns its value and
 * leaves NULL for the guard.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))
#define TAKE(pointer)                                  \
	({                                             \
		__typeof__(pointer) taken = (pointer); \
		(pointer) = NULL;                      \
		taken;                                 \
	})
#define TAKE_FD(fd)               \
	({                        \
		int taken = (fd); \
		(fd) = -1;        \
		taken;            \
	})

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* For any pointer that came from malloc. */
static inline void freep(void *pointer)
{
	free(*(void **)pointer);
}

static inline void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}
