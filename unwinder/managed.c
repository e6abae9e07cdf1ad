/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/managed.h"

#include <elf.h>

static bool managed_word_below(struct cursor *cursor, uint64_t fp, unsigned n, uint64_t *ret)
{
	return cursor_read(cursor, fp - 8 * n, 8, ret) == MEMORY_OK;
}

/* ---- HotSpot ------------------------------------------------------------------------------------ */

/* Words below the frame pointer. Newer versions for AArch64 have another one before LOCALS. */
enum { SENDER_SP = 1, METHOD = 3, LOCALS = 7, INITIAL_SP = 9 };

#define MAX_REACH (1u << 20) /* bytes from a frame to what it refers to: 65535 local variables, and more */

/* Since version 21 some addresses are stored as a number of words relative to the frame pointer. */
static uint64_t hotspot_address_of(uint64_t fp, uint64_t word)
{
	bool is_number = (int64_t)word > -(int64_t)MAX_REACH && (int64_t)word < (int64_t)MAX_REACH;

	return is_number ? fp + 8 * word : word;
}

static bool hotspot_is_above(uint64_t fp, uint64_t address)
{
	return address % 8 == 0 && address - fp >= 8 && address - fp < MAX_REACH;
}

static bool hotspot_is_below(uint64_t bottom, uint64_t address)
{
	return address % 8 == 0 && bottom - address < MAX_REACH;
}

/* The caller's sp may be below this frame, which is in memory that the caller had reserved. */
static bool hotspot_is_near(uint64_t fp, uint64_t address)
{
	return address % 8 == 0 && address - (fp - MAX_REACH) < 2 * MAX_REACH;
}

/* False if it is not the frame of an interpreted method. */
static bool hotspot_find_locals(uint64_t fp, struct cursor *cursor, uint64_t *ret)
{
	uint64_t sender, method, locals, initial;

	if (!managed_word_below(cursor, fp, SENDER_SP, &sender) ||
	    !managed_word_below(cursor, fp, METHOD, &method) || !hotspot_is_near(fp, sender) || !method ||
	    method % 8)
		return false;
	for (unsigned more = 0; more < 2; more++) {
		if (!managed_word_below(cursor, fp, LOCALS + more, &locals) ||
		    !managed_word_below(cursor, fp, INITIAL_SP + more, &initial))
			return false;
		*ret = hotspot_address_of(fp, locals);
		if (hotspot_is_above(fp, *ret) &&
		    hotspot_is_below(fp - 8 * (INITIAL_SP + more), hotspot_address_of(fp, initial)))
			return true;
	}
	return false;
}

/* For an interrupted frame at fp that looks like that of an interpreted method. */
static enum managed_kind hotspot_interrupted_kind(const struct isa *isa, struct cursor *cursor,
						  uint64_t locals)
{
	unsigned reg = isa->elf_machine == EM_AARCH64 ? 24 : 14;
	uint64_t value;

	if (cursor_reg(cursor, reg, &value) && value == locals)
		return MANAGED_HOTSPOT_INTERPRETED;
	return MANAGED_HOTSPOT_ENTERED;
}

/* ---- V8 ----------------------------------------------------------------------------------------- */

/* Words below the frame pointer. */
enum { CONTEXT = 1, FUNCTION = 2, N_ARGUMENTS = 3 };

#define MAX_ARGUMENTS 65536 /* more than V8 passes */
#define MAX_KINDS 64        /* of frames; there are about forty */

static bool v8_is_tagged(uint64_t word)
{
	return (word & 3) == 1 && word > 0x10000;
}

static bool v8_is_function_frame(uint64_t fp, struct cursor *cursor)
{
	uint64_t context, function, n_arguments;

	return managed_word_below(cursor, fp, CONTEXT, &context) && v8_is_tagged(context) &&
	       managed_word_below(cursor, fp, FUNCTION, &function) && v8_is_tagged(function) &&
	       managed_word_below(cursor, fp, N_ARGUMENTS, &n_arguments) && n_arguments < MAX_ARGUMENTS;
}

/* A builtin's frame: twice the number of its kind, in place of the context. */
static bool v8_is_builtin_frame(uint64_t fp, struct cursor *cursor)
{
	uint64_t kind;

	return managed_word_below(cursor, fp, CONTEXT, &kind) && kind && kind % 2 == 0 &&
	       kind < 2 * MAX_KINDS;
}

/* A small number alone says little: a builtin's caller must also be known. */
static bool v8_is_frame(uint64_t fp, struct cursor *cursor)
{
	uint64_t next;

	if (v8_is_function_frame(fp, cursor))
		return true;
	return v8_is_builtin_frame(fp, cursor) && cursor_read(cursor, fp, 8, &next) == MEMORY_OK &&
	       next > fp && next % 8 == 0 &&
	       (v8_is_function_frame(next, cursor) || v8_is_builtin_frame(next, cursor));
}

/* ---- both --------------------------------------------------------------------------------------- */

static enum managed_kind managed_kind_at(const struct isa *isa, struct cursor *cursor, uint64_t fp,
					 bool is_interrupted)
{
	enum managed_kind hotspot = MANAGED_NONE;
	uint64_t locals;

	if (fp % 8)
		return MANAGED_NONE;
	if (hotspot_find_locals(fp, cursor, &locals))
		hotspot = is_interrupted ? hotspot_interrupted_kind(isa, cursor, locals)
					 : MANAGED_HOTSPOT_INTERPRETED;
	bool is_sure = hotspot == MANAGED_HOTSPOT_INTERPRETED || !isa->call_pushes_ra;
	if (hotspot != MANAGED_NONE && is_sure)
		return hotspot;
	return v8_is_frame(fp, cursor) ? MANAGED_V8 : hotspot;
}

enum managed_kind managed_frame(const struct isa *isa, struct cursor *cursor, bool is_interrupted)
{
	uint64_t fp;

	return cursor_reg(cursor, isa->fp, &fp) ? managed_kind_at(isa, cursor, fp, is_interrupted)
						: MANAGED_NONE;
}

enum managed_kind managed_caller(const struct isa *isa, struct cursor *cursor)
{
	uint64_t fp;

	return cursor_caller_reg(cursor, isa->fp, &fp) ? managed_kind_at(isa, cursor, fp, false)
						       : MANAGED_NONE;
}

uint32_t managed_recipe(enum managed_kind kind, const struct isa *isa, struct recipes *recipes)
{
	bool is_v8 = kind == MANAGED_V8;
	struct recipe recipe = { .cfa_kind = is_v8 ? CFA_REG : CFA_DEREF,
				 .cfa_reg = isa->fp,
				 .cfa_offset = is_v8 ? 16 : -8 * SENDER_SP,
				 .witness = WITNESS_TEMPLATE,
				 .trust = TRUST_STATED };
	/* A V8 function pops its arguments: its caller's sp is not known here. */
	struct rule sp = { .reg = isa->sp, .kind = RULE_UNDEFINED };
	struct rule fp = { .reg = isa->fp, .kind = RULE_AT_REG, .from = isa->fp, .offset = 0 };
	struct rule ra = { .reg = isa->ra, .kind = RULE_AT_REG, .from = isa->fp, .offset = 8 };
	struct rule rules[3];

	if (kind == MANAGED_HOTSPOT_ENTERED) { /* nothing is saved yet */
		recipe.cfa_kind = CFA_REG;
		recipe.cfa_reg = isa->sp;
		recipe.cfa_offset = 0;
		ra = (struct rule){ .reg = isa->ra, .kind = RULE_SAME };
		recipe.n_rules = 1;
		return recipes_add(recipes, &recipe, &ra);
	}
	for (unsigned reg = 0; reg < REG_MAX; reg++) /* sorted by register */
		if (reg == isa->fp || reg == isa->ra || (reg == isa->sp && is_v8))
			rules[recipe.n_rules++] = reg == isa->fp ? fp : reg == isa->ra ? ra : sp;
	return recipes_add(recipes, &recipe, rules);
}
