/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/table.h"

#include <string.h>

#include "base/search.h"

uint32_t table_add(struct recipe_table *table, uint64_t start, uint64_t size, const struct recipe_rows *rows)
{
	struct table_span span = { .start = start,
				   .size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
				   .first_row = (uint32_t)table->rows.n,
				   .n_rows = (uint32_t)rows->rows.n };

	vec_reserve(&table->rows, table->rows.n + rows->rows.n);
	if (rows->rows.n)
		memcpy(table->rows.at + table->rows.n, rows->rows.at, rows->rows.n * sizeof(*rows->rows.at));
	table->rows.n += rows->rows.n;
	vec_push(&table->spans, span);
	return (uint32_t)table->spans.n - 1;
}

void table_done(struct recipe_table *table)
{
	vec_done(&table->spans);
	vec_done(&table->rows);
}

struct table_view table_view_of(const struct recipe_table *table)
{
	return (struct table_view){ table->spans.at, table->rows.at, (uint32_t)table->spans.n,
				    (uint32_t)table->rows.n };
}

const struct recipe_row *table_rows(const struct table_view *view, const struct table_span *span)
{
	bool is_inside = span->first_row <= view->n_rows && span->n_rows <= view->n_rows - span->first_row;

	return is_inside ? view->rows + span->first_row : NULL;
}

uint32_t table_span_recipe(const struct table_view *view, const struct table_span *span, uint64_t vaddr)
{
	const struct recipe_row *rows = table_rows(view, span);

	if (vaddr - span->start >= span->size || !rows)
		return RECIPE_NONE;
	return recipe_rows_find(rows, span->n_rows, vaddr - span->start);
}

uint32_t table_recipe(const struct table_view *view, uint64_t vaddr, uint64_t *ret_function)
{
	size_t behind = search_first(i, view->n_spans, view->spans[i].start > vaddr);

	if (!behind)
		return RECIPE_NONE;
	uint32_t recipe = table_span_recipe(view, &view->spans[behind - 1], vaddr);
	if (recipe != RECIPE_NONE)
		*ret_function = view->spans[behind - 1].start;
	return recipe;
}
