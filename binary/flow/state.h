/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state: what is known about registers and stack slots at one point of a function.
 *
 * A value is one of: unknown; the value that a register to be preserved had at the function's entry (the
 * return address is such a register); an offset from the CFA; an offset from an aligned stack pointer (each
 * aligning instruction is a separate base); a constant; a load from a table; a base plus such a load. Spilled
 * and reloaded values need no special case: slots contain values just like registers.
 *
 * 64 bits: kind in the top 8; then either 24 bits of base and 32 of offset, or a 56-bit constant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "binary/isa/isa.h"

typedef uint64_t value;

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_ENTRY,   /* of register value_offset() */
	VALUE_CFA,     /* CFA + value_offset() */
	VALUE_ALIGNED, /* the result of aligning instruction number value_site(), + value_offset() */
	VALUE_CONST,
	VALUE_LOAD,   /* flow.loads[value_offset()] */
	VALUE_TARGET, /* flow.targets[value_offset()] */
};

static inline enum value_kind value_kind(value v)
{
	return (enum value_kind)(v >> 56);
}
static inline int32_t value_offset(value v)
{
	return (int32_t)(uint32_t)v;
}
static inline uint32_t value_site(value v)
{
	return (uint32_t)(v >> 32) & 0xffffff;
}
static inline value value_make(enum value_kind kind, uint32_t site, int32_t offset)
{
	return (uint64_t)kind << 56 | (uint64_t)(site & 0xffffff) << 32 | (uint32_t)offset;
}
static inline value value_entry(unsigned reg)
{
	return value_make(VALUE_ENTRY, 0, (int32_t)reg);
}
static inline value value_cfa(int32_t offset)
{
	return value_make(VALUE_CFA, 0, offset);
}
/* Unknown if it does not fit 56 bits. */
static inline value value_const(int64_t c)
{
	bool fits = (int64_t)((uint64_t)c << 8) >> 8 == c;

	return fits ? (uint64_t)VALUE_CONST << 56 | ((uint64_t)c & 0xffffffffffffff) : 0;
}
static inline int64_t value_constant(value v)
{
	return (int64_t)(v << 8) >> 8;
}
/* An address in the frame: CFA or aligned base plus offset. */
static inline bool value_is_frame(value v)
{
	return value_kind(v) == VALUE_CFA || value_kind(v) == VALUE_ALIGNED;
}
static inline bool value_same_base(value a, value b)
{
	return a >> 32 == b >> 32;
}
/* Unknown unless v is a constant or a frame address and the result fits. */
value value_add(value v, int64_t c);

struct slot {
	value at;    /* VALUE_CFA or VALUE_ALIGNED */
	value holds; /* eight bytes; never unknown */
};

#define STATE_MAX_SLOTS 48 /* callee-saved registers, a few frame addresses, spilled table bases */
struct state {
	value reg[REG_MAX]; /* written through state_set and state_forget */
	uint64_t known;     /* mask of the registers whose value is not unknown */
	uint32_t n_slots;
	bool slots_changed; /* since the flag was cleared; in the state of a leader: while its block was
			       executed */
	struct slot slot[STATE_MAX_SLOTS];
};

/* Copies only the slots in use. */
static inline void state_copy(struct state *to, const struct state *from)
{
	memcpy(to, from, offsetof(struct state, slot) + from->n_slots * sizeof(struct slot));
}
static inline void state_set(struct state *state, unsigned reg, value v)
{
	state->reg[reg] = v;
	state->known = (state->known & ~(1ull << reg)) | (uint64_t)(v != VALUE_UNKNOWN) << reg;
}
/* The values of these registers become unknown. */
static inline void state_forget(struct state *state, uint64_t regs)
{
	for (uint64_t left = regs & state->known; left; left &= left - 1)
		state->reg[__builtin_ctzll(left)] = VALUE_UNKNOWN;
	state->known &= ~regs;
}
/*
 * bias: bytes the caller left above the return address (see flow.h). Registers that need not be preserved
 * are unknown.
 */
void state_enter(struct state *state, const struct isa *isa, int32_t bias);
/* Makes the entry values of those registers known as well. */
void state_enter_arguments(struct state *state, const struct isa *isa);
/* Do sp and every callee-saved register have their entry values, and is the return address in its place? */
bool state_is_entry_like(const struct state *state, const struct isa *isa);
/* The same at a return through a register other than isa->ra. */
bool state_returns_through(const struct state *state, const struct isa *isa, unsigned reg);
/*
 * At such a return: the frame pointer of the frame that the function has set up on behalf of its caller (V8's
 * code calls such functions). It returns to the caller, but with sp and the frame pointer below the CFA.
 * Otherwise VALUE_UNKNOWN.
 */
value state_left_frame(const struct state *state, const struct isa *isa, unsigned reg);

/* The eight bytes at a frame address; unknown if nothing is known about them. */
value state_load(const struct state *state, value at);
/* Forgets the slots that [at, at + width) overlaps, then records `holds` if it is useful and width is 8. */
void state_store(struct state *state, value at, unsigned width, value holds);
/* Does [at, at + width) overlap a slot that holds an entry value? */
bool state_overlaps_save(const struct state *state, value at, unsigned width);
/* The effect of a call: caller-saved registers in `clobbered` and slots below sp become unknown. */
void state_call(struct state *state, const struct isa *isa, uint64_t clobbered);

/* Do the two disagree on sp, or on every location of a register that both still know? Then one of them is not
 * on a feasible path. */
bool state_contradicts(const struct state *a, const struct state *b, const struct isa *isa);
/* Keeps in `into` only what both agree on. Returns the registers whose value was lost, with STATE_SLOTS if
 * slots were lost. */
#define STATE_SLOTS (1ull << 63)
uint64_t state_join(struct state *into, const struct state *other);
