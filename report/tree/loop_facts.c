/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/loop_facts.h"

#include "base/cleanup.h"
#include "base/hash.h"

/* Costs by two small numbers. */
struct pair_costs {
	struct map map; /* first << 32 | second -> index */
	VEC(uint64_t) cost;
	VEC(uint64_t) key;
};

static void pair_costs_add(struct pair_costs *pairs, uint32_t first, uint32_t second, uint64_t cost)
{
	uint64_t key = (uint64_t)first << 32 | second;
	uint32_t at = map_find(&pairs->map, key);

	if (at == MAP_NONE) {
		map_put(&pairs->map, key, at = (uint32_t)pairs->cost.n);
		vec_push(&pairs->cost, 0);
		vec_push(&pairs->key, key);
	}
	pairs->cost.at[at] += cost;
}

static void pair_costs_done(struct pair_costs *pairs)
{
	map_done(&pairs->map);
	vec_done(&pairs->cost);
	vec_done(&pairs->key);
}

struct collector {
	const struct profile *profile;
	const struct scope_tree *tree;
	struct loop_table *table;
	struct pair_costs lines; /* (group, number of the line) */
	struct map line_numbers; /* file << 32 | line -> number */
	VEC(uint64_t) line_of;   /* by number */
};

static uint32_t line_number(struct collector *c, const struct scope_frame *line)
{
	uint64_t key = (uint64_t)line->file << 32 | line->line;
	uint32_t number = map_find(&c->line_numbers, key);

	if (number == MAP_NONE) {
		map_put(&c->line_numbers, key, number = (uint32_t)c->line_of.n);
		vec_push(&c->line_of, key);
	}
	return number;
}

/* The loops of the function in which the value was measured. */
static void count_in_function(struct collector *c, const struct scope_value *value)
{
	const struct scope_frame *line = scope_frame(c->tree, value->scope);
	bool has_line = line->kind == SCOPE_LINE, is_first = true;
	uint32_t at = has_line ? c->tree->scopes.at[value->scope].parent : value->scope;

	for (;; at = c->tree->scopes.at[at].parent) {
		unsigned kind = scope_kind(c->tree, at);
		if (kind != SCOPE_LOOP && kind != SCOPE_INLINE)
			return;
		if (kind == SCOPE_INLINE)
			continue;
		uint32_t group = c->table->groups.of[at];
		struct loop_facts *facts = &c->table->facts[group];
		if (is_first)
			facts->own += value->value;
		if (is_first && has_line && facts->has_code && loop_code_is_vector(&facts->code, line->vaddr))
			facts->vector += value->value;
		if (has_line && line->line)
			pair_costs_add(&c->lines, group, line_number(c, line), value->value);
		is_first = false;
	}
}

static void find_hot_lines(struct collector *c)
{
	for (size_t i = 0; i < c->lines.cost.n; i++) {
		struct loop_facts *facts = &c->table->facts[c->lines.key.at[i] >> 32];
		if (c->lines.cost.at[i] <= facts->hot_cost)
			continue;
		uint64_t line = c->line_of.at[(uint32_t)c->lines.key.at[i]];
		facts->hot_cost = c->lines.cost.at[i];
		facts->hot_file = (uint32_t)(line >> 32);
		facts->hot_line = (uint32_t)line;
	}
}

void loop_table_init(struct loop_table *table, const struct profile *profile, const struct scope_tree *tree,
		     uint32_t metric, const bool *is_kept)
{
	struct collector c = { .profile = profile, .tree = tree, .table = table };

	groups_init(&table->groups, tree, GROUP_LOOP);
	size_t n = table->groups.scopes.n;
	table->facts = alloc_zero(n + 1, sizeof(*table->facts));
	for (size_t i = 0; i < n; i++) {
		const struct scope_frame *loop = scope_frame(tree, table->groups.scopes.at[i]);
		table->facts[i].has_code =
			loop_code_find(profile, loop->image, loop->vaddr, &table->facts[i].code);
	}
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (value->metric == metric && value->thread < profile->threads.n &&
		    (!is_kept || is_kept[value->thread]))
			count_in_function(&c, value);
	}
	find_hot_lines(&c);
	CLEANUP(freep)
	struct loop_share *share = loop_sharing_find(&table->groups, profile, tree, metric, is_kept);
	for (size_t i = 0; i < n; i++)
		table->facts[i].share = share[i];
	pair_costs_done(&c.lines);
	map_done(&c.line_numbers);
	vec_done(&c.line_of);
}

void loop_table_done(struct loop_table *table)
{
	groups_done(&table->groups);
	free(table->facts);
	table->facts = NULL;
}

const struct loop_facts *loop_table_find(const struct loop_table *table, const struct scope_tree *tree,
					 uint32_t scope)
{
	return scope_kind(tree, scope) == SCOPE_LOOP ? &table->facts[table->groups.of[scope]] : NULL;
}

double loop_facts_imbalance(const struct loop_facts *facts)
{
	double mean = facts->share.n_threads ? (double)facts->share.sum / facts->share.n_threads : 0;

	return mean > 0 ? ((double)facts->share.most / mean - 1) * 100 : 0;
}
