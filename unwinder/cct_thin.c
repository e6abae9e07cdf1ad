/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct_thin.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"

/* The values of one thread in one node. */
struct part {
	uint32_t first, end; /* in the order */
	uint64_t samples;
};

struct thinning {
	const struct cct *from;
	uint64_t least, seed;
	uint32_t *order;                  /* all values: by thread, then as in a walk through the tree */
	bool *is_incomplete;              /* by node */
	VEC(struct cct_value) kept;       /* with the nodes of the old tree */
	VEC(struct part) rare;            /* of one thread, complete or incomplete */
	VEC(uint64_t) sums, kept_sums;    /* of one thread, by metric */
	uint64_t *samples, *kept_samples; /* of one thread, by node, with all nodes below it */
	uint64_t n_moved;
};

static bool thin_is_metric(uint32_t metric)
{
	return metric < CCT_ROUND;
}

static bool thin_is_round(uint32_t metric)
{
	return metric >= CCT_ROUND && metric < CCT_ROUND + CCT_ROUNDS;
}

static const struct cct_value *thin_value(const struct thinning *t, size_t i)
{
	return &t->from->values.at[t->order[i]];
}

/* value × part / whole, also if the product does not fit into 64 bits. */
static uint64_t thin_share(uint64_t value, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)value * part / whole);
}

/* ---- the order -------------------------------------------------------------------------------------- */

/* By node: its position in a walk, parents before their children, subtrees without gaps. */
static uint32_t *thin_walk(const struct cct *cct)
{
	size_t n = cct->nodes.n;
	uint32_t *position = alloc_zero(n, sizeof(*position));
	CLEANUP(freep) uint32_t *next = alloc_zero(n, sizeof(*next)); /* first the size of its subtree */

	for (size_t i = n; i-- > 0;) {
		next[i]++;
		if (i)
			next[cct->nodes.at[i].parent] += next[i];
	}
	next[0] = 1;
	for (size_t i = 1; i < n; i++) {
		uint32_t size = next[i], parent = cct->nodes.at[i].parent;
		position[i] = next[parent];
		next[parent] += size;
		next[i] = position[i] + 1;
	}
	return position;
}

/* Sorts the values by the position of their nodes, or by thread; equal ones keep their order. */
static void thin_sort(const struct cct *cct, const uint32_t *position, size_t n_keys, const uint32_t *from,
		      uint32_t *ret)
{
	CLEANUP(freep) uint32_t *place = alloc_zero(n_keys + 1, sizeof(*place));
	const struct cct_value *values = cct->values.at;

	for (size_t i = 0; i < cct->values.n; i++)
		place[(position ? position[values[i].node] : values[i].thread) + 1]++;
	for (size_t i = 0; i < n_keys; i++)
		place[i + 1] += place[i];
	for (size_t i = 0; i < cct->values.n; i++) {
		uint32_t at = from ? from[i] : (uint32_t)i;
		ret[place[position ? position[values[at].node] : values[at].thread]++] = at;
	}
}

static uint32_t *thin_order(const struct cct *cct)
{
	CLEANUP(freep) uint32_t *position = thin_walk(cct);
	CLEANUP(freep) uint32_t *by_node = alloc_zero(cct->values.n + 1, sizeof(*by_node));
	uint32_t *order = alloc_zero(cct->values.n + 1, sizeof(*order));
	uint32_t n_threads = 0;

	for (size_t i = 0; i < cct->values.n; i++)
		if (cct->values.at[i].thread >= n_threads)
			n_threads = cct->values.at[i].thread + 1;
	thin_sort(cct, position, cct->nodes.n, NULL, by_node);
	thin_sort(cct, NULL, n_threads, by_node, order);
	return order;
}

/* ---- what is kept ------------------------------------------------------------------------------------ */

static void thin_add_sum(struct thinning *t, uint32_t metric, uint64_t value, uint64_t kept)
{
	while (t->sums.n <= metric) {
		vec_push(&t->sums, 0);
		vec_push(&t->kept_sums, 0);
	}
	t->sums.at[metric] += value;
	t->kept_sums.at[metric] += kept;
}

static void thin_keep(struct thinning *t, const struct cct_value *like, uint64_t value)
{
	if (!value)
		return;
	vec_push(&t->kept, ((struct cct_value){ like->node, like->thread, like->metric, value }));
	if (thin_is_metric(like->metric))
		thin_add_sum(t, like->metric, 0, value);
}

/* Keeps a part, which represents so many samples. */
static void thin_keep_part(struct thinning *t, const struct part *part, uint64_t samples)
{
	uint64_t own = part->samples ? part->samples : 1, in_rounds = 0, left;

	samples = part->samples ? samples : 1;
	for (uint32_t i = part->first; i < part->end; i++)
		in_rounds += thin_is_round(thin_value(t, i)->metric) ? thin_value(t, i)->value : 0;
	left = thin_share(in_rounds, samples, own);
	for (uint32_t i = part->first; i < part->end; i++) {
		const struct cct_value *value = thin_value(t, i);
		if (thin_is_metric(value->metric))
			thin_keep(t, value, thin_share(value->value, samples, own));
		else if (thin_is_round(value->metric)) {
			in_rounds -= value->value;
			uint64_t n = left - thin_share(in_rounds, samples, own);
			thin_keep(t, value, n);
			left -= n;
		}
	}
}

/* Of the rare parts, keeps some at equal distances, the first at random. */
static void thin_keep_some(struct thinning *t)
{
	uint64_t total = 0, n_kept, before = 0, number = 0;

	for (size_t i = 0; i < t->rare.n; i++)
		total += t->rare.at[i].samples;
	if (!total)
		return;
	n_kept = total / t->least ? total / t->least : 1;
	t->seed = hash_u64(t->seed + 0x9e3779b97f4a7c15u);
	uint64_t start = t->seed % (total / n_kept);
	for (size_t i = 0; i < t->rare.n; i++) {
		before += t->rare.at[i].samples;
		uint64_t represents = 0;
		for (; number < n_kept && start + thin_share(number, total, n_kept) < before; number++)
			represents +=
				thin_share(number + 1, total, n_kept) - thin_share(number, total, n_kept);
		if (!represents)
			continue;
		thin_keep_part(t, &t->rare.at[i], represents);
		if (represents > t->rare.at[i].samples)
			t->n_moved += represents - t->rare.at[i].samples;
	}
	vec_clear(&t->rare);
}

/* ---- sums of a thread ------------------------------------------------------------------------------- */

#define CHANGE 4 /* a value is changed by at most this part of it at a time */

static uint64_t thin_difference(const struct thinning *t, uint32_t metric)
{
	uint64_t is = t->kept_sums.at[metric], should = t->sums.at[metric];

	return is < should ? should - is : is - should;
}

/* Brings the sum of a metric closer to what it should be. */
static void thin_adjust(struct thinning *t, struct cct_value *value)
{
	uint64_t *is = &t->kept_sums.at[value->metric], by = value->value / CHANGE + 1;

	if (by > thin_difference(t, value->metric))
		by = thin_difference(t, value->metric);
	if (*is < t->sums.at[value->metric]) {
		value->value += by;
		*is += by;
	} else if (value->value > 1) {
		by = by < value->value ? by : value->value - 1;
		value->value -= by;
		*is -= by;
	}
}

/* What was kept represents the metrics of the rest only on average. A few values of the thread, at equal
 * distances, take the difference. */
static void thin_balance(struct thinning *t, uint32_t metric, size_t first)
{
	uint64_t difference = thin_difference(t, metric);
	uint64_t distance = difference ? t->kept_sums.at[metric] / CHANGE / difference : 0;

	if (!t->kept_sums.at[metric] && first < t->kept.n) {
		struct cct_value any = t->kept.at[first];
		any.metric = metric;
		thin_keep(t, &any, difference);
	}
	for (bool is_last = false; !is_last; distance = 1) {
		uint64_t before = t->kept_sums.at[metric], n = distance / 2;
		for (size_t i = first; i < t->kept.n && thin_difference(t, metric); i++)
			if (t->kept.at[i].metric == metric && (distance < 2 || ++n % distance == 0))
				thin_adjust(t, &t->kept.at[i]);
		is_last = distance < 2 && t->kept_sums.at[metric] == before;
	}
}

static void thin_add_path(const struct cct *cct, uint32_t node, uint64_t n, uint64_t *ret)
{
	for (; node > CCT_INCOMPLETE; node = cct->nodes.at[node].parent)
		ret[node] += n;
}

static void thin_forget_path(const struct cct *cct, uint32_t node, uint64_t *ret)
{
	for (; node > CCT_INCOMPLETE && ret[node]; node = cct->nodes.at[node].parent)
		ret[node] = 0;
}

/* Activations of nodes that are kept, in proportion to the samples there and below; and other values of these
 * nodes, which are not of samples. */
static void thin_keep_others(struct thinning *t, size_t first, size_t end, size_t first_kept)
{
	size_t n_kept = t->kept.n;

	for (size_t i = first; i < end; i++)
		if (thin_value(t, i)->metric == 0)
			thin_add_path(t->from, thin_value(t, i)->node, thin_value(t, i)->value, t->samples);
	for (size_t i = first_kept; i < n_kept; i++)
		if (t->kept.at[i].metric == 0)
			thin_add_path(t->from, t->kept.at[i].node, t->kept.at[i].value, t->kept_samples);
	for (size_t i = first; i < end; i++) {
		const struct cct_value *value = thin_value(t, i);
		uint64_t before = t->samples[value->node], after = t->kept_samples[value->node];
		if (value->metric == CCT_ACTIVATIONS && before)
			thin_keep(t, value, thin_share(value->value, after, before));
		else if (!thin_is_metric(value->metric) && !thin_is_round(value->metric) && after)
			thin_keep(t, value, value->value);
	}
	for (size_t i = first_kept; i < n_kept; i++)
		thin_forget_path(t->from, t->kept.at[i].node, t->kept_samples);
	for (size_t i = first; i < end; i++)
		thin_forget_path(t->from, thin_value(t, i)->node, t->samples);
}

/* ---- all threads ------------------------------------------------------------------------------------ */

/* The part that begins there. */
static struct part thin_part(struct thinning *t, size_t first, size_t end)
{
	struct part part = { (uint32_t)first, (uint32_t)first, 0 };

	for (; part.end < end && thin_value(t, part.end)->node == thin_value(t, first)->node; part.end++) {
		const struct cct_value *value = thin_value(t, part.end);
		part.samples += value->metric == 0 ? value->value : 0;
		if (thin_is_metric(value->metric))
			thin_add_sum(t, value->metric, value->value, 0);
	}
	return part;
}

/* The values of one thread. */
static void thin_thread(struct thinning *t, size_t first, size_t end)
{
	size_t first_kept = t->kept.n;
	bool was_incomplete = false;

	for (size_t i = first; i < end;) {
		struct part part = thin_part(t, i, end);
		bool is_incomplete = t->is_incomplete[thin_value(t, i)->node];
		if (is_incomplete != was_incomplete)
			thin_keep_some(t);
		was_incomplete = is_incomplete;
		if (part.samples && part.samples < t->least)
			vec_push(&t->rare, part);
		else
			thin_keep_part(t, &part, part.samples);
		i = part.end;
	}
	thin_keep_some(t);
	for (uint32_t metric = 0; metric < t->sums.n; metric++)
		if (t->sums.at[metric])
			thin_balance(t, metric, first_kept);
	vec_clear(&t->sums);
	vec_clear(&t->kept_sums);
	thin_keep_others(t, first, end, first_kept);
}

static void thin_build(struct thinning *t, struct cct *ret)
{
	const struct cct *from = t->from;
	CLEANUP(freep) bool *is_kept = alloc_zero(from->nodes.n, sizeof(*is_kept));
	CLEANUP(freep) uint32_t *place = alloc_zero(from->nodes.n, sizeof(*place));

	for (size_t i = 0; i < t->kept.n; i++)
		is_kept[t->kept.at[i].node] = true;
	for (size_t i = from->nodes.n; i-- > 1;)
		is_kept[from->nodes.at[i].parent] |= is_kept[i];
	cct_init(ret);
	place[CCT_INCOMPLETE] = CCT_INCOMPLETE;
	for (size_t i = CCT_INCOMPLETE + 1; i < from->nodes.n; i++) {
		const struct cct_node *node = &from->nodes.at[i];
		if (is_kept[i])
			place[i] = cct_child(ret, place[node->parent], node->image, node->vaddr, node->flags);
	}
	for (size_t i = 0; i < t->kept.n; i++)
		t->kept.at[i].node = place[t->kept.at[i].node];
	cct_add_values(ret, t->kept.at, t->kept.n);
}

uint64_t cct_thin(const struct cct *from, uint64_t least, uint64_t seed, struct cct *ret)
{
	struct thinning t = { .from = from, .least = least, .seed = seed };
	size_t end;

	t.order = thin_order(from);
	t.is_incomplete = cct_incomplete(from);
	t.samples = alloc_zero(from->nodes.n, sizeof(*t.samples));
	t.kept_samples = alloc_zero(from->nodes.n, sizeof(*t.kept_samples));
	for (size_t first = 0; first < from->values.n; first = end) {
		for (end = first + 1; end < from->values.n; end++)
			if (thin_value(&t, end)->thread != thin_value(&t, first)->thread)
				break;
		thin_thread(&t, first, end);
	}
	thin_build(&t, ret);
	vec_done(&t.kept);
	vec_done(&t.rare);
	vec_done(&t.sums);
	vec_done(&t.kept_sums);
	free(t.order);
	free(t.is_incomplete);
	free(t.samples);
	free(t.kept_samples);
	return t.n_moved;
}
