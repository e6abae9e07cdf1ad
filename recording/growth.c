/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/growth.h"

#define PATHS_MAX 1024 /* threads whose path in the tree is kept */

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

void growth_add(struct growth *growth, const struct event *event, uint32_t thread, size_t n_events,
		const struct stack *stack)
{
	uint32_t node = growth_add_stack(growth, event->tid, stack);

	cct_add_value(growth->cct, node, thread, 0, 1);
	if (event->sample.event < n_events)
		cct_add_value(growth->cct, node, thread, 1 + event->sample.event, event->sample.weight);
	cct_add_value(growth->cct, node, thread, CCT_ROUND + event->sample.round % CCT_ROUNDS, 1);
	if ((unsigned)stack->end < STACK_END_N)
		growth->by_end[stack->end]++;
}
