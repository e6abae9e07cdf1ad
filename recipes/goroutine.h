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

enum go_role {
	GO_ORDINARY,
	GO_EXIT,    /* goroutines return here; nobody called them, so no call stands before the address */
	GO_BEGIN,   /* what it calls runs on a new stack */
	GO_BETWEEN, /* goes from one stack to another: on neither while it runs */
	GO_SWITCH,  /* the same, unless it can be shown that the thread was there already */
};

struct go_stacks;
/* NULL if the image is no Go program. */
struct go_stacks *go_stacks_read(struct image *image);
void go_stacks_free(struct go_stacks *stacks);
/* The role of the function that holds vaddr; stacks may be NULL. */
enum go_role go_stacks_role(const struct go_stacks *stacks, uint64_t vaddr);
