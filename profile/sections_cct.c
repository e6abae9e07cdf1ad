/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling context tree in the file: nodes in tree order (a parent is named by how far back it
 * is, nearly always one row; addresses as steps from the last one in the same image), values
 * sorted by node. Both pack to a few bytes a node.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log_scale.h"
#include "profile/section.h"

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

/* Samples by round, new calls, and how long calls took: values like the others, of which `metric` is the
 * round, 0, or the class. */
static const struct column round_columns[] = {
	COLUMN(struct cct_value, node, CODE_DELTA, TO(NODE)),
	COLUMN(struct cct_value, thread, CODE_DELTA, TO(THREAD)),
	COLUMN(struct cct_value, metric, CODE_PLAIN),
	COLUMN(struct cct_value, value, CODE_PLAIN),
};
static const struct table round_table = TABLE(struct cct_value, round_columns);

void nodes_encode(const struct profile *profile, struct writer *ret)
{
	table_encode(&node_table, profile->cct.nodes.at, profile->cct.nodes.n, ret);
}

/* The two roots are there already; every other node is added again, which also rebuilds the hash. */
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

/* What a table has of the tree's values. The numbers of its rows count from the start. */
struct cct_part {
	uint32_t start, end;
};
static const struct cct_part metrics_part = { 0, CCT_ROUND };
static const struct cct_part rounds_part = { CCT_ROUND, CCT_ROUND + CCT_ROUNDS };
static const struct cct_part activations_part = { CCT_ACTIVATIONS, CCT_ACTIVATIONS + 1 };
static const struct cct_part doubts_part = { CCT_DOUBT, CCT_DOUBT_END };
static const struct cct_part durations_part = { CCT_DURATION, CCT_DURATION_CLASS + LOG_SCALE_N };

static bool cct_section_has(const struct cct_value *value, const struct cct_part *part)
{
	return value->metric >= part->start && value->metric < part->end;
}

/*
 * Those of one part, sorted by node, thread, metric. By node in linear time: there are few values to a node.
 */
static struct cct_value *sorted_values(const struct cct *cct, const struct cct_part *part, size_t *ret_n)
{
	CLEANUP(freep) size_t *start = alloc_zero(cct->nodes.n + 1, sizeof(*start));
	struct cct_value *sorted = alloc_zero(cct->values.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < cct->values.n; i++)
		start[cct->values.at[i].node + 1] += cct_section_has(&cct->values.at[i], part);
	for (size_t node = 0; node < cct->nodes.n; node++)
		start[node + 1] += start[node];
	*ret_n = start[cct->nodes.n];
	for (size_t i = 0; i < cct->values.n; i++)
		if (cct_section_has(&cct->values.at[i], part))
			sorted[start[cct->values.at[i].node]++] = cct->values.at[i];
	for (size_t node = 0, from = 0; node < cct->nodes.n; from = start[node++])
		if (start[node] - from > 1)
			qsort(sorted + from, start[node] - from, sizeof(*sorted), cct_section_compare_values);
	return sorted;
}

#define VALUE_COLUMNS ARRAY_LEN(value_columns)

/* One row at the ends of its columns: as value_columns have it, or round_columns. */
static void packed_encode_row(const struct cct_value *row, const struct cct_value *last,
			      const struct cct_part *part, struct writer *columns)
{
	write_sleb(&columns[0], (int64_t)row->node - last->node);
	write_sleb(&columns[1], (int64_t)row->thread - last->thread);
	if (part->start)
		write_uleb(&columns[2], row->metric - part->start);
	else
		write_sleb(&columns[2], (int64_t)row->metric - last->metric);
	write_uleb(&columns[3], row->value);
}

/* All rows of a part; with nothing kept, only how long the columns are and how many there are.
 */
static size_t packed_encode_rows(const struct profile *profile, const struct cct_part *part,
				 struct writer *columns, bool keeps, size_t *ret_sizes)
{
	struct cct_value last = { 0 };
	packed_rows rows = { 0 };
	size_t n = 0;

	for (uint32_t node = 0; node < profile->cct.nodes.n; node++) {
		packed_values_part(profile->packed, packed_part_of(part->start), node, &rows);
		for (size_t i = 0; i < rows.n; i++) {
			if (!cct_section_has(&rows.at[i], part))
				continue;
			packed_encode_row(&rows.at[i], &last, part, columns);
			last = rows.at[i];
			n++;
		}
		for (size_t i = 0; !keeps && i < VALUE_COLUMNS; i++) {
			ret_sizes[i] += columns[i].len;
			writer_clear(&columns[i]);
		}
	}
	vec_done(&rows);
	return n;
}

#define ONE_PASS_MAX 2000000 /* values whose columns may be in memory twice for a moment */

/* Of not so many: the columns one by one, then one behind the other. */
static void packed_encode_few(const struct profile *profile, const struct cct_part *part, struct writer *ret)
{
	struct writer columns[VALUE_COLUMNS] = { 0 };
	size_t n = packed_encode_rows(profile, part, columns, true, NULL);

	if (n) {
		write_uleb(ret, n);
		write_uleb(ret, VALUE_COLUMNS);
	}
	for (size_t i = 0; i < VALUE_COLUMNS; i++) {
		if (n) {
			write_uleb(ret, columns[i].len);
			write_bytes(ret, writer_bytes(&columns[i]));
		}
		writer_done(&columns[i]);
	}
}

/*
 * The same tables from values that are packed by node. There may be many millions of them: then the columns
 * are measured first, and written where they belong.
 */
static void packed_encode(const struct profile *profile, const struct cct_part *part, struct writer *ret)
{
	struct writer columns[VALUE_COLUMNS] = { 0 };
	size_t sizes[VALUE_COLUMNS] = { 0 }, at[VALUE_COLUMNS];

	if (profile->packed->lists[packed_part_of(part->start)].n == 0)
		return;
	if (profile->packed->n < ONE_PASS_MAX) {
		packed_encode_few(profile, part, ret);
		return;
	}
	size_t n = packed_encode_rows(profile, part, columns, false, sizes);
	for (size_t i = 0; i < VALUE_COLUMNS; i++)
		writer_done(&columns[i]);
	if (n == 0)
		return;
	write_uleb(ret, n);
	write_uleb(ret, VALUE_COLUMNS);
	for (size_t i = 0; i < VALUE_COLUMNS; i++) {
		write_uleb(ret, sizes[i]);
		at[i] = ret->len;
		write_space(ret, sizes[i]);
	}
	for (size_t i = 0; i < VALUE_COLUMNS; i++) /* each has exactly its room */
		columns[i] = (struct writer){ .at = ret->at + at[i], .cap = sizes[i] };
	packed_encode_rows(profile, part, columns, true, sizes);
}

void values_encode(const struct profile *profile, struct writer *ret)
{
	if (profile->packed) {
		packed_encode(profile, &metrics_part, ret);
		return;
	}

	size_t n;
	CLEANUP(freep) struct cct_value *values = sorted_values(&profile->cct, &metrics_part, &n);
	if (n > 0)
		table_encode(&value_table, values, n, ret);
}

static void part_encode(const struct profile *profile, const struct cct_part *part, struct writer *ret)
{
	if (profile->packed) {
		packed_encode(profile, part, ret);
		return;
	}

	size_t n;
	CLEANUP(freep) struct cct_value *values = sorted_values(&profile->cct, part, &n);

	for (size_t i = 0; i < n; i++)
		values[i].metric -= part->start;
	if (n > 0)
		table_encode(&round_table, values, n, ret);
}

void rounds_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, &rounds_part, ret);
}

void activations_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, &activations_part, ret);
}

void durations_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, &durations_part, ret);
}

void doubts_encode(const struct profile *profile, struct writer *ret)
{
	part_encode(profile, &doubts_part, ret);
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

static int part_decode(struct decoder *decoder, struct profile *profile, const struct cct_part *part,
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
		if (value->metric >= part->end - part->start)
			return decoder_refuse(decoder, "row %zu is of %s %u", i, what, value->metric);
		value->metric += part->start;
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
	return part_decode(decoder, profile, &rounds_part, "round");
}

int activations_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, &activations_part, "kind");
}

int durations_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, &durations_part, "class");
}

int doubts_decode(struct decoder *decoder, struct profile *profile)
{
	return part_decode(decoder, profile, &doubts_part, "kind");
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
