/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack in a mapping of its own, with a page below it that nobody may touch, as libraries of coroutines
 * make them. The kernel joins mappings that meet, and `verify steps` takes one mapping for one stack.
 * With FROM_HEAP there is memory behind it: of a snapshot that reaches beyond the end of a mapping the kernel
 * leaves out the last bytes before it (docs/limits.md).
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARD_BYTES (64u << 10) /* a page, however large it is */

/* Its lowest byte. */
static inline char *own_stack(size_t bytes)
{
#ifdef FROM_HEAP
	return malloc(bytes);
#endif
	char *memory = mmap(NULL, GUARD_BYTES + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0)
		abort();
	return memory + GUARD_BYTES;
}
