/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/packed_values.h"

#include <string.h>

#define CHUNK_NONE UINT32_MAX

void packed_values_done(struct packed_values *values)
{
	for (size_t i = 0; i < PACKED_PARTS; i++)
		vec_done(&values->lists[i]);
	vec_done(&values->chunks);
	free(values->list);
	free(values->thread);
	free(values->metric);
	*values = (struct packed_values){ 0 };
}

enum packed_part packed_part_of(uint32_t metric)
{
	return metric < CCT_ROUND                ? PACKED_METRICS
	       : metric < CCT_ROUND + CCT_ROUNDS ? PACKED_ROUNDS
						 : PACKED_REST;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void packed_values_grow(struct packed_values *values, struct packed_list *list)
{
	uint32_t chunk = (uint32_t)values->chunks.n;

	vec_push(&values->chunks, (struct packed_chunk){ .next = CHUNK_NONE });
	if (list->first == CHUNK_NONE)
		list->first = chunk;
	else
		values->chunks.at[list->last].next = chunk;
	list->last = chunk;
	list->used = 0;
}

static void packed_values_put(struct packed_values *values, struct packed_list *list, uint64_t number)
{
	do {
		uint8_t byte = (uint8_t)(number & 0x7f) | (number > 0x7f ? 0x80 : 0);
		if (list->first == CHUNK_NONE || list->used == PACKED_CHUNK)
			packed_values_grow(values, list);
		values->chunks.at[list->last].bytes[list->used++] = byte;
		number >>= 7;
	} while (number);
}

void packed_values_add(struct packed_values *values, uint32_t node, uint32_t thread, uint32_t metric,
		       uint64_t value)
{
	enum packed_part part = packed_part_of(metric);

	while (values->lists[part].n <= node)
		vec_push(&values->lists[part],
			 (struct packed_list){ .first = CHUNK_NONE, .last = CHUNK_NONE });

	struct packed_list list = values->lists[part].at[node];
	packed_values_put(values, &list, (uint32_t)(thread - list.thread)); /* nearly always forward */
	packed_values_put(values, &list, metric >= CCT_ROUND ? (metric - CCT_ROUND) * 2 + 1 : metric * 2);
	packed_values_put(values, &list, value);
	list.thread = thread;
	values->lists[part].at[node] = list;
	values->n++;
}

/* ---- reading ------------------------------------------------------------------------------------ */

struct packed_cursor {
	const struct packed_values *values;
	struct packed_list list;
	uint32_t chunk, at;
};

static bool packed_cursor_ended(const struct packed_cursor *cursor)
{
	return cursor->chunk == CHUNK_NONE ||
	       (cursor->chunk == cursor->list.last && cursor->at == cursor->list.used);
}

static uint64_t packed_cursor_long(struct packed_cursor *cursor)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const struct packed_chunk *chunk = &cursor->values->chunks.at[cursor->chunk];
		if (cursor->at == PACKED_CHUNK) {
			cursor->chunk = chunk->next;
			chunk = &cursor->values->chunks.at[cursor->chunk];
			cursor->at = 0;
		}
		uint8_t byte = chunk->bytes[cursor->at++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return number;
}

static inline uint64_t packed_cursor_next(struct packed_cursor *cursor)
{
	if (cursor->at < PACKED_CHUNK) {
		uint8_t byte = cursor->values->chunks.at[cursor->chunk].bytes[cursor->at];
		if (byte < 0x80) {
			cursor->at++;
			return byte;
		}
	}
	return packed_cursor_long(cursor);
}

static void packed_values_append(const struct packed_values *values, enum packed_part part, size_t i,
				 packed_rows *ret)
{
	uint32_t thread = 0;

	if (i >= values->lists[part].n)
		return;
	struct packed_cursor cursor = { .values = values, .list = values->lists[part].at[i] };
	cursor.chunk = cursor.list.first;
	while (!packed_cursor_ended(&cursor)) {
		thread += (uint32_t)packed_cursor_next(&cursor);
		uint32_t code = (uint32_t)packed_cursor_next(&cursor);
		uint32_t metric = code & 1 ? CCT_ROUND + code / 2 : code / 2;
		uint64_t value = packed_cursor_next(&cursor);
		vec_push(ret, (struct cct_value){ (uint32_t)i, thread, metric, value });
	}
}

void packed_values_list(const struct packed_values *values, size_t i, packed_rows *ret)
{
	vec_clear(ret);
	for (enum packed_part part = 0; part < PACKED_PARTS; part++)
		packed_values_append(values, part, i, ret);
}

static inline int packed_values_compare(const struct cct_value *x, const struct cct_value *y)
{
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* The number of rows from `at` on that are in order. */
static size_t packed_values_run(const packed_rows *rows, size_t at)
{
	size_t end = at + 1;

	while (end < rows->n && packed_values_compare(&rows->at[end - 1], &rows->at[end]) <= 0)
		end++;
	return end - at;
}

/* Merges neighbouring runs. Returns how many remain. */
static size_t packed_values_join(const packed_rows *from, struct cct_value *to)
{
	size_t n = 0, n_runs = 0;

	for (size_t at = 0; at < from->n; n_runs++) {
		size_t middle = at + packed_values_run(from, at), left = at, right = middle;
		size_t end = middle < from->n ? middle + packed_values_run(from, middle) : middle;
		while (left < middle && right < end)
			to[n++] = packed_values_compare(&from->at[left], &from->at[right]) <= 0
					  ? from->at[left++]
					  : from->at[right++];
		while (left < middle)
			to[n++] = from->at[left++];
		while (right < end)
			to[n++] = from->at[right++];
		at = end;
	}
	return n_runs;
}

/* The values of each merged profile were in order: there are at most as many runs as profiles. */
void packed_rows_sort(packed_rows *rows, packed_rows *spare)
{
	if (rows->n == 0 || packed_values_run(rows, 0) == rows->n)
		return;
	for (size_t n_runs = 2; n_runs > 1;) {
		vec_reserve(spare, rows->n);
		n_runs = packed_values_join(rows, spare->at);
		spare->n = rows->n;
		packed_rows before = *rows;
		*rows = *spare;
		*spare = before;
	}
}

/* Combines values of the same thread and metric. */
static void packed_values_sum(packed_rows *rows)
{
	size_t n = 0;

	for (size_t i = 1; i < rows->n; i++) {
		if (packed_values_compare(&rows->at[n], &rows->at[i]) == 0)
			rows->at[n].value =
				cct_join(rows->at[n].metric, rows->at[n].value, rows->at[i].value);
		else
			rows->at[++n] = rows->at[i];
	}
	rows->n = n + 1;
}

/* With their final numbers, sorted, each once. */
static void packed_values_settle(const struct packed_values *values, uint32_t node, packed_rows *ret)
{
	const uint32_t *thread = values->thread, *metric = values->metric;
	packed_rows spare = { 0 };
	bool is_settled = true;

	for (size_t i = 0; i < ret->n; i++) {
		struct cct_value *row = &ret->at[i];
		row->node = node;
		row->thread = thread ? thread[row->thread] : row->thread;
		row->metric = metric && row->metric < CCT_ROUND ? metric[row->metric] : row->metric;
		is_settled &= i == 0 || packed_values_compare(row - 1, row) < 0;
	}
	if (is_settled)
		return;
	packed_rows_sort(ret, &spare);
	packed_values_sum(ret);
	vec_done(&spare);
}

void packed_values_of(const struct packed_values *values, uint32_t node, packed_rows *ret)
{
	packed_values_list(values, values->list ? values->list[node] : node, ret);
	packed_values_settle(values, node, ret);
}

void packed_values_part(const struct packed_values *values, enum packed_part part, uint32_t node,
			packed_rows *ret)
{
	vec_clear(ret);
	packed_values_append(values, part, values->list ? values->list[node] : node, ret);
	packed_values_settle(values, node, ret);
}
