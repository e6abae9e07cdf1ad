/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "binary/flow/entry.h"
#include "binary/flow/noreturn.h"
#include "recipes/analysis_private.h"
#include "recipes/recover.h"

#define MAX_OWNERS 8        /* functions tried as the owner of a part */
#define MAX_JUMPERS 64      /* jumps into it that are tried for that: most come from the same function */
#define MANY_FUNCTIONS 2048 /* an index of at least this many functions is worth caching */
#define MIN_INTERPRETER 512 /* bytes */
#define MAX_PIECES 8        /* that start before an address and may cover it: functions share their ends */

/* The state of a span. */
enum span_state {
	SPAN_UNSEEN,
	SPAN_FUNCTION,
	SPAN_OPEN /* whether it is a function depends on what else is known */
};

struct analysis *analysis_new(struct image *image, const struct frames *frames, struct recipes *recipes)
{
	if (!isa_for_machine(image->elf_machine))
		return NULL;
	struct analysis *analysis = alloc_zero(1, sizeof(*analysis));
	analysis->image = image;
	analysis->frames = frames;
	analysis->recipes = recipes;
	return analysis;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	for (size_t i = 0; i < analysis->near.n; i++)
		analysis_free(analysis->near.at[i].analysis);
	vec_done(&analysis->near);
	if (analysis->functions)
		flow_done(&analysis->flow);
	functions_free(analysis->functions);
	symbols_free(analysis->symbols);
	writer_done(&analysis->index);
	table_done(&analysis->table);
	vec_done(&analysis->pieces);
	map_done(&analysis->by_start);
	map_done(&analysis->tried);
	inner_done(&analysis->inner, analysis->image);
	free(analysis);
}

uint64_t analysis_count(const struct analysis *analysis)
{
	return analysis->n_analysed;
}

void analysis_use_index(struct analysis *analysis, struct bytes index)
{
	analysis->given = index;
	analysis->packs_index = true;
}

struct bytes analysis_index(const struct analysis *analysis)
{
	return writer_bytes(&analysis->index);
}

static const struct symbols *analysis_symbols_of(struct analysis *analysis)
{
	if (!analysis->symbols)
		analysis->symbols = symbols_read(analysis->image);
	return analysis->symbols;
}

struct functions *analysis_functions(struct analysis *analysis)
{
	bool has_names = analysis->functions && analysis->functions->symbols;

	return has_names ? analysis->functions : NULL;
}

void analysis_open_index(struct analysis *analysis)
{
	analysis->functions = functions_unpack(analysis->image, analysis->frames, analysis->given);
	if (!analysis->functions) {
		analysis->functions =
			functions_new(analysis->image, analysis_symbols_of(analysis), analysis->frames, NULL);
		if (analysis->packs_index && analysis->functions->n >= MANY_FUNCTIONS)
			functions_pack(analysis->functions, &analysis->index);
	}
	flow_init(&analysis->flow, functions_facts(analysis->functions));
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The number of pieces that start at vaddr or before it. */
static size_t analysis_n_pieces_up_to(const struct analysis *analysis, uint64_t vaddr)
{
	return search_first(i, analysis->pieces.n,
			    analysis->table.spans.at[analysis->pieces.at[i]].start > vaddr);
}

static void analysis_keep_piece(struct analysis *analysis, uint32_t span)
{
	size_t at = analysis_n_pieces_up_to(analysis, analysis->table.spans.at[span].start);

	vec_push(&analysis->pieces, span);
	memmove(analysis->pieces.at + at + 1, analysis->pieces.at + at,
		(analysis->pieces.n - 1 - at) * sizeof(span));
	analysis->pieces.at[at] = span;
}

void analysis_keep_rows(struct analysis *analysis, size_t part)
{
	const struct flow_part *p = &analysis->flow.parts.at[part];
	struct recipe_rows rows = { 0 };

	if (map_find(&analysis->by_start, p->start) != MAP_NONE)
		return;
	recover_rows(&analysis->flow, part, analysis->recipes, &rows);
	uint32_t span = table_add(&analysis->table, p->start, p->end - p->start, &rows);
	vec_done(&rows.rows);
	map_put(&analysis->by_start, p->start, span);
	analysis->table.spans.at[span].is_part = part > 0;
	if (part > 0)
		analysis_keep_piece(analysis, span);
}

/*
 * Once per function, and again if a callee turns out not to return. The references found so far depend on
 * earlier queries; the result for a stated function must not.
 */
static void analysis_analyse(struct analysis *analysis, uint32_t index)
{
	uint64_t start = analysis->functions->at[index].start;
	bool is_stated = !function_is_inferred(&analysis->functions->at[index]);

	if (map_find(&analysis->tried, start) != MAP_NONE)
		return;
	map_put(&analysis->tried, start, 1);
	analysis->flow.ignores_references = is_stated;
	functions_analyse_alone(analysis->functions, index, &analysis->flow);
	analysis->n_analysed++;
	for (size_t part = 0; part < analysis->flow.parts.n; part++)
		analysis_keep_rows(analysis, part);
}

static uint32_t analysis_span_recipe(const struct analysis *analysis, uint32_t span, uint64_t vaddr)
{
	struct table_view view = table_view_of(&analysis->table);

	return table_span_recipe(&view, &view.spans[span], vaddr);
}

/*
 * The recipe at vaddr, given the start of the function or part that contains it. Code that a function
 * absorbed need not start where the index has a start.
 */
uint32_t analysis_find_row(const struct analysis *analysis, uint64_t start, uint64_t vaddr)
{
	uint32_t found = map_find(&analysis->by_start, start);
	uint32_t row = found == MAP_NONE ? RECIPE_NONE : analysis_span_recipe(analysis, found, vaddr);
	size_t n = analysis_n_pieces_up_to(analysis, vaddr);

	for (size_t back = 0; row == RECIPE_NONE && back < n && back < MAX_PIECES; back++)
		row = analysis_span_recipe(analysis, analysis->pieces.at[n - 1 - back], vaddr);
	return row;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* name.cold belongs to a function called name; several may have that name. */
static void analysis_analyse_namesakes(struct analysis *analysis, const char *part_name, uint64_t part,
				       uint64_t vaddr)
{
	const char *dot = strstr(part_name, ".cold");
	size_t len = dot ? (size_t)(dot - part_name) : 0;
	const struct symbols *symbols = len ? analysis_symbols_of(analysis) : NULL;
	unsigned n_tried = 0;

	for (size_t i = 0; len && i < symbols->n && n_tried < MAX_OWNERS; i++) {
		const struct symbol *symbol = &symbols->at[i];
		if (strncmp(symbol->name, part_name, len) != 0 || symbol->name[len])
			continue;
		uint32_t index = functions_index(analysis->functions, symbol->vaddr);
		if (index == FUNCTION_NONE || analysis->functions->at[index].start == part)
			continue;
		analysis_analyse(analysis, index);
		n_tried++;
		if (analysis_find_row(analysis, part, vaddr) != RECIPE_NONE)
			return;
	}
}

/* Analyses the functions that jump into [start, end), until one of them turns out to contain vaddr. */
static void analysis_analyse_jumpers(struct analysis *analysis, uint64_t start, uint64_t end, uint64_t vaddr)
{
	uint64_t from[MAX_JUMPERS];
	size_t n = functions_jumpers(analysis->functions, start, end, from, MAX_JUMPERS);
	uint64_t n_before = analysis->n_analysed;

	for (size_t i = 0; i < n && i < MAX_JUMPERS && analysis->n_analysed < n_before + MAX_OWNERS; i++) {
		uint32_t index = functions_find(analysis->functions, from[i]);
		if (index != FUNCTION_NONE && analysis->functions->at[index].start != start)
			analysis_analyse(analysis, index);
		if (analysis_find_row(analysis, start, vaddr) != RECIPE_NONE)
			return;
	}
}

/* An interpreter in assembly does not begin as a function does: it is entered through prologues further on.
 */
static uint32_t analysis_interpreter_recipe(struct analysis *analysis, const struct function *f,
					    uint64_t vaddr)
{
	if (!(f->sources & FROM_FRAME) || f->end - f->start < MIN_INTERPRETER)
		return RECIPE_NONE;
	if (map_find(&analysis->tried, f->start) == MAP_NONE) {
		uint64_t start = f->start;
		map_put(&analysis->tried, start, 1);
		analysis->flow.ignores_references = true;
		functions_analyse_alone(analysis->functions, functions_index(analysis->functions, start),
					&analysis->flow);
		analysis->n_analysed++;
		if (analysis->flow.is_threaded)
			analysis_keep_rows(analysis, 0);
	}
	return analysis_find_row(analysis, f->start, vaddr);
}

/*
 * Code that nothing is seen to enter as a function is analysed with the function that jumps there. If that
 * one is not found, nothing is known of it, unless it stands alone between traps: then whoever gets there
 * jumps through a pointer, as V8's bytecode handlers do, which pass values in registers that no caller sets.
 */
static uint32_t analysis_part_recipe(struct analysis *analysis, const struct function *part, uint64_t vaddr,
				     bool is_alone)
{
	struct function copy = *part; /* the search for functions that jump there may move the array */

	if (copy.name)
		analysis_analyse_namesakes(analysis, copy.name, copy.start, vaddr);
	uint32_t row = analysis_find_row(analysis, copy.start, vaddr);
	if (row == RECIPE_NONE)
		row = analysis_interpreter_recipe(analysis, &copy, vaddr);
	if (row != RECIPE_NONE || !is_alone)
		return row;
	functions_look_around(analysis->functions, vaddr);
	analysis_analyse_jumpers(analysis, copy.start, copy.end, vaddr);
	row = analysis_find_row(analysis, copy.start, vaddr);
	uint32_t index = functions_index(analysis->functions, copy.start);
	if (row != RECIPE_NONE || index == FUNCTION_NONE || copy.kind == FUNCTION_PART ||
	    !(copy.sources & FROM_TRAPS))
		return row;
	analysis_analyse(analysis, index);
	return analysis_find_row(analysis, copy.start, vaddr);
}

/* Code that nobody is known to call, and that may be a function all the same. */
static uint32_t analysis_range_recipe(struct analysis *analysis, uint64_t start, uint64_t end, uint64_t vaddr)
{
	if (map_find(&analysis->tried, start) == MAP_NONE) {
		map_put(&analysis->tried, start, 1);
		analysis->flow.ignores_references = false;
		functions_analyse_range(analysis->functions, start, end, &analysis->flow);
		analysis->n_analysed++;
		for (size_t part = 0; part < analysis->flow.parts.n; part++)
			analysis_keep_rows(analysis, part);
	}
	return analysis_find_row(analysis, start, vaddr);
}

/*
 * Between functions there is what those that jump there took in: an end they share, cold code. Or a function
 * of hand-written or generated code that is only jumped to, if it stands alone between traps: many may do
 * that, and each takes it in.
 */
static uint32_t analysis_gap_recipe(struct analysis *analysis, uint64_t vaddr, bool is_alone,
				    uint64_t *ret_function)
{
	uint64_t start = functions_last_end(analysis->functions, vaddr);
	uint64_t end = functions_next_start(analysis->functions, vaddr);
	bool stands_alone = functions_between_traps(analysis->functions, vaddr, &start, &end);
	uint32_t row = analysis_find_row(analysis, start, vaddr);

	if (row == RECIPE_NONE && is_alone)
		analysis_analyse_jumpers(analysis, start, end, vaddr);
	row = analysis_find_row(analysis, start, vaddr);
	if (row == RECIPE_NONE && is_alone && stands_alone)
		row = analysis_range_recipe(analysis, start, end, vaddr);
	if (row != RECIPE_NONE)
		*ret_function = start;
	return row;
}

static bool analysis_is_part(const struct analysis *analysis, const struct function *f)
{
	return f->kind == FUNCTION_PART ||
	       (!function_is_sure(f) &&
		!entry_is_plausible(analysis->functions->isa, analysis->image, f->start));
}

/* The end of the function is neither stated nor searched: code that it does not reach may belong to another
 * function. */
static uint32_t analysis_drop_guess(const struct analysis *analysis, bool is_bounded, uint32_t row)
{
	if (row == RECIPE_NONE || is_bounded || analysis->functions->is_surveyed)
		return row;
	return analysis->recipes->recipes.at[row].trust == TRUST_GUESS ? RECIPE_NONE : row;
}

static uint32_t analysis_find_recipe(struct analysis *analysis, uint64_t vaddr, bool is_alone,
				     uint64_t *ret_function)
{
	if (!analysis->functions)
		analysis_open_index(analysis);

	bool takes_long = functions_find_takes_long(analysis->functions); /* and a sample is waiting */
	is_alone &= !takes_long;
	uint32_t index = is_alone ? functions_find(analysis->functions, vaddr)
				  : functions_index(analysis->functions, vaddr);
	if (index == FUNCTION_NONE)
		return analysis_gap_recipe(analysis, vaddr, is_alone, ret_function);

	const struct function *f = &analysis->functions->at[index];
	/* Up to the next known start there may be a megabyte of other functions: analysis_near_recipe finds
	 * where it ends. */
	if (takes_long && function_is_inferred(f))
		return RECIPE_NONE;
	uint64_t start = f->start;
	bool is_bounded = is_alone || !function_is_inferred(f);
	*ret_function = start;
	if (f->kind == FUNCTION_STUB || f->kind == FUNCTION_STUB_HEAD) /* a template */
		return RECIPE_NONE;
	uint32_t row = analysis_find_row(analysis, start, vaddr);
	if (row != RECIPE_NONE)
		return analysis_drop_guess(analysis, is_bounded, row);
	if (analysis_is_part(analysis, f))
		return analysis_part_recipe(analysis, f, vaddr, is_alone);
	analysis_analyse(analysis, index);
	return analysis_drop_guess(analysis, is_bounded, analysis_find_row(analysis, start, vaddr));
}

uint32_t analysis_recipe(struct analysis *analysis, uint64_t vaddr, bool is_alone, uint64_t *ret_function)
{
	uint32_t row = analysis_find_recipe(analysis, vaddr, is_alone, ret_function);

	flow_shrink(&analysis->flow);
	return row;
}

/* Is it a function, or does that depend on the evidence collected so far? */
static bool analysis_is_function(const struct analysis *analysis, const struct function *f,
				 struct table_span *span)
{
	bool is_named = f->sources & (FROM_SYMBOL | FROM_ENTRY);

	if (span->state == SPAN_UNSEEN)
		span->state = f->kind != FUNCTION_PART &&
					      (is_named || entry_is_plausible(analysis->functions->isa,
									      analysis->image, f->start))
				      ? SPAN_FUNCTION
				      : SPAN_OPEN;
	return span->state == SPAN_FUNCTION;
}

bool analysis_span(struct analysis *analysis, uint64_t vaddr, bool is_alone, struct table_span *ret)
{
	uint32_t index = functions_index(analysis->functions, vaddr);
	const struct function *f = index == FUNCTION_NONE ? NULL : &analysis->functions->at[index];
	uint32_t own = f ? map_find(&analysis->by_start, f->start) : MAP_NONE;
	struct table_span *span = own == MAP_NONE ? NULL : &analysis->table.spans.at[own];

	if (!span || span->is_part || analysis_span_recipe(analysis, own, vaddr) == RECIPE_NONE ||
	    !analysis_is_function(analysis, f, span))
		return false;
	/* In a large text, which functions are found in a gap depends on where the search began. */
	if (function_is_inferred(f) && (!is_alone || functions_find_is_partial(analysis->functions)))
		return false;
	bool is_longer = span->size > f->end - f->start;
	*ret = (struct table_span){ .start = span->start,
				    .size = is_longer ? (uint32_t)(f->end - f->start) : span->size,
				    .first_row = span->first_row,
				    .n_rows = span->n_rows };
	return true;
}

const struct recipe_table *analysis_table(const struct analysis *analysis)
{
	return &analysis->table;
}

uint32_t analysis_inner_recipe(struct analysis *analysis, uint64_t start, uint64_t end, uint64_t vaddr)
{
	if (!analysis->functions)
		analysis_open_index(analysis);
	return inner_recipe(&analysis->inner, analysis->functions, &analysis->flow, analysis->recipes,
			    (struct inner_range){ start, end }, vaddr);
}

bool analysis_sp_from_fp(struct analysis *analysis, uint64_t vaddr, int64_t *ret)
{
	if (!analysis->functions)
		analysis_open_index(analysis);
	uint32_t index = functions_index(analysis->functions, vaddr);
	if (index == FUNCTION_NONE || function_is_inferred(&analysis->functions->at[index]) ||
	    analysis_is_part(analysis, &analysis->functions->at[index]))
		return false;
	analysis->flow.ignores_references = true;
	functions_analyse_alone(analysis->functions, index, &analysis->flow);
	return recover_sp_from_fp(&analysis->flow, vaddr, ret);
}

uint64_t analysis_kept(struct analysis *analysis, uint64_t vaddr)
{
	if (!analysis->functions)
		analysis_open_index(analysis);
	const struct isa *isa = analysis->functions->isa;
	uint64_t all = ((1ull << isa->n_regs) - 1) & ~(1ull << isa->pc | 1ull << isa->ra | 1ull << isa->sp);
	return all & ~functions_writes(analysis->functions, vaddr);
}

uint64_t analysis_name_number(const char *name)
{
	return name ? hash_bytes((struct bytes){ (const uint8_t *)name, strlen(name) }) | 1 : 0;
}

uint64_t analysis_name(struct analysis *analysis, uint64_t vaddr)
{
	if (!analysis->functions)
		analysis_open_index(analysis);
	uint32_t index = functions_index(analysis->functions, vaddr);
	const struct function *f = index == FUNCTION_NONE ? NULL : &analysis->functions->at[index];

	/* A cached index has few names; the answer must not depend on whether it was cached. */
	bool is_told = f && f->start == vaddr && (f->kind == FUNCTION_STUB || noreturn_by_name(f->name));
	return is_told ? analysis_name_number(f->name) : 0;
}

/* Compares with a name number as of analysis_name_number. */
static bool analysis_is_name(void *context, const char *name, size_t len)
{
	const uint64_t *wanted = context;

	return (hash_bytes((struct bytes){ (const uint8_t *)name, len }) | 1) == *wanted;
}

int analysis_file_has_name(struct image *image, uint64_t vaddr, uint64_t name)
{
	return symbols_have(image, vaddr, analysis_is_name, &name);
}

bool analysis_has_name(struct analysis *analysis, uint64_t vaddr, uint64_t name)
{
	const struct symbols *symbols = analysis_symbols_of(analysis);
	size_t at = search_first(i, symbols->n, symbols->at[i].vaddr >= vaddr);

	for (; at < symbols->n && symbols->at[at].vaddr == vaddr; at++)
		if (analysis_name_number(symbols->at[at].name) == name)
			return true;
	return false;
}

#define MAX_LEADING 4096 /* bytes of a helper that are analysed */

bool analysis_leads_only_to(struct analysis *analysis, uint64_t from, uint64_t to)
{
	if (!analysis->functions)
		analysis_open_index(analysis);
	uint32_t index = functions_index(analysis->functions, from);
	const struct function *f = index == FUNCTION_NONE ? NULL : &analysis->functions->at[index];
	const struct isa *isa = analysis->functions->isa;
	struct insn insn = { .flow = FLOW_STOP };

	if (!f || f->start != from || f->end - from > MAX_LEADING)
		return false;
	if (f->kind == FUNCTION_STUB)
		return true;
	for (uint64_t at = from; at < f->end; at += insn.len) {
		if (isa->decode(image_code(analysis->image, at), at, &insn) < 0 || insn.len == 0)
			return false;
		bool jumps = insn.flow == FLOW_JUMP || insn.flow == FLOW_BRANCH;
		bool leaves = jumps && (insn.target < from || insn.target >= f->end);
		if (insn.flow == FLOW_JUMP_INDIRECT || (leaves && insn.target != to))
			return false;
	}
	bool runs_on = insn.flow != FLOW_JUMP && insn.flow != FLOW_RETURN && insn.flow != FLOW_STOP;
	return !runs_on || f->end == to;
}
