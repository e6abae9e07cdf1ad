/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: what a walk reads: the snapshot that came with the sample, the pages beyond it that were copied
 * at the same moment, and behind their end, if the target has stood still since then, the target's memory.
 *
 * A target that has run on is not read: what stands above the snapshot by then may be another call path,
 * and nothing can tell. (Believing words that are the same in readings before and after the sample was
 * tried: programs that keep coming back to frames of the same size fooled it in a quarter of the stacks.)
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

/*
 * What a walk depended on, in the order of its steps. A register that is not needed for the way out (most
 * that are restored are not) makes no difference: so each note says which register it was for. Memory notes
 * for itself; code of the walk that looks at a register must note it, or recall takes stacks for the same
 * that are not.
 */
enum note_kind {
	NOTE_STEP, /* an attempt to leave frame number `addr` begins */
	NOTE_READ, /* size bytes at addr were asked for */
	NOTE_USE,  /* so were registers of the frame, in the mask `value` */
	NOTE_NEED, /* ... of its caller, as the attempt gave them */
};
struct memory_note {
	uint64_t addr, value;
	uint8_t kind, size, status,
		reg; /* reg: the caller's register that it gives; REG_NONE: the way out itself */
};
struct memory_log {
	VEC(struct memory_note) notes;
	uint8_t reg; /* of the notes that follow */
};

#define MEMORY_WINDOW 4096 /* read at once, so that not every slot is a system call */

struct memory {
	struct bytes snapshot;
	uint64_t start;                /* address of its first byte */
	bool is_cut_off;               /* the snapshot ended before the stack did */
	const struct stack_page *deep; /* copied at the same moment, from deep_start on */
	uint32_t n_deep;
	uint64_t deep_start;
	uint64_t reach;     /* end of the outermost word that memory_get gave; 0 = none */
	memory_reader read; /* may be NULL */
	void *context;
	struct memory_log *log; /* NULL = not wanted */
	pid_t pid;
	uint64_t window_start;
	size_t window_len;
	uint8_t window[MEMORY_WINDOW];
};

/* Starts a sample; keeps the reader. */
void memory_begin(struct memory *memory, pid_t pid, uint64_t start, const struct sample *sample);
/* size is 1, 2, 4 or 8; ret is zero-extended. */
enum memory_status memory_get(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret);
/* The same without a note. */
enum memory_status memory_peek(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret);

/* Bytes that lie in one piece, of the snapshot or of a page beyond it; else NULL. What memory_peek gives is
 * the same. */
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

static inline void memory_note(struct memory *memory, enum note_kind kind, uint64_t addr, uint64_t value)
{
	if (memory->log)
		vec_push(&memory->log->notes,
			 ((struct memory_note){
				 .addr = addr, .value = value, .kind = kind, .reg = memory->log->reg }));
}
/* The notes that follow are for this register. */
static inline void memory_note_for(struct memory *memory, uint8_t reg)
{
	if (memory->log)
		memory->log->reg = reg;
}
