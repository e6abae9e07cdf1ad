/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_tables: the tables of a tree's values in the file, created row by row.
 *
 * Rows come in the order of node, thread and metric. They are those that sections_cct.c describes as columns.
 */
#pragma once

#include "base/writer.h"
#include "profile/packed_values.h"

enum value_table {
	VALUES_METRICS,
	VALUES_ROUNDS,
	VALUES_ACTIVATIONS,
	VALUES_DURATIONS,
	VALUES_DOUBTS,
	VALUE_TABLES
};

/* Which of the tree's values a table has, by metric. The numbers in its rows count from the start. */
struct value_range {
	uint32_t start, end;
};
extern const struct value_range value_ranges[VALUE_TABLES];

static inline bool value_range_has(enum value_table table, uint32_t metric)
{
	return metric >= value_ranges[table].start && metric < value_ranges[table].end;
}

enum { COLUMN_NODE, COLUMN_THREAD, COLUMN_METRIC, COLUMN_VALUE, VALUE_COLUMNS };

/* As write_uleb and write_sleb do, which are called for large numbers only: there are millions of small ones.
 */
static inline void value_put_uleb(struct writer *w, uint64_t number)
{
	if (number < 0x80 && w->len < w->cap)
		w->at[w->len++] = (uint8_t)number;
	else
		write_uleb(w, number);
}

static inline void value_put_sleb(struct writer *w, int64_t number)
{
	if (number >= -0x40 && number < 0x40 && w->len < w->cap)
		w->at[w->len++] = (uint8_t)(number & 0x7f);
	else
		write_sleb(w, number);
}

struct value_columns {
	struct writer of[VALUE_COLUMNS];
	struct cct_value last; /* what the next row's steps count from */
	uint64_t n;
};

void value_columns_done(struct value_columns *columns);
/* Adds those of the rows that the table has. */
void value_columns_add(struct value_columns *columns, enum value_table table, const struct cct_value *rows,
		       size_t n);
/* The table as it stands in its section; nothing for no rows. */
void value_columns_write(const struct value_columns *columns, struct writer *ret);

/* The tables of a merge that was made by several; in place of values. */
struct value_tables {
	struct writer of[VALUE_TABLES];
};
void value_tables_free(struct value_tables *tables);
