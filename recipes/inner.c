/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/inner.h"

#include "recipes/recover.h"

#define MAX_ENTRY (4u << 20) /* bytes of an entry that are decoded */
/* Bytes in which calls are looked for in the time that it takes to decode one. */
#define GLANCE 16
/* Bytes of an image that are analysed. The same code is analysed again for each end, of which a hostile file
 * has many. */
#define MAX_ANALYSED (16u << 20)

void inner_done(struct inner *inner, struct image *image)
{
	image_give_back(image, inner->taken);
	table_done(&inner->table);
	map_done(&inner->by_start);
}

/* Takes n from what is left; false if there is less. */
static bool inner_spend(uint64_t *left, uint64_t n)
{
	bool is_enough = n <= *left;

	*left -= is_enough ? n : 0;
	return is_enough;
}

bool inner_is_there(const struct isa *isa, struct image *image, uint64_t start, uint64_t size, uint64_t *left)
{
	struct bytes code = bytes_slice(image_code(image, start), 0, size);
	struct insn insn = { 0 };

	if (!isa->decode || size > MAX_ENTRY || !inner_spend(left, code.len / GLANCE) ||
	    !isa->may_call_inside(code) || !inner_spend(left, code.len))
		return false; /* nearly always: whole functions need not be decoded */
	for (uint64_t at = start; code.len; at += insn.len, code = bytes_from(code, insn.len)) {
		/* Data between the code; if instructions have a fixed length, decoding continues after it. */
		if (isa->decode(code, at, &insn) < 0 || insn.len == 0) {
			insn = (struct insn){ .flow = FLOW_STOP, .len = (uint8_t)isa->min_insn };
			if (isa->min_insn == 1 || code.len < isa->min_insn)
				return false;
		}
		if (insn.flow == FLOW_CALL && insn.target > start && insn.target - start < size &&
		    insn.target != at + insn.len) /* which is how code determines its own address */
			return true;
	}
	return false;
}

struct inner_rows {
	struct flow *flow;
	struct recipes *recipes;
	struct recipe_rows rows;
	uint64_t start;
};

/* It has its own frame on the stack: the interpreter's row is not valid for it. */
static bool inner_has_frame(const struct state *state, const struct isa *isa)
{
	value sp = state->reg[isa->sp];

	return value_kind(sp) == VALUE_CFA && value_offset(sp) < 0;
}

/* If there is such a frame but its return address is lost, that is recorded, too. */
static void inner_see(void *context, const struct flow_point *point)
{
	struct inner_rows *to = context;
	const struct isa *isa = to->flow->isa;
	enum trust trust = point->is_guess ? TRUST_GUESS : recover_trust(to->flow);
	uint32_t recipe = point->state ? recover_recipe(point->state, isa, trust, to->recipes) : RECIPE_NONE;

	if (recipe == RECIPE_NONE && point->state && inner_has_frame(point->state, isa))
		recipe = recipes_add(to->recipes,
				     &(struct recipe){ .cfa_kind = CFA_NONE, .witness = WITNESS_ANALYSIS },
				     NULL);
	recipe_rows_add(&to->rows, (uint32_t)(to->flow->vaddrs.at[point->insn] - to->start), recipe);
}

/* Returns the number of the span. */
static uint32_t inner_analyse(struct inner *inner, struct functions *functions, struct flow *flow,
			      struct recipes *recipes, struct inner_range range)
{
	struct inner_rows to = { .flow = flow, .recipes = recipes, .start = range.start };

	recipe_rows_add(&to.rows, 0, RECIPE_NONE);
	flow->ignores_references = true;
	functions_analyse_range(functions, range.start, range.end, flow);
	if (flow->parts.n)
		flow_walk(flow, 0, inner_see, &to);
	uint64_t bytes = to.rows.rows.n * sizeof(*to.rows.rows.at);
	if (image_take(functions->image, bytes))
		inner->taken += bytes;
	else
		to.rows.rows.n = 1; /* nothing is known */
	uint32_t span = table_add(&inner->table, range.start, range.end - range.start, &to.rows);
	vec_done(&to.rows.rows);
	flow_shrink(flow);
	return span;
}

/* NULL if too much was analysed. The function is analysed again if its end has changed: by new evidence, or
 * because entries overlap. */
static const struct table_span *inner_span(struct inner *inner, struct functions *functions,
					   struct flow *flow, struct recipes *recipes,
					   struct inner_range range)
{
	uint64_t size = range.end - range.start;
	uint32_t known = map_find(&inner->by_start, range.start);

	if (known == MAP_NONE || inner->table.spans.at[known].size != size) {
		if (size > MAX_ANALYSED - inner->n_analysed)
			return NULL;
		inner->n_analysed += size;
		known = inner_analyse(inner, functions, flow, recipes, range);
		map_put(&inner->by_start, range.start, known);
	}
	return &inner->table.spans.at[known];
}

uint32_t inner_recipe(struct inner *inner, struct functions *functions, struct flow *flow,
		      struct recipes *recipes, struct inner_range range, uint64_t vaddr)
{
	uint64_t size = image_code(functions->image, range.start).len;

	if (range.end - range.start > size) /* an unwind entry may claim to cover more than there is */
		range.end = range.start + size;
	if (vaddr <= range.start || vaddr >= range.end)
		return RECIPE_NONE;
	functions_look_around(functions, vaddr);
	uint64_t start = functions_last_inner(functions, range.start + 1, vaddr + 1);
	if (start == UINT64_MAX)
		return RECIPE_NONE;
	uint64_t next = functions_first_inner(functions, vaddr + 1, range.end);
	const struct table_span *span =
		inner_span(inner, functions, flow, recipes,
			   (struct inner_range){ start, next < range.end ? next : range.end });
	struct table_view view = table_view_of(&inner->table);
	return span ? table_span_recipe(&view, span, vaddr) : RECIPE_NONE;
}
