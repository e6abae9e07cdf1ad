/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depend: all values that a walk depended on: registers of the innermost frame, and words of the stack. If
 * these and the code are unchanged at another time, the stack is the same.
 */
#pragma once

#include "unwinder/cursor.h"
#include "unwinder/stack.h"

struct depend_word {
	uint64_t addr, value;
};

struct depend {
	struct cursor_log log;
	bool is_known; /* of the last walk */
	uint64_t regs; /* mask, includes sp; pc is always one of them */
	VEC(struct depend_word) words;
};

void depend_done(struct depend *depend);
/* A walk begins. */
void depend_begin(struct depend *depend, struct cursor *cursor);
/* It has ended; is_final: it would have the same result again if nothing has changed. */
void depend_end(struct depend *depend, const struct isa *isa, struct cursor *cursor, bool is_final);
