/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail: instructions before which the return address is on top of the stack, although sp is not known there.
 *
 * x86-64. Code that makes room for more arguments by moving those that there are (V8's calls do that) meets
 * the path on which nothing had to be moved, and leaves by a jump through a register. On that path sp is as
 * it was at the entry, so the return address is on top; from where they meet the stack is the same for both,
 * because what is jumped to cannot know which path was taken.
 *
 * No side effects.
 */
#pragma once

#include "base/vec.h"
#include "binary/flow/flow.h"

struct tails {
	VEC(uint32_t) insns; /* in no order: there are few */
	bool is_searched;
};

/* Is it one of them? The function is searched with the first question. */
bool tails_have(struct tails *tails, struct flow *flow, uint32_t insn);
void tails_done(struct tails *tails);
