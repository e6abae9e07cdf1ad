/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/value_blocks.h"

#include <errno.h>

#include "base/cleanup.h"

#define BLOCK_NODES 32

/* The tables that contain the values of one part. */
static const struct block_tables {
	enum value_table first, end;
} block_tables[PACKED_PARTS] = {
	[PACKED_METRICS] = { VALUES_METRICS, VALUES_ROUNDS },
	[PACKED_ROUNDS] = { VALUES_ROUNDS, VALUES_ACTIVATIONS },
	[PACKED_REST] = { VALUES_ACTIVATIONS, VALUE_TABLES },
};

static uint32_t block_count(const struct value_deal *deal)
{
	return deal->n_nodes / BLOCK_NODES + 1;
}

static uint32_t block_end(const struct value_deal *deal, uint32_t block)
{
	return deal->n_nodes - block * BLOCK_NODES < BLOCK_NODES ? deal->n_nodes : (block + 1) * BLOCK_NODES;
}

/* ---- distributing ------------------------------------------------------------------------------- */

/* The number of rows, then for each: the difference from the last thread, metric, value. */
static void block_deal_rows(const packed_rows *rows, struct writer *ret)
{
	uint32_t thread = 0;

	value_put_uleb(ret, rows->n);
	for (size_t i = 0; i < rows->n; i++) {
		value_put_uleb(ret, rows->at[i].thread - thread);
		value_put_uleb(ret, rows->at[i].metric);
		value_put_uleb(ret, rows->at[i].value);
		thread = rows->at[i].thread;
	}
}

void value_blocks_deal(const struct value_deal *deal, const struct packed_values *values, uint32_t taker,
		       struct writer *ret)
{
	packed_rows rows = { 0 };

	for (enum packed_part part = 0; part < PACKED_PARTS; part++)
		for (uint32_t block = taker; block < block_count(deal); block += deal->n_takers)
			for (uint32_t node = block * BLOCK_NODES; node < block_end(deal, block); node++) {
				packed_values_part(values, part, node, &rows);
				block_deal_rows(&rows, ret);
			}
	vec_done(&rows);
}

static void block_read_rows(struct reader *r, uint32_t node, packed_rows *ret)
{
	uint32_t thread = 0;

	for (uint64_t n = read_uleb(r); n > 0 && !r->failed; n--) {
		thread += (uint32_t)read_uleb(r);
		uint32_t metric = (uint32_t)read_uleb(r);
		vec_push(ret, (struct cct_value){ node, thread, metric, read_uleb(r) });
	}
}

/* ---- encoding ----------------------------------------------------------------------------------- */

/*
 * A block of one table: the number of rows, the first and the last of them, and the columns. The preceding
 * row is not known here, so the differences of the first row are zero.
 */
struct block {
	struct value_columns columns;
	struct cct_value first;
};

static void block_done(struct block *block)
{
	value_columns_done(&block->columns);
}

static void block_clear(struct block *block)
{
	block->columns.n = 0;
	for (size_t i = 0; i < VALUE_COLUMNS; i++)
		writer_clear(&block->columns.of[i]);
}

static void block_add(struct block *block, enum value_table table, const packed_rows *rows)
{
	size_t i = 0;

	while (i < rows->n && !value_range_has(table, rows->at[i].metric))
		i++;
	if (i < rows->n && block->columns.n == 0)
		block->first = block->columns.last = rows->at[i];
	value_columns_add(&block->columns, table, rows->at + i, rows->n - i);
}

static void block_write_row(const struct cct_value *row, struct writer *ret)
{
	write_uleb(ret, row->node);
	write_uleb(ret, row->thread);
	write_uleb(ret, row->metric);
}

static void block_write(const struct block *block, struct writer *ret)
{
	const struct value_columns *columns = &block->columns;

	write_uleb(ret, columns->n);
	if (columns->n == 0)
		return;
	block_write_row(&block->first, ret);
	block_write_row(&columns->last, ret);
	for (size_t i = 0; i < VALUE_COLUMNS; i++) {
		write_uleb(ret, columns->of[i].len);
		write_bytes(ret, writer_bytes(&columns->of[i]));
	}
}

/* A process and its part of the tables. */
struct encoder {
	const struct value_deal *deal;
	struct reader *from; /* by process */
	struct block blocks[VALUE_TABLES];
	packed_rows rows, spare;
};

static void encoder_do_block(struct encoder *encoder, enum packed_part part, uint32_t number,
			     struct writer *ret)
{
	const struct block_tables tables = block_tables[part];

	for (enum value_table table = tables.first; table < tables.end; table++)
		block_clear(&encoder->blocks[table]);
	for (uint32_t node = number * BLOCK_NODES; node < block_end(encoder->deal, number); node++) {
		vec_clear(&encoder->rows);
		for (uint32_t i = 0; i < encoder->deal->n_takers; i++)
			block_read_rows(&encoder->from[i], node, &encoder->rows);
		packed_rows_sort(&encoder->rows, &encoder->spare);
		for (enum value_table table = tables.first; table < tables.end && encoder->rows.n; table++)
			block_add(&encoder->blocks[table], table, &encoder->rows);
	}
	for (enum value_table table = tables.first; table < tables.end; table++)
		block_write(&encoder->blocks[table], ret);
}

int value_blocks_encode(const struct value_deal *deal, uint32_t taker, const struct writer *dealt,
			struct writer *ret)
{
	CLEANUP(freep) struct reader *from = alloc_zero(deal->n_takers, sizeof(*from));
	struct encoder encoder = { .deal = deal, .from = from };
	bool is_whole = true;

	for (uint32_t i = 0; i < deal->n_takers; i++)
		from[i] = reader_of(writer_bytes(&dealt[i]));
	for (enum packed_part part = 0; part < PACKED_PARTS; part++)
		for (uint32_t block = taker; block < block_count(deal); block += deal->n_takers)
			encoder_do_block(&encoder, part, block, ret);
	for (uint32_t i = 0; i < deal->n_takers; i++)
		is_whole &= !from[i].failed && reader_left(&from[i]) == 0;
	for (enum value_table table = 0; table < VALUE_TABLES; table++)
		block_done(&encoder.blocks[table]);
	vec_done(&encoder.rows);
	vec_done(&encoder.spare);
	return is_whole ? 0 : -EBADMSG;
}

/* ---- joining ------------------------------------------------------------------------------------ */

static struct cct_value block_read_row(struct reader *r)
{
	struct cct_value row = { 0 };

	row.node = (uint32_t)read_uleb(r);
	row.thread = (uint32_t)read_uleb(r);
	row.metric = (uint32_t)read_uleb(r);
	return row;
}

/* The differences of its first row are now relative to the row before it. */
static void block_append(struct reader *r, enum value_table table, struct value_columns *columns)
{
	uint64_t n = read_uleb(r);

	if (n == 0)
		return;
	struct cct_value first = block_read_row(r), last = block_read_row(r);
	const int64_t steps[VALUE_COLUMNS] = { (int64_t)first.node - columns->last.node,
					       (int64_t)first.thread - columns->last.thread,
					       (int64_t)first.metric - columns->last.metric };
	size_t n_steps = table == VALUES_METRICS ? COLUMN_VALUE : COLUMN_METRIC;
	for (size_t i = 0; i < VALUE_COLUMNS; i++) {
		struct bytes bytes = read_bytes(r, read_uleb(r));
		if (i < n_steps)
			write_sleb(&columns->of[i], steps[i]);
		write_bytes(&columns->of[i], i < n_steps ? bytes_from(bytes, 1) : bytes);
	}
	columns->last = last;
	columns->n += n;
}

struct value_tables *value_blocks_join(const struct value_deal *deal, const struct writer *encoded)
{
	CLEANUP(freep) struct reader *from = alloc_zero(deal->n_takers, sizeof(*from));
	struct value_tables *tables = alloc_zero(1, sizeof(*tables));
	struct value_columns columns[VALUE_TABLES] = { 0 };
	bool is_whole = true;

	for (uint32_t i = 0; i < deal->n_takers; i++)
		from[i] = reader_of(writer_bytes(&encoded[i]));
	for (enum packed_part part = 0; part < PACKED_PARTS; part++)
		for (uint32_t block = 0; block < block_count(deal); block++)
			for (enum value_table table = block_tables[part].first;
			     table < block_tables[part].end; table++)
				block_append(&from[block % deal->n_takers], table, &columns[table]);
	for (enum value_table table = 0; table < VALUE_TABLES; table++) {
		value_columns_write(&columns[table], &tables->of[table]);
		value_columns_done(&columns[table]);
	}
	for (uint32_t i = 0; i < deal->n_takers; i++)
		is_whole &= !from[i].failed && reader_left(&from[i]) == 0;
	if (is_whole)
		return tables;
	value_tables_free(tables);
	return NULL;
}
