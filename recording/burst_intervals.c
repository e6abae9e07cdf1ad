/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/burst_intervals.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/diff/statistics.h"

#define DRAWS 400
#define WAYS_SHOWN 256 /* per function: the intervals of the others are not computed */
#define SIDE 0.025

static int interval_compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t interval_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* How often each burst occurs in one resample. */
static void interval_draw(uint32_t *times, uint32_t n, uint64_t *state)
{
	for (uint32_t i = 0; i < n; i++)
		times[i] = 0;
	for (uint32_t i = 0; i < n; i++)
		times[interval_random(state) % n]++;
}

/* The index of the counted way; WAYS_SHOWN if its interval is not computed. */
static size_t interval_way(const struct paths_function *at, const struct burst_count *count)
{
	for (size_t k = 0; k < at->counts.n && k < WAYS_SHOWN; k++)
		if (at->counts.at[k].number == count->number && at->counts.at[k].distance == count->caller)
			return k;
	return WAYS_SHOWN;
}

/* What one burst contributes to one way. */
struct interval_part {
	uint32_t burst;
	size_t way;
	double count;
};
typedef VEC(struct interval_part) interval_parts;

/* The share of each way of a function in one resample, into shares[way * DRAWS + draw]. */
static void interval_shares(const interval_parts *parts, const uint32_t *times, double *shares, size_t draw)
{
	double all = 0;

	for (size_t k = 0; k < WAYS_SHOWN; k++)
		shares[k * DRAWS + draw] = 0;
	for (size_t i = 0; i < parts->n; i++) {
		double weight = times[parts->at[i].burst] * parts->at[i].count;
		all += weight;
		if (parts->at[i].way < WAYS_SHOWN)
			shares[parts->at[i].way * DRAWS + draw] += weight;
	}
	for (size_t k = 0; k < WAYS_SHOWN; k++)
		shares[k * DRAWS + draw] = all > 0 ? shares[k * DRAWS + draw] / all : 0;
}

static void interval_take(struct paths_function *at, double *shares, double widens)
{
	for (size_t k = 0; k < at->counts.n && k < WAYS_SHOWN; k++) {
		struct paths_count *way = &at->counts.at[k];
		double *of = &shares[k * DRAWS], share = (double)way->count / (double)at->n_ways;
		qsort(of, DRAWS, sizeof(*of), interval_compare);
		double low = of[(size_t)(SIDE * DRAWS)], high = of[(size_t)((1 - SIDE) * DRAWS) - 1];
		way->low = fmax(0, share - (share - low) * widens);
		way->high = fmin(1, share + (high - share) * widens);
	}
}

/* The spread within a small set of bursts underestimates the true one, and the estimate is itself uncertain.
 */
static double interval_widens(uint32_t n_bursts)
{
	double df = n_bursts - 1;

	return sqrt(n_bursts / df) * student_quantile(1 - SIDE, df) / student_quantile(1 - SIDE, INFINITY);
}

void burst_intervals(const struct burst_count *counts, size_t n, uint32_t n_bursts, struct paths *paths)
{
	CLEANUP(freep) uint32_t *times = alloc_zero(n_bursts + 1, sizeof(*times));
	CLEANUP(freep) double *shares = alloc_zero((size_t)WAYS_SHOWN * DRAWS, sizeof(*shares));
	interval_parts parts = { 0 };

	for (uint32_t f = 0; n_bursts > 1 && f < paths->functions.n; f++) {
		struct paths_function *at = &paths->functions.at[f];
		uint64_t state = 0x2545f4914f6cdd1d;
		vec_clear(&parts);
		for (size_t i = 0; i < n; i++)
			if (counts[i].function == f)
				vec_push(&parts, ((struct interval_part){ counts[i].burst,
									  interval_way(at, &counts[i]),
									  (double)counts[i].count }));
		for (size_t draw = 0; draw < DRAWS; draw++) {
			interval_draw(times, n_bursts, &state);
			interval_shares(&parts, times, shares, draw);
		}
		interval_take(at, shares, interval_widens(n_bursts));
	}
	vec_done(&parts);
}
