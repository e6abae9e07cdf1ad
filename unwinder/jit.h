/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit: what is known of a place in code that is in no file. Its addresses are run-time addresses.
 *
 * Findings are kept with the versions of the pages that they were read from, so that code that was
 * overwritten is analysed again.
 */
#pragma once

#include "recipes/knowledge.h"
#include "unwinder/code_pages.h"

struct jit;
/* pages and recipes are borrowed. */
struct jit *jit_new(const struct isa *isa, struct code_pages *pages, struct recipes *recipes);
void jit_free(struct jit *jit);

/* Does none of the instructions from `from` up to `to` change sp or the return address register, or call? */
bool jit_is_untouched(struct jit *jit, pid_t pid, uint64_t from, uint64_t to);
/* The same as knowledge_place; has_code is false if the process's memory cannot be read. */
void jit_place(struct jit *jit, pid_t pid, uint64_t pc, bool is_return, struct place *ret);
