/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template: recipes for code that is recognised by its bytes or name: linker stubs, the signal trampoline,
 * the start of programs and threads.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "recipes/recipe.h"

/* The recipe of a stub that holds vaddr; RECIPE_NONE if none does. ret_start: of the stub. */
uint32_t template_stub(const struct image *image, const struct isa *isa, uint64_t vaddr,
		       struct recipes *recipes, uint64_t *ret_start);
/* The recipe of the signal trampoline, if vaddr is in or right behind it; RECIPE_NONE if not. */
uint32_t template_signal(const struct image *image, const struct isa *isa, uint64_t vaddr,
			 struct recipes *recipes);
/*
 * Is this where the kernel makes a function return to whose return is probed? The true return address is
 * known to the kernel alone, so that the stack ends there.
 */
bool template_is_uprobes(const struct image *image);
/* The recipe that follows the frame pointer: always a guess. */
uint32_t template_frame_pointer(const struct isa *isa, struct recipes *recipes);

/* Is vaddr in the code the kernel starts the image at? */
bool template_is_entry(const struct image *image, const struct frames *frames, uint64_t vaddr);
/* The end of the addresses for which template_is_entry can be true. */
uint64_t template_entry_end(const struct image *image, const struct frames *frames);
/* Does what stands at this return address end the thread? Then the code before it has no caller. */
bool template_is_thread_start(const struct image *image, const struct isa *isa, uint64_t vaddr);
/* Is vaddr right behind the system call by which a process goes on to another program? */
bool template_is_exec(const struct image *image, const struct isa *isa, uint64_t vaddr);
/* Is this where makecontext makes a coroutine's function return to? Such a function has no caller. */
bool template_is_context_start(const struct image *image, const struct isa *isa, uint64_t vaddr);
/*
 * Do these bytes, which end at vaddr, make a call by hand: put vaddr where a call leaves the return address
 * and jump? Only where calls leave it in a register.
 */
bool template_is_made_call(const struct isa *isa, struct bytes before, uint64_t vaddr);
#define MADE_CALL_MAX 32 /* bytes worth looking at */
