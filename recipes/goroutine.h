/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goroutine: the outermost frames of stacks in a Go program.
 *
 * A goroutine's first function has no caller: the runtime makes it return to goexit. The runtime's own work
 * (scheduling, growing stacks, garbage collection) and all C code run on the thread's own stack, which is
 * entered by a few functions that change sp and call; the stack of the goroutine is elsewhere in memory and
 * is not part of the snapshot. So both are roots of stacks. The functions are recognised by name: the table
 * in .gopclntab remains in stripped programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "binary/elf/image.h"
#include "recipes/recipe.h"

enum go_role {
	GO_ORDINARY,
	GO_EXIT,    /* goroutines return here; they have no caller, so no call precedes the address */
	GO_BEGIN,   /* what it calls runs on a new stack */
	GO_BETWEEN, /* switches from one stack to another: on neither while it runs */
	GO_SWITCH,  /* the same, unless the thread was provably on its own stack already */
	GO_CLOCK,   /* reads the clock on the thread's own stack, and keeps the goroutine's sp in a register
		       meanwhile */
	GO_PREEMPT, /* a signal handler made the interrupted goroutine call it */
};

struct go_stacks;
/* NULL if the image is not a Go program. */
struct go_stacks *go_stacks_read(struct image *image);
void go_stacks_free(struct go_stacks *stacks);
/* The role of the function that contains vaddr; stacks may be NULL. */
enum go_role go_stacks_role(const struct go_stacks *stacks, uint64_t vaddr);

/*
 * Whether Go's goroutine register is valid wherever the function at vaddr may be interrupted. This is not so
 * in functions that switch stacks, in wrappers between two calling conventions, and in assembly, except on
 * AArch64, whose assembler reserves the register.
 */
bool go_stacks_know_goroutine(const struct go_stacks *stacks, const struct isa *isa, uint64_t vaddr);

/*
 * The recipe for the function of GO_PREEMPT: the return address of its unwind entry is the address where the
 * goroutine was interrupted, and on machines with a link register, the handler has pushed its old value.
 * RECIPE_NONE if the given recipe is not from an unwind entry.
 */
uint32_t goroutine_preempted(const struct isa *isa, struct recipes *recipes, uint32_t stated);
