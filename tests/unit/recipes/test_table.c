/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/table.h"

#include "tests/test.h"

static void add(struct recipe_table *table, uint64_t start, uint64_t size, uint32_t recipe)
{
	struct recipe_rows rows = { 0 };

	recipe_rows_add(&rows, 0, recipe);
	recipe_rows_add(&rows, 4, RECIPE_NONE);
	recipe_rows_add(&rows, 8, recipe + 1);
	table_add(table, start, size, &rows);
	vec_done(&rows.rows);
}

TEST(tables_find_the_recipe_at_an_address)
{
	struct recipe_table table = { 0 };
	uint64_t function = 0;

	add(&table, 0x100, 16, 1);
	add(&table, 0x200, 16, 5);
	struct table_view view = table_view_of(&table);
	CHECK_EQ(table_recipe(&view, 0xff, &function), RECIPE_NONE);
	CHECK_EQ(table_recipe(&view, 0x104, &function), RECIPE_NONE);
	CHECK_EQ(table_recipe(&view, 0x110, &function), RECIPE_NONE);
	CHECK_EQ(function, 0); /* unchanged */
	CHECK_EQ(table_recipe(&view, 0x10f, &function), 2);
	CHECK_EQ(function, 0x100);
	CHECK_EQ(table_recipe(&view, 0x200, &function), 5);
	CHECK_EQ(function, 0x200);
	CHECK_EQ(table_recipe(&view, UINT64_MAX, &function), RECIPE_NONE);
	CHECK_EQ(table_span_recipe(&view, &view.spans[0], 0x103), 1);
	CHECK_EQ(table_span_recipe(&view, &view.spans[0], 0x200), RECIPE_NONE);
	table_done(&table);
}

TEST(tables_read_no_row_outside_of_the_table)
{
	struct recipe_table table = { 0 };

	add(&table, 0x100, UINT64_MAX, 1); /* the size is clamped to 32 bits */
	CHECK_EQ(table.spans.at[0].size, UINT32_MAX);
	struct table_view view = table_view_of(&table);
	struct table_span span = view.spans[0];
	CHECK(table_rows(&view, &span) == table.rows.at);
	span.n_rows++;
	CHECK(!table_rows(&view, &span));
	CHECK_EQ(table_span_recipe(&view, &span, 0x100), RECIPE_NONE);
	span = (struct table_span){ .start = 0x100, .size = 4, .first_row = UINT32_MAX, .n_rows = 2 };
	CHECK(!table_rows(&view, &span));
	span = (struct table_span){ .start = 0x100, .size = 4, .first_row = view.n_rows };
	CHECK_EQ(table_span_recipe(&view, &span, 0x100), RECIPE_NONE);
	table_done(&table);
}
