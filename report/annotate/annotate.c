/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "binary/isa/isa.h"

struct annotator {
	const struct profile *profile;
	struct annotation *to;
	uint64_t *self, *inclusive; /* of the CCT: [node * n_metrics + metric] */
	struct map line_of;         /* line -> index */
	struct map insn_of;         /* (index of a function map, offset) -> index */
	struct map heaviest;        /* (line, name) -> samples, to name the inlined call */
};

static uint64_t *counters(struct annotator *a)
{
	return arena_alloc(&a->to->arena, a->to->n_metrics * sizeof(uint64_t));
}

static void annotate_add(uint64_t *to, const uint64_t *from, uint32_t n)
{
	for (uint32_t m = 0; m < n; m++)
		to[m] += from[m];
}

/* ---- the tree's values ------------------------------------------------------------------------------ */

static void sum_tree(struct annotator *a)
{
	const struct cct *cct = &a->profile->cct;
	size_t n = cct->nodes.n, m = a->to->n_metrics;

	a->self = alloc_zero(n * m, sizeof(uint64_t));
	a->inclusive = alloc_zero(n * m, sizeof(uint64_t));
	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		if (value->metric == CCT_ACTIVATIONS)
			continue;
		size_t metric = value->metric < CCT_ROUND ? value->metric
							  : value->metric - CCT_ROUND + m - CCT_ROUNDS;
		if (value->metric >= CCT_DURATION)
			continue;
		a->self[value->node * m + metric] += value->value;
	}
	memcpy(a->inclusive, a->self, n * m * sizeof(uint64_t));
	for (size_t i = n; i-- > 1;)
		annotate_add(&a->inclusive[cct->nodes.at[i].parent * m], &a->inclusive[i * m], (uint32_t)m);
}

/* The map that contains a node, if that is the annotated function or a part of it. */
static const struct function_map *own_map(const struct annotator *a, const struct cct_node *node,
					  uint64_t *ret_vaddr)
{
	const struct function_map *map;

	*ret_vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
	if (node->image != a->to->map->image)
		return NULL;
	map = profile_function(a->profile, node->image, *ret_vaddr);
	return map && map->parent_vaddr == a->to->map->vaddr ? map : NULL;
}

/* ---- instructions ---------------------------------------------------------------------------------- */

/* The level of a function in a chain, innermost first; n = not in it. */
static size_t find_level(const struct location *chain, size_t n, uint32_t name)
{
	size_t level = 0;

	while (level < n && !(chain[level].is_inlined && chain[level].function == name))
		level++;
	return level;
}

static bool is_inlined_at(const struct function_map *map, uint32_t offset, uint32_t name)
{
	struct location chain[LOCATION_MAX_DEPTH];
	size_t n = function_map_locate(map, offset, chain, LOCATION_MAX_DEPTH);

	return find_level(chain, n, name) < n;
}

static uint64_t insn_key(const struct annotator *a, const struct function_map *map, uint64_t offset)
{
	return (uint64_t)(map - a->profile->functions.at) << 32 | (uint32_t)offset;
}

/* Every byte of an instruction maps to it: a call is looked up by its return address minus one. */
static void add_insn(struct annotator *a, const struct function_map *map, uint32_t offset, uint32_t len)
{
	const struct line_row *row = function_map_line(map, offset);

	for (uint32_t i = 0; i < len; i++)
		map_put(&a->insn_of, insn_key(a, map, offset + i), (uint32_t)a->to->insns.n);
	vec_push(&a->to->insns, (struct annotated_insn){ offset, len, row ? row->line : 0,
							 row ? row->file : 0, counters(a), counters(a) });
}

/* A function's instructions, or those of one that was inlined into it (name). */
static void annotate_decode(struct annotator *a, const struct function_map *map, uint32_t name)
{
	struct bytes code = profile_code_at(a->profile, map->image, map->vaddr);
	const struct isa *isa = isa_for_machine((uint16_t)a->profile->images.at[map->image].elf_machine);
	size_t first = a->to->insns.n;

	for (uint64_t at = 0; isa && at < code.len;) {
		struct insn insn;
		uint32_t len = isa->decode(bytes_from(code, at), map->vaddr + at, &insn) == 0 ? insn.len
											      : isa->min_insn;
		if (!name || is_inlined_at(map, (uint32_t)at, name))
			add_insn(a, map, (uint32_t)at, len);
		at += len;
	}
	if (a->to->insns.n > first)
		vec_push(&a->to->codes,
			 (struct annotated_code){ map, first, a->to->insns.n - first, counters(a) });
}

static void see_insn(struct annotator *a, const struct function_map *map, uint64_t vaddr,
		     const uint64_t *self, const uint64_t *calls)
{
	uint32_t insn = map_find(&a->insn_of, insn_key(a, map, vaddr - map->vaddr));

	if (insn == MAP_NONE)
		return;
	annotate_add(a->to->insns.at[insn].self, self, a->to->n_metrics);
	annotate_add(a->to->insns.at[insn].calls, calls, a->to->n_metrics);
}

static int by_cost(const void *left, const void *right)
{
	const struct annotated_code *a = left, *b = right;

	if (a->self[0] != b->self[0])
		return a->self[0] > b->self[0] ? -1 : 1;
	return a->map < b->map ? -1 : a->map > b->map;
}

/* The function's own code stays first. */
static void sum_codes(struct annotator *a)
{
	struct annotation *to = a->to;
	size_t own = to->codes.n && to->codes.at[0].map == to->map;

	for (size_t i = 0; i < to->codes.n; i++)
		for (size_t k = 0; k < to->codes.at[i].n; k++)
			annotate_add(to->codes.at[i].self, to->insns.at[to->codes.at[i].first + k].self,
				     to->n_metrics);
	if (to->codes.n > own)
		qsort(to->codes.at + own, to->codes.n - own, sizeof(*to->codes.at), by_cost);
}

/* ---- lines ----------------------------------------------------------------------------------------------
 */

static struct annotated_line *line_at(struct annotator *a, uint32_t line)
{
	uint32_t index = map_find(&a->line_of, line);

	if (index == MAP_NONE) {
		index = (uint32_t)a->to->lines.n;
		map_put(&a->line_of, line, index);
		vec_push(&a->to->lines,
			 (struct annotated_line){ line, counters(a), counters(a), counters(a), 0 });
	}
	return &a->to->lines.at[index];
}

/* Keeps the inlined call with the highest cost on the line. */
static void name_inlined(struct annotator *a, struct annotated_line *line, uint32_t name, uint64_t samples)
{
	uint64_t key = (uint64_t)line->line << 32 | name,
		 best_key = (uint64_t)line->line << 32 | line->inlined_name;
	uint32_t sum = map_find(&a->heaviest, key),
		 best = line->inlined_name ? map_find(&a->heaviest, best_key) : 0;

	sum = (sum == MAP_NONE ? 0 : sum) + (uint32_t)samples;
	map_put(&a->heaviest, key, sum);
	if (!line->inlined_name || sum > best)
		line->inlined_name = name;
}

static void see_node(struct annotator *a, uint32_t index, bool is_outermost)
{
	const struct cct_node *node = &a->profile->cct.nodes.at[index];
	struct location chain[LOCATION_MAX_DEPTH];
	uint32_t m = a->to->n_metrics;
	uint64_t vaddr, *self = &a->self[index * m], *calls;
	const struct function_map *map = own_map(a, node, &vaddr);

	size_t n = function_map_locate(map, (uint32_t)(vaddr - map->vaddr), chain, LOCATION_MAX_DEPTH);
	const struct location *own = &chain[n - 1];
	calls = arena_alloc(&a->to->arena, m * sizeof(uint64_t));
	for (uint32_t k = 0; is_outermost && k < m; k++)
		calls[k] = a->inclusive[index * m + k] - self[k];
	annotate_add(a->to->self, self, m);
	if (n == 1)
		annotate_add(a->to->own, self, m);
	if (own->line && own->file == a->to->map->decl_file) {
		struct annotated_line *line = line_at(a, own->line);
		annotate_add(line->self, self, m);
		annotate_add(line->calls, calls, m);
		if (n > 1) {
			annotate_add(line->inlined, self, m);
			name_inlined(a, line, chain[n - 2].function, self[0]);
		}
	}
	see_insn(a, map, vaddr, self, calls);
}

static int by_line(const void *left, const void *right)
{
	const struct annotated_line *a = left, *b = right;

	return a->line < b->line ? -1 : a->line > b->line;
}

/* Parents come first: a node is below the function if its parent is below or in it. */
static void see_tree(struct annotator *a)
{
	const struct cct *cct = &a->profile->cct;
	bool *inside = alloc_zero(cct->nodes.n, sizeof(bool)); /* the function is at or above this node */

	for (uint32_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		bool above = inside[node->parent];
		uint64_t vaddr;
		inside[i] = above;
		if (!own_map(a, node, &vaddr))
			continue;
		inside[i] = true;
		if (!above)
			annotate_add(a->to->total, &a->inclusive[i * a->to->n_metrics], a->to->n_metrics);
		see_node(a, i, !above);
	}
	free(inside);
}

static void annotate_finish(struct annotator *a)
{
	sum_codes(a);
	if (a->to->lines.n)
		qsort(a->to->lines.at, a->to->lines.n, sizeof(*a->to->lines.at), by_line);
	free(a->self);
	free(a->inclusive);
	map_done(&a->line_of);
	map_done(&a->insn_of);
	map_done(&a->heaviest);
}

void annotate(const struct profile *profile, const struct function_map *map, struct annotation *ret)
{
	struct annotator a = { .profile = profile, .to = ret };

	*ret = (struct annotation){ .map = map, .n_metrics = (uint32_t)profile->metrics.n + CCT_ROUNDS };
	ret->own = counters(&a);
	ret->self = counters(&a);
	ret->total = counters(&a);
	ret->all = counters(&a);
	sum_tree(&a);
	memcpy(ret->all, a.inclusive, ret->n_metrics * sizeof(uint64_t));
	annotate_decode(&a, map, 0);
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *part = &profile->functions.at[i];
		if (part != map && part->image == map->image && part->parent_vaddr == map->vaddr)
			annotate_decode(&a, part, 0);
	}
	see_tree(&a);
	annotate_finish(&a);
}

/* ---- inlined functions -------------------------------------------------------------------------- */

/* calls: the cost of callees, if the function is not also above the node. */
static void see_inlined(struct annotator *a, const uint64_t *self, const uint64_t *calls,
			const struct location *chain, size_t level)
{
	uint32_t m = a->to->n_metrics;

	annotate_add(a->to->self, self, m);
	if (level == 0)
		annotate_add(a->to->own, self, m);
	if (!chain[level].line || chain[level].file != a->to->map->decl_file)
		return;
	struct annotated_line *line = line_at(a, chain[level].line);
	annotate_add(line->self, self, m);
	annotate_add(line->calls, calls, m);
	if (level > 0) {
		annotate_add(line->inlined, self, m);
		name_inlined(a, line, chain[level - 1].function, self[0]);
	}
}

static void see_copies(struct annotator *a, uint32_t name)
{
	const struct cct *cct = &a->profile->cct;
	uint32_t m = a->to->n_metrics;
	bool *inside = alloc_zero(cct->nodes.n, sizeof(bool));

	for (uint32_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
		const struct function_map *map = profile_function(a->profile, node->image, vaddr);
		struct location chain[LOCATION_MAX_DEPTH];
		size_t n = map ? function_map_locate(map, (uint32_t)(vaddr - map->vaddr), chain,
						     LOCATION_MAX_DEPTH)
			       : 0;
		size_t level = find_level(chain, n, name);
		bool above = inside[node->parent];
		inside[i] = above || level < n;
		if (level == n)
			continue;
		uint64_t *self = &a->self[i * m], *calls = counters(a);
		for (uint32_t k = 0; !above && k < m; k++)
			calls[k] = a->inclusive[i * m + k] - self[k];
		if (!above)
			annotate_add(a->to->total, &a->inclusive[i * m], m);
		see_inlined(a, self, calls, chain, level);
		see_insn(a, map, vaddr, self, calls);
	}
	free(inside);
}

/* Where the function is declared, from its first inlined call; its image is that of the function that
 * contains the call. */
static bool find_declaration(const struct profile *profile, const char *name, struct function_map *ret)
{
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *host = &profile->functions.at[i];
		for (size_t k = 0; k < host->inlines.n; k++) {
			const struct inline_call *call = &host->inlines.at[k];
			if (strcmp(intern_text(&profile->strings, call->name), name) != 0)
				continue;
			*ret = (struct function_map){ .image = host->image,
						      .name = call->name,
						      .linkage = call->linkage,
						      .decl_file = call->decl_file,
						      .decl_line = call->decl_line };
			return true;
		}
	}
	return false;
}

static bool has_inlined(const struct function_map *map, uint32_t name)
{
	for (size_t i = 0; i < map->inlines.n; i++)
		if (map->inlines.at[i].name == name)
			return true;
	return false;
}

int annotate_inlined(const struct profile *profile, const char *name, struct annotation *ret)
{
	struct annotator a = { .profile = profile, .to = ret };

	*ret = (struct annotation){ .n_metrics = (uint32_t)profile->metrics.n + CCT_ROUNDS };
	if (!find_declaration(profile, name, &ret->inlined))
		return -ENOENT;
	ret->map = &ret->inlined;
	ret->own = counters(&a);
	ret->self = counters(&a);
	ret->total = counters(&a);
	ret->all = counters(&a);
	sum_tree(&a);
	memcpy(ret->all, a.inclusive, ret->n_metrics * sizeof(uint64_t));
	for (size_t i = 0; i < profile->functions.n; i++)
		if (has_inlined(&profile->functions.at[i], ret->inlined.name))
			annotate_decode(&a, &profile->functions.at[i], ret->inlined.name);
	see_copies(&a, ret->inlined.name);
	annotate_finish(&a);
	return 0;
}

void annotation_done(struct annotation *annotation)
{
	vec_done(&annotation->lines);
	vec_done(&annotation->insns);
	vec_done(&annotation->codes);
	arena_done(&annotation->arena);
}
