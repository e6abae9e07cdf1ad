/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor: access to registers and memory during a walk: the registers of the current frame, those of the
 * caller during an attempt to unwind, and the sample's memory.
 *
 * recall takes the rest of a stack from the thread's previous one if all values that were read on the way are
 * unchanged. A read that is not recorded could lead to stacks that are complete but wrong. So all reads go
 * through the functions below, which record them. Their data is called `private_`: tests/lint allows only
 * cursor and recall to use that name, or to read registers and memory from the sample.
 */
#pragma once

#include <string.h>

#include "collector/event.h"
#include "recipes/recipe.h"
#include "unwinder/memory.h"

/*
 * What a walk depended on, in the order of its steps. Most restored registers are never needed for unwinding:
 * so each note says which of the caller's registers it was for.
 */
enum note_kind {
	NOTE_STEP, /* an attempt to leave frame number `addr` begins */
	NOTE_READ, /* size bytes at addr were read */
	NOTE_USE,  /* registers of the frame, in the mask `value`, were read */
	NOTE_NEED, /* ... of its caller, as the attempt set them */
	NOTE_TELL, /* registers of the frame, in the mask `value`, distinguish its calls */
};
struct cursor_note {
	uint64_t addr, value;
	uint8_t kind, size, status;
	uint8_t reg; /* the caller's register that it is read for; REG_NONE: for the step itself */
};
struct cursor_log {
	VEC(struct cursor_note) notes;
	uint64_t frame; /* its number, counted from the innermost */
	bool is_new;    /* nothing was recorded for the frame yet */
	uint8_t reg;    /* of the following notes */
};

struct cursor {
	struct {
		struct regs sets[2]; /* the frame's and its caller's, alternating */
		struct regs *frame, *caller;
		struct memory memory;
		struct cursor_log *log; /* NULL = nothing is recorded */
	} private_;
};

/* Contiguous bytes, which can be loaded without further checks. */
struct cursor_piece {
	struct {
		const uint8_t *at;
		uint64_t start;
	} private_;
};

/* read may be NULL: see memory. */
void cursor_init(struct cursor *cursor, memory_reader read, void *context);
/* Starts a sample: the cursor is at its innermost frame, and records nothing. */
void cursor_begin(struct cursor *cursor, const struct isa *isa, pid_t pid, const struct sample *sample);
/* Accesses are recorded in log from now on; NULL = nowhere. */
void cursor_note_into(struct cursor *cursor, struct cursor_log *log);
/* End of the outermost word that was read; 0 = none was. */
uint64_t cursor_reach(const struct cursor *cursor);
/* All registers of the frame, for display; NULL if accesses are recorded. */
const struct regs *cursor_show_regs(const struct cursor *cursor);

/* For the functions below. value: 0 if it could not be read. */
void cursor_log_step(struct cursor_log *log);
void cursor_log_regs(struct cursor_log *log, enum note_kind kind, uint64_t mask);
void cursor_log_read(struct cursor_log *log, uint64_t addr, unsigned size, enum memory_status status,
		     uint64_t value);

static inline bool cursor_has_log(const struct cursor *cursor)
{
	return __builtin_expect(cursor->private_.log != NULL, 0);
}

/* ---- accesses ------------------------------------------------------------------------------------ */

/* A register of the frame. False if it is not known. */
static inline bool cursor_reg(struct cursor *cursor, unsigned reg, uint64_t *ret)
{
	if (reg >= REG_MAX)
		return false;
	if (cursor_has_log(cursor))
		cursor_log_regs(cursor->private_.log, NOTE_USE, 1ull << reg);
	*ret = cursor->private_.frame->value[reg];
	return regs_known(cursor->private_.frame, reg);
}

/* A register of the caller, as the attempt has set it so far. */
static inline bool cursor_caller_reg(struct cursor *cursor, unsigned reg, uint64_t *ret)
{
	if (reg >= REG_MAX)
		return false;
	if (cursor_has_log(cursor))
		cursor_log_regs(cursor->private_.log, NOTE_NEED, 1ull << reg);
	*ret = cursor->private_.caller->value[reg];
	return regs_known(cursor->private_.caller, reg);
}

/* Which registers of the mask are known in the frame, but not in the caller? */
uint64_t cursor_lost_regs(struct cursor *cursor, uint64_t mask);

/* size is 1, 2, 4 or 8; ret is zero-extended. */
enum memory_status cursor_read(struct cursor *cursor, uint64_t addr, unsigned size, uint64_t *ret);
/* Can a word be read there? This does not change cursor_reach. */
bool cursor_can_read(struct cursor *cursor, uint64_t addr);

/* False if the bytes are not contiguous. This affects only how they are read, not their values, so it is not
 * recorded. */
static inline bool cursor_find_piece(const struct cursor *cursor, uint64_t start, uint64_t len,
				     struct cursor_piece *ret)
{
	ret->private_.at = memory_piece(&cursor->private_.memory, start, len);
	ret->private_.start = start;
	return ret->private_.at != NULL;
}

/* A word of a piece. */
static inline uint64_t cursor_load(struct cursor *cursor, const struct cursor_piece *piece, uint64_t addr)
{
	struct memory *memory = &cursor->private_.memory;
	uint64_t value;

	memcpy(&value, piece->private_.at + (addr - piece->private_.start), sizeof(value));
	memory->reach = addr + 8 > memory->reach ? addr + 8 : memory->reach;
	if (cursor_has_log(cursor))
		cursor_log_read(cursor->private_.log, addr, 8, MEMORY_OK, value);
	return value;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* An attempt to leave the frame begins: nothing is known about the caller. */
static inline void cursor_attempt(struct cursor *cursor)
{
	cursor->private_.caller->known = 0;
	if (cursor_has_log(cursor))
		cursor_log_step(cursor->private_.log);
}

/* The caller's registers in the mask are those of the frame, as far as they are known. Must be called first.
 */
static inline void cursor_inherit(struct cursor *cursor, uint64_t mask)
{
	const struct regs *frame = cursor->private_.frame;
	struct regs *caller = cursor->private_.caller;

	caller->known = frame->known & mask;
	for (uint64_t left = caller->known; left; left &= left - 1) {
		int reg = __builtin_ctzll(left);
		caller->value[reg] = frame->value[reg];
	}
}

/* The same for those registers that the caller does not have yet. */
void cursor_keep(struct cursor *cursor, uint64_t mask);

/* The following accesses serve only to restore this register of the caller, until it is given or lost. */
static inline void cursor_find_reg(struct cursor *cursor, uint8_t reg)
{
	if (cursor_has_log(cursor))
		cursor->private_.log->reg = reg;
}

static inline void cursor_give(struct cursor *cursor, unsigned reg, uint64_t value)
{
	cursor->private_.caller->value[reg] = value;
	cursor->private_.caller->known |= 1ull << reg;
	if (cursor_has_log(cursor))
		cursor->private_.log->reg = REG_NONE;
}

/* The caller's register is not known. */
static inline void cursor_lose(struct cursor *cursor, unsigned reg)
{
	cursor->private_.caller->known &= ~(1ull << reg);
	if (cursor_has_log(cursor))
		cursor->private_.log->reg = REG_NONE;
}

static inline void cursor_count_frame(struct cursor *cursor)
{
	if (!cursor_has_log(cursor))
		return;
	cursor->private_.log->frame++;
	cursor->private_.log->is_new = true;
}

/* The attempt succeeded: the caller becomes the frame. */
static inline void cursor_advance(struct cursor *cursor)
{
	struct regs *caller = cursor->private_.caller;

	cursor->private_.caller = cursor->private_.frame;
	cursor->private_.caller->known = 0;
	cursor->private_.frame = caller;
	cursor_count_frame(cursor);
}

/* A cursor at the caller of the frame, as the attempt has set its registers, for a look at the next step. It
 * records nothing: only for walks that nothing is taken from later. */
void cursor_look_ahead(const struct cursor *cursor, struct cursor *ret);

/* Combines values of registers into one number: a difference in a single register makes a different number.
 */
static inline uint64_t cursor_mix(unsigned reg, uint64_t value)
{
	return value * (0x9e3779b97f4a7c15u * (2 * reg + 1));
}

/*
 * The combined values of the frame's registers in the mask; 0 if one is not known. The walk does not depend
 * on them, but its result for the frame does: so they are recorded.
 */
uint64_t cursor_held(struct cursor *cursor, uint64_t mask);

/* An attempt that restores registers only from contiguous slots: those of the rule. */
struct cursor_move {
	const struct isa *isa;
	const struct packed_rule *rule;
	const struct cursor_piece *slots;
	uint64_t cfa, ra;
	bool is_held; /* cursor_held is to be computed */
};

/* Makes such an attempt and advances. Other registers are not copied. Returns cursor_held of the restored
 * registers, except the return address, if is_held is set; otherwise 0. */
static inline uint64_t cursor_move(struct cursor *cursor, const struct cursor_move *move)
{
	const struct isa *isa = move->isa;
	struct regs *regs = cursor->private_.frame;
	uint64_t low = move->cfa + (uint64_t)(int64_t)packed_low(move->rule),
		 saved = packed_saved(move->rule);
	bool is_known = move->is_held && !(saved & ~(1ull << isa->ra) & ~regs->known);
	uint64_t held = 0;
	unsigned slot = 0;

	if (move->is_held && cursor_has_log(cursor))
		cursor_log_regs(cursor->private_.log, NOTE_TELL, saved & ~(1ull << isa->ra));
	for (uint64_t left = saved; left; slot++) {
		unsigned reg = 63u - (unsigned)__builtin_clzll(left);
		left ^= 1ull << reg;
		held += reg == isa->ra ? 0 : cursor_mix(reg, regs->value[reg]);
		cursor_find_reg(cursor, (uint8_t)reg);
		regs->value[reg] = cursor_load(cursor, move->slots, low + packed_slot(move->rule, slot));
	}
	cursor_find_reg(cursor, REG_NONE);
	regs->value[isa->sp] = move->cfa;
	regs->value[isa->pc] = move->ra;
	regs->known = (((regs->known & isa->callee_saved) | saved | 1ull << isa->sp) & ~(1ull << isa->ra)) |
		      1ull << isa->pc;
	cursor_count_frame(cursor);
	return is_known ? held + !held : 0;
}
