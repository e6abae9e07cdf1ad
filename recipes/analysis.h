/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis: recipes from the machine code of one image. A function is analysed when its first recipe is
 * requested; its rows are kept, together with those of its cold parts.
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
 * To be called before the first query: the index of functions, as analysis_index returned it for an earlier
 * analysis of the same image, so that symbols need not be read. Borrowed. If it is empty or damaged, the
 * index is built, and analysis_index returns it.
 */
void analysis_use_index(struct analysis *analysis, struct bytes index);
/* The index, if it was built here and building it took long enough to be worth caching; otherwise empty. */
struct bytes analysis_index(const struct analysis *analysis);

/*
 * The recipe at vaddr, RECIPE_NONE if there is none. ret_function, if a function is known: the start of the
 * function, or of the part that contains vaddr. is_alone: no other witness covers this address, so it is
 * worth searching much of the image for the function that a part belongs to, or for functions in a gap.
 */
uint32_t analysis_recipe(struct analysis *analysis, uint64_t vaddr, bool is_alone, uint64_t *ret_function);
/*
 * The same for images without known functions that are too large to search completely: only nearby code is
 * used. In code that can be decoded backwards, the markers that some compilers put at entries bound a
 * function, and only proven results are used.
 */
uint32_t analysis_near_recipe(struct analysis *analysis, uint64_t vaddr, uint64_t *ret_function);
/* The same if one unwind entry, [start, end), covers code with several functions (inner.h). */
uint32_t analysis_inner_recipe(struct analysis *analysis, uint64_t start, uint64_t end, uint64_t vaddr);
/*
 * The recipe at vaddr if its code was not called, but jumped or returned to, and runs in a frame that was set
 * up before (analysis_continued.c); RECIPE_NONE if the code does not show that. is_entry: vaddr was returned
 * to; that must be the start of its function.
 */
uint32_t analysis_continued_recipe(struct analysis *analysis, uint64_t vaddr, bool is_entry);
/* The distance from the frame pointer to sp at that address, in a function with stated bounds. False if not
 * known. */
bool analysis_sp_from_fp(struct analysis *analysis, uint64_t vaddr, int64_t *ret);
/* Registers that no instruction of the function which starts at vaddr writes; 0 if that is not known. */
uint64_t analysis_kept(struct analysis *analysis, uint64_t vaddr);
/*
 * Whether the function that starts at `from`, where it does not return, leads only to the start of `to`: by a
 * jump, or by falling through. A stub leads to one function only, and that is taken to be `to`.
 */
bool analysis_leads_only_to(struct analysis *analysis, uint64_t from, uint64_t to);
/* A number for a name, its hash; 0 = no name. */
uint64_t analysis_name_number(const char *name);
/* The name of the stub, or of the function known never to return, that starts at vaddr; otherwise 0. */
uint64_t analysis_name(struct analysis *analysis, uint64_t vaddr);
/* Is there a symbol of this name at vaddr, according to the tables of the file alone? 1, 0, or -ENODATA: then
 * ask analysis_has_name, which reads all symbols. */
int analysis_file_has_name(struct image *image, uint64_t vaddr, uint64_t name);
/* Is there a symbol of this name at vaddr? Functions may have several. */
bool analysis_has_name(struct analysis *analysis, uint64_t vaddr, uint64_t name);
/* The known functions of the image; NULL if none were requested yet, or their names were not read. */
struct functions *analysis_functions(struct analysis *analysis);
/* Functions analysed so far. */
uint64_t analysis_count(const struct analysis *analysis);

/* The rows of all analysed functions, in no order; functions may share their ends. */
const struct recipe_table *analysis_table(const struct analysis *analysis);
/*
 * After analysis_recipe has returned a recipe for vaddr: the span of that table which contains it, if its
 * rows are valid for all their addresses, independent of earlier queries. False if the answer is valid only
 * for this address.
 */
bool analysis_span(struct analysis *analysis, uint64_t vaddr, bool is_alone, struct table_span *ret);
