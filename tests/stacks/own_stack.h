/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack in its own mapping with an inaccessible guard page below it, as coroutine libraries make them. The
 * kernel merges adjacent mappings, and `verify steps` takes one mapping for one stack. The page above may be
 * unreadable: then the kernel's snapshot lacks the last bytes (AArch64), which cpprof makes up for.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARD_BYTES (64u << 10) /* a page, however large it is */

/* The lowest address of the stack. With HEAP_STACKS, what follows it is readable, but was never touched. */
static inline char *own_stack(size_t bytes)
{
#ifdef HEAP_STACKS
	char *memory = aligned_alloc(GUARD_BYTES, GUARD_BYTES + bytes + 2 * GUARD_BYTES);
	if (!memory)
		abort();
#else
	char *memory = mmap(NULL, GUARD_BYTES + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0)
		abort();
#endif
	return memory + GUARD_BYTES;
}
