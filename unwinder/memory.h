/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: what a walk reads: the snapshot that came with the sample, the pages beyond it that were copied
 * at the same moment, and behind their end, if the target has stood still since then, the target's memory.
 *
 * A target that has run on is not read: what stands above the snapshot by then may be another call path,
 * and nothing can tell. (Believing words that are the same in readings before and after the sample was
 * tried: programs that keep coming back to frames of the same size fooled it in a quarter of the stacks.)
 *
 * A walk reads it through its cursor, which notes what was read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "collector/event.h"

/* Bytes read at run-time address addr of a target that stands still, or -errno. */
typedef ssize_t (*memory_reader)(void *context, pid_t pid, uint64_t addr, void *to, size_t len);

enum memory_status {
	MEMORY_OK,
	MEMORY_BEYOND, /* behind the end of a snapshot that was cut off: the stack may go on there */
	MEMORY_BAD,    /* nowhere */
};

#define MEMORY_WINDOW 4096 /* read at once, so that not every slot is a system call */

struct memory {
	struct bytes snapshot;
	uint64_t start;                 /* address of its first byte */
	bool is_cut_off;                /* the snapshot ended before the stack did */
	const struct stack_page *outer; /* copied at the same moment, from outer_start on */
	uint32_t n_outer;
	uint64_t outer_start;
	uint64_t reach;     /* end of the outermost word that memory_get gave; 0 = none */
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

/* Bytes that lie in one piece, of the snapshot or of a page beyond it; else NULL. What memory_peek gives is
 * the same. */
static inline const uint8_t *memory_piece(const struct memory *memory, uint64_t addr, uint64_t len)
{
	uint64_t offset = addr - memory->start, outer = addr - memory->outer_start;

	if (addr >= memory->start && len <= memory->snapshot.len && offset <= memory->snapshot.len - len)
		return memory->snapshot.at + offset;
	if (addr < memory->outer_start || outer / STACK_PAGE >= memory->n_outer ||
	    outer % STACK_PAGE + len > STACK_PAGE || !memory->outer[outer / STACK_PAGE].at)
		return NULL;
	return memory->outer[outer / STACK_PAGE].at + outer % STACK_PAGE;
}
