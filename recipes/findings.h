/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings: what the analysis of an image has found out, in this run or in one before it.
 *
 * The store is asked first, the analysis only for what is not there: with an answer for every question the
 * symbols and the functions of the image are not even read. What the analysis says is noted, and joins the
 * store when findings_save is called. Answers are those of the analysis, whether they were kept or not.
 */
#pragma once

#include "base/store.h"
#include "recipes/analysis.h"
#include "recipes/place.h"

struct findings;
/* Of an image whose machine is known. All are borrowed; without a store, NULL, nothing is kept. */
struct findings *findings_new(struct image *image, struct recipes *recipes, struct store *store);
void findings_free(struct findings *findings);

/* The unwind entries of the image, read when they are asked for, here or by the analysis. */
const struct frames *findings_frames(struct findings *findings);

/* As the functions of analysis.h that are called so. */
uint32_t findings_recipe(struct findings *findings, uint64_t vaddr, bool is_alone, uint64_t *ret_function);
uint32_t findings_marked_recipe(struct findings *findings, uint64_t vaddr, uint64_t *ret_function);
uint64_t findings_kept(struct findings *findings, uint64_t vaddr);
bool findings_leads_only_to(struct findings *findings, uint64_t from, uint64_t to);
uint64_t findings_name(struct findings *findings, uint64_t vaddr);
uint64_t findings_stub_name(struct findings *findings, uint64_t vaddr);
bool findings_has_name(struct findings *findings, uint64_t vaddr, uint64_t name);

/*
 * All that is known of an address, if it was found out before; and to keep it, which does nothing if it
 * cannot be kept. The mode of unwinding must be the usual one.
 */
bool findings_place(struct findings *findings, uint64_t vaddr, bool is_return, struct place *ret);
void findings_keep_place(struct findings *findings, uint64_t vaddr, bool is_return,
			 const struct place *place);

/* What somebody else has found out with the image alone: the answer, if it is known; and to keep it, which
 * returns it. */
enum finding { FINDING_MAY_LEAVE, FINDING_HOLDS };
bool findings_find(struct findings *findings, enum finding what, uint64_t a, uint64_t b, bool *ret);
bool findings_keep(struct findings *findings, enum finding what, uint64_t a, uint64_t b, bool value);

/* What is new joins the store. */
void findings_save(struct findings *findings);
/* As analysis_functions: NULL where the store knew all. */
struct functions *findings_functions(struct findings *findings);
/* Functions analysed so far: none where the store knew all. */
uint64_t findings_analysed(const struct findings *findings);
