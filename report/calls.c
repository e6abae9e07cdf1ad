/* SPDX-License-Identifier: Apache-2.0 */
#include "report/calls.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/log_scale.h"
#include "unwinder/cct.h"

#define CLASS (CCT_DURATION_CLASS - CCT_DURATION) /* metrics of the tree's durations are numbered from 0 */

/* The number of calls of a row in a class. */
struct call_class {
	uint32_t row, class;
	uint64_t n;
};
struct call_classes {
	VEC(struct call_class) of;
};

/* A call may end in a loop or an inlined part of its function. */
static uint32_t calls_function(const struct scope_tree *tree, uint32_t scope)
{
	while (scope) {
		unsigned kind = scope_kind(tree, scope);
		if (kind != SCOPE_LINE && kind != SCOPE_LOOP && kind != SCOPE_INLINE)
			break;
		scope = tree->scopes.at[scope].parent;
	}
	return scope;
}

static uint32_t calls_row(struct map *rows, uint32_t scope, call_rows *ret)
{
	uint32_t at = map_find(rows, scope);

	if (at == MAP_NONE) {
		map_put(rows, scope, at = (uint32_t)ret->n);
		vec_push(ret, ((struct call_row){ .scope = scope, .least = UINT64_MAX }));
	}
	return at;
}

static void calls_add(const struct scope_value *value, uint32_t at, struct call_classes *classes,
		      struct call_row *row)
{
	switch (value->metric + CCT_DURATION) {
	case CCT_DURATION_LEAST:
		row->least = cct_join(CCT_DURATION_LEAST, row->least, value->value);
		return;
	case CCT_DURATION_MOST:
		row->most = cct_join(CCT_DURATION_MOST, row->most, value->value);
		return;
	case CCT_DURATION_SUM:
		row->sum += value->value;
		return;
	default:
		row->calls += value->value;
		vec_push(&classes->of, ((struct call_class){ at, value->metric - CLASS, value->value }));
	}
}

static int calls_compare_classes(const void *left, const void *right)
{
	const struct call_class *a = left, *b = right;

	return a->row != b->row ? (a->row > b->row) - (a->row < b->row)
				: (a->class > b->class) - (a->class < b->class);
}

/* Limited to the range of actual durations. */
static uint64_t calls_value(const struct call_row *row, uint32_t class)
{
	uint64_t value = log_scale_middle(class);

	return value < row->least ? row->least : value > row->most ? row->most : value;
}

/* Classes are in increasing order: each percentile is in the first one at which enough calls have been seen.
 */
static void calls_find_percentiles(struct call_row *row, const struct call_class *classes, size_t n)
{
	struct {
		unsigned percent;
		uint64_t *to;
		bool is_found;
	} wanted[] = { { 50, &row->p50, false }, { 90, &row->p90, false }, { 99, &row->p99, false } };
	uint64_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		seen += classes[i].n;
		for (size_t k = 0; k < ARRAY_LEN(wanted); k++) {
			if (wanted[k].is_found || (double)seen < (double)row->calls * wanted[k].percent / 100)
				continue;
			*wanted[k].to = calls_value(row, classes[i].class);
			wanted[k].is_found = true;
		}
	}
}

static int calls_compare(const void *left, const void *right)
{
	const struct call_row *a = left, *b = right;

	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

/* For waits only the longest is known: they are not calls. */
static void calls_drop_others(call_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i].calls)
			rows->at[n++] = rows->at[i];
	rows->n = n;
}

void call_rows_find(const struct scope_tree *tree, const bool *is_kept, call_rows *ret)
{
	struct call_classes classes = { 0 };
	struct map rows = { 0 };

	for (size_t i = 0; i < tree->durations.n; i++) {
		const struct scope_value *value = &tree->durations.at[i];
		if (value->metric >= CCT_DOUBT - CCT_DURATION || (is_kept && !is_kept[value->thread]))
			continue;
		uint32_t at = calls_row(&rows, calls_function(tree, value->scope), ret);
		calls_add(value, at, &classes, &ret->at[at]);
	}
	if (classes.of.n)
		qsort(classes.of.at, classes.of.n, sizeof(*classes.of.at), calls_compare_classes);
	for (size_t i = 0, end; i < classes.of.n; i = end) {
		uint32_t row = classes.of.at[i].row;
		for (end = i; end < classes.of.n && classes.of.at[end].row == row;)
			end++;
		calls_find_percentiles(&ret->at[row], &classes.of.at[i], end - i);
	}
	map_done(&rows);
	vec_done(&classes.of);
	calls_drop_others(ret);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), calls_compare);
}
