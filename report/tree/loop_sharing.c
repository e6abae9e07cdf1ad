/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/loop_sharing.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "report/tree/outermost.h"

#define NO_PROCESS UINT32_MAX

/*
 * One thread after the other, those of a process together, so that there is no table of loops and threads.
 * Values are not followed to the root through every scope, because trees can be as deep as they are large:
 * only from loop to loop.
 */
struct loop_sharing {
	const struct profile *profile;
	const struct scope_tree *tree;
	const struct groups *groups;
	struct loop_share *share; /* by group */
	uint32_t metric;
	const bool *is_kept;
	/* By scope: the innermost loop around it, itself included, that is not inside of itself; 0 = none. */
	uint32_t *loop_at;
	bool *is_outermost;    /* by scope: a loop with no other scope of its group above */
	bool *has_team;        /* by scope: it is in a parallel region, or waits for one */
	bool *is_parallel;     /* by group: the loop is in a parallel region */
	bool *is_team;         /* by thread: it has executed a parallel region, or waited for one */
	uint32_t *n_team;      /* by process: such threads */
	uint64_t *cost;        /* by group: of the current thread */
	uint32_t *n_busy;      /* by group: threads with a cost */
	uint32_t *process;     /* by group: the last one with a cost in its threads */
	VEC(uint32_t) touched; /* groups with a cost of the current thread */
};

static uint32_t loop_sharing_group(void *context, uint32_t scope)
{
	const struct loop_sharing *s = context;

	return scope_kind(s->tree, scope) == SCOPE_LOOP ? s->groups->of[scope] : GROUP_NONE;
}

static void loop_sharing_mark(void *context, uint32_t scope, uint32_t group)
{
	(void)group;
	((struct loop_sharing *)context)->is_outermost[scope] = true;
}

/* Scopes come after their parents. */
static void find_above(struct loop_sharing *s)
{
	const struct outermost loops = { s, (uint32_t)s->groups->scopes.n, loop_sharing_group,
					 loop_sharing_mark };

	outermost_visit(&loops, s->tree, s->tree->scopes.n);
	for (uint32_t i = 1; i < s->tree->scopes.n; i++) {
		const struct scope_frame *frame = scope_frame(s->tree, i);
		uint32_t parent = s->tree->scopes.at[i].parent;
		bool is_of_team =
			frame->kind == SCOPE_FUNCTION && (frame->flags & (SCOPE_PARALLEL | SCOPE_WAITING));
		s->loop_at[i] = s->is_outermost[i] ? i : s->loop_at[parent];
		s->has_team[i] = is_of_team || s->has_team[parent];
	}
}

static void find_parallel(struct loop_sharing *s)
{
	for (uint32_t group = 0; group < s->groups->scopes.n; group++) {
		uint32_t at = s->groups->scopes.at[group];
		while (at && scope_kind(s->tree, at) != SCOPE_FUNCTION)
			at = s->tree->scopes.at[at].parent;
		s->is_parallel[group] = scope_frame(s->tree, at)->flags & SCOPE_PARALLEL;
	}
}

static bool loop_sharing_counts(const struct loop_sharing *s, const struct scope_value *value)
{
	return value->value && value->metric == s->metric && value->thread < s->profile->threads.n &&
	       (!s->is_kept || s->is_kept[value->thread]);
}

static void find_teams(struct loop_sharing *s)
{
	for (size_t i = 0; i < s->tree->values.n; i++)
		if (loop_sharing_counts(s, &s->tree->values.at[i]))
			s->is_team[s->tree->values.at[i].thread] |= s->has_team[s->tree->values.at[i].scope];
	for (size_t i = 0; i < s->profile->threads.n; i++)
		s->n_team[s->profile->threads.at[i].process] += s->is_team[i];
}

/* Each loop on the way to the root, once. */
static void count_value(struct loop_sharing *s, const struct scope_value *value)
{
	for (uint32_t at = s->loop_at[value->scope]; at; at = s->loop_at[s->tree->scopes.at[at].parent]) {
		uint32_t group = s->groups->of[at];
		if (s->cost[group] == 0)
			vec_push(&s->touched, group);
		s->cost[group] += value->value;
	}
}

/* In a parallel region, threads of the team that did not execute a loop are included. */
static void count_thread(struct loop_sharing *s, uint32_t thread)
{
	uint32_t process = s->profile->threads.at[thread].process;

	for (size_t i = 0; i < s->touched.n; i++) {
		uint32_t group = s->touched.at[i];
		struct loop_share *share = &s->share[group];
		uint64_t cost = s->cost[group];
		share->sum += cost;
		share->least = share->least == 0 || cost < share->least ? cost : share->least;
		share->most = cost > share->most ? cost : share->most;
		s->n_busy[group]++;
		if (!s->is_parallel[group] || !s->is_team[thread])
			share->n_threads++;
		else if (s->process[group] != process)
			share->n_threads += s->n_team[process];
		s->process[group] = process;
		s->cost[group] = 0;
	}
	vec_clear(&s->touched);
}

/* Places of n things in the order of their keys, all below n_keys; things of one key keep their order. */
static uint32_t *order_by(const uint32_t *keys, size_t n, size_t n_keys)
{
	size_t *start = alloc_zero(n_keys + 2, sizeof(*start));
	uint32_t *order = alloc_zero(n + 1, sizeof(*order));

	for (size_t i = 0; i < n; i++)
		start[keys[i] + 1]++;
	for (size_t key = 0; key < n_keys; key++)
		start[key + 1] += start[key];
	for (size_t i = 0; i < n; i++)
		order[start[keys[i]]++] = (uint32_t)i;
	free(start);
	return order;
}

/* The threads by process. */
static uint32_t *order_threads(const struct profile *profile)
{
	uint32_t *keys = alloc_zero(profile->threads.n + 1, sizeof(*keys));

	for (size_t i = 0; i < profile->threads.n; i++)
		keys[i] = profile->threads.at[i].process;
	uint32_t *order = order_by(keys, profile->threads.n, profile->processes.n);
	free(keys);
	return order;
}

/* Values by the place of their thread; those that do not count come last. */
static void count_values(struct loop_sharing *s)
{
	const struct scope_value *values = s->tree->values.at;
	size_t n_threads = s->profile->threads.n, n = s->tree->values.n;
	uint32_t *threads = order_threads(s->profile), *place = alloc_zero(n_threads + 1, sizeof(*place));
	uint32_t *keys = alloc_zero(n + 1, sizeof(*keys));

	for (size_t i = 0; i < n_threads; i++)
		place[threads[i]] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		keys[i] = loop_sharing_counts(s, &values[i]) ? place[values[i].thread] : (uint32_t)n_threads;
	uint32_t *order = order_by(keys, n, n_threads + 1);
	for (size_t i = 0; i < n && keys[order[i]] < n_threads; i++) {
		count_value(s, &values[order[i]]);
		if (i + 1 == n || keys[order[i + 1]] != keys[order[i]])
			count_thread(s, values[order[i]].thread);
	}
	free(order);
	free(keys);
	free(place);
	free(threads);
}

struct loop_share *loop_sharing_find(const struct groups *groups, const struct profile *profile,
				     const struct scope_tree *tree, uint32_t metric, const bool *is_kept)
{
	size_t n_groups = groups->scopes.n, n_scopes = tree->scopes.n;
	struct loop_sharing s = {
		.profile = profile, .tree = tree, .groups = groups, .metric = metric, .is_kept = is_kept
	};

	s.share = alloc_zero(n_groups + 1, sizeof(*s.share));
	s.loop_at = alloc_zero(n_scopes + 1, sizeof(*s.loop_at));
	s.is_outermost = alloc_zero(n_scopes + 1, sizeof(*s.is_outermost));
	s.has_team = alloc_zero(n_scopes + 1, sizeof(*s.has_team));
	s.is_parallel = alloc_zero(n_groups + 1, sizeof(*s.is_parallel));
	s.is_team = alloc_zero(profile->threads.n + 1, sizeof(*s.is_team));
	s.n_team = alloc_zero(profile->processes.n + 1, sizeof(*s.n_team));
	s.cost = alloc_zero(n_groups + 1, sizeof(*s.cost));
	s.n_busy = alloc_zero(n_groups + 1, sizeof(*s.n_busy));
	s.process = alloc_zero(n_groups + 1, sizeof(*s.process));
	for (size_t i = 0; i < n_groups; i++)
		s.process[i] = NO_PROCESS;
	find_above(&s);
	find_parallel(&s);
	find_teams(&s);
	count_values(&s);
	/* The minimum is 0 if a thread of the team did not take part. */
	for (size_t i = 0; i < n_groups; i++)
		if (s.n_busy[i] < s.share[i].n_threads)
			s.share[i].least = 0;
	free(s.loop_at);
	free(s.is_outermost);
	free(s.has_team);
	free(s.is_parallel);
	free(s.is_team);
	free(s.n_team);
	free(s.cost);
	free(s.n_busy);
	free(s.process);
	vec_done(&s.touched);
	return s.share;
}
