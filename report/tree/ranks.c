/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/ranks.h"

#include "base/cleanup.h"
#include "base/hash.h"

/* One metric of the whole profile, by node. */
struct ranks_sums {
	const struct profile *profile;
	uint32_t metric;
	double *self, *inclusive; /* of all ranks */
	bool *is_parent;
	const struct profile_spread **self_row, **inclusive_row; /* NULL = none had a value */
};

static void ranks_sum(struct ranks_sums *sums)
{
	const struct profile *p = sums->profile;
	size_t n = p->cct.nodes.n;

	sums->self = alloc_zero(n, sizeof(*sums->self));
	sums->inclusive = alloc_zero(n, sizeof(*sums->inclusive));
	sums->is_parent = alloc_zero(n, sizeof(*sums->is_parent));
	sums->self_row = alloc_zero(n, sizeof(*sums->self_row));
	sums->inclusive_row = alloc_zero(n, sizeof(*sums->inclusive_row));
	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == sums->metric)
			sums->self[p->cct.values.at[i].node] += (double)p->cct.values.at[i].value;
	for (size_t i = n; i-- > 0;) {
		sums->inclusive[i] += sums->self[i];
		if (i == CCT_ROOT)
			break;
		sums->inclusive[p->cct.nodes.at[i].parent] += sums->inclusive[i];
		sums->is_parent[p->cct.nodes.at[i].parent] = true;
	}
	for (size_t i = 0; i < p->spread.n; i++) {
		const struct profile_spread *row = &p->spread.at[i];
		if (row->metric != sums->metric)
			continue;
		if (row->kind == SPREAD_INCLUSIVE || !sums->is_parent[row->node])
			sums->inclusive_row[row->node] = row;
		if (row->kind == SPREAD_SELF)
			sums->self_row[row->node] = row;
	}
}

static void ranks_sums_done(struct ranks_sums *sums)
{
	free(sums->self);
	free(sums->inclusive);
	free(sums->is_parent);
	free(sums->self_row);
	free(sums->inclusive_row);
}

/* ---- which ranks -------------------------------------------------------------------------------- */

struct ranks_score {
	uint32_t rank;
	double score;
};

static int ranks_compare(const void *a, const void *b)
{
	const struct ranks_score *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those that exceed the average most, summed over all contexts in which they are the slowest. */
static void ranks_choose(const struct ranks_sums *sums, struct ranks *ranks)
{
	CLEANUP(map_done) struct map index_of = { 0 };
	VEC(struct ranks_score) scores = { 0 };

	for (size_t i = 0; i < sums->profile->cct.nodes.n; i++) {
		const struct profile_spread *row = sums->inclusive_row[i];
		if (!row || row->max_rank == RANK_NONE)
			continue;
		uint32_t index = map_find(&index_of, row->max_rank);
		if (index == MAP_NONE) {
			index = (uint32_t)scores.n;
			map_put(&index_of, row->max_rank, index);
			vec_push(&scores, (struct ranks_score){ .rank = row->max_rank });
		}
		scores.at[index].score += (double)row->max - sums->inclusive[i] / (double)ranks->n_ranks;
	}
	if (scores.n)
		qsort(scores.at, scores.n, sizeof(*scores.at), ranks_compare);
	for (size_t i = 0; i < scores.n && i < RANKS_MAX; i++)
		ranks->rank[ranks->n++] = scores.at[i].rank;
	vec_done(&scores);
}

/* ---- their costs -------------------------------------------------------------------------------- */

/* The value of the rank, if it is known; otherwise negative. */
static double ranks_known(const struct profile_spread *row, uint32_t rank)
{
	if (row && row->max_rank == rank)
		return (double)row->max;
	return row && row->min_rank == rank ? (double)row->min : -1;
}

/* Below one node: what is known, and the average of what is not. */
struct ranks_below {
	double known, unknown;
};

static void ranks_add_part(struct ranks_below *below, double known, double mean)
{
	if (known >= 0)
		below->known += known;
	else
		below->unknown += mean;
}

/* By node: the estimated self and inclusive cost of the rank. */
static void ranks_estimate(const struct ranks_sums *sums, double n_ranks, uint32_t rank, double *ret_self)
{
	const struct cct *cct = &sums->profile->cct;
	size_t n = cct->nodes.n;
	CLEANUP(freep) struct ranks_below *below = alloc_zero(n, sizeof(*below));
	CLEANUP(freep) double *inclusive = alloc_zero(n, sizeof(*inclusive));
	CLEANUP(freep) double *scale = alloc_zero(n, sizeof(*scale));

	for (size_t i = 0; i < n; i++) {
		ranks_add_part(&below[i], ranks_known(sums->self_row[i], rank), sums->self[i] / n_ranks);
		if (i > 0)
			ranks_add_part(&below[cct->nodes.at[i].parent],
				       ranks_known(sums->inclusive_row[i], rank),
				       sums->inclusive[i] / n_ranks);
	}
	for (size_t i = 0; i < n; i++) {
		double known = ranks_known(sums->inclusive_row[i], rank), own;
		inclusive[i] = known >= 0 ? known
					  : sums->inclusive[i] / n_ranks *
						    (i > 0 ? scale[cct->nodes.at[i].parent] : 1);
		double left = inclusive[i] - below[i].known;
		scale[i] = below[i].unknown > 0 && left > 0 ? left / below[i].unknown : 0;
		own = ranks_known(sums->self_row[i], rank);
		ret_self[i] = own >= 0 ? own : sums->self[i] / n_ranks * scale[i];
	}
}

static uint32_t ranks_add_metric(struct profile *profile, uint32_t metric, uint32_t rank)
{
	struct profile_metric of = profile->metrics.at[metric];
	CLEANUP(freep)
	char *name = alloc_printf("%s of rank %u (estimated)", intern_text(&profile->strings, of.name), rank);

	vec_push(&profile->metrics,
		 ((struct profile_metric){ intern_add(&profile->strings, name), of.unit, UINT32_MAX }));
	return (uint32_t)profile->metrics.n - 1;
}

static void ranks_add_values(struct profile *profile, uint32_t metric, const double *self)
{
	for (uint32_t i = 0; i < profile->cct.nodes.n; i++)
		if (self[i] >= 0.5)
			vec_push(&profile->cct.values,
				 (struct cct_value){ i, 0, metric, (uint64_t)(self[i] + 0.5) });
}

void ranks_extend(struct profile *profile, struct ranks *ret)
{
	uint32_t n_metrics = (uint32_t)profile->metrics.n;

	*ret = (struct ranks){ .n_ranks = profile->n_ranks,
			       .first_metric = n_metrics,
			       .n_metrics = n_metrics };
	if (!profile->n_ranks || !profile->threads.n)
		return;

	CLEANUP(freep) double *self = alloc_zero(profile->cct.nodes.n, sizeof(*self));
	struct ranks_sums chosen = { .profile = profile, .metric = n_metrics > 1 };
	ranks_sum(&chosen);
	ranks_choose(&chosen, ret);
	ranks_sums_done(&chosen);
	for (uint32_t metric = 0; metric < n_metrics; metric++) {
		struct ranks_sums sums = { .profile = profile, .metric = metric };
		ranks_sum(&sums);
		for (uint32_t i = 0; i < ret->n; i++) {
			ranks_estimate(&sums, (double)ret->n_ranks, ret->rank[i], self);
			ranks_add_values(profile, ranks_add_metric(profile, metric, ret->rank[i]), self);
		}
		ranks_sums_done(&sums);
	}
}

double ranks_imbalance(const struct ranks *ranks, const uint64_t *values, uint32_t metric, uint32_t *ret_rank)
{
	double mean = ranks->n_ranks ? (double)values[metric] / (double)ranks->n_ranks : 0, max = mean;

	*ret_rank = RANK_NONE;
	if (mean <= 0 || metric >= ranks->n_metrics || !ranks->n)
		return -1;
	for (uint32_t i = 0; i < ranks->n; i++) {
		double value = (double)values[ranks->first_metric + metric * ranks->n + i];
		if (value > max) {
			max = value;
			*ret_rank = ranks->rank[i];
		}
	}
	return 100 * (max / mean - 1);
}
