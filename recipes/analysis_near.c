/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_near: recipes for images without known functions that have too much code to search all of it. Code
 * that can be decoded backwards is searched for the markers around an address. Where there are none, a piece
 * of the code is searched for functions, as if it were a separate file.
 */
#include <stdlib.h>

#include "recipes/analysis_private.h"

/* --- marks -------------------------------------------------------------------------------------- */

#define MAX_MARKED (64u << 10) /* bytes from a marker to the address, and from there to the next marker */

/* The nearest marker at or before vaddr (step < 0), or after it; 0 if there is none nearby. */
static uint64_t analysis_find_mark(const struct analysis *analysis, uint64_t vaddr, int64_t step)
{
	const struct isa *isa = analysis->functions->isa;
	struct insn insn;

	for (uint64_t at = vaddr, n = 0; n < MAX_MARKED; n += isa->min_insn, at += (uint64_t)step) {
		struct bytes code = image_code(analysis->image, at);
		if (code.len < isa->min_insn)
			return 0;
		if (isa->decode(code, at, &insn) == 0 && insn.is_entry_mark)
			return at;
	}
	return 0;
}

/* Analyses the code between two markers, if it is a function that passes its own check. Other functions may
 * follow in it. */
static void analysis_analyse_marked(struct analysis *analysis, uint64_t start, uint64_t end)
{
	if (map_find(&analysis->tried, start) != MAP_NONE)
		return;
	map_put(&analysis->tried, start, 1);
	functions_analyse_range(analysis->functions, start, end, &analysis->flow);
	analysis->n_analysed++;
	if (analysis->flow.verdict == FLOW_PASSES && analysis->flow.parts.n)
		analysis_keep_rows(analysis, 0);
}

static uint32_t analysis_marked_recipe(struct analysis *analysis, uint64_t vaddr, uint64_t *ret_function)
{
	const struct isa *isa = analysis->functions->isa;

	vaddr -= vaddr % isa->min_insn;
	uint64_t start = analysis_find_mark(analysis, vaddr, -(int64_t)isa->min_insn);
	uint64_t end = start ? analysis_find_mark(analysis, vaddr + isa->min_insn, isa->min_insn) : 0;
	if (!end)
		return RECIPE_NONE;
	analysis_analyse_marked(analysis, start, end);
	uint32_t row = analysis_find_row(analysis, start, vaddr);
	if (row == RECIPE_NONE || analysis->recipes->recipes.at[row].trust != TRUST_PROVEN)
		return RECIPE_NONE;
	*ret_function = start;
	return row;
}

/* --- pieces ------------------------------------------------------------------------------------- */

#define MAX_PIECES 1024    /* kept at a time */
#define PIECE (128u << 10) /* bytes of text that one piece is responsible for */
#define PIECE_MARGIN \
	(32u << 10) /* ... which is larger by this on both sides: functions extend over its ends */

static struct analysis *analysis_make_piece(struct analysis *analysis, uint64_t number)
{
	struct analysis *piece = analysis_new(analysis->image, analysis->frames, analysis->recipes);
	uint64_t start = number * PIECE, end = start + PIECE + PIECE_MARGIN;

	start = start > PIECE_MARGIN ? start - PIECE_MARGIN : 0;
	piece->functions = functions_piece(analysis->functions, start, end);
	flow_init(&piece->flow, functions_facts(piece->functions));
	return piece;
}

/* The piece responsible for vaddr; if there are too many, replaces the least recently used one. */
static struct analysis *analysis_piece_of(struct analysis *analysis, uint64_t vaddr)
{
	struct analysis_piece wanted = { vaddr / PIECE, ++analysis->n_near, NULL };
	size_t oldest = 0;

	for (size_t i = 0; i < analysis->near.n; i++) {
		struct analysis_piece *piece = &analysis->near.at[i];
		if (piece->number == wanted.number) {
			piece->used = wanted.used;
			return piece->analysis;
		}
		if (piece->used < analysis->near.at[oldest].used)
			oldest = i;
	}
	wanted.analysis = analysis_make_piece(analysis, wanted.number);
	if (analysis->near.n < MAX_PIECES) {
		vec_push(&analysis->near, wanted);
	} else {
		analysis_free(analysis->near.at[oldest].analysis);
		analysis->near.at[oldest] = wanted;
	}
	return wanted.analysis;
}

/* What a piece knows is little; the memory for the analysis of a function is much. */
static uint32_t analysis_ask_piece(struct analysis *piece, uint64_t vaddr, uint64_t *ret_function)
{
	uint32_t row = analysis_recipe(piece, vaddr, true, ret_function);

	flow_done(&piece->flow);
	flow_init(&piece->flow, functions_facts(piece->functions));
	return row;
}

uint32_t analysis_near_recipe(struct analysis *analysis, uint64_t vaddr, uint64_t *ret_function)
{
	if (!analysis->functions)
		analysis_open_index(analysis);
	if (!functions_find_takes_long(analysis->functions))
		return RECIPE_NONE;
	uint32_t row = analysis->functions->isa->min_insn > 1
			       ? analysis_marked_recipe(analysis, vaddr, ret_function)
			       : RECIPE_NONE;
	if (row != RECIPE_NONE)
		return row;
	return analysis_ask_piece(analysis_piece_of(analysis, vaddr), vaddr, ret_function);
}
