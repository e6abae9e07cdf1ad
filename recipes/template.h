/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template: recipes for code that is recognised by its bytes or name: linker stubs, the signal trampoline,
 * the start of programs and threads.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "recipes/recipe.h"

/* The recipe of the stub that contains vaddr; RECIPE_NONE if there is none. ret_start: of the stub. */
uint32_t template_stub(const struct image *image, const struct isa *isa, uint64_t vaddr,
		       struct recipes *recipes, uint64_t *ret_start);
/* The recipe of the signal trampoline, if vaddr is in it or directly after it; otherwise RECIPE_NONE. */
uint32_t template_signal(const struct image *image, const struct isa *isa, uint64_t vaddr,
			 struct recipes *recipes);
/*
 * Is this the kernel's page for return probes (uretprobes)? A function whose return is probed returns there.
 * Only the kernel knows the true return address, so the stack ends there.
 */
bool template_is_uprobes(const struct image *image);
/* Is this a page of the kernel's that a probed nop calls? x86-64, since Linux 6.18: the kernel replaces a nop
 * of five bytes by the call. */
bool template_is_uprobes_call(const struct image *image);
/* The recipe that follows the frame pointer: always a guess. */
uint32_t template_frame_pointer(const struct isa *isa, struct recipes *recipes);

/* Is vaddr in the code at the entry point of the image? */
bool template_is_entry(const struct image *image, const struct frames *frames, uint64_t vaddr);
/* The end of the addresses for which template_is_entry can be true. */
uint64_t template_entry_end(const struct image *image, const struct frames *frames);
/* Does the code at this return address end the thread? Then the code before it has no caller. */
bool template_is_thread_start(const struct image *image, const struct isa *isa, uint64_t vaddr);
/* Is vaddr directly after the system call execve or execveat? */
bool template_is_exec(const struct image *image, const struct isa *isa, uint64_t vaddr);
/* Is this the address to which makecontext makes a coroutine's function return? Such a function has no
 * caller. */
bool template_is_context_start(const struct image *image, const struct isa *isa, uint64_t vaddr);
/*
 * Do these bytes, which end at vaddr, emulate a call: set the return address register to vaddr and jump? Only
 * for instruction sets whose calls put the return address into a register.
 */
bool template_is_made_call(const struct isa *isa, struct bytes before, uint64_t vaddr);
#define MADE_CALL_MAX 32 /* bytes to check */
