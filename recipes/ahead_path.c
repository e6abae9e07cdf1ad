/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/ahead_path.h"

#include <stddef.h>
#include <string.h>

/* Larger than any frame, and small enough that a recipe can add and subtract two of them. */
#define OFFSET_MAX (INT32_MAX / 4)

/* ---- values ------------------------------------------------------------------------------------- */

static const struct ahead_value unknown = { .kind = AHEAD_UNKNOWN };

static bool value_is_same(const struct ahead_value *a, const struct ahead_value *b)
{
	return a->kind == b->kind && a->base == b->base && a->offset == b->offset && a->addend == b->addend &&
	       a->is_short == b->is_short;
}

static struct ahead_value value_add(struct ahead_value v, int64_t by)
{
	int32_t *part = v.kind == AHEAD_SLOT ? &v.addend : &v.offset;

	if (by == 0)
		return v;
	if (v.kind == AHEAD_UNKNOWN || v.kind == AHEAD_FAR || by > OFFSET_MAX || by < -OFFSET_MAX ||
	    *part + by > OFFSET_MAX || *part + by < -OFFSET_MAX)
		return unknown;
	*part += (int32_t)by;
	return v;
}

struct ahead_value path_reg(const struct path *path, uint8_t reg)
{
	return reg < REG_MAX ? path->reg[reg] : unknown;
}

static void path_set(struct path *path, uint8_t reg, struct ahead_value v)
{
	if (reg < REG_MAX)
		path->reg[reg] = v;
}

void path_forget(struct path *path, uint64_t regs)
{
	for (uint64_t left = regs & ((1ull << REG_MAX) - 1); left; left &= left - 1)
		path->reg[__builtin_ctzll(left)] = unknown;
}

void path_begin(struct path *path, uint64_t pc)
{
	path->pc = pc;
	path->n_slots = 0;
	path->is_full = false;
	for (unsigned reg = 0; reg < REG_MAX; reg++)
		path->reg[reg] = (struct ahead_value){ .kind = AHEAD_SUM, .base = (uint8_t)reg };
}

void path_copy(struct path *to, const struct path *from)
{
	memcpy(to, from, offsetof(struct path, slot) + from->n_slots * sizeof(from->slot[0]));
}

/* ---- memory ------------------------------------------------------------------------------------- */

struct ahead_value path_load(const struct isa *isa, const struct path *path, struct ahead_value at)
{
	if (at.kind == AHEAD_SLOT && !at.is_short) { /* a frame pointer that was saved and restored */
		at.kind = AHEAD_FAR;
		return at;
	}
	if (at.kind != AHEAD_SUM || at.is_short)
		return unknown;
	for (unsigned i = path->n_slots; i-- > 0;)
		if (value_is_same(&path->slot[i].at, &at))
			return path->slot[i].holds;
	if (at.base == isa->sp && at.offset < 0) /* below sp: it may change at any time */
		return unknown;
	at.kind = AHEAD_SLOT;
	at.is_doubtful = path->is_full;
	return at;
}

static void path_store(struct path *path, struct ahead_value at, struct ahead_value holds)
{
	if (at.kind != AHEAD_SUM || at.is_short)
		return;
	for (unsigned i = 0; i < path->n_slots; i++)
		if (value_is_same(&path->slot[i].at, &at)) {
			path->slot[i].holds = holds;
			return;
		}
	path->is_full |= path->n_slots == MAX_SLOTS;
	if (path->n_slots < MAX_SLOTS)
		path->slot[path->n_slots++] = (struct ahead_slot){ at, holds };
}

static struct ahead_value path_address(struct path *path, const struct effect *e)
{
	return e->index == REG_NONE ? value_add(path_reg(path, e->base), e->imm) : unknown;
}

static struct ahead_value path_sum(const struct isa *isa, struct path *path, const struct effect *e)
{
	bool is_number = e->base == REG_NONE && e->index == REG_NONE;
	struct ahead_value number = { .kind = AHEAD_NUMBER };
	struct ahead_value v = value_add(is_number ? number : path_reg(path, e->base), e->imm);

	if (e->width && e->width < 8 && !(is_number && e->imm >= 0))
		return unknown;
	if (e->index == REG_NONE)
		return v;
	if (e->base == REG_NONE && e->imm == 0 && e->shift == 0 && e->index_width == 8 && !e->is_subtracted)
		return path_reg(path, e->index);
	if (e->reg != isa->sp || e->base != isa->sp)
		return unknown;
	number = path_reg(path, e->index);
	if (number.kind == AHEAD_NUMBER && e->shift == 0)
		return value_add(v, e->is_subtracted ? -(int64_t)number.offset : number.offset);
	/* Arguments are popped by a number that only the program knows. */
	if (e->is_subtracted)
		return unknown;
	v.is_short = v.kind != AHEAD_UNKNOWN;
	return v;
}

void path_apply(const struct isa *isa, struct path *path, const struct effect *e)
{
	struct ahead_value *sp = &path->reg[isa->sp], v;

	switch ((enum effect_kind)e->kind) {
	case EFFECT_PUSH:
		v = path_reg(path, e->reg);
		*sp = value_add(*sp, -(int64_t)e->width);
		path_store(path, *sp, e->width == 8 ? v : unknown);
		break;
	case EFFECT_POP:
		v = e->width == 8 ? path_load(isa, path, *sp) : unknown;
		*sp = value_add(*sp, e->width);
		path_set(path, e->reg, v);
		break;
	case EFFECT_SET:
		path_set(path, e->reg, path_sum(isa, path, e));
		break;
	case EFFECT_AND:
		path_set(path, e->reg, unknown);
		break;
	case EFFECT_LOAD:
		path_set(path, e->reg, e->width == 8 ? path_load(isa, path, path_address(path, e)) : unknown);
		break;
	case EFFECT_STORE:
		path_store(path, path_address(path, e), e->width == 8 ? path_reg(path, e->reg) : unknown);
		break;
	case EFFECT_EXCHANGE:
		v = path_reg(path, e->reg);
		path_set(path, e->reg, path_reg(path, e->base));
		path_set(path, e->base, v);
		break;
	case EFFECT_COMPARE:
		break;
	}
}
