/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/timeline.h"

#include <string.h>

void timeline_init(struct timeline *timeline)
{
	*timeline = (struct timeline){ .bin_ns = TIMELINE_FIRST_NS };
}

void timeline_align(struct timeline *timeline, uint64_t start_unix_ns)
{
	timeline->zero_ns = start_unix_ns;
}

void timeline_done(struct timeline *timeline)
{
	vec_done(&timeline->rows);
	map_done(&timeline->row_of);
}

static void timeline_add_bin(struct timeline *timeline, uint32_t thread, uint32_t bin, uint64_t samples)
{
	uint64_t key = (uint64_t)thread << 32 | bin;
	uint32_t row = map_find(&timeline->row_of, key);

	if (row == MAP_NONE) {
		row = (uint32_t)timeline->rows.n;
		vec_push(&timeline->rows, (struct profile_bin){ .thread = thread, .bin = bin });
		map_put(&timeline->row_of, key, row);
	}
	timeline->rows.at[row].samples += samples;
}

/* Combines pairs of bins. Rows only move towards the front, so the array is rewritten in place. */
static void timeline_widen(struct timeline *timeline)
{
	size_t n = timeline->rows.n;

	uint64_t before = timeline->zero_ns / timeline->bin_ns;

	timeline->bin_ns *= 2;
	map_done(&timeline->row_of);
	vec_clear(&timeline->rows);
	for (size_t i = 0; i < n; i++) {
		struct profile_bin row = timeline->rows.at[i];
		uint64_t bin = (before + row.bin) / 2 - before / 2;
		timeline_add_bin(timeline, row.thread, (uint32_t)bin, row.samples);
	}
}

static uint64_t timeline_bin(const struct timeline *timeline, uint64_t time_ns)
{
	return (timeline->zero_ns + time_ns) / timeline->bin_ns - timeline->zero_ns / timeline->bin_ns;
}

void timeline_add_many(struct timeline *timeline, uint32_t thread, uint64_t time_ns, uint64_t samples)
{
	while (timeline_bin(timeline, time_ns) >= TIMELINE_BINS)
		timeline_widen(timeline);
	timeline_add_bin(timeline, thread, (uint32_t)timeline_bin(timeline, time_ns), samples);
}

void timeline_add(struct timeline *timeline, uint32_t thread, uint64_t time_ns)
{
	timeline_add_many(timeline, thread, time_ns, 1);
}

static int timeline_compare(const void *a, const void *b)
{
	const struct profile_bin *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->bin > y->bin) - (x->bin < y->bin);
}

void timeline_copy(const struct timeline *timeline, struct profile *profile)
{
	profile->bin_ns = timeline->bin_ns;
	vec_clear(&profile->timeline);
	vec_reserve(&profile->timeline, timeline->rows.n);
	profile->timeline.n = timeline->rows.n;
	if (timeline->rows.n == 0)
		return;
	memcpy(profile->timeline.at, timeline->rows.at, timeline->rows.n * sizeof(*timeline->rows.at));
	qsort(profile->timeline.at, profile->timeline.n, sizeof(*profile->timeline.at), timeline_compare);
}
