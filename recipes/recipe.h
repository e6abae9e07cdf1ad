/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe: how to leave a frame, valid for one interval of code.
 *
 * A function's recipes are rows (start, recipe index) sorted by start; a recipe is stored once per
 * image. The canonical frame address (CFA) is the value sp had in the caller right after the call
 * returned there (x86-64: address of the return address + 8; AArch64: sp at entry).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/slots.h"
#include "base/vec.h"
#include "binary/isa/isa.h"

enum witness { WITNESS_NONE, WITNESS_ANALYSIS, WITNESS_CFI, WITNESS_TEMPLATE, WITNESS_FP, WITNESS_N };
enum trust { TRUST_GUESS, TRUST_STATED, TRUST_PROVEN };

enum cfa_kind {
	CFA_NONE,  /* no recipe here, and that is known */
	CFA_REG,   /* reg + offset */
	CFA_DEREF, /* *(reg + offset) + addend */
	CFA_EXPR,  /* DWARF expression */
};

enum rule_kind {
	RULE_SAME, /* still in its register; the default of ra and of callee-saved registers, stored only for
		      others */
	RULE_UNDEFINED, /* lost; for ra: this is the outermost frame */
	RULE_AT_CFA,    /* saved at CFA + offset */
	RULE_IS_CFA,    /* its value is CFA + offset */
	RULE_REG,       /* in register `from` */
	RULE_AT_REG,    /* saved at register `from` + offset (value of `from` in the frame being left) */
	RULE_AT_EXPR,   /* saved at the address the expression gives */
	RULE_IS_EXPR,   /* its value is what the expression gives */
};

struct rule {
	uint8_t reg, kind, from, reserved;
	union {
		int32_t offset;
		uint32_t expr; /* index into recipes.exprs */
	};
};

#define RECIPE_MAX_RULES REG_MAX
struct recipe {
	uint8_t cfa_kind, cfa_reg;
	uint8_t witness, trust;
	/* The caller was interrupted, it did not call: its pc is the rule for isa->pc if there is one
	 * (AArch64, where ra is an ordinary register then), else the rule for isa->ra. */
	bool is_signal_frame;
	bool ra_is_signed; /* AArch64 pointer authentication */
	uint8_t n_rules;
	int32_t cfa_offset, cfa_addend;
	uint32_t cfa_expr;
	uint32_t rules; /* index of the first in recipes.rules: sorted by reg; the return address is the rule
			   for isa->ra */
};

struct recipe_row {
	uint32_t start;  /* offset from the function's start; valid up to the next row */
	uint32_t recipe; /* index; RECIPE_NONE = nothing known here */
};
#define RECIPE_NONE UINT32_MAX

/* One function's rows, sorted by start; the first has start 0. */
struct recipe_rows {
	VEC(struct recipe_row) rows;
};
/* The recipe at an offset from the function's start; RECIPE_NONE if there is none. */
uint32_t recipe_rows_find(const struct recipe_row *rows, size_t n, uint64_t offset);
/* Appends a row; joined with the last one if nothing changes, replacing it if it starts at the same place. */
void recipe_rows_add(struct recipe_rows *rows, uint32_t start, uint32_t recipe);

/* All recipes of an image, each once. */
struct recipes {
	VEC(struct recipe) recipes;
	VEC(struct rule) rules;
	VEC(struct bytes) exprs; /* borrowed from the image */
	struct map expr_index;   /* hash of the bytes -> exprs */
	struct slots slots;      /* of recipes */
};

void recipes_init(struct recipes *recipes);
void recipes_done(struct recipes *recipes);
/* Adds a recipe with its rules (r->rules is ignored), or finds the same one again. */
uint32_t recipes_add(struct recipes *recipes, const struct recipe *r, const struct rule *rules);
/* An expression for cfa_expr or rule.expr; the bytes stay borrowed. */
uint32_t recipes_add_expr(struct recipes *recipes, struct bytes expr);
/* The rule for a register; NULL if it has the default one. */
const struct rule *recipe_rule(const struct recipes *recipes, const struct recipe *recipe, unsigned reg);

/* Mask of the registers it reads of the frame being left; those it leaves where they are do not count. */
uint64_t recipe_reads(const struct recipes *recipes, const struct recipe *recipe);

/* One line, as `cpprof inspect recipes` prints it: "cfa=rsp+16 ra=c-8 rbp=c-16". */
size_t recipe_format(const struct recipes *recipes, uint32_t index, const struct isa *isa, char *text,
		     size_t size);

const char *witness_name(enum witness witness);
const char *trust_name(enum trust trust);
