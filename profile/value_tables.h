/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_tables: the tables of a tree's values in the file, created row by row.
 *
 * Rows are added in the order of node, thread and metric. sections_cct.c describes their columns.
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

/* Which of the tree's values a table has, by metric. The numbers in its rows count from `start`. */
struct value_range {
	uint32_t start, end;
};
extern const struct value_range value_ranges[VALUE_TABLES];

static inline bool value_range_has(enum value_table table, uint32_t metric)
{
	return metric >= value_ranges[table].start && metric < value_ranges[table].end;
}

enum { COLUMN_NODE, COLUMN_THREAD, COLUMN_METRIC, COLUMN_VALUE, VALUE_COLUMNS };

/* Like write_uleb and write_sleb, but fast for small numbers, of which there are millions. */
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
	struct cct_value last; /* the row that the next one's differences refer to */
	uint64_t n;
};

void value_columns_done(struct value_columns *columns);
/* Adds those rows that belong to the table. */
void value_columns_add(struct value_columns *columns, enum value_table table, const struct cct_value *rows,
		       size_t n);
/* Writes the table as in its section; nothing if it has no rows. */
void value_columns_write(const struct value_columns *columns, struct writer *ret);

/* The tables of a merge by several processes; they replace the values. */
struct value_tables {
	struct writer of[VALUE_TABLES];
};
void value_tables_free(struct value_tables *tables);
