/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_go: the stacks of a Go program, for `verify steps`.
 *
 * Goroutines lie side by side in one piece of memory, and a stack that has become too small is copied to
 * another place. So a stack is told by its goroutine, whose description a register points to, and
 * addresses in it count from its end, which a copy keeps. The thread's own stack is an ordinary one.
 * AArch64 only: there the register always holds it.
 */
#pragma once

#include "collector/step/stepper.h"
#include "recipes/goroutine.h"

struct step_go {
	struct go_stacks *stacks; /* NULL = the program is not in Go, or not known yet */
	uint64_t bias, entry;
	uint64_t region, sp; /* the last that were known */
};

/* The program has been executed: image is what its pc is in, bias that of its mapping. */
void step_go_begin(struct step_go *go, struct image *image, uint64_t bias);
void step_go_done(struct step_go *go);
/* Where the stack is that the thread is on; both stay as they are where sp is an ordinary stack's. */
void step_go_place(struct step_go *go, const struct stepper *stepper, uint64_t *region, uint64_t *sp);
/*
 * Is the last of these pcs, innermost first, a beginning? If not, another thread has run the goroutine
 * meanwhile, and nobody knows what it did. Always so in other programs.
 */
bool step_go_is_whole(const struct step_go *go, const uint64_t *pcs, size_t n);
/* Does the stack begin with the call that returns to pc? What lies above it is another's. */
bool step_go_begins(const struct step_go *go, uint64_t pc);
