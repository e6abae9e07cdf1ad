/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that reduces: statistics of the values of a node over ranks.
 *
 * A rank is one profile that was never merged. What it spent in a node itself is in the file; what it spent
 * there including everything below has to be computed now, because it cannot be derived from sums over ranks.
 */
#include "profile/merge_private.h"

/* Saturates at 128 bits, so that sums do not depend on the order. */
static void spread_add_squares(struct profile_spread *spread, uint64_t low, uint64_t high)
{
	unsigned __int128 sum = (unsigned __int128)spread->squares_high << 64 | spread->squares;

	if (__builtin_add_overflow(sum, (unsigned __int128)high << 64 | low, &sum))
		sum = ~(unsigned __int128)0;
	spread->squares = (uint64_t)sum;
	spread->squares_high = (uint64_t)(sum >> 64);
}

static void spread_add(struct profile_spread *spread, const struct profile_spread *other)
{
	if (other->n == 0)
		return;
	if (spread->n == 0) {
		*spread = *other;
		return;
	}
	if (other->min < spread->min || (other->min == spread->min && other->min_rank < spread->min_rank)) {
		spread->min = other->min;
		spread->min_rank = other->min_rank;
	}
	if (other->max > spread->max || (other->max == spread->max && other->max_rank < spread->max_rank)) {
		spread->max = other->max;
		spread->max_rank = other->max_rank;
	}
	spread->n += other->n;
	spread_add_squares(spread, other->squares, other->squares_high);
}

static struct profile_spread spread_of_one(uint64_t value, uint32_t rank)
{
	struct profile_spread one = {
		.n = 1, .min = value, .max = value, .min_rank = rank, .max_rank = rank
	};
	unsigned __int128 square = (unsigned __int128)value * value;

	one.squares = (uint64_t)square;
	one.squares_high = (uint64_t)(square >> 64);
	return one;
}

static struct node_spread *merge_spread_at(struct merger *m, uint32_t node, uint32_t metric)
{
	while (m->spread.n <= metric)
		vec_push(&m->spread, (struct merge_spreads){ 0 });
	struct merge_spreads *of = &m->spread.at[metric];
	while (of->nodes.n <= node)
		vec_push(&of->nodes, (struct node_spread){ 0 });
	return &of->nodes.at[node];
}

/* ---- one rank ----------------------------------------------------------------------------------- */

/* The nodes of one rank with the numbers of the result, each once; values are in [entry * n_metrics +
 * metric]. */
struct merge_unit {
	uint32_t rank;
	size_t n_metrics;
	VEC(uint32_t) nodes;
	uint64_t *self, *inclusive;
};

static uint32_t merge_unit_rank(const struct profile *from)
{
	for (size_t i = 0; i < from->processes.n; i++)
		if (from->processes.at[i].rank)
			return from->processes.at[i].rank - 1;
	return RANK_NONE;
}

/* A list that needs no clearing: an entry is valid if it refers back to the node. */
static uint32_t merge_unit_entry(struct merger *m, struct merge_unit *unit, uint32_t node)
{
	uint32_t entry = m->dense_of[node];

	if (entry < unit->nodes.n && unit->nodes.at[entry] == node)
		return entry;
	m->dense_of[node] = (uint32_t)unit->nodes.n;
	vec_push(&unit->nodes, node);
	return m->dense_of[node];
}

static void merge_unit_sum(struct merger *m, struct merge_unit *unit)
{
	const struct cct *from = &m->from->cct;
	size_t n = unit->n_metrics;

	/* Parents come before their children, here and in the profile: entries are those of nodes. */
	for (size_t i = 0; i < from->nodes.n; i++)
		merge_unit_entry(m, unit, m->node[i]);
	for (size_t i = 0; i < from->values.n; i++) {
		const struct cct_value *value = &from->values.at[i];
		if (value->metric >= CCT_ROUND)
			continue;
		size_t at = merge_unit_entry(m, unit, m->node[value->node]) * n + m->metric[value->metric];
		unit->self[at] += value->value;
		unit->inclusive[at] += value->value;
	}
	for (size_t entry = unit->nodes.n; entry-- > CCT_INCOMPLETE;) {
		uint32_t parent = m->all->cct.nodes.at[unit->nodes.at[entry]].parent;
		size_t to = m->dense_of[parent];
		for (size_t metric = 0; metric < n; metric++)
			unit->inclusive[to * n + metric] += unit->inclusive[entry * n + metric];
	}
}

static void merge_unit_spread(struct merger *m, const struct merge_unit *unit)
{
	for (size_t i = 0; i < unit->nodes.n * unit->n_metrics; i++) {
		if (!unit->inclusive[i])
			continue;
		struct node_spread *spread = merge_spread_at(m, unit->nodes.at[i / unit->n_metrics],
							     (uint32_t)(i % unit->n_metrics));
		struct profile_spread one = spread_of_one(unit->inclusive[i], unit->rank);
		spread_add(&spread->kinds[SPREAD_INCLUSIVE], &one);
		if (!unit->self[i])
			continue;
		one = spread_of_one(unit->self[i], unit->rank);
		spread_add(&spread->kinds[SPREAD_SELF], &one);
	}
}

/* ---- profiles that are already reduced ------------------------------------------------------------- */

static bool *merge_spread_parents(const struct cct *cct)
{
	bool *is_parent = alloc_zero(cct->nodes.n, sizeof(*is_parent));

	for (size_t i = 1; i < cct->nodes.n; i++)
		is_parent[cct->nodes.at[i].parent] = true;
	return is_parent;
}

static void merge_reduced(struct merger *m)
{
	bool *is_parent = merge_spread_parents(&m->from->cct);

	for (size_t i = 0; i < m->from->spread.n; i++) {
		const struct profile_spread *row = &m->from->spread.at[i];
		struct node_spread *spread = merge_spread_at(m, m->node[row->node], m->metric[row->metric]);
		spread_add(&spread->kinds[row->kind], row);
		if (row->kind == SPREAD_SELF && !is_parent[row->node])
			spread_add(&spread->kinds[SPREAD_INCLUSIVE], row);
	}
	free(is_parent);
}

void merge_spread(struct merger *m)
{
	size_t n_nodes = m->all->cct.nodes.n, n_metrics = m->all->metrics.n;
	struct merge_unit unit = { .rank = merge_unit_rank(m->from), .n_metrics = n_metrics };

	m->n_ranks += m->from->n_ranks ? m->from->n_ranks : 1;
	if (m->from->n_ranks) {
		merge_reduced(m);
		return;
	}
	if (unit.rank == RANK_NONE)
		merger_note(m, MERGE_NOTE_NO_RANK);
	if (m->n_dense_of < n_nodes) {
		m->dense_of = alloc_resize(m->dense_of, n_nodes * 2, sizeof(*m->dense_of));
		for (; m->n_dense_of < n_nodes * 2; m->n_dense_of++)
			m->dense_of[m->n_dense_of] = 0;
	}
	unit.self = alloc_zero(m->from->cct.nodes.n * n_metrics + 1, sizeof(*unit.self));
	unit.inclusive = alloc_zero(m->from->cct.nodes.n * n_metrics + 1, sizeof(*unit.inclusive));
	merge_unit_sum(m, &unit);
	merge_unit_spread(m, &unit);
	vec_done(&unit.nodes);
	free(unit.self);
	free(unit.inclusive);
}

/* ---- the result --------------------------------------------------------------------------------- */

static int merge_spread_compare(const void *a, const void *b)
{
	const struct profile_spread *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

void merge_spread_finish(struct merger *m, const uint32_t *node, const uint32_t *metric)
{
	struct profile *all = m->all;
	bool *is_parent = merge_spread_parents(&all->cct);

	all->n_ranks = m->n_ranks;
	for (uint32_t i = 0; i < m->spread.n; i++)
		for (uint32_t j = 0; j < m->spread.at[i].nodes.n; j++)
			for (uint32_t kind = 0; kind < SPREAD_KIND_N; kind++) {
				struct profile_spread row = m->spread.at[i].nodes.at[j].kinds[kind];
				row.node = node[j];
				row.metric = metric[i];
				row.kind = kind;
				if (row.n && (kind == SPREAD_SELF || is_parent[row.node]))
					vec_push(&all->spread, row);
			}
	free(is_parent);
	if (all->spread.n)
		qsort(all->spread.at, all->spread.n, sizeof(*all->spread.at), merge_spread_compare);
}

void merge_spread_done(struct merger *m)
{
	for (size_t i = 0; i < m->spread.n; i++)
		vec_done(&m->spread.at[i].nodes);
	vec_done(&m->spread);
	free(m->dense_of);
}
