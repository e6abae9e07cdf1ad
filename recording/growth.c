/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/growth.h"

#include <string.h>

#define PATHS_MAX 1024  /* threads whose path in the tree is kept */
#define CALLS_MAX 65536 /* ... and goroutines alive at the same time whose calls are kept apart */

static void growth_drop_paths(struct growth *growth)
{
	for (size_t i = 0; i < growth->paths.n; i++)
		vec_done(&growth->paths.at[i].steps);
	vec_clear(&growth->paths);
	map_done(&growth->path_of);
}

void growth_done(struct growth *growth)
{
	growth_drop_paths(growth);
	vec_done(&growth->paths);
	for (size_t i = 0; i < growth->calls.n; i++)
		activations_done(&growth->calls.at[i].last);
	vec_done(&growth->calls);
	map_done(&growth->calls_of);
	map_done(&growth->go_of);
	map_done(&growth->wait_of);
	map_done(&growth->woken_of);
	map_done(&growth->block_of);
	vec_done(&growth->blocks);
	wait_shares_done(&growth->shares);
}

void growth_next(struct growth *growth, struct cct *cct)
{
	struct growth next = { .cct = cct,
			       .max_bytes = growth->max_bytes,
			       .calls_of = growth->calls_of,
			       .go_of = growth->go_of };

	memcpy(&next.calls, &growth->calls, sizeof(next.calls));
	for (size_t i = 0; i < next.calls.n; i++)
		next.calls.at[i].thread = GROWTH_ANY;
	growth->calls_of = growth->go_of = (struct map){ 0 };
	memset(&growth->calls, 0, sizeof(growth->calls));
	growth_done(growth);
	*growth = next;
}

void growth_reset(struct growth *growth)
{
	memset(growth->by_end, 0, sizeof(growth->by_end));
	map_done(&growth->block_of);
	vec_clear(&growth->blocks);
	wait_shares_done(&growth->shares);
	growth->shares = (struct wait_shares){ 0 };
}

/* For goroutines it is not unique: the caller must check whose entry it found. */
static uint64_t growth_calls_key(pid_t id, uint64_t goroutine)
{
	return goroutine ? 1ull << 63 | hash_u64(goroutine + ((uint64_t)id << 48)) : (uint32_t)id;
}

static void growth_forget_calls(struct growth *growth, uint32_t index)
{
	struct growth_calls *calls = &growth->calls.at[index], *last = &growth->calls.at[growth->calls.n - 1];

	activations_done(&calls->last);
	map_remove(&growth->calls_of, growth_calls_key(calls->id, calls->goroutine));
	/* The last entry moves into the free one. */
	if (calls != last) {
		*calls = *last;
		map_put(&growth->calls_of, growth_calls_key(calls->id, calls->goroutine), index);
	}
	growth->calls.n--;
}

void growth_forget(struct growth *growth, pid_t tid)
{
	uint32_t index = map_find(&growth->calls_of, (uint32_t)tid);

	wait_shares_settle(&growth->shares, growth->cct, tid);
	if (index != MAP_NONE)
		growth_forget_calls(growth, index);
	if (map_find(&growth->go_of, (uint32_t)tid) == MAP_NONE)
		return;
	map_remove(&growth->go_of, (uint32_t)tid);
	for (size_t i = growth->calls.n; i-- > 0;)
		if (growth->calls.at[i].goroutine && growth->calls.at[i].id == tid)
			growth_forget_calls(growth, (uint32_t)i);
}

/* NULL if there are too many, or if another goroutine has its key. */
static struct growth_calls *growth_find_calls(struct growth *growth, pid_t id, uint64_t goroutine)
{
	uint64_t key = growth_calls_key(id, goroutine);
	uint32_t index = map_find(&growth->calls_of, key);

	if (index == MAP_NONE && growth->calls.n == CALLS_MAX)
		return NULL;
	if (index == MAP_NONE) {
		index = (uint32_t)growth->calls.n;
		vec_push(&growth->calls, ((struct growth_calls){ .id = id, .goroutine = goroutine }));
		growth->calls.at[index].thread = GROWTH_ANY;
		map_put(&growth->calls_of, key, index);
		if (goroutine)
			map_put(&growth->go_of, (uint32_t)id, 1);
	}
	struct growth_calls *calls = &growth->calls.at[index];
	return calls->id == id && calls->goroutine == goroutine ? calls : NULL;
}

static struct activations *growth_last_of_thread(struct growth *growth, pid_t tid, uint32_t thread)
{
	struct growth_calls *calls = growth_find_calls(growth, tid, 0);

	if (!calls)
		return NULL;
	if (calls->thread != thread && calls->thread != GROWTH_ANY)
		activations_done(&calls->last);
	calls->thread = thread;
	return &calls->last;
}

static struct activations *growth_last_of_goroutine(struct growth *growth, const struct growth_events *events,
						    pid_t pid, uint64_t goroutine)
{
	struct growth_calls *calls = NULL;

	if (events->n_workers <= 1 || hash_u64(goroutine) % events->n_workers == events->worker)
		calls = growth_find_calls(growth, pid, goroutine);
	return calls ? &calls->last : NULL;
}

/* node: that of the stack's innermost frame. */
static void growth_add_calls(struct growth *growth, const struct event *event, uint32_t thread,
			     const struct growth_events *events, uint32_t node, const struct stack *stack)
{
	uint64_t goroutine = activations_goroutine(stack);
	struct activations *last = goroutine ? growth_last_of_goroutine(growth, events, event->pid, goroutine)
					     : growth_last_of_thread(growth, event->tid, thread);
	size_t n_new = last ? activations_meet(last, stack) : 0;

	if (!n_new)
		return;
	for (uint32_t i = 0; i < stack->n_kernel; i++)
		node = growth->cct->nodes.at[node].parent;
	for (; n_new; n_new--) {
		cct_add_value(growth->cct, node, thread, CCT_ACTIVATIONS, 1);
		node = growth->cct->nodes.at[node].parent;
	}
}

static uint32_t growth_add_stack(struct growth *growth, pid_t tid, const struct stack *stack)
{
	uint32_t index = map_find(&growth->path_of, (uint32_t)tid);

	if (index == MAP_NONE) {
		if (growth->paths.n == PATHS_MAX)
			growth_drop_paths(growth);
		index = (uint32_t)growth->paths.n;
		vec_push(&growth->paths, (struct cct_path){ 0 });
		map_put(&growth->path_of, (uint32_t)tid, index);
	}
	return cct_follow_stack(growth->cct, stack, &growth->paths.at[index]);
}

bool growth_keep_bound(struct growth *growth, const struct cct_since *since)
{
	size_t bytes = growth->max_bytes ? cct_bytes(growth->cct) : 0;
	uint32_t *place;

	if (bytes <= growth->max_bytes || bytes <= growth->fold_at)
		return false;
	growth_settle(growth);
	growth->n_folded += cct_fold(growth->cct, growth->max_bytes, since, &place);
	growth_drop_paths(growth);
	map_renumber(&growth->wait_of, place);
	map_done(&growth->woken_of); /* its keys are made of nodes */
	free(place);
	/* Where folding does not help, it is not tried again with every sample. */
	bytes = cct_bytes(growth->cct);
	growth->fold_at = bytes <= growth->max_bytes / 4 * 3 ? growth->max_bytes : 2 * bytes;
	return true;
}

static uint32_t growth_metric(const struct source_info *info, enum source_values values)
{
	uint32_t event = source_info_find(info, values);

	return event == UINT32_MAX ? 0 : 1 + event;
}

struct growth_events growth_events_of(const struct source_info *info)
{
	return (struct growth_events){ .n = info->events.n,
				       .off_cpu = growth_metric(info, SOURCE_OFF_CPU),
				       .waits = growth_metric(info, SOURCE_WAITS),
				       .wall = growth_metric(info, SOURCE_WALL),
				       .runnable = growth_metric(info, SOURCE_RUNNABLE),
				       .sampled = growth_metric(info, SOURCE_SAMPLED_WAITS),
				       .has_near_waits = info->has_near_waits };
}

/* Its duration is known only when it is over. */
static void growth_begin_wait(struct growth *growth, pid_t tid, uint32_t node)
{
	map_put(&growth->wait_of, (uint32_t)tid, node);
}

#define WAKERS_MAX 65536 /* places of wakers that are remembered */

static uint64_t growth_waker_key(pid_t tid, pid_t waker, uint32_t node)
{
	return hash_u64((uint64_t)(uint32_t)tid << 32 | (uint32_t)waker) + node;
}

void growth_add_waker(struct growth *growth, const struct event *event, const struct stack *stack)
{
	pid_t tid = event->sample.woken.tid;
	uint32_t node = map_find(&growth->wait_of, (uint32_t)tid);

	if (node == MAP_NONE || !stack->frames.n)
		return;
	if (growth->woken_of.n >= WAKERS_MAX)
		map_done(&growth->woken_of);
	uint32_t woken = cct_child(growth->cct, node, event->sample.woken.image, 0, 0);
	map_put(&growth->woken_of, growth_waker_key(tid, event->tid, node),
		cct_add_frames(growth->cct, woken, stack));
}

static void growth_add_weight(struct growth *growth, const struct event *event, uint32_t node,
			      uint32_t thread, const struct growth_events *events)
{
	const struct sample *sample = &event->sample;

	if (sample->event < events->n)
		cct_add_value(growth->cct, node, thread, 1 + sample->event, sample->weight);
	if (events->wall && sample->event == 0)
		cct_add_value(growth->cct, node, thread, events->wall, sample->weight);
	for (uint32_t i = 0; i < sample->n_more && sample->event + i + 1 < events->n; i++)
		cct_add_value(growth->cct, node, thread, 2 + sample->event + i, sample->more[i]);
	if (sample->duration)
		cct_add_duration(growth->cct, node, thread, sample->duration,
				 sample->n_stands ? sample->n_stands : 1);
	if (!sample->is_call)
		cct_add_value(growth->cct, node, thread, CCT_ROUND + sample->round % CCT_ROUNDS, 1);
}

/* ---- allocations --------------------------------------------------------------------------------------- */

static bool growth_is_allocator(const struct chosen *allocators, image_id image, uint64_t vaddr)
{
	for (size_t i = 0; i < allocators->functions.n; i++) {
		const struct chosen_function *f = &allocators->functions.at[i];
		if (f->image == image && vaddr >= f->vaddr && vaddr < f->end)
			return true;
	}
	return false;
}

/* Was it made by another allocation function for its own use? That one has been counted already. */
static bool growth_is_inside(const struct chosen *allocators, const struct stack *stack)
{
	for (size_t i = 1; i < stack->frames.n; i++) {
		const struct frame *frame = &stack->frames.at[i];
		if (growth_is_allocator(allocators, frame->image, frame->vaddr - (frame->is_return ? 1 : 0)))
			return true;
	}
	return false;
}

static void growth_add_block(struct growth *growth, const struct event *event, uint32_t node, uint32_t thread,
			     const struct growth_events *events)
{
	const struct sample *sample = &event->sample;
	struct growth_block block = {
		node, thread, sample->weight, sample->more[0], { sample->doubts[0], sample->doubts[1] }
	};

	cct_add_value(growth->cct, node, thread, 1, block.bytes);
	cct_add_value(growth->cct, node, thread, 2, block.calls);
	cct_add_value(growth->cct, node, thread, CCT_DOUBT_BYTES, block.doubts[0]);
	cct_add_value(growth->cct, node, thread, CCT_DOUBT_CALLS, block.doubts[1]);
	if (!events->held)
		return;
	map_put(&growth->block_of, sample->block, (uint32_t)growth->blocks.n);
	vec_push(&growth->blocks, block);
}

void growth_hold(struct growth *growth, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t index = map_find(&growth->block_of, numbers[i]);
		if (index == MAP_NONE) /* its sample was lost */
			continue;
		const struct growth_block *block = &growth->blocks.at[index];
		cct_add_value(growth->cct, block->node, block->thread, 3, block->bytes);
		cct_add_value(growth->cct, block->node, block->thread, 4, block->calls);
		cct_add_value(growth->cct, block->node, block->thread, CCT_DOUBT_HELD_BYTES,
			      block->doubts[0]);
		cct_add_value(growth->cct, block->node, block->thread, CCT_DOUBT_HELD_CALLS,
			      block->doubts[1]);
	}
}

/* ---- samples ------------------------------------------------------------------------------------------- */

uint32_t growth_add(struct growth *growth, const struct event *event, uint32_t thread,
		    const struct growth_events *events, const struct stack *stack)
{
	uint32_t node = growth_add_stack(growth, event->tid, stack);

	cct_add_value(growth->cct, node, thread, 0, 1);
	if (event->sample.block && events->allocators) {
		if (!growth_is_inside(events->allocators, stack))
			growth_add_block(growth, event, node, thread, events);
	} else if (events->off_cpu && 1 + event->sample.event == events->off_cpu)
		growth_begin_wait(growth, event->tid, node);
	else
		growth_add_weight(growth, event, node, thread, events);
	if (events->has_near_waits)
		growth_begin_wait(growth, event->tid, node);
	growth_add_calls(growth, event, thread, events, node, stack);
	if ((unsigned)stack->end < STACK_END_N)
		growth->by_end[stack->end]++;
	return node;
}

/* Below the wait: where the thread that ended it was sampled then, or, because not every waker of short waits
 * is, when it last ended a wait there. */
static uint32_t growth_waker_node(const struct growth *growth, const struct event *event, uint32_t node)
{
	uint32_t waker = map_find(&growth->woken_of, growth_waker_key(event->tid, event->sw.waker, node));

	return waker == MAP_NONE || node == CCT_INCOMPLETE ? node : waker;
}

/* Where a thread waits, or has last waited in this sort of way, if none of the waits was sampled. */
static uint32_t growth_wait_node(struct growth *growth, const struct event *event, uint32_t thread,
				 const struct growth_events *events)
{
	uint64_t of_sort = ((uint64_t)thread + 1) << 32 | event->sw.sort;
	uint32_t node = map_find(&growth->wait_of, event->sw.is_rest ? of_sort : (uint32_t)event->tid);

	if (!event->sw.is_rest && node != MAP_NONE)
		map_put(&growth->wait_of, of_sort, node);
	/* If the sample was lost, or it was never sampled, the place is unknown. */
	bool is_unknown = event->sw.is_lost && (event->sw.is_measured || !events->has_near_waits);
	return node == MAP_NONE || is_unknown ? CCT_INCOMPLETE : node;
}

/* If nothing is known about the sampled wait alone, it was like all that it represents. */
static struct wait_share growth_share(const struct growth *growth, const struct event *event, uint32_t node)
{
	uint64_t until_woken =
		event->sw.waited_ns > event->sw.runnable_ns ? event->sw.waited_ns - event->sw.runnable_ns : 0;
	struct wait_share share = { .node = node,
				    .waker_node = event->sw.woken_metric
							  ? growth_waker_node(growth, event, node)
							  : node,
				    .woken_metric = event->sw.woken_metric,
				    .held_metric = event->sw.held_metric,
				    .n = (double)event->sw.n,
				    .ns = (double)event->sw.n * (double)event->sw.own_ns,
				    .runnable_ns = (double)event->sw.n * (double)event->sw.own_runnable_ns,
				    .longest_ns = (double)event->sw.longest_ns };

	if (!event->sw.own_ns) {
		share.ns = (double)event->sw.waited_ns;
		share.runnable_ns = (double)event->sw.runnable_ns;
	}
	if (until_woken)
		share.held_ns =
			(double)event->sw.held_ns / (double)until_woken * (share.ns - share.runnable_ns);
	return share;
}

void growth_add_wait(struct growth *growth, const struct event *event, uint32_t thread,
		     const struct growth_events *events)
{
	uint32_t node = growth_wait_node(growth, event, thread, events);
	bool is_sampled = !event->sw.is_rest && !event->sw.is_lost;
	/* In the kernel, long waits are counted by place: there is nothing to distribute. */
	bool is_placed = event->sw.is_measured && event->sw.sort;
	struct wait_share share = growth_share(growth, event, node);

	cct_add_value(growth->cct, node, thread, events->waits, event->sw.n);
	cct_add_value(growth->cct, node, thread, CCT_DURATION_MOST, event->sw.longest_ns);
	if (events->sampled && is_sampled)
		cct_add_value(growth->cct, node, thread, events->sampled, 1);
	growth->shares.metrics =
		(struct wait_share_metrics){ events->off_cpu, events->runnable, events->wall };
	struct wait_shares_thread of = { .tid = event->tid,
					 .row = thread,
					 .sort = event->sw.sort,
					 .ns = event->sw.waited_ns,
					 .runnable_ns = event->sw.runnable_ns };
	if (is_sampled && !is_placed && event->sw.n > 1)
		wait_shares_add(&growth->shares, growth->cct, of, &share);
	else
		wait_shares_give(&growth->shares, growth->cct, thread, &share, of.ns, of.runnable_ns);
}

void growth_settle(struct growth *growth)
{
	wait_shares_settle_all(&growth->shares, growth->cct);
}
