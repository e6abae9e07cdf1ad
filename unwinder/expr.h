/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr: an interpreter for the DWARF expressions that CFI uses where reg + offset is not sufficient (PLT
 * stubs, realigned frames, hand-written assembly). Stack depth and number of steps are bounded.
 */
#pragma once

#include "base/bytes.h"
#include "unwinder/cursor.h"

enum expr_status {
	EXPR_OK,
	EXPR_DAMAGED, /* not an expression, or one that never ends */
	EXPR_UNKNOWN, /* needs a register that is not known, or an operation that has no meaning here */
	EXPR_BEYOND,  /* MEMORY_BEYOND */
	EXPR_BAD_READ,
};

struct expr_input {
	struct cursor *cursor;
	uint64_t bias;    /* of the image the expression comes from: its constants are vaddrs */
	bool has_initial; /* rules for registers start with the CFA on the stack */
	uint64_t initial;
};

enum expr_status expr_eval(struct bytes expr, const struct expr_input *input, uint64_t *ret);
