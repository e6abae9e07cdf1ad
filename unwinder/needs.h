/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needs: which registers and words the unwinding of a stack depends on. Computed from the outermost step
 * inwards, like liveness: a register that is needed in the caller was either restored by recorded reads of
 * the step, or is also needed in the frame.
 */
#pragma once

#include "binary/isa/isa.h"
#include "unwinder/cursor.h"

struct needs {
	uint64_t needed;      /* before the steps processed so far */
	uint64_t given, used; /* in the current step */
	uint64_t frame;       /* left by the last step processed; UINT64_MAX = none yet */
	bool tells;           /* values that distinguish calls are needed as well */
};

static inline void needs_end_step(struct needs *needs, const struct isa *isa, uint64_t frame)
{
	const uint64_t always_given = 1ull << isa->sp | 1ull << isa->pc;

	if (frame != needs->frame) /* otherwise it was an earlier attempt, whose result was dropped */
		needs->needed &= ~(needs->given | always_given);
	needs->needed |= needs->used;
	*needs = (struct needs){ .needed = needs->needed, .frame = frame, .tells = needs->tells };
}

/* The next note, from the newest to the oldest. True: it is a read, and it is needed. */
static inline bool needs_take(struct needs *needs, const struct isa *isa, const struct cursor_note *note)
{
	uint64_t bit = note->reg == REG_NONE ? 0 : 1ull << note->reg;
	bool is_needed = !bit || needs->needed & bit;

	needs->given |= bit;
	if (note->kind == NOTE_STEP)
		needs_end_step(needs, isa, note->addr);
	else if (note->kind == NOTE_NEED)
		needs->needed |= note->value;
	else if ((note->kind == NOTE_USE && is_needed) || (note->kind == NOTE_TELL && needs->tells))
		needs->used |= note->value;
	return note->kind == NOTE_READ && is_needed;
}
