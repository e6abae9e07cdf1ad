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

void wait_rows_find(const struct profile *profile, const struct scope_tree *tree, const bool *is_kept,
		    wait_rows *ret)
{
	struct wait_metrics metrics = wait_metrics_of(profile);
	struct map rows = { 0 };

	for (size_t i = 0; metrics.off_cpu && i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		bool is_of_waits = value->metric == metrics.off_cpu || value->metric == metrics.waits ||
				   (metrics.runnable && value->metric == metrics.runnable);
		if (is_of_waits && (!is_kept || is_kept[value->thread]))
			waits_add(&rows, &metrics, value, waits_place(profile, tree, value->scope), ret);
	}
	map_done(&rows);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), waits_compare);
}
