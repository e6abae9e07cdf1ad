/* SPDX-License-Identifier: Apache-2.0 */
#include "report/waits.h"

#include <stdlib.h>
#include <string.h>

static uint32_t waits_find_metric(const struct profile *profile, const char *name)
{
	for (uint32_t i = 1; i < profile->metrics.n; i++)
		if (strcmp(intern_text(&profile->strings, profile->metrics.at[i].name), name) == 0)
			return i;
	return 0;
}

struct wait_metrics wait_metrics_of(const struct profile *profile)
{
	if (waits_find_metric(profile, "approximate-off-cpu"))
		return (struct wait_metrics){ .off_cpu = waits_find_metric(profile, "approximate-off-cpu"),
					      .waits = waits_find_metric(profile, "approximate-waits"),
					      .wall = waits_find_metric(profile, "approximate-wall"),
					      .is_near = true };
	struct wait_metrics metrics = { .off_cpu = waits_find_metric(profile, "off-cpu"),
					.waits = waits_find_metric(profile, "waits"),
					.wall = waits_find_metric(profile, "wall"),
					.runnable = waits_find_metric(profile, "runnable"),
					.sampled = waits_find_metric(profile, "sampled-waits") };
	if (!metrics.sampled) /* each was */
		metrics.sampled = metrics.waits;
	return metrics;
}

static bool waits_is_kernel(const struct profile *profile, const struct scope_frame *frame)
{
	return frame->image < profile->images.n && profile->images.at[frame->image].kind == IMAGE_KERNEL;
}

/* From the kernel's innermost function out to the program, and what it waits for on the way. */
static struct wait_row waits_place(const struct profile *profile, const struct scope_tree *tree,
				   uint32_t scope)
{
	struct wait_row row = { .scope = scope };

	while (row.scope && waits_is_kernel(profile, scope_frame(tree, row.scope))) {
		row.kind = wait_kind_next(row.kind,
					  intern_text(&profile->strings, scope_frame(tree, row.scope)->name));
		row.scope = tree->scopes.at[row.scope].parent;
	}
	if (row.scope && scope_kind(tree, row.scope) == SCOPE_LINE)
		row.scope = tree->scopes.at[row.scope].parent;
	return row;
}

static int waits_compare(const void *left, const void *right)
{
	const struct wait_row *a = left, *b = right;

	if (a->off_cpu != b->off_cpu)
		return a->off_cpu > b->off_cpu ? -1 : 1;
	return a->scope != b->scope ? (a->scope > b->scope) - (a->scope < b->scope)
				    : (a->kind > b->kind) - (a->kind < b->kind);
}

const char *wait_row_waker(const struct profile *profile, const struct wait_row *row)
{
	if (!row->waker)
		return NULL;
	return intern_text(&profile->strings, profile->metrics.at[row->waker].name) + strlen(WAKER_METRIC);
}

static bool waits_is_waker(const struct profile *profile, uint32_t metric)
{
	return metric < profile->metrics.n &&
	       strncmp(intern_text(&profile->strings, profile->metrics.at[metric].name), WAKER_METRIC,
		       strlen(WAKER_METRIC)) == 0;
}

/* Of each row, what threads of each name have ended. */
struct wait_wakers {
	struct map at; /* row << 16 | metric -> ns */
	VEC(uint64_t) ns;
};

static void waits_add_waker(struct wait_wakers *wakers, uint32_t index, uint32_t metric, uint64_t ns,
			    struct wait_row *row)
{
	uint64_t key = (uint64_t)index << 16 | metric;
	uint32_t at = map_find(&wakers->at, key);

	if (at == MAP_NONE) {
		map_put(&wakers->at, key, at = (uint32_t)wakers->ns.n);
		vec_push(&wakers->ns, 0);
	}
	wakers->ns.at[at] += ns;
	if (wakers->ns.at[at] > row->woken_by || row->waker == metric) {
		row->woken_by = wakers->ns.at[at];
		row->waker = metric;
	}
}

static struct wait_row *waits_row(struct map *rows, struct wait_row row, wait_rows *ret)
{
	uint64_t key = (uint64_t)row.scope << 8 | row.kind;
	uint32_t at = map_find(rows, key);

	if (at == MAP_NONE) {
		map_put(rows, key, at = (uint32_t)ret->n);
		vec_push(ret, row);
	}
	return &ret->at[at];
}

/* Once it was woken, a thread waits for nothing but a CPU. */
static void waits_add(struct map *rows, const struct wait_metrics *metrics, const struct scope_value *value,
		      struct wait_row row, wait_rows *ret)
{
	struct wait_row *of = waits_row(rows, row, ret);

	if (value->metric == metrics->off_cpu)
		of->off_cpu += value->value;
	else if (value->metric == metrics->waits)
		of->waits += value->value;
	if (value->metric != metrics->runnable || row.kind == WAIT_RUNNABLE)
		return;
	of->off_cpu -= value->value; /* which is part of it, and may come later */
	row.kind = WAIT_RUNNABLE;
	waits_row(rows, row, ret)->off_cpu += value->value;
}

/* Only of rows that are there: a part in which nothing but a CPU was missing has no length of its own. */
static void waits_add_longest(const struct profile *profile, const struct scope_tree *tree,
			      const bool *is_kept, const struct map *rows, wait_rows *ret)
{
	for (size_t i = 0; i < tree->durations.n; i++) {
		const struct scope_value *value = &tree->durations.at[i];
		if (value->metric + CCT_DURATION != CCT_DURATION_MOST || (is_kept && !is_kept[value->thread]))
			continue;
		struct wait_row place = waits_place(profile, tree, value->scope);
		uint32_t at = map_find(rows, (uint64_t)place.scope << 8 | place.kind);
		if (at != MAP_NONE)
			ret->at[at].longest = cct_join(CCT_DURATION_MOST, ret->at[at].longest, value->value);
	}
}

void wait_rows_find(const struct profile *profile, const struct scope_tree *tree, const bool *is_kept,
		    wait_rows *ret)
{
	struct wait_metrics metrics = wait_metrics_of(profile);
	struct map rows = { 0 };
	struct wait_wakers wakers = { 0 };

	for (size_t i = 0; metrics.off_cpu && i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		bool is_of_waits = value->metric == metrics.off_cpu || value->metric == metrics.waits ||
				   (metrics.runnable && value->metric == metrics.runnable);
		bool is_waker = metrics.runnable && waits_is_waker(profile, value->metric);
		if ((!is_of_waits && !is_waker) || (is_kept && !is_kept[value->thread]))
			continue;
		struct wait_row place = waits_place(profile, tree, value->scope);
		if (is_of_waits)
			waits_add(&rows, &metrics, value, place, ret);
		if (is_waker && place.kind != WAIT_RUNNABLE &&
		    place.kind != WAIT_SLEEP) { /* a clock ends it */
			struct wait_row *row = waits_row(&rows, place, ret);
			waits_add_waker(&wakers, (uint32_t)(row - ret->at), value->metric, value->value, row);
		}
	}
	if (metrics.waits)
		waits_add_longest(profile, tree, is_kept, &rows, ret);
	map_done(&rows);
	map_done(&wakers.at);
	vec_done(&wakers.ns);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), waits_compare);
}
