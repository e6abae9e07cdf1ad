/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/code.h"

#include <stdlib.h>

#include "binary/functions/stub.h"
#include "recipes/cfi.h"
#include "recipes/inner.h"
#include "recipes/template.h"

/* Larger functions are assumed to do so: decoding them would delay a sample. */
#define LEAVE_MAX_BYTES (64u << 10)
/* Bytes of an unwind program. The longest of compilers have 20,000, and few have more than this. In a hostile
 * file entries overlap, so that each function has one as long as the file. */
#define LONG_PROGRAM 4096
#define MAX_LONG (1u << 20) /* of all long ones together */
/* Bytes of entries that are decoded from end to end; without overlaps it would be a very large program. */
#define MAX_DECODED (32u << 20)

/* The state of a span. */
enum leaves { LEAVES_UNKNOWN, LEAVES_NOT, LEAVES };
/* Are there functions inside a span? */
enum inner_state { INNER_UNKNOWN, INNER_NONE, INNER };

struct code *code_new(struct image *image, const struct isa *isa, struct recipes *recipes,
		      uint64_t *n_compiled, struct store *store)
{
	struct code *code = alloc_zero(1, sizeof(*code));

	code->image = image;
	code->isa = isa;
	code->recipes = recipes;
	code->n_compiled = n_compiled;
	code->n_decodable = MAX_DECODED;
	kept_init(&code->kept, image, recipes, store);
	return code;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	analysis_free(code->analysis);
	frames_free(code->frames);
	kept_done(&code->kept);
	go_stacks_free(code->go);
	free(code->by_frame);
	table_done(&code->table);
	image_give_back(code->image, code->taken);
	free(code);
}

const struct frames *code_frames(struct code *code)
{
	if (!code->frames)
		code->frames = frames_read(code->image);
	return code->frames;
}

struct analysis *code_analysis(struct code *code)
{
	if (code->analysis)
		return code->analysis;
	code->analysis = analysis_new(code->image, code_frames(code), code->recipes);
	if (code->kept.store)
		analysis_use_index(code->analysis, kept_index(&code->kept));
	return code->analysis;
}

void code_read(struct code *code)
{
	if (code->has_entries)
		return;
	code->has_entries = true;
	code->go = go_stacks_read(code->image);
	code->by_frame = alloc_zero(frames_count(code_frames(code)), sizeof(*code->by_frame));
	code->entry_end = template_entry_end(code->image, code->frames);
}

static uint64_t code_recipes_size(const struct recipes *recipes)
{
	return recipes->recipes.n * sizeof(*recipes->recipes.at) +
	       recipes->rules.n * sizeof(*recipes->rules.at) + recipes->n_expr_bytes;
}

/* Memory that is used already: the next entry is not compiled if it was too much. */
static void code_take(struct code *code, uint64_t bytes)
{
	if (image_take(code->image, bytes))
		code->taken += bytes;
	else
		code->is_full = true;
}

/* Is there time, and memory, for this one? */
static bool code_may_compile(struct code *code, const struct fde *fde)
{
	if (code->is_full)
		return false;
	if (fde->program.len <= LONG_PROGRAM)
		return true;
	if (fde->program.len > MAX_LONG - code->n_long)
		return false;
	code->n_long += fde->program.len;
	return true;
}

static struct table_span *code_compile(struct code *code, const struct fde *fde, size_t index)
{
	struct recipe_rows rows = { 0 };
	uint64_t before = code_recipes_size(code->recipes);

	if (code_may_compile(code, fde))
		cfi_compile(fde, code->isa, code->recipes, &rows); /* damage is recorded in the rows */
	else
		recipe_rows_add(&rows, 0, RECIPE_NONE);
	code_take(code, code_recipes_size(code->recipes) - before + rows.rows.n * sizeof(*rows.rows.at));
	uint32_t span = table_add(&code->table, fde->start, fde->size, &rows);
	vec_done(&rows.rows);
	code->by_frame[index] = span + 1;
	++*code->n_compiled;
	return &code->table.spans.at[span];
}

struct table_span *code_entry(struct code *code, uint64_t vaddr)
{
	struct fde fde;
	size_t index;

	code_read(code);
	size_t n = frames_count_up_to(code->frames, vaddr);
	uint32_t known = n ? code->by_frame[n - 1] : 0;
	struct table_span *span = known ? &code->table.spans.at[known - 1] : NULL;

	if (span && vaddr - span->start < span->size)
		return span; /* the entry need not be read again */
	if (frames_find_index(code->frames, vaddr, &fde, &index) < 0)
		return NULL;
	if (code->by_frame[index])
		return &code->table.spans.at[code->by_frame[index] - 1];
	return code_compile(code, &fde, index);
}

uint32_t code_entry_recipe(const struct code *code, const struct table_span *entry, uint64_t vaddr)
{
	struct table_view view = table_view_of(&code->table);

	return table_span_recipe(&view, entry, vaddr);
}

/* No frame is created, or the CFA is again as at the entry, after a row where it is not. */
bool code_entry_is_exact(const struct code *code, const struct table_span *entry)
{
	struct table_view view = table_view_of(&code->table);
	const struct recipe_row *rows = table_rows(&view, entry);
	const struct recipe *first = NULL;
	bool is_same = true, was_other = false;

	for (uint32_t i = 0; rows && i < entry->n_rows; i++) {
		if (rows[i].recipe == RECIPE_NONE)
			return false;
		const struct recipe *it = &code->recipes->recipes.at[rows[i].recipe];
		first = first ? first : it;
		is_same = it->cfa_kind == first->cfa_kind && it->cfa_reg == first->cfa_reg &&
			  it->cfa_offset == first->cfa_offset;
		if (is_same && was_other)
			return true;
		was_other |= !is_same;
	}
	return rows && !was_other;
}

/* Does control leave [start, start + size) other than by returning? */
static bool code_leaves(struct code *code, uint64_t start, uint64_t size)
{
	struct bytes bytes = bytes_slice(image_code(code->image, start), 0, size);
	struct insn insn = { .flow = FLOW_NEXT };

	if (!code->isa->decode || size > LEAVE_MAX_BYTES || size > code->n_decodable)
		return true;
	code->n_decodable -= size;
	for (uint64_t at = start; bytes.len; at += insn.len, bytes = bytes_from(bytes, insn.len)) {
		if (code->isa->decode(bytes, at, &insn) < 0 || insn.len == 0)
			return true;
		bool is_jump = insn.flow == FLOW_JUMP || insn.flow == FLOW_BRANCH;
		if (insn.flow == FLOW_JUMP_INDIRECT || (is_jump && insn.target - start >= size))
			return true;
	}
	return insn.flow == FLOW_NEXT; /* falls through to the following code */
}

bool code_has_inner(struct code *code, struct table_span *entry)
{
	if (entry->inner == INNER_UNKNOWN)
		entry->inner =
			inner_is_there(code->isa, code->image, entry->start, entry->size, &code->n_decodable)
				? INNER
				: INNER_NONE;
	return entry->inner == INNER;
}

bool code_may_leave(struct code *code, uint64_t vaddr)
{
	struct table_span *entry = code_entry(code, vaddr);
	struct stub stub;

	if (!entry || stub_match(code->image, vaddr, &stub))
		return true;
	if (entry->state == LEAVES_UNKNOWN)
		entry->state = code_leaves(code, entry->start, entry->size) ? LEAVES : LEAVES_NOT;
	return entry->state == LEAVES;
}
