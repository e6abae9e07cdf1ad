/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack in a mapping of its own, with a page below it that nobody may touch, as libraries of coroutines
 * make them. The kernel joins mappings that meet, and `verify steps` takes one mapping for one stack. What
 * follows may not be readable: the kernel's snapshot then lacks its last bytes (AArch64), which is mended.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARD_BYTES (64u << 10) /* a page, however large it is */

/* Its lowest byte. */
static inline char *own_stack(size_t bytes)
{
	char *memory = mmap(NULL, GUARD_BYTES + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0)
		abort();
	return memory + GUARD_BYTES;
}
