/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis: the machine code of one image as a witness. A function is analysed when its first recipe
 * is asked for; its rows are kept, those of its cold parts with it.
 */
#pragma once

#include "binary/cfi/frames.h"
#include "binary/elf/image.h"
#include "recipes/table.h"

struct analysis;
/* frames and recipes are borrowed; NULL if the image's machine is unknown. Symbols are read on first use. */
struct analysis *analysis_new(struct image *image, const struct frames *frames, struct recipes *recipes);
void analysis_free(struct analysis *analysis);
/*
 * Before the first question: the index of functions, as analysis_index of another one of the same image has
 * given it, so that symbols need not be read. Borrowed. If it is empty or damaged, the index is made,
 * and analysis_index returns it.
 */
void analysis_use_index(struct analysis *analysis, struct bytes index);
/* The index, if it was made here and making it took so long that it is worth keeping; else empty. */
struct bytes analysis_index(const struct analysis *analysis);

/*
 * The recipe at vaddr, RECIPE_NONE if there is none. ret_function, if a function is known: where it, or
 * the part that holds vaddr, starts. is_alone: no other witness knows this place, so that finding the
 * function a part belongs to, or functions in a gap, is worth a look at much of the image.
 */
uint32_t analysis_recipe(struct analysis *analysis, uint64_t vaddr, bool is_alone, uint64_t *ret_function);
/*
 * The same where nothing says what functions there are and there is too much code to search it all: from what
 * is near. In code that can be read backwards the marks that some compilers leave at entries bound a
 * function, and only what is proven counts.
 */
uint32_t analysis_near_recipe(struct analysis *analysis, uint64_t vaddr, uint64_t *ret_function);
/* The same where one unwind entry, [start, end), describes code that has functions in it (inner.h). */
uint32_t analysis_inner_recipe(struct analysis *analysis, uint64_t start, uint64_t end, uint64_t vaddr);
/* How far sp lies from the frame pointer there, in a function whose bounds are stated. False if not known. */
bool analysis_sp_from_fp(struct analysis *analysis, uint64_t vaddr, int64_t *ret);
/* Registers that no instruction of the function which starts at vaddr writes; 0 if that is not known. */
uint64_t analysis_kept(struct analysis *analysis, uint64_t vaddr);
/*
 * Does the function which starts at `from`, where it does not return, lead to the start of `to` and nowhere
 * else: by a jump, or by running on into it?
 */
bool analysis_leads_only_to(struct analysis *analysis, uint64_t from, uint64_t to);
/* A number for a name, its hash; 0 = no name. */
uint64_t analysis_name_number(const char *name);
/* The name of the stub, or the function that never returns by its name, that starts at vaddr; else 0. */
uint64_t analysis_name(struct analysis *analysis, uint64_t vaddr);
/* The name of the symbol that the stub at vaddr goes to; 0 if no stub starts there, or its symbol is not
 * known. */
uint64_t analysis_stub_name(struct analysis *analysis, uint64_t vaddr);
/* Is there a symbol of this name at vaddr? Functions may have several. */
bool analysis_has_name(struct analysis *analysis, uint64_t vaddr, uint64_t name);
/* The functions of the image, as far as they are known; NULL if nobody has asked for any yet, or their names
 * were not read. */
struct functions *analysis_functions(struct analysis *analysis);
/* Functions analysed so far. */
uint64_t analysis_count(const struct analysis *analysis);

/* The rows of what was analysed; in no order, and functions share their ends. */
const struct recipe_table *analysis_table(const struct analysis *analysis);
/*
 * After analysis_recipe has given a recipe for vaddr: the span of that table it is from, if the rows of that
 * are what it would give for every address where they name one, whatever was asked before. False if its
 * answer holds for the one address only.
 */
bool analysis_span(struct analysis *analysis, uint64_t vaddr, bool is_alone, struct table_span *ret);
