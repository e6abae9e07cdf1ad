/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: the memory that a walk can read: the snapshot that came with the sample, the pages beyond it that
 * were copied at the same moment, and beyond these, only if the target has been stopped since then, the
 * target's memory.
 *
 * A target that has continued to run is not read: the words above the snapshot may belong to another call
 * path by then, which cannot be detected. (Trusting words that are equal before and after the sample was
 * tried: in programs that repeatedly return to frames of the same size, a quarter of the stacks were wrong.)
 *
 * A walk reads it through its cursor, which records what was read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "collector/event.h"

/* Reads len bytes at run-time address addr of a stopped target. Returns how many were read, or -errno. */
typedef ssize_t (*memory_reader)(void *context, pid_t pid, uint64_t addr, void *to, size_t len);

enum memory_status {
	MEMORY_OK,
	MEMORY_BEYOND, /* beyond the end of a truncated snapshot: the stack may continue there */
	MEMORY_BAD,    /* not in the snapshot, its pages or the target */
};

#define MEMORY_WINDOW 4096 /* read at once, so that not every slot is a system call */

struct memory {
	struct bytes snapshot;
	uint64_t start;                /* address of its first byte */
	struct bytes below;            /* copied at the same moment, up to start */
	bool is_cut_off;               /* the snapshot ended before the stack did */
	const struct stack_page *deep; /* copied at the same moment, from deep_start on */
	uint32_t n_deep;
	uint64_t deep_start;
	uint64_t reach;     /* end of the outermost word that memory_get returned; 0 = none */
	memory_reader read; /* may be NULL */
	void *context;
	pid_t pid;
	uint64_t window_start;
	size_t window_len;
	uint8_t window[MEMORY_WINDOW];
};

/* Starts a sample; keeps the reader. */
void memory_begin(struct memory *memory, pid_t pid, uint64_t start, const struct sample *sample);
/* size is 1, 2, 4 or 8; ret is zero-extended. */
enum memory_status memory_get(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret);
/* The same, but not counted in `reach`. */
enum memory_status memory_peek(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret);

/* Bytes that are contiguous in the snapshot or in a page beyond it, otherwise NULL. They are the same as
 * memory_peek returns. */
static inline const uint8_t *memory_piece(const struct memory *memory, uint64_t addr, uint64_t len)
{
	uint64_t offset = addr - memory->start, deep = addr - memory->deep_start;

	if (addr >= memory->start && len <= memory->snapshot.len && offset <= memory->snapshot.len - len)
		return memory->snapshot.at + offset;
	if (addr < memory->deep_start || deep / STACK_PAGE >= memory->n_deep ||
	    deep % STACK_PAGE + len > STACK_PAGE || !memory->deep[deep / STACK_PAGE].at)
		return NULL;
	return memory->deep[deep / STACK_PAGE].at + deep % STACK_PAGE;
}
