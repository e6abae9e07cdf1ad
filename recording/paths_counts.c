/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_counts: what was counted while the probes were in place, stretch by stretch, and the totals.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "collector/bpf/bpf_paths.h"
#include "recording/burst_intervals.h"

/* ---- callers ----------------------------------------------------------------------------------------- */

/* Callers are recorded relative to the function's first instruction: that identifies those in the same file;
 * others are identified by what was mapped when the process was last examined. */
static void paths_place_caller(const struct paths *paths, const struct paths_function *function,
			       uint64_t distance, struct paths_count *ret)
{
	const struct image *image = images_peek(paths->images, function->chosen->image);
	uint64_t vaddr = function->chosen->vaddr + distance, entry = 0;

	ret->caller_image = IMAGE_NONE;
	ret->has_caller = distance != 0;
	if (!distance)
		return;
	if (paths_offset(image, vaddr) != UINT64_MAX) {
		ret->caller = vaddr;
		ret->caller_image = function->chosen->image;
		return;
	}
	for (size_t i = 0; i < paths->maps.n; i++)
		if (paths->maps.at[i].image == function->chosen->image)
			entry = function->chosen->vaddr + paths->maps.at[i].bias;
	for (size_t i = 0; entry && i < paths->maps.n; i++) {
		const struct paths_map *map = &paths->maps.at[i];
		if (entry + distance < map->start || entry + distance >= map->end)
			continue;
		ret->caller = entry + distance - map->bias;
		ret->caller_image = map->image;
	}
}

/* ---- one stretch ------------------------------------------------------------------------------------- */

static void paths_take(void *context, const struct paths_key *key, uint64_t count)
{
	struct paths *paths = context;

	if (key->function < paths->functions.n)
		vec_push(&paths->counted, ((struct burst_count){ key->function, key->number,
								 paths->n_stretches, key->caller, count }));
}

/* Counting stops, and what was counted becomes one more stretch. */
static void paths_end_stretch(struct paths *paths)
{
	if (!paths->opened_ns)
		return;
	bpf_paths_count(paths->program, false);
	paths->in_ns += clock_now_ns() - paths->opened_ns;
	paths->opened_ns = 0;
	bpf_paths_take(paths->program, paths_take, paths);
	paths->n_stretches++;
}

void paths_rest(struct paths *paths)
{
	paths_end_stretch(paths);
	bpf_paths_clear(paths->program);
}

/* ---- of all stretches -------------------------------------------------------------------------------- */

static int paths_compare_counted(const void *left, const void *right)
{
	const struct burst_count *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

static void paths_sum(struct paths *paths)
{
	if (paths->counted.n)
		qsort(paths->counted.at, paths->counted.n, sizeof(*paths->counted.at), paths_compare_counted);
	for (size_t i = 0; i < paths->counted.n; i++) {
		const struct burst_count *from = &paths->counted.at[i];
		struct paths_function *function = &paths->functions.at[from->function];
		if (i == 0 || paths_compare_counted(from - 1, from) != 0) {
			struct paths_count it = { .number = from->number, .distance = from->caller };
			paths_place_caller(paths, function, from->caller, &it);
			vec_push(&function->counts, it);
		}
		function->counts.at[function->counts.n - 1].count += from->count;
		function->n_ways += from->count;
	}
}

static int paths_compare(const void *left, const void *right)
{
	const struct paths_count *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

void paths_read(struct paths *paths)
{
	paths_end_stretch(paths);
	paths->seconds = (double)(clock_now_ns() - paths->start_ns) / 1e9;
	if (!paths_is_over(paths))
		paths_look_at_process(paths);
	paths_sum(paths);
	paths->stats = bpf_paths_stats(paths->program);
	for (size_t i = 0; i < paths->functions.n; i++) {
		struct paths_function *function = &paths->functions.at[i];
		if (function->counts.n)
			qsort(function->counts.at, function->counts.n, sizeof(*function->counts.at),
			      paths_compare);
	}
	burst_intervals(paths->counted.at, paths->counted.n, paths->n_stretches, paths);
}
