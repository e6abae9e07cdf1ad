/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the cost of workers in a region among the contexts that start it, in proportion to what the
 * starting threads of the same process spent in each. Samples of one node and thread are whole numbers; the
 * rounding error of one split is corrected in the next. Other metrics follow the samples.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "structure/join_private.h"

#define MOST_CELLS (1u << 22) /* contexts times processes; beyond that, processes are not distinguished */

struct dealer {
	struct joiner *j;
	struct cct *to;
	size_t n_processes;     /* 1 = not distinguished */
	double *weight, *given; /* [process * n_contexts + context]: its weight, what it got */
	VEC(uint64_t) shares;
};

static size_t join_process(const struct dealer *d, uint32_t thread)
{
	const struct join_input *input = d->j->input;

	return d->n_processes > 1 && thread < input->n_threads ? input->process[thread] : 0;
}

static void join_count_processes(struct dealer *d)
{
	const struct join_input *input = d->j->input;

	d->n_processes = 1;
	for (size_t i = 0; input->process && i < input->n_threads; i++)
		if (input->process[i] >= d->n_processes)
			d->n_processes = (size_t)input->process[i] + 1;
	if (d->n_processes * (d->j->contexts.n + 1) > MOST_CELLS)
		d->n_processes = 1;
}

/* Context `first` and those after it that are the same node: several regions may start at one call. */
static void join_weigh_node(struct dealer *d, const uint32_t *context_of, uint32_t node, size_t process,
			    uint64_t value)
{
	size_t n = d->j->contexts.n;

	for (uint32_t next = context_of[node]; next < n; next = context_of[d->j->input->cct->nodes.n + next])
		d->weight[process * n + next] += (double)value;
}

/* Adds what was spent in the runtime, and in regions, below each context. */
static void join_weigh(struct dealer *d)
{
	const struct cct *cct = d->j->input->cct;
	size_t n = d->j->contexts.n, n_nodes = cct->nodes.n;
	/* Heads of lists by node, then their links by context. */
	CLEANUP(freep) uint32_t *context_of = alloc_zero(n_nodes + n + 1, sizeof(*context_of));

	memset(context_of, 0xff, (n_nodes + n) * sizeof(*context_of));
	for (uint32_t i = (uint32_t)n; i-- > 0;) {
		uint32_t node = d->j->contexts.at[i].node;
		context_of[n_nodes + i] = context_of[node];
		context_of[node] = i;
	}
	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		uint32_t below = value->node;
		if (value->metric != 0 || d->j->nodes[below].root != JOIN_NONE)
			continue;
		for (; below > CCT_INCOMPLETE; below = cct->nodes.at[below].parent)
			if (openmp_is_runtime(d->j->nodes[below].role))
				join_weigh_node(d, context_of, cct->nodes.at[below].parent,
						join_process(d, value->thread), value->value);
	}
}

static double join_sum(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

/* The weights of a region's contexts in a process; those of all processes if it has none. */
static const double *join_weights(struct dealer *d, size_t process, size_t first, size_t n, double *ret_sum)
{
	size_t row = d->j->contexts.n;
	double *weight = d->weight + process * row + first;

	*ret_sum = join_sum(weight, n);
	for (size_t i = 0; i < n && *ret_sum == 0; i++)
		for (size_t p = 0; p < d->n_processes; p++)
			weight[i] += p != process ? d->weight[p * row + first + i] : 0;
	if (*ret_sum == 0 && (*ret_sum = join_sum(weight, n)) == 0) {
		for (size_t i = 0; i < n; i++)
			weight[i] = 1; /* there is no evidence for any of them */
		*ret_sum = (double)n;
	}
	return weight;
}

/* Splits that many samples; `given` is what each context has got before. */
static void join_split(struct dealer *d, size_t process, size_t first, size_t n, uint64_t samples)
{
	double sum, *given = d->given + process * d->j->contexts.n + first, most = -1;
	const double *weight = join_weights(d, process, first, n, &sum);
	double after = join_sum(given, n) + (double)samples;
	uint64_t left = samples;
	size_t neediest = 0;

	vec_clear(&d->shares);
	for (size_t i = 0; i < n; i++) {
		double due = weight[i] / sum * after - given[i];
		uint64_t share = due >= (double)left ? left : due > 0 ? (uint64_t)due : 0;
		left -= share;
		vec_push(&d->shares, share);
		if (i == 0 || due - (double)share > most) {
			most = due - (double)share;
			neediest = i;
		}
	}
	d->shares.at[neediest] += left;
	for (size_t i = 0; i < n; i++)
		given[i] += (double)d->shares.at[i];
}

static int join_compare_values(const void *left, const void *right)
{
	const struct cct_value *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->metric < b->metric ? -1 : a->metric > b->metric;
}

/* The part of a value that belongs to the first `until` of that many samples. */
static uint64_t join_part(uint64_t value, uint64_t until, uint64_t samples)
{
	double part = (double)value * ((double)until / (double)samples);

	return until == samples || part >= (double)value ? value : (uint64_t)part;
}

/* The values of one node and thread. */
static void join_deal_group(struct dealer *d, const struct cct_value *values, size_t n_values)
{
	struct joiner *j = d->j;
	uint32_t region = j->nodes[j->nodes[values->node].root].map;
	size_t first = j->first_context[region], n = join_n_contexts(j, region);
	uint64_t samples = values->value, done = 0;

	j->notes->flags[region] |= SCOPE_JOINED;
	join_split(d, join_process(d, values->thread), first, n, samples);
	for (size_t c = 0; c < n; c++) {
		uint64_t until = done + d->shares.at[c];
		if (until == done)
			continue;
		uint32_t node = join_copy(j, values->node, j->contexts.at[first + c].node, d->to);
		for (size_t i = 0; i < n_values; i++) {
			uint64_t from = join_part(values[i].value, done, samples);
			uint64_t to = join_part(values[i].value, until, samples);
			if (to > from)
				cct_add_value(d->to, node, values->thread, values[i].metric, to - from);
		}
		done = until;
	}
}

void join_deal(struct joiner *j, struct cct *to)
{
	const struct cct *cct = j->input->cct;
	struct dealer d = { .j = j, .to = to };
	VEC(struct cct_value) values = { 0 };

	join_count_processes(&d);
	d.weight = alloc_zero(d.n_processes * j->contexts.n + 1, sizeof(*d.weight));
	d.given = alloc_zero(d.n_processes * j->contexts.n + 1, sizeof(*d.given));
	for (size_t i = 0; i < cct->values.n; i++)
		if (cct->values.at[i].value && join_moves(j, cct->values.at[i].node))
			vec_push(&values, cct->values.at[i]);
	if (values.n) {
		join_weigh(&d);
		qsort(values.at, values.n, sizeof(*values.at), join_compare_values);
	}
	for (size_t i = 0, end; i < values.n; i = end) {
		for (end = i + 1; end < values.n && values.at[end].node == values.at[i].node &&
				  values.at[end].thread == values.at[i].thread;)
			end++;
		join_deal_group(&d, values.at + i, end - i);
	}
	free(d.weight);
	free(d.given);
	vec_done(&d.shares);
	vec_done(&values);
}
