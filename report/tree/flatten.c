/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/flatten.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "report/tree/outermost.h"

static void flatten_make_rows(struct flat_table *table, size_t n, uint32_t n_metrics)
{
	table->values = alloc_zero(n * n_metrics * 2, sizeof(uint64_t));
	vec_reserve(&table->rows, n);
	for (size_t i = 0; i < n; i++)
		vec_push(&table->rows, (struct flat_row){ .self = table->values + i * 2 * n_metrics,
							  .total = table->values + (i * 2 + 1) * n_metrics });
}

struct flattener {
	const struct document *document;
	struct flat_table *table;
	const uint32_t *group; /* of each frame */
};

static uint32_t flatten_group(void *context, uint32_t node)
{
	const struct flattener *f = context;

	return f->group[document_frame(f->document, node)];
}

static void count_total(void *context, uint32_t node, uint32_t group)
{
	const struct flattener *f = context;

	for (uint32_t k = 0; k < f->document->n_metrics; k++)
		f->table->rows.at[group].total[k] += document_inclusive(f->document, node, k);
}

/* The self cost of a loop is also that of the loops and the function around it. */
static void count_self(struct flattener *f)
{
	const struct document *document = f->document;

	for (size_t i = 0; i < document->tree->values.n; i++) {
		const struct scope_value *value = &document->tree->values.at[i];
		uint32_t node = i < document->first_point ? value->scope
							  : document->tree->scopes.at[value->scope].parent;
		for (;; node = document_parent(document, node)) {
			uint32_t frame = document_frame(document, node);
			f->table->rows.at[f->group[frame]].self[value->metric] += value->value;
			if (document->frames.at[frame].kind != SCOPE_LOOP)
				break;
		}
	}
}

void flatten_groups(const struct document *document, const uint32_t *group, uint32_t n_groups,
		    struct flat_table *ret)
{
	struct flattener flattener = { .document = document, .table = ret, .group = group };
	struct outermost outermost = { &flattener, n_groups, flatten_group, count_total };

	*ret = (struct flat_table){ 0 };
	flatten_make_rows(ret, n_groups, document->n_metrics);
	for (size_t i = document->frames.n; i-- > 0;) {
		const struct scope_frame *f = &document->frames.at[i];
		struct flat_row *row = &ret->rows.at[group[i]];
		row->frame = (uint32_t)i;
		row->file = f->file;
		row->line = f->line;
		row->image = f->image;
	}
	count_self(&flattener);
	outermost_visit(&outermost, document->tree, document->n_nodes);
}

void flatten_frames(const struct document *document, struct flat_table *ret)
{
	uint32_t n = (uint32_t)document->frames.n, *each = alloc_resize(NULL, n, sizeof(uint32_t));

	for (uint32_t i = 0; i < n; i++)
		each[i] = i;
	flatten_groups(document, each, n, ret);
	free(each);
}

static uint64_t line_key(const struct document_point *point)
{
	return (uint64_t)point->file << 32 | point->line;
}

void flatten_lines(const struct document *document, struct flat_table *ret)
{
	uint32_t m = document->n_metrics, n_lines = 0;
	struct map seen = { 0 };

	*ret = (struct flat_table){ 0 };
	for (size_t i = 0; i < document->n_points; i++) {
		struct document_point p = document_point(document, i);
		if (map_find(&seen, line_key(&p)) == MAP_NONE)
			map_put(&seen, line_key(&p), n_lines++);
	}
	flatten_make_rows(ret, n_lines, m);
	for (size_t i = 0; i < document->n_points; i++) {
		struct document_point p = document_point(document, i);
		struct flat_row *row = &ret->rows.at[map_find(&seen, line_key(&p))];
		row->frame = UINT32_MAX;
		row->file = p.file;
		row->line = p.line;
		row->image = p.image;
		row->self[p.metric] += p.value;
		row->total[p.metric] += p.value;
	}
	map_done(&seen);
}

void flat_table_done(struct flat_table *table)
{
	vec_done(&table->rows);
	free(table->values);
}

static int by_self(const void *left, const void *right, void *context)
{
	const struct flat_row *a = left, *b = right;
	uint32_t metric = *(const uint32_t *)context;

	if (a->self[metric] != b->self[metric])
		return a->self[metric] < b->self[metric] ? 1 : -1;
	if (a->total[metric] != b->total[metric])
		return a->total[metric] < b->total[metric] ? 1 : -1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

void flat_table_sort(struct flat_table *table, uint32_t metric)
{
	if (table->rows.n)
		qsort_r(table->rows.at, table->rows.n, sizeof(*table->rows.at), by_self, &metric);
}
