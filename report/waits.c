/* SPDX-License-Identifier: Apache-2.0 */
#include "report/waits.h"

#include <stdio.h>
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
	if (!metrics.sampled) /* every wait was sampled */
		metrics.sampled = metrics.waits;
	return metrics;
}

static bool waits_is_kernel(const struct profile *profile, const struct scope_frame *frame)
{
	return frame->image < profile->images.n && profile->images.at[frame->image].kind == IMAGE_KERNEL;
}

bool wait_is_waking(const struct profile *profile, const struct scope_tree *tree, uint32_t scope)
{
	const struct scope_frame *frame = scope_frame(tree, scope);

	return frame->image < profile->images.n && profile->images.at[frame->image].kind == IMAGE_UNKNOWN &&
	       strcmp(intern_text(&profile->strings, profile->images.at[frame->image].path), WOKEN_BY) == 0;
}

/* The parent of the call paths of wakers, if the scope is below one; otherwise 0. */
static uint32_t waits_find_waking(const struct profile *profile, const struct scope_tree *tree,
				  uint32_t scope)
{
	while (scope && !wait_is_waking(profile, tree, scope))
		scope = tree->scopes.at[scope].parent;
	return scope;
}

static uint32_t waits_leave_line(const struct scope_tree *tree, uint32_t scope)
{
	return scope && scope_kind(tree, scope) == SCOPE_LINE ? tree->scopes.at[scope].parent : scope;
}

/* From the innermost kernel function outwards to the program, determining what it waits for on the way. */
static struct wait_row waits_place(const struct profile *profile, const struct scope_tree *tree,
				   uint32_t scope)
{
	struct wait_row row = { .scope = scope };

	while (row.scope && waits_is_kernel(profile, scope_frame(tree, row.scope))) {
		row.kind = wait_kind_next(row.kind,
					  intern_text(&profile->strings, scope_frame(tree, row.scope)->name));
		row.scope = tree->scopes.at[row.scope].parent;
	}
	if (row.scope == scope)
		row.kind = WAIT_UNKNOWN;
	row.scope = waits_leave_line(tree, row.scope);
	if (row.kind == WAIT_NO_KIND)
		row.kind = WAIT_OTHER;
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

static const char *waits_metric_name(const struct profile *profile, uint32_t metric)
{
	return intern_text(&profile->strings, profile->metrics.at[metric].name);
}

bool wait_row_is_mixed(const struct wait_metrics *metrics, const struct wait_row *row)
{
	return !metrics->is_near && !metrics->runnable && row->kind != WAIT_RUNNABLE;
}

const char *wait_row_kind(const struct wait_metrics *metrics, const struct wait_row *row,
			  char text[WAIT_KIND_TEXT])
{
	const char *kind = metrics->is_near ? "approximate" : wait_kind_name(row->kind);

	if (!wait_row_is_mixed(metrics, row))
		return kind;
	snprintf(text, WAIT_KIND_TEXT, "%s or runnable",
		 row->kind == WAIT_OTHER || row->kind == WAIT_UNKNOWN ? "blocked" : kind);
	return text;
}

const char *wait_row_waker(const struct profile *profile, const struct wait_row *row)
{
	return row->waker ? waits_metric_name(profile, row->waker) + strlen(WAKER_METRIC) : NULL;
}

const char *wait_row_holder(const struct profile *profile, const struct wait_row *row)
{
	return row->holder ? waits_metric_name(profile, row->holder) + strlen(HOLDER_METRIC) : NULL;
}

static bool waits_metric_is(const struct profile *profile, uint32_t metric, const char *what)
{
	return metric < profile->metrics.n &&
	       strncmp(waits_metric_name(profile, metric), what, strlen(what)) == 0;
}

const char *wait_metric_domain(const struct profile *profile, uint32_t metric)
{
	static const char *const off[] = { "off-cpu", "waits", "sampled-waits", "runnable",
					   "kept-from-running" };
	static const char near[] = "approximate-";
	const char *name = waits_metric_name(profile, metric);

	if (!wait_metrics_of(profile).off_cpu)
		return "oncpu";
	if (waits_metric_is(profile, metric, WAKER_METRIC) || waits_metric_is(profile, metric, HOLDER_METRIC))
		return "offcpu";
	if (waits_metric_is(profile, metric, near))
		name += strlen(near);
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		if (strcmp(name, off[i]) == 0)
			return "offcpu";
	return strcmp(name, "wall") == 0 ? "wall" : "oncpu";
}

/* ---- who ended them ---------------------------------------------------------------------------- */

/* The part of a row that threads of one name have ended in one place. */
struct wait_waker {
	uint32_t row, metric, scope;
	uint64_t ns;
};

/* For each row: what threads of each name have ended, in total and by place, and what they held. */
struct wait_wakers {
	struct map at; /* row << 16 | metric -> ns */
	VEC(uint64_t) ns;
	struct map place_at; /* scope << 16 | metric -> places */
	VEC(struct wait_waker) places;
};

static uint64_t waits_sum_of(struct wait_wakers *wakers, uint32_t index, uint32_t metric, uint64_t ns)
{
	uint64_t key = (uint64_t)index << 16 | metric;
	uint32_t at = map_find(&wakers->at, key);

	if (at == MAP_NONE) {
		map_put(&wakers->at, key, at = (uint32_t)wakers->ns.n);
		vec_push(&wakers->ns, 0);
	}
	return wakers->ns.at[at] += ns;
}

static void waits_add_waker(struct wait_wakers *wakers, uint32_t index, const struct scope_value *value,
			    struct wait_row *row)
{
	uint64_t sum = waits_sum_of(wakers, index, value->metric, value->value);

	if (sum > row->woken_by || row->waker == value->metric) {
		row->woken_by = sum;
		row->waker = value->metric;
	}
}

static void waits_add_holder(struct wait_wakers *wakers, uint32_t index, const struct scope_value *value,
			     struct wait_row *row)
{
	uint64_t sum = waits_sum_of(wakers, index, value->metric, value->value);

	if (sum > row->held_by || row->holder == value->metric) {
		row->held_by = sum;
		row->holder = value->metric;
	}
}

static void waits_add_place(struct wait_wakers *wakers, uint32_t index, const struct scope_value *value,
			    uint32_t scope)
{
	uint64_t key = (uint64_t)scope << 16 | value->metric;
	uint32_t at = map_find(&wakers->place_at, key);

	if (at == MAP_NONE) {
		map_put(&wakers->place_at, key, at = (uint32_t)wakers->places.n);
		vec_push(&wakers->places, ((struct wait_waker){ index, value->metric, scope, 0 }));
	}
	wakers->places.at[at].ns += value->value;
}

/* Where the threads that ended most of a row did so most. */
static void waits_choose_places(const struct wait_wakers *wakers, wait_rows *ret)
{
	for (size_t i = 0; i < wakers->places.n; i++) {
		const struct wait_waker *place = &wakers->places.at[i];
		struct wait_row *row = &ret->at[place->row];
		if (place->metric != row->waker || place->ns <= row->woken_in_ns)
			continue;
		row->woken_in = place->scope;
		row->woken_in_ns = place->ns;
	}
}

/* ---- rows -------------------------------------------------------------------------------------- */

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

/* Once it was woken, a thread only waits for a CPU. */
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
	of = waits_row(rows, row, ret);
	of->off_cpu += value->value;
	of->of_others += value->value;
}

/* Only for existing rows: the part in which a thread waited for a CPU has no length of its own. */
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

/* Time that a thread has ended, or held. */
static void waits_add_named(const struct profile *profile, const struct scope_tree *tree,
			    const struct scope_value *value, struct map *rows, struct wait_wakers *wakers,
			    wait_rows *ret)
{
	uint32_t waking = waits_find_waking(profile, tree, value->scope);
	struct wait_row place =
		waits_place(profile, tree, waking ? tree->scopes.at[waking].parent : value->scope);

	if (place.kind == WAIT_RUNNABLE || place.kind == WAIT_SLEEP) /* ended by a timer */
		return;
	struct wait_row *row = waits_row(rows, place, ret);
	uint32_t index = (uint32_t)(row - ret->at);
	if (waits_metric_is(profile, value->metric, HOLDER_METRIC))
		waits_add_holder(wakers, index, value, row);
	else
		waits_add_waker(wakers, index, value, row);
	if (waking)
		waits_add_place(wakers, index, value, waits_leave_line(tree, value->scope));
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
		bool is_named = metrics.runnable && (waits_metric_is(profile, value->metric, WAKER_METRIC) ||
						     waits_metric_is(profile, value->metric, HOLDER_METRIC));
		if (is_kept && !is_kept[value->thread])
			continue;
		if (is_of_waits)
			waits_add(&rows, &metrics, value, waits_place(profile, tree, value->scope), ret);
		if (is_named)
			waits_add_named(profile, tree, value, &rows, &wakers, ret);
	}
	waits_choose_places(&wakers, ret);
	if (metrics.waits)
		waits_add_longest(profile, tree, is_kept, &rows, ret);
	map_done(&rows);
	map_done(&wakers.at);
	vec_done(&wakers.ns);
	map_done(&wakers.place_at);
	vec_done(&wakers.places);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), waits_compare);
}
