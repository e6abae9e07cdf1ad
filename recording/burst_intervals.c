/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst_intervals: how sure shares of ways are that were seen in bursts: bursts are drawn anew, with
 * replacement, many times.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "recording/burst_ways.h"

#define DRAWS 400
#define WAYS_SHOWN 256 /* of a function: intervals of others are not worked out */
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

/* How often each burst is in one draw. */
static void interval_draw(uint32_t *times, uint32_t n, uint64_t *state)
{
	for (uint32_t i = 0; i < n; i++)
		times[i] = 0;
	for (uint32_t i = 0; i < n; i++)
		times[interval_random(state) % n]++;
}

/* The share of each way of a function in one draw, into shares[way * DRAWS + draw]. */
static void interval_shares(const struct burst_count *counts, size_t n, uint32_t function,
			    const struct paths_function *at, const uint32_t *times, double *shares,
			    size_t draw)
{
	size_t n_ways = at->counts.n < WAYS_SHOWN ? at->counts.n : WAYS_SHOWN;
	double all = 0;

	for (size_t k = 0; k < n_ways; k++)
		shares[k * DRAWS + draw] = 0;
	for (size_t i = 0; i < n; i++) {
		if (counts[i].function != function)
			continue;
		double weight = (double)times[counts[i].burst] * counts[i].count;
		all += weight;
		for (size_t k = 0; k < n_ways; k++)
			if (at->counts.at[k].number == counts[i].number)
				shares[k * DRAWS + draw] += weight;
	}
	for (size_t k = 0; k < n_ways; k++)
		shares[k * DRAWS + draw] = all > 0 ? shares[k * DRAWS + draw] / all : 0;
}

void burst_intervals(const struct burst_count *counts, size_t n, uint32_t n_bursts, struct paths *paths)
{
	CLEANUP(freep) uint32_t *times = alloc_zero(n_bursts + 1, sizeof(*times));
	CLEANUP(freep) double *shares = alloc_zero((size_t)WAYS_SHOWN * DRAWS, sizeof(*shares));
	/* Few bursts vary less among themselves than bursts do. */
	double widens = n_bursts > 1 ? sqrt((double)n_bursts / (n_bursts - 1)) : 1;

	for (uint32_t f = 0; n_bursts && f < paths->functions.n; f++) {
		struct paths_function *at = &paths->functions.at[f];
		uint64_t state = 0x2545f4914f6cdd1d;
		for (size_t draw = 0; draw < DRAWS; draw++) {
			interval_draw(times, n_bursts, &state);
			interval_shares(counts, n, f, at, times, shares, draw);
		}
		for (size_t k = 0; k < at->counts.n && k < WAYS_SHOWN; k++) {
			struct paths_count *way = &at->counts.at[k];
			double *of = &shares[k * DRAWS], share = (double)way->count / (double)at->n_ways;
			qsort(of, DRAWS, sizeof(*of), interval_compare);
			double low = of[(size_t)(SIDE * DRAWS)], high = of[(size_t)((1 - SIDE) * DRAWS) - 1];
			way->low = fmax(0, share - (share - low) * widens);
			way->high = fmin(1, share + (high - share) * widens);
		}
	}
}
