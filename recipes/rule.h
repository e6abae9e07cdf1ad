/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule: a recipe, which is an unwind rule for one range of code, and the rules for single registers that it
 * consists of.
 *
 * The canonical frame address (CFA) is the value sp had in the caller right after the call returned there
 * (x86-64: address of the return address + 8; AArch64: sp at entry).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "binary/isa/isa.h"

enum witness { WITNESS_NONE, WITNESS_ANALYSIS, WITNESS_CFI, WITNESS_TEMPLATE, WITNESS_FP, WITNESS_N };
enum trust { TRUST_GUESS, TRUST_STATED, TRUST_PROVEN };

enum cfa_kind {
	CFA_NONE,  /* it is known that there is no recipe here */
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
	/* The caller was interrupted; it did not make a call. Its pc is given by the rule for isa->pc if
	 * there is one (AArch64, where ra is then an ordinary register), otherwise by the rule for isa->ra.
	 */
	bool is_signal_frame;
	bool ra_is_signed; /* AArch64 pointer authentication */
	uint8_t n_rules;
	int32_t cfa_offset, cfa_addend;
	uint32_t cfa_expr;
	uint32_t rules; /* index of the first in recipes.rules: sorted by reg; the return address is the rule
			   for isa->ra */
};
