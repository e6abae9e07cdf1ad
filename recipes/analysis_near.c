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

/* Bytes of memory for pieces: some seven hundred, if their functions are not unusually many. */
#define MAX_NEAR (128u << 20)
#define PIECE (128u << 10) /* bytes of text that one piece is responsible for */
#define PIECE_MARGIN \
	(32u << 10) /* ... which is larger by this on both sides: functions extend over its ends */
#define PIECE_EVIDENCE (PIECE + 2 * PIECE_MARGIN) /* bytes of memory for what was seen in its text */

static struct analysis *analysis_make_piece(struct analysis *analysis, uint64_t number)
{
	struct analysis *piece = analysis_new(analysis->image, analysis->frames, analysis->recipes);
	uint64_t start = number * PIECE, end = start + PIECE + PIECE_MARGIN;

	start = start > PIECE_MARGIN ? start - PIECE_MARGIN : 0;
	piece->functions = functions_piece(analysis->functions, start, end);
	flow_init(&piece->flow, functions_facts(piece->functions));
	return piece;
}

/* The piece responsible for vaddr. */
static struct analysis_piece *analysis_piece_of(struct analysis *analysis, uint64_t vaddr)
{
	struct analysis_piece made = { .number = vaddr / PIECE };

	for (size_t i = 0; i < analysis->near.n; i++)
		if (analysis->near.at[i].number == made.number)
			return &analysis->near.at[i];
	made.analysis = analysis_make_piece(analysis, made.number);
	vec_push(&analysis->near, made);
	return &analysis->near.at[analysis->near.n - 1];
}

/* What a piece knows is little; the memory for the analysis of a function is much. */
static uint32_t analysis_ask_piece(struct analysis *piece, uint64_t vaddr, uint64_t *ret_function)
{
	uint32_t row = analysis_recipe(piece, vaddr, true, ret_function);

	flow_done(&piece->flow);
	flow_init(&piece->flow, functions_facts(piece->functions));
	return row;
}

static void analysis_drop_oldest_piece(struct analysis *analysis)
{
	size_t oldest = 0;

	for (size_t i = 1; i < analysis->near.n; i++)
		if (analysis->near.at[i].used < analysis->near.at[oldest].used)
			oldest = i;
	analysis->near_size -= analysis->near.at[oldest].size;
	analysis_free(analysis->near.at[oldest].analysis);
	analysis->near.at[oldest] = analysis->near.at[--analysis->near.n];
}

/* Its answer may have made the piece larger. */
static void analysis_weigh_piece(struct analysis *analysis, struct analysis_piece *piece)
{
	uint64_t size = PIECE_EVIDENCE + piece->analysis->functions->n * sizeof(struct function) +
			piece->analysis->table.spans.n * sizeof(struct table_span) +
			piece->analysis->table.rows.n * sizeof(struct recipe_row);

	piece->used = ++analysis->n_near;
	analysis->near_size += size - piece->size;
	piece->size = size;
	while (analysis->near_size > MAX_NEAR && analysis->near.n > 1)
		analysis_drop_oldest_piece(analysis);
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
	struct analysis_piece *piece = analysis_piece_of(analysis, vaddr);
	row = analysis_ask_piece(piece->analysis, vaddr, ret_function);
	analysis_weigh_piece(analysis, piece);
	return row;
}
