/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/thread_spread.h"

#include "base/cleanup.h"
#include "base/hash.h"

struct spreading {
	const struct scope_tree *tree;
	const struct groups *groups;
	struct map at; /* row << 32 | thread -> costs */
	VEC(uint64_t) keys;
	VEC(uint64_t) costs;
	uint32_t *stamp, last; /* by row: the value for which it was last counted */
};

static void spread_add(struct spreading *s, uint32_t row, uint32_t thread, uint64_t cost)
{
	uint64_t key = (uint64_t)row << 32 | thread;
	uint32_t at = map_find(&s->at, key);

	if (at == MAP_NONE) {
		map_put(&s->at, key, at = (uint32_t)s->costs.n);
		vec_push(&s->keys, key);
		vec_push(&s->costs, 0);
	}
	s->costs.at[at] += cost;
}

/* Every row on the way to the root, each once: recursion is not counted twice. */
static void spread_value(struct spreading *s, const struct scope_value *value)
{
	s->last++;
	for (uint32_t scope = value->scope;; scope = s->tree->scopes.at[scope].parent) {
		uint32_t row = s->groups->of ? s->groups->of[scope] : scope;
		if (row != GROUP_NONE && s->stamp[row] != s->last) {
			s->stamp[row] = s->last;
			spread_add(s, row, value->thread, value->value);
		}
		if (!scope)
			return;
	}
}

/* Threads without cost in a row have no pair. */
static void spread_finish(struct spreading *s, size_t n_rows, struct thread_spreads *ret)
{
	CLEANUP(freep) uint32_t *n_threads = alloc_zero(n_rows + 1, sizeof(*n_threads));

	for (size_t i = 0; i < s->costs.n; i++) {
		struct thread_spread *spread = &ret->of[s->keys.at[i] >> 32];
		uint64_t cost = s->costs.at[i];
		spread->sum += cost;
		spread->most = cost > spread->most ? cost : spread->most;
		spread->least =
			!n_threads[s->keys.at[i] >> 32]++ || cost < spread->least ? cost : spread->least;
	}
	for (size_t i = 0; i < n_rows; i++)
		if (n_threads[i] < ret->n_threads)
			ret->of[i].least = 0;
}

void thread_spreads_init(struct thread_spreads *spreads, const struct scope_tree *tree, uint32_t metric,
			 const bool *is_kept, const enum group_by *by)
{
	struct spreading s = { .tree = tree, .groups = &spreads->groups };
	CLEANUP(map_done) struct map threads = { 0 };

	*spreads = (struct thread_spreads){ 0 };
	if (by)
		groups_init(&spreads->groups, tree, *by);
	size_t n_rows = by ? spreads->groups.scopes.n : tree->scopes.n;
	s.stamp = alloc_zero(n_rows + 1, sizeof(*s.stamp));
	spreads->of = alloc_zero(n_rows + 1, sizeof(*spreads->of));
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (is_kept && !is_kept[value->thread])
			continue;
		if (value->metric <= 1 || value->metric == metric)
			map_put(&threads, value->thread, 1);
		if (value->metric == metric)
			spread_value(&s, value);
	}
	spreads->n_threads = (uint32_t)threads.n;
	spread_finish(&s, n_rows, spreads);
	map_done(&s.at);
	vec_done(&s.keys);
	vec_done(&s.costs);
	free(s.stamp);
}

void thread_spreads_done(struct thread_spreads *spreads)
{
	free(spreads->of);
	groups_done(&spreads->groups);
	*spreads = (struct thread_spreads){ 0 };
}

struct thread_spread thread_spreads_find(const struct thread_spreads *spreads, uint32_t scope)
{
	uint32_t row = spreads->groups.of ? spreads->groups.of[scope] : scope;

	return row == GROUP_NONE ? (struct thread_spread){ 0 } : spreads->of[row];
}

double thread_spread_mean(const struct thread_spread *spread, uint32_t n_threads)
{
	return n_threads ? (double)spread->sum / n_threads : 0;
}

double thread_spread_imbalance(const struct thread_spread *spread, uint32_t n_threads)
{
	double mean = thread_spread_mean(spread, n_threads);

	return mean > 0 ? 100 * ((double)spread->most / mean - 1) : -1;
}
