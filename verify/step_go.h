/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_go: the stacks of a Go program, for `verify steps`.
 *
 * The stacks of goroutines are adjacent in one piece of memory, and a stack that has become too small is
 * copied to another place. So a stack is identified by its goroutine, to which a register points, and
 * addresses in it are relative to its end, which does not change when it is copied. The thread's own stack is
 * an ordinary one. On x86-64, where assembly may use the register for something else, the thread's own
 * storage points to the goroutine.
 */
#pragma once

#include "collector/step/stepper.h"
#include "recipes/goroutine.h"

struct step_go {
	struct go_stacks *stacks; /* NULL = not a Go program, or not known yet */
	uint64_t bias, entry;
	uint64_t region, sp; /* the last known ones */
	uint64_t away;       /* sp when it left the goroutine's stack; 0 = it is there */
};

/* To be called after the exec: image contains its pc, bias is that of its mapping. */
void step_go_begin(struct step_go *go, struct image *image, uint64_t bias);
void step_go_done(struct step_go *go);
/* The location of the thread's current stack: false, and both are unchanged, if sp is on an ordinary stack.
 */
bool step_go_place(struct step_go *go, const struct stepper *stepper, uint64_t *region, uint64_t *sp);
/*
 * Is the last of these pcs, innermost first, the start of a goroutine? If not, another thread has run the
 * goroutine meanwhile, and its calls are unknown. Always true in other programs.
 */
bool step_go_is_whole(const struct step_go *go, const uint64_t *pcs, size_t n);
/* Does the stack begin with the call that returns to pc? Memory above it belongs to another stack. */
bool step_go_begins(const struct step_go *go, uint64_t pc);
