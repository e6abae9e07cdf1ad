/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/inner.h"

#include "recipes/recover.h"

#define MAX_ENTRY (4u << 20) /* bytes of an entry that are decoded */
#define MAX_OPENING 4        /* instructions with which a function sets up its frame */

void inner_done(struct inner *inner)
{
	table_done(&inner->table);
	map_done(&inner->by_start);
}

bool inner_is_there(const struct isa *isa, struct image *image, uint64_t start, uint64_t size)
{
	struct bytes code = bytes_slice(image_code(image, start), 0, size);
	struct insn insn = { 0 };

	if (!isa->decode || size > MAX_ENTRY || !isa->may_call_inside(code))
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

/* Does the code begin by allocating stack? The continuation of an interpreter does not. */
static bool inner_makes_frame(const struct functions *functions, uint64_t vaddr)
{
	const struct isa *isa = functions->isa;
	struct insn insn;

	for (unsigned n = 0; n < MAX_OPENING; n++, vaddr += insn.len) {
		if (isa->decode(image_code(functions->image, vaddr), vaddr, &insn) < 0 || insn.len == 0 ||
		    insn.flow != FLOW_NEXT)
			return false;
		for (unsigned i = 0; i < insn.n_effects && i < INSN_MAX_EFFECTS; i++) {
			const struct effect *e = &insn.effect[i];
			if (e->kind == EFFECT_SET && e->reg == isa->sp && e->base == isa->sp &&
			    e->index == REG_NONE && e->imm < 0)
				return true;
		}
	}
	return false;
}

static bool inner_is_start(const struct functions *functions, uint64_t vaddr)
{
	return functions_is_called(functions, vaddr) ||
	       (functions_is_taken(functions, vaddr) && inner_makes_frame(functions, vaddr));
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

static void inner_analyse(struct inner *inner, struct functions *functions, struct flow *flow,
			  struct recipes *recipes, struct inner_range range)
{
	struct inner_rows to = { .flow = flow, .recipes = recipes, .start = range.start };

	recipe_rows_add(&to.rows, 0, RECIPE_NONE);
	flow->ignores_references = true;
	functions_analyse_range(functions, range.start, range.end, flow);
	if (flow->parts.n)
		flow_walk(flow, 0, inner_see, &to);
	map_put(&inner->by_start, range.start,
		table_add(&inner->table, range.start, range.end - range.start, &to.rows));
	vec_done(&to.rows.rows);
}

uint32_t inner_recipe(struct inner *inner, struct functions *functions, struct flow *flow,
		      struct recipes *recipes, struct inner_range range, uint64_t vaddr)
{
	uint64_t step = functions->isa->min_insn, start = vaddr - vaddr % step, end = start + step;
	uint64_t size = image_code(functions->image, range.start).len;

	if (range.end - range.start > size) /* an unwind entry may claim to cover more than there is */
		range.end = range.start + size;
	if (start <= range.start || vaddr >= range.end)
		return RECIPE_NONE;
	functions_look_around(functions, vaddr);
	while (start > range.start && !inner_is_start(functions, start))
		start -= step;
	while (end < range.end && !inner_is_start(functions, end))
		end += step;
	if (start <= range.start)
		return RECIPE_NONE;
	if (map_find(&inner->by_start, start) == MAP_NONE)
		inner_analyse(inner, functions, flow, recipes, (struct inner_range){ start, end });
	struct table_view view = table_view_of(&inner->table);
	return table_span_recipe(&view, &view.spans[map_find(&inner->by_start, start)], vaddr);
}
