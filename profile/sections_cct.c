/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling context tree in the file: nodes in tree order (a parent is stored as its distance in rows,
 * which is nearly always one; an address as the difference to the previous one in the same image), values
 * sorted by node. Both take a few bytes per node.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/section.h"
#include "profile/value_tables.h"

static const struct column node_columns[] = {
	COLUMN(struct cct_node, parent, CODE_BACK),
	COLUMN(struct cct_node, image, CODE_PLAIN, TO_OR_NONE(IMAGE)),
	COLUMN(struct cct_node, vaddr, CODE_IN_IMAGE),
	COLUMN(struct cct_node, flags, CODE_PLAIN),
};
static const struct table node_table = TABLE(struct cct_node, node_columns, .image_column = 1);

static const struct column value_columns[] = {
	COLUMN(struct cct_value, node, CODE_DELTA, TO(NODE)),
	COLUMN(struct cct_value, thread, CODE_DELTA, TO(THREAD)),
	COLUMN(struct cct_value, metric, CODE_DELTA, TO(METRIC)),
	COLUMN(struct cct_value, value, CODE_PLAIN),
};
static const struct table value_table = TABLE(struct cct_value, value_columns);

/* Samples by round, new calls, and durations of calls are stored like other values; `metric` is then the
 * round, 0, or the class of durations. */
static const struct column round_columns[] = {
	COLUMN(struct cct_value, node, CODE_DELTA, TO(NODE)),
	COLUMN(struct cct_value, thread, CODE_DELTA, TO(THREAD)),
	COLUMN(struct cct_value, metric, CODE_PLAIN),
	COLUMN(struct cct_value, value, CODE_PLAIN),
};
static const struct table round_table = TABLE(struct cct_value, round_columns);

void nodes_encode(const struct profile *profile, struct writer *ret)
{
	if (!profile->contexts.len && !tree_is_written(profile))
		table_encode(&node_table, profile->cct.nodes.at, profile->cct.nodes.n, ret);
}

/* The two roots exist already; every other node is added again, which also rebuilds the hash. */
static int add_nodes(const struct decoder *decoder, const struct cct_node *nodes, size_t n, struct cct *cct)
{
	for (size_t i = 0; i < n; i++) {
		const struct cct_node *node = &nodes[i];
		if (i <= CCT_INCOMPLETE) {
			if (node->image != IMAGE_NONE || (i > 0 && node->parent != CCT_ROOT))
				return decoder_refuse(decoder, "node %zu is not a root", i);
			continue;
		}
		if (cct_child(cct, node->parent, node->image, node->vaddr, node->flags) != i)
			return decoder_refuse(decoder, "node %zu occurs twice", i);
	}
	return 0;
}

int nodes_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n;
	int error = table_decode(&node_table, decoder, &rows, &n);

	if (error < 0)
		return error;
	if (n < profile->cct.nodes.n)
		return decoder_refuse(decoder, "the roots are missing");
	decoder->limits[REF_NODE] = n;
	return add_nodes(decoder, rows, n, &profile->cct);
}

static int cct_section_compare_values(const void *a, const void *b)
{
	const struct cct_value *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/*
 * The values of one table, sorted by node, thread, metric. By node in linear time: there are few values per
 * node.
 */
static struct cct_value *sorted_values(const struct cct *cct, enum value_table table, size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < cct->values.n; i++)
		*ret_n += value_range_has(table, cct->values.at[i].metric);
	if (!*ret_n) /* most recordings have values in two or three of the tables */
		return NULL;

	CLEANUP(freep) size_t *start = alloc_zero(cct->nodes.n + 1, sizeof(*start));
	struct cct_value *sorted = alloc_zero(*ret_n, sizeof(*sorted));

	for (size_t i = 0; i < cct->values.n; i++)
		start[cct->values.at[i].node + 1] += value_range_has(table, cct->values.at[i].metric);
	for (size_t node = 0; node < cct->nodes.n; node++)
		start[node + 1] += start[node];
	for (size_t i = 0; i < cct->values.n; i++)
		if (value_range_has(table, cct->values.at[i].metric))
			sorted[start[cct->values.at[i].node]++] = cct->values.at[i];
	for (size_t node = 0, from = 0; node < cct->nodes.n; from = start[node++])
		if (start[node] - from > 1)
			qsort(sorted + from, start[node] - from, sizeof(*sorted), cct_section_compare_values);
	return sorted;
}

/* All rows of a table; if nothing is kept, only the lengths of the columns and the number of rows. */
static void packed_encode_rows(const struct profile *profile, enum value_table table, bool keeps,
			       struct value_columns *columns, size_t *ret_sizes)
{
	enum packed_part part = packed_part_of(value_ranges[table].start);
	packed_rows rows = { 0 };

	for (uint32_t node = 0; node < profile->cct.nodes.n; node++) {
		packed_values_part(profile->packed, part, node, &rows);
		value_columns_add(columns, table, rows.at, rows.n);
		for (size_t i = 0; !keeps && i < VALUE_COLUMNS; i++) {
			ret_sizes[i] += columns->of[i].len;
			writer_clear(&columns->of[i]);
		}
	}
	vec_done(&rows);
}

#define ONE_PASS_MAX 2000000 /* values; the columns of so many may be in memory twice for a moment */

/*
 * The same tables from values that are packed by node. There may be many millions of them: then the columns
 * are measured first, and written directly to their final place.
 */
static void packed_encode(const struct profile *profile, enum value_table table, struct writer *ret)
{
	CLEANUP(value_columns_done) struct value_columns columns = { 0 };
	size_t sizes[VALUE_COLUMNS] = { 0 }, at[VALUE_COLUMNS];
	bool is_large = profile->packed->n >= ONE_PASS_MAX;

	if (profile->packed->lists[packed_part_of(value_ranges[table].start)].n == 0)
		return;
	packed_encode_rows(profile, table, !is_large, &columns, sizes);
	if (!is_large || columns.n == 0) {
		value_columns_write(&columns, ret);
		return;
	}
	write_uleb(ret, columns.n);
	write_uleb(ret, VALUE_COLUMNS);
	for (size_t i = 0; i < VALUE_COLUMNS; i++) {
		write_uleb(ret, sizes[i]);
		at[i] = ret->len;
		write_space(ret, sizes[i]);
	}
	struct value_columns inside = { 0 };
	for (size_t i = 0; i < VALUE_COLUMNS; i++) /* each was measured exactly */
		inside.of[i] = (struct writer){ .at = ret->at + at[i], .cap = sizes[i] };
	packed_encode_rows(profile, table, true, &inside, sizes);
}

static void part_encode(const struct profile *profile, enum value_table table, struct writer *ret)
{
	if (profile->samples.len && table <= VALUES_ACTIVATIONS) /* they are in section 24 */
		return;
	if (profile->tables) {
		write_bytes(ret, writer_bytes(&profile->tables->of[table]));
		return;
	}
	if (profile->packed) {
		packed_encode(profile, table, ret);
		return;
	}

	size_t n;
	CLEANUP(freep) struct cct_value *values = sorted_values(&profile->cct, table, &n);

	for (size_t i = 0; i < n; i++)
		values[i].metric -= value_ranges[table].start;
	if (n > 0)
		table_encode(table == VALUES_METRICS ? &value_table : &round_table, values, n, ret);
}

void values_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, VALUES_METRICS, ret);
}

void rounds_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, VALUES_ROUNDS, ret);
}

void activations_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, VALUES_ACTIVATIONS, ret);
}

void durations_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, VALUES_DURATIONS, ret);
}

void doubts_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, VALUES_DOUBTS, ret);
}

static bool values_are_sorted(const struct cct_value *rows, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (rows[i].node < rows[i - 1].node ||
		    (rows[i].node == rows[i - 1].node &&
		     cct_section_compare_values(&rows[i - 1], &rows[i]) >= 0))
			return false;
	return true;
}

static int part_decode(struct decoder *decoder, struct profile *profile, enum value_table table,
		       const char *what)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n, before = profile->cct.values.n;
	int error = table_decode(&round_table, decoder, &rows, &n);

	if (error < 0)
		return error;
	bool is_sorted = values_are_sorted(rows, n); /* as we write them: each is there once */
	for (size_t i = 0; i < n; i++) {
		struct cct_value *value = (struct cct_value *)rows + i;
		if (value->metric >= value_ranges[table].end - value_ranges[table].start)
			return decoder_refuse(decoder, "row %zu is of %s %u", i, what, value->metric);
		value->metric += value_ranges[table].start;
		if (is_sorted) {
			vec_push(&profile->cct.values, *value);
			continue;
		}
		cct_add_value(&profile->cct, value->node, value->thread, value->metric, value->value);
		if (profile->cct.values.n != before + i + 1)
			return decoder_refuse(decoder, "row %zu occurs twice", i);
	}
	return 0;
}

int rounds_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, VALUES_ROUNDS, "round");
}

int activations_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, VALUES_ACTIVATIONS, "kind");
}

int durations_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, VALUES_DURATIONS, "class");
}

int doubts_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, VALUES_DOUBTS, "kind");
}

int values_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n;
	int error = table_decode(&value_table, decoder, &rows, &n);

	if (error < 0)
		return error;
	if (values_are_sorted(rows, n)) { /* as we write them: each is there once */
		profile->cct.values.at = TAKE(rows);
		profile->cct.values.n = profile->cct.values.cap = n;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct cct_value *value = (const struct cct_value *)rows + i;
		cct_add_value(&profile->cct, value->node, value->thread, value->metric, value->value);
		if (profile->cct.values.n != i + 1)
			return decoder_refuse(decoder, "row %zu occurs twice", i);
	}
	return 0;
}
