/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order: a heap of (time, number) over records that are stored in large blocks, or lent by their owner.
 * Records leave roughly in the order in which they came, so a block empties soon after it was filled, and is
 * used again.
 */
#include "collector/order.h"

#include <assert.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

#define BLOCK_SIZE (1u << 20) /* about sixty samples with 16 KiB of stack */

struct block {
	size_t used, n_records; /* n_records: still waiting */
	_Alignas(8) uint8_t bytes[BLOCK_SIZE];
};

struct entry {
	uint64_t time_ns, number;
	const uint8_t *at;
	size_t len;
	struct block *block; /* NULL: lent */
	size_t *loan;
};

struct order {
	VEC(struct entry) heap;
	VEC(struct block *) spare;
	struct block *current;          /* being filled */
	struct entry handed;            /* the record handed out last */
	uint64_t previous_ns, round_ns; /* start of the last round and of this one */
	uint64_t delay_ns;              /* of writers, at most; 0 = unknown */
	uint64_t limit_ns;              /* records up to here may go */
	uint64_t last_ns, n_added, n_late;
	size_t held;
};

struct order *order_new(void)
{
	return alloc_zero(1, sizeof(struct order));
}

static void order_release(struct order *order, struct entry entry)
{
	struct block *block = entry.block;

	if (entry.loan)
		--*entry.loan;
	if (!block || --block->n_records)
		return;
	block->used = 0;
	if (block != order->current)
		vec_push(&order->spare, block);
}

void order_free(struct order *order)
{
	uint64_t time;
	struct bytes record;

	if (!order)
		return;
	order_finish(order);
	while (order_next(order, &time, &record))
		;
	free(order->current);
	for (size_t i = 0; i < order->spare.n; i++)
		free(order->spare.at[i]);
	vec_done(&order->spare);
	vec_done(&order->heap);
	free(order);
}

void order_round_begin(struct order *order, uint64_t now_ns)
{
	order->previous_ns = order->round_ns;
	order->round_ns = now_ns;
}

void order_trust(struct order *order, uint64_t delay_ns)
{
	order->delay_ns = delay_ns;
}

void order_round_end(struct order *order)
{
	bool is_known = order->delay_ns && order->round_ns > order->delay_ns;
	uint64_t limit = is_known ? order->round_ns - order->delay_ns : 0;

	limit = limit > order->previous_ns ? limit : order->previous_ns;
	order->limit_ns = limit > order->limit_ns ? limit : order->limit_ns;
}

void order_finish(struct order *order)
{
	order->limit_ns = UINT64_MAX;
}

/* ---- the heap ------------------------------------------------------------------------------- */

static bool order_is_before(const struct entry *a, const struct entry *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void order_heap_push(struct order *order, struct entry entry)
{
	vec_push(&order->heap, entry);

	struct entry *heap = order->heap.at;
	size_t at = order->heap.n - 1;
	for (; at > 0 && order_is_before(&entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = entry;
}

static struct entry order_heap_pop(struct order *order)
{
	struct entry *heap = order->heap.at;
	struct entry first = heap[0], last = heap[--order->heap.n];
	size_t n = order->heap.n, at = 0;

	for (size_t child = 1; child < n; child = 2 * at + 1) {
		if (child + 1 < n && order_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!order_is_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* ---- in and out ----------------------------------------------------------------------------- */

static struct block *order_block_for(struct order *order, size_t len)
{
	struct block *block = order->current;

	if (block && block->used + len <= BLOCK_SIZE)
		return block;
	if (order->spare.n)
		order->current = order->spare.at[--order->spare.n];
	else
		order->current = alloc_zero(1, sizeof(struct block));
	if (block && !block->n_records)
		vec_push(&order->spare, block);
	return order->current;
}

static void order_insert(struct order *order, struct entry entry)
{
	entry.number = order->n_added++;
	order->held += entry.len;
	order->n_late += entry.time_ns < order->last_ns;
	order_heap_push(order, entry);
}

static const uint8_t *order_copy_in(struct order *order, struct bytes record, struct block **ret_block)
{
	size_t room = (record.len + 7) & ~(size_t)7;

	assert(room <= BLOCK_SIZE); /* a record's size is a u16 */

	struct block *block = order_block_for(order, room);
	uint8_t *to = block->bytes + block->used;
	memcpy(to, record.at, record.len);
	block->used += room;
	block->n_records++;
	*ret_block = block;
	return to;
}

void order_add(struct order *order, uint64_t time_ns, struct bytes record)
{
	struct entry entry = { .time_ns = time_ns, .len = record.len };

	entry.at = order_copy_in(order, record, &entry.block);
	order_insert(order, entry);
}

void order_lend(struct order *order, uint64_t time_ns, struct bytes record, size_t *loan)
{
	++*loan;
	order_insert(order,
		     (struct entry){ .time_ns = time_ns, .at = record.at, .len = record.len, .loan = loan });
}

void order_let_go(struct order *order)
{
	order_release(order, order->handed);
	order->handed = (struct entry){ 0 };
}

void order_copy_lent(struct order *order)
{
	for (size_t i = 0; i < order->heap.n; i++) {
		struct entry *entry = &order->heap.at[i];
		if (!entry->loan)
			continue;
		--*entry->loan;
		entry->loan = NULL;
		entry->at = order_copy_in(order, (struct bytes){ entry->at, entry->len }, &entry->block);
	}
}

static bool order_may_go(const struct order *order)
{
	return order->heap.n && order->heap.at[0].time_ns <= order->limit_ns;
}

bool order_peek(const struct order *order, struct bytes *ret)
{
	if (!order_may_go(order))
		return false;
	*ret = (struct bytes){ order->heap.at[0].at, order->heap.at[0].len };
	return true;
}

bool order_next(struct order *order, uint64_t *ret_time_ns, struct bytes *ret)
{
	order_let_go(order);
	if (!order_may_go(order))
		return false;

	struct entry entry = order_heap_pop(order);
	order->handed = entry;
	order->held -= entry.len;
	if (order->last_ns < entry.time_ns)
		order->last_ns = entry.time_ns;
	*ret_time_ns = entry.time_ns;
	*ret = (struct bytes){ entry.at, entry.len };
	return true;
}

size_t order_held(const struct order *order)
{
	return order->held;
}

uint64_t order_late(const struct order *order)
{
	return order->n_late;
}
