/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit: what is known about an address in JIT code. Addresses are run-time addresses.
 *
 * Results are stored with the versions of the pages that they were derived from, so that overwritten code is
 * analysed again.
 */
#pragma once

#include "recipes/knowledge.h"
#include "unwinder/code_pages.h"

struct jit;
/* pages and recipes are borrowed. */
struct jit *jit_new(const struct isa *isa, struct code_pages *pages, struct recipes *recipes);
void jit_free(struct jit *jit);
/* As code_pages_forget. */
void jit_forget(struct jit *jit);

/* Does none of the instructions from `from` up to `to` change sp or the return address register, or call? */
bool jit_is_untouched(struct jit *jit, pid_t pid, uint64_t from, uint64_t to);
/*
 * Does straight code from pc on read or write below the frame pointer, before it calls, leaves, or sets the
 * frame pointer? Then that is its frame's.
 */
bool jit_uses_frame(struct jit *jit, pid_t pid, uint64_t pc);
/* The same as knowledge_place; has_code is false if the process's memory cannot be read. */
void jit_place(struct jit *jit, pid_t pid, uint64_t pc, bool is_return, struct place *ret);
/*
 * How a frame is left by the first way out that stands behind pc: a jump to code that gives a frame back and
 * returns. For code that itself only jumps on to other code with the same frame; RECIPE_NONE if there is none
 * nearby. is_shared: it lies so far off that no function has it for itself: all code that jumps there has
 * one frame, as in qemu and guile. Else it may be another function's: a second witness has to agree.
 */
uint32_t jit_way_out(struct jit *jit, pid_t pid, uint64_t pc, bool *ret_is_shared);
