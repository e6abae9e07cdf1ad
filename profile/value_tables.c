/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/value_tables.h"

#include <stdlib.h>

#include "base/log_scale.h"

const struct value_range value_ranges[VALUE_TABLES] = {
	[VALUES_METRICS] = { 0, CCT_ROUND },
	[VALUES_ROUNDS] = { CCT_ROUND, CCT_ROUND + CCT_ROUNDS },
	[VALUES_ACTIVATIONS] = { CCT_ACTIVATIONS, CCT_ACTIVATIONS + 1 },
	[VALUES_DURATIONS] = { CCT_DURATION, CCT_DURATION_CLASS + LOG_SCALE_N },
	[VALUES_DOUBTS] = { CCT_DOUBT, CCT_DOUBT_END },
};

void value_columns_done(struct value_columns *columns)
{
	for (size_t i = 0; i < VALUE_COLUMNS; i++)
		writer_done(&columns->of[i]);
}

void value_columns_add(struct value_columns *columns, enum value_table table, const struct cct_value *rows,
		       size_t n)
{
	struct writer *of = columns->of;
	struct cct_value last = columns->last;

	for (size_t i = 0; i < n; i++) {
		const struct cct_value row = rows[i];
		if (!value_range_has(table, row.metric))
			continue;
		value_put_sleb(&of[COLUMN_NODE], (int64_t)row.node - last.node);
		value_put_sleb(&of[COLUMN_THREAD], (int64_t)row.thread - last.thread);
		if (table == VALUES_METRICS)
			value_put_sleb(&of[COLUMN_METRIC], (int64_t)row.metric - last.metric);
		else
			value_put_uleb(&of[COLUMN_METRIC], row.metric - value_ranges[table].start);
		value_put_uleb(&of[COLUMN_VALUE], row.value);
		last = row;
		columns->n++;
	}
	columns->last = last;
}

void value_columns_write(const struct value_columns *columns, struct writer *ret)
{
	if (columns->n == 0)
		return;
	write_uleb(ret, columns->n);
	write_uleb(ret, VALUE_COLUMNS);
	for (size_t i = 0; i < VALUE_COLUMNS; i++) {
		write_uleb(ret, columns->of[i].len);
		write_bytes(ret, writer_bytes(&columns->of[i]));
	}
}

void value_tables_free(struct value_tables *tables)
{
	for (size_t i = 0; tables && i < VALUE_TABLES; i++)
		writer_done(&tables->of[i]);
	free(tables);
}
