/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goroutine: where the stacks of a Go program begin.
 *
 * A goroutine's first function was called by nobody: the runtime makes it return into goexit. What the
 * runtime does for itself (scheduling, growing stacks, collecting garbage) and all C code runs on the
 * thread's own stack, entered by a handful of functions that put another address into sp and call; the
 * goroutine that was left stands elsewhere in memory, and no snapshot of the stack holds it. So both
 * are beginnings of a stack. The functions are known by name: the table in .gopclntab stays in a
 * stripped program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "binary/elf/image.h"
#include "recipes/recipe.h"

enum go_role {
	GO_ORDINARY,
	GO_EXIT,    /* goroutines return here; nobody called them, so no call stands before the address */
	GO_BEGIN,   /* what it calls runs on a new stack */
	GO_BETWEEN, /* goes from one stack to another: on neither while it runs */
	GO_SWITCH,  /* the same, unless it can be shown that the thread was there already */
	GO_CLOCK,   /* asks the kernel for the time on the thread's own stack, and keeps the goroutine's sp in
		       a register meanwhile */
	GO_PREEMPT, /* a signal handler made the interrupted goroutine call it */
};

struct go_stacks;
/* NULL if the image is no Go program. */
struct go_stacks *go_stacks_read(struct image *image);
void go_stacks_free(struct go_stacks *stacks);
/* The role of the function that holds vaddr; stacks may be NULL. */
enum go_role go_stacks_role(const struct go_stacks *stacks, uint64_t vaddr);

/*
 * Does the register that is the goroutine's hold its address wherever the function that holds vaddr may be
 * interrupted? Not in what changes stacks, nor in what the compiler puts between two calling conventions;
 * nor in assembly, but for AArch64, whose assembler keeps the register out of reach.
 */
bool go_stacks_know_goroutine(const struct go_stacks *stacks, const struct isa *isa, uint64_t vaddr);

/*
 * How to leave GO_PREEMPT's function: what its unwind entry says is the return address is where the goroutine
 * was interrupted, and where calls leave it in a register, the handler has pushed what that held. RECIPE_NONE
 * if that is no unwind entry's recipe.
 */
uint32_t goroutine_preempted(const struct isa *isa, struct recipes *recipes, uint32_t stated);
