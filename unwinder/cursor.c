/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cursor.h"

void cursor_init(struct cursor *cursor, memory_reader read, void *context)
{
	*cursor = (struct cursor){ 0 };
	cursor->private_.memory.read = read;
	cursor->private_.memory.context = context;
}

void cursor_begin(struct cursor *cursor, const struct isa *isa, pid_t pid, const struct sample *sample)
{
	uint64_t sp = regs_known(&sample->regs, isa->sp) ? sample->regs.value[isa->sp] : 0;

	cursor->private_.frame = &cursor->private_.sets[0];
	cursor->private_.caller = &cursor->private_.sets[1];
	*cursor->private_.frame = sample->regs;
	cursor->private_.caller->known = 0;
	cursor->private_.log = NULL;
	memory_begin(&cursor->private_.memory, pid, sp, sample);
}

void cursor_note_into(struct cursor *cursor, struct cursor_log *log)
{
	cursor->private_.log = log;
	if (!log)
		return;
	log->frame = 0;
	log->is_new = true;
	log->reg = REG_NONE;
}

void cursor_look_ahead(const struct cursor *cursor, struct cursor *ret)
{
	ret->private_.memory = cursor->private_.memory;
	ret->private_.log = NULL;
	ret->private_.frame = &ret->private_.sets[0];
	ret->private_.caller = &ret->private_.sets[1];
	*ret->private_.frame = *cursor->private_.caller;
	ret->private_.caller->known = 0;
}

uint64_t cursor_reach(const struct cursor *cursor)
{
	return cursor->private_.memory.reach;
}

const struct regs *cursor_show_regs(const struct cursor *cursor)
{
	return cursor->private_.log ? NULL : cursor->private_.frame;
}

/* ---- notes -------------------------------------------------------------------------------------- */

void cursor_log_step(struct cursor_log *log)
{
	log->is_new = false;
	log->reg = REG_NONE;
	vec_push(&log->notes,
		 ((struct cursor_note){ .addr = log->frame, .kind = NOTE_STEP, .reg = REG_NONE }));
}

/* Accesses before the first attempt also belong to the frame. */
static struct cursor_note *cursor_log_add(struct cursor_log *log, enum note_kind kind)
{
	if (log->is_new)
		cursor_log_step(log);
	vec_push(&log->notes, ((struct cursor_note){ .kind = kind, .reg = log->reg }));
	return &log->notes.at[log->notes.n - 1];
}

void cursor_log_regs(struct cursor_log *log, enum note_kind kind, uint64_t mask)
{
	cursor_log_add(log, kind)->value = mask;
}

void cursor_log_read(struct cursor_log *log, uint64_t addr, unsigned size, enum memory_status status,
		     uint64_t value)
{
	struct cursor_note *note = cursor_log_add(log, NOTE_READ);

	note->addr = addr;
	note->size = (uint8_t)size;
	note->status = (uint8_t)status;
	note->value = value;
}

/* ---- accesses ----------------------------------------------------------------------------------- */

uint64_t cursor_lost_regs(struct cursor *cursor, uint64_t mask)
{
	if (cursor_has_log(cursor)) {
		cursor_log_regs(cursor->private_.log, NOTE_USE, mask);
		cursor_log_regs(cursor->private_.log, NOTE_NEED, mask);
	}
	return mask & cursor->private_.frame->known & ~cursor->private_.caller->known;
}

enum memory_status cursor_read(struct cursor *cursor, uint64_t addr, unsigned size, uint64_t *ret)
{
	enum memory_status status = memory_get(&cursor->private_.memory, addr, size, ret);

	if (cursor_has_log(cursor))
		cursor_log_read(cursor->private_.log, addr, size, status, status == MEMORY_OK ? *ret : 0);
	return status;
}

bool cursor_can_read(struct cursor *cursor, uint64_t addr)
{
	uint64_t word = 0;
	enum memory_status status = memory_peek(&cursor->private_.memory, addr, 8, &word);

	if (cursor_has_log(cursor))
		cursor_log_read(cursor->private_.log, addr, 8, status, status == MEMORY_OK ? word : 0);
	return status == MEMORY_OK;
}

/* ---- steps -------------------------------------------------------------------------------------- */

void cursor_keep(struct cursor *cursor, uint64_t mask)
{
	mask &= ~cursor->private_.caller->known & ((1ull << REG_MAX) - 1);
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		uint64_t value;
		cursor_find_reg(cursor, (uint8_t)reg);
		if (cursor_reg(cursor, reg, &value))
			cursor_give(cursor, reg, value);
		else
			cursor_lose(cursor, reg);
	}
}

uint64_t cursor_held(struct cursor *cursor, uint64_t mask)
{
	const struct regs *regs = cursor->private_.frame;
	uint64_t held = 0;

	if (cursor_has_log(cursor))
		cursor_log_regs(cursor->private_.log, NOTE_TELL, mask);
	if (mask & ~regs->known)
		return 0;
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		held += cursor_mix(reg, regs->value[reg]);
	}
	return held + !held;
}
