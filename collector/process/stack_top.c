/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_top: remembers one mapping per thread.
 *
 * A program with coroutines moves sp from mapping to mapping at will. That must not cost a file read each
 * time: after a lookup for a thread there is a pause, in which nothing is cut.
 */
#include "collector/process/stack_top.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

/* Reading a large maps file takes some ms: at most a few per cent of one thread's time. */
#define PAUSE_NS 100000000ull

struct top {
	struct stack_range range;
	uint64_t looked_ns;
};

struct stack_tops {
	stack_finder find;
	void *context;
	struct map by_tid; /* -> tops */
	VEC(struct top) tops;
	VEC(uint32_t) spare;
};

struct stack_tops *stack_tops_new(stack_finder find, void *context)
{
	struct stack_tops *tops = alloc_zero(1, sizeof(*tops));

	tops->find = find;
	tops->context = context;
	return tops;
}

void stack_tops_free(struct stack_tops *tops)
{
	if (!tops)
		return;
	map_done(&tops->by_tid);
	vec_done(&tops->tops);
	vec_done(&tops->spare);
	free(tops);
}

static bool stack_top_holds(const struct stack_range *range, uint64_t sp)
{
	return sp >= range->start && sp < range->end;
}

static struct top *stack_top_of(struct stack_tops *tops, pid_t tid)
{
	uint32_t index = map_find(&tops->by_tid, (uint32_t)tid);

	if (index == MAP_NONE) {
		if (tops->spare.n) {
			index = tops->spare.at[--tops->spare.n];
		} else {
			index = (uint32_t)tops->tops.n;
			vec_push(&tops->tops, (struct top){ 0 });
		}
		tops->tops.at[index] = (struct top){ 0 };
		map_put(&tops->by_tid, (uint32_t)tid, index);
	}
	return &tops->tops.at[index];
}

uint64_t stack_tops_clip(struct stack_tops *tops, pid_t tid, uint64_t time_ns, uint64_t sp, uint64_t len)
{
	struct top *top = stack_top_of(tops, tid);

	if (!stack_top_holds(&top->range, sp) && (!top->looked_ns || time_ns - top->looked_ns >= PAUSE_NS)) {
		top->range = tops->find(tops->context, tid, sp);
		top->looked_ns = time_ns ? time_ns : 1;
	}
	if (!stack_top_holds(&top->range, sp))
		return len;
	return top->range.end - sp < len ? top->range.end - sp : len;
}

void stack_tops_forget(struct stack_tops *tops, pid_t tid)
{
	uint32_t index = map_find(&tops->by_tid, (uint32_t)tid);

	if (index == MAP_NONE)
		return;
	map_remove(&tops->by_tid, (uint32_t)tid);
	vec_push(&tops->spare, index);
}
