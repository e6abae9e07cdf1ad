/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead_path: the effects of the instructions on one path of `ahead` on registers and memory, in terms of
 * what they contain where the path begins.
 */
#pragma once

#include "binary/isa/isa.h"

#define MAX_SLOTS 24 /* stores tracked on one path */

/* The future value of a register, in terms of the current registers and memory. */
enum ahead_kind {
	AHEAD_UNKNOWN,
	AHEAD_SUM,    /* the current value of register `base`, + offset */
	AHEAD_SLOT,   /* the eight bytes currently at that address, + addend */
	AHEAD_FAR,    /* the eight bytes at the address that such a slot + addend contains */
	AHEAD_NUMBER, /* offset alone: the size of a frame too large for an immediate */
};

struct ahead_value {
	uint8_t kind, base;
	bool is_short;    /* something unknown, not negative, was added: arguments that are popped */
	bool is_doubtful; /* read from memory after a store that was not tracked */
	int32_t offset, addend;
};

struct ahead_slot {
	struct ahead_value at, holds;
};

struct path {
	uint64_t pc;
	struct ahead_value reg[REG_MAX];
	unsigned n_slots;
	bool is_full; /* a store was not tracked */
	struct ahead_slot slot[MAX_SLOTS];
};

/* Starts a path at pc: every register has its own value. */
void path_begin(struct path *path, uint64_t pc);
/* Without the slots that are not in use. */
void path_copy(struct path *to, const struct path *from);
void path_forget(struct path *path, uint64_t regs);
void path_apply(const struct isa *isa, struct path *path, const struct effect *effect);
struct ahead_value path_reg(const struct path *path, uint8_t reg);
/* What is read from there. */
struct ahead_value path_load(const struct isa *isa, const struct path *path, struct ahead_value at);
