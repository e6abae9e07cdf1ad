/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of an epoch: samples, their rounds, their weights, and new calls, in one section. What can be
 * derived is not stored: where there are samples there is a weight; weights are multiples of one number, and
 * all samples of a round have the same; and nearly every call on the path of a sample is new, so only the
 * exceptions are stored.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/packed_values.h"
#include "profile/samples.h"
#include "profile/section.h"
#include "profile/value_tables.h"

#define UNIT_LEAST 1000
#define OFTEN 8 /* most frequent weights, from which the unit is determined */

static bool samples_add_round(struct samples *s, const struct cct_value *value)
{
	vec_push(&s->rounds,
		 ((struct sample_round){ (uint32_t)s->rows.n, value->metric - CCT_ROUND, value->value }));
	return value->value > 0;
}

/* One thread's values in a node. False if this section cannot represent one of them. */
static bool samples_take(struct samples *s, const struct cct_value *values, size_t n)
{
	struct sample_row row = { .node = values->node, .thread = values->thread };
	bool is_plain = true;

	for (size_t i = 0; i < n; i++) {
		const struct cct_value *value = &values[i];
		if (value->metric == 0)
			row.samples = value->value;
		else if (value->metric == 1)
			row.weight = value->value;
		else if (value->metric < CCT_ROUND)
			return false;
		else if (value_range_has(VALUES_ROUNDS, value->metric))
			is_plain &= samples_add_round(s, value);
		else if (value->metric == CCT_ACTIVATIONS) {
			vec_push(&s->calls, *value);
			is_plain &= value->value > 0;
		}
	}
	if (!row.samples)
		return is_plain && !row.weight &&
		       (!s->rounds.n || s->rounds.at[s->rounds.n - 1].row < s->rows.n);
	vec_push(&s->rows, row);
	return is_plain && row.weight;
}

static bool samples_gather(struct samples *s, const struct profile *profile)
{
	packed_rows values = { 0 };
	bool is_plain = profile->metrics.n == 2;

	for (uint32_t node = 0; is_plain && node < profile->cct.nodes.n; node++) {
		packed_values_of(profile->packed, node, &values);
		for (size_t i = 0, end; is_plain && i < values.n; i = end) {
			for (end = i; end < values.n && values.at[end].thread == values.at[i].thread; end++)
				;
			is_plain = samples_take(s, values.at + i, end - i);
		}
	}
	vec_done(&values);
	return is_plain;
}

/* Do the samples of each row's rounds add up to those of the row? */
static bool samples_rounds_add_up(const struct samples *s)
{
	size_t at = 0;

	for (size_t i = 0; i < s->rows.n; i++) {
		uint64_t left = s->rows.at[i].samples;
		for (; at < s->rounds.n && s->rounds.at[at].row == i && s->rounds.at[at].samples <= left;
		     at++)
			left -= s->rounds.at[at].samples;
		if (left)
			return false;
	}
	return at == s->rounds.n;
}

static int samples_compare_weights(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t samples_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* The unit of which the most frequent weights are multiples. */
static uint64_t samples_unit(const struct samples *s)
{
	struct {
		uint64_t weight;
		size_t n;
	} often[OFTEN + 1] = { 0 };
	VEC(uint64_t) weights = { 0 };
	uint64_t unit = 0;

	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.at[i].samples == 1)
			vec_push(&weights, s->rows.at[i].weight);
	if (weights.n)
		qsort(weights.at, weights.n, sizeof(*weights.at), samples_compare_weights);
	for (size_t i = 0, end; i < weights.n; i = end) {
		for (end = i; end < weights.n && weights.at[end] == weights.at[i]; end++)
			;
		size_t at = OFTEN;
		for (; at > 0 && often[at - 1].n < end - i; at--)
			often[at] = often[at - 1];
		often[at].weight = weights.at[i];
		often[at].n = end - i;
	}
	for (size_t i = 0; i < OFTEN; i++)
		unit = often[i].n ? samples_gcd(unit, often[i].weight) : unit;
	vec_done(&weights);
	return unit >= UNIT_LEAST ? unit : 1;
}

/* The weight that most samples of a round have. */
static void samples_find_usual(struct samples *s, uint64_t unit)
{
	uint32_t often[CCT_ROUNDS][SAMPLES_USUAL_MAX] = { 0 };

	for (size_t i = 0; i < s->rounds.n; i++) {
		const struct sample_row *row = &s->rows.at[s->rounds.at[i].row];
		if (row->samples == 1 && row->weight / unit < SAMPLES_USUAL_MAX)
			often[s->rounds.at[i].round][row->weight / unit]++;
	}
	for (size_t round = 0; round < CCT_ROUNDS; round++) {
		size_t best = SAMPLES_USUAL;
		for (size_t i = 0; i < SAMPLES_USUAL_MAX; i++)
			best = often[round][i] > often[round][best] ? i : best;
		s->usual[round] = best;
	}
}

/* The expected weight of a row, in units. at: index of its first round; is moved to that of the next row. */
static uint64_t samples_expected(const struct samples *s, size_t row, size_t *at)
{
	uint64_t expected = 0;

	if (!s->rounds.n)
		return SAMPLES_USUAL * s->rows.at[row].samples;
	for (; *at < s->rounds.n && s->rounds.at[*at].row == row; ++*at)
		expected += s->usual[s->rounds.at[*at].round] * s->rounds.at[*at].samples;
	return expected;
}

static void samples_write_rows(const struct samples *s, uint64_t unit, struct writer *columns)
{
	uint32_t thread = 0;
	size_t row = 0, round = 0;

	for (uint32_t node = 0; node < s->cct->nodes.n; node++) {
		size_t first = row;
		for (; row < s->rows.n && s->rows.at[row].node == node; row++) {
			const struct sample_row *it = &s->rows.at[row];
			write_sleb(&columns[ROW_THREAD], (int64_t)it->thread - thread);
			write_uleb(&columns[ROW_SAMPLES], it->samples - 1);
			write_sleb(&columns[WEIGHT],
				   (int64_t)(it->weight / unit - samples_expected(s, row, &round)));
			if (unit > 1)
				write_uleb(&columns[REST], it->weight % unit);
			thread = it->thread;
		}
		write_sleb(&columns[COUNT_ROWS], (int64_t)(row - first) - !s->has_below[node]);
	}
}

static void samples_write_rounds(const struct samples *s, struct writer *columns)
{
	uint64_t left = 0;

	for (size_t i = 0; i < s->rounds.n; i++) {
		const struct sample_round *it = &s->rounds.at[i];
		left = left ? left : s->rows.at[it->row].samples;
		write_uleb(&columns[ROUND], it->round);
		if (left > 1)
			write_uleb(&columns[ROUND_SAMPLES], it->samples - 1);
		left -= it->samples;
	}
}

/* For every pair, how many calls are not new. False if there are calls without samples. */
static bool samples_take_calls(struct samples *s)
{
	size_t at = 0;

	for (size_t i = 0; i < s->pairs.n; i++)
		s->pairs.at[i].old = s->pairs.at[i].samples;
	for (uint32_t node = SAMPLES_FIRST_NODE; node < s->cct->nodes.n && s->n_steps <= SAMPLES_STEPS_MAX;
	     node++) {
		uint32_t *link = &s->first[node];
		for (; at < s->calls.n && s->calls.at[at].node == node; at++) {
			uint32_t pair = samples_find(s, &link, s->calls.at[at].thread);
			if (pair == SAMPLES_NONE)
				return false;
			s->pairs.at[pair].old -= s->calls.at[at].value;
		}
	}
	return at == s->calls.n;
}

/* follows: values that can be derived from the parent's are left out. False if one cannot be derived. */
static bool samples_write_calls(struct samples *s, bool follows, struct writer *ret)
{
	for (uint32_t node = SAMPLES_FIRST_NODE; node < s->cct->nodes.n; node++) {
		uint32_t *above = NULL;
		for (uint32_t i = s->first[node]; i != SAMPLES_NONE; i = s->pairs.at[i].next) {
			const struct sample_pair *pair = &s->pairs.at[i];
			bool is_known = follows && samples_follows(s, node, &above, pair->thread);
			if (is_known && pair->old)
				return false;
			if (!is_known)
				write_sleb(ret, (int64_t)pair->old);
		}
		if (s->n_steps > SAMPLES_STEPS_MAX)
			return false;
	}
	return true;
}

/* False if the values cannot be represented in this section. */
static bool samples_write(struct samples *s, struct writer *ret)
{
	struct writer columns[SAMPLES_COLUMNS] = { 0 };
	uint64_t unit = samples_unit(s);
	unsigned flags = s->rounds.n ? SAMPLES_HAVE_ROUNDS : 0;
	bool is_plain = !s->rounds.n || samples_rounds_add_up(s);

	if (is_plain && s->calls.n) {
		flags |= SAMPLES_HAVE_CALLS | SAMPLES_FOLLOW;
		is_plain = samples_sum(s) && samples_take_calls(s);
		if (is_plain && !samples_write_calls(s, true, &columns[CALLS])) {
			flags &= ~(unsigned)SAMPLES_FOLLOW;
			s->n_steps = 0;
			writer_clear(&columns[CALLS]);
			is_plain = samples_write_calls(s, false, &columns[CALLS]);
		}
	}
	if (is_plain) {
		samples_find_usual(s, unit);
		samples_write_rows(s, unit, columns);
		samples_write_rounds(s, columns);
		write_uleb(ret, unit);
		write_uleb(ret, flags);
		for (size_t i = 0; s->rounds.n && i < CCT_ROUNDS; i++)
			write_uleb(ret, s->usual[i]);
	}
	for (size_t i = 0; i < SAMPLES_COLUMNS; i++) {
		if (is_plain) {
			write_uleb(ret, columns[i].len);
			write_bytes(ret, writer_bytes(&columns[i]));
		}
		writer_done(&columns[i]);
	}
	return is_plain;
}

void profile_make_dense(struct profile *profile)
{
	struct samples s;
	struct writer made = { 0 };

	profile->is_dense = true;
	if (!profile->contexts.len && !paths_make(profile, &profile->contexts))
		writer_clear(&profile->contexts);
	if (!profile->packed || profile->samples.len)
		return;
	samples_init(&s, &profile->cct);
	if (samples_gather(&s, profile) && s.rows.n && samples_write(&s, &made))
		profile->samples = made;
	else
		writer_done(&made);
	samples_done(&s);
}

/* Section 22 is only read; it is no longer written. */
void samples_before_encode(const struct profile *profile, struct writer *ret)
{
	(void)profile;
	(void)ret;
}

void samples_encode(const struct profile *profile, struct writer *ret)
{
	write_bytes(ret, writer_bytes(&profile->samples));
}
