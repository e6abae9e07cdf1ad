/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the values of an epoch, which sections_samples.c writes.
 */
#include "profile/samples.h"
#include "profile/section.h"

struct samples_reader {
	struct decoder *decoder;
	struct samples s;
	struct reader columns[SAMPLES_COLUMNS];
	uint64_t unit, flags;
	uint32_t thread; /* of the previous row */
	bool has_usual;  /* section 24: weights are relative to the usual weight of their round */
};

static int samples_read_row(struct samples_reader *r, uint32_t node, bool is_first)
{
	struct reader *columns = r->columns;
	int64_t thread = (int64_t)r->thread + read_sleb(&columns[ROW_THREAD]);
	struct sample_row row = { .node = node, .samples = read_uleb(&columns[ROW_SAMPLES]) + 1 };

	if (thread < 0 || (uint64_t)thread >= r->decoder->limits[REF_THREAD] ||
	    (!is_first && thread <= r->thread))
		return decoder_refuse(r->decoder, "row %zu is of no thread, or of one before", r->s.rows.n);
	row.thread = r->thread = (uint32_t)thread;
	row.weight = (uint64_t)read_sleb(&columns[WEIGHT]) + (r->has_usual ? 0 : SAMPLES_USUAL * row.samples);
	row.weight = row.weight * r->unit + (r->unit > 1 ? read_uleb(&columns[REST]) : 0);
	if (!row.samples || columns[ROW_SAMPLES].failed || columns[WEIGHT].failed || columns[REST].failed)
		return decoder_refuse(r->decoder, "row %zu is not whole", r->s.rows.n);
	vec_push(&r->s.rows, row);
	return 0;
}

static int samples_read_rows(struct samples_reader *r)
{
	int error = 0;

	for (uint32_t node = 0; !error && node < r->s.cct->nodes.n; node++) {
		int64_t n = read_sleb(&r->columns[COUNT_ROWS]);
		n += !r->s.has_below[node] && n < INT64_MAX;
		if (r->columns[COUNT_ROWS].failed || n < 0 ||
		    (uint64_t)n > reader_left(&r->columns[ROW_THREAD]))
			return decoder_refuse(r->decoder, "node %u has an impossible number of rows", node);
		for (int64_t i = 0; !error && i < n; i++)
			error = samples_read_row(r, node, i == 0);
	}
	return error;
}

static int samples_read_rounds(struct samples_reader *r)
{
	for (uint32_t row = 0; row < r->s.rows.n; row++) {
		uint64_t left = r->s.rows.at[row].samples, expected = 0;
		for (int64_t last = -1; left;) {
			struct sample_round it = { .row = row, .samples = 1 };
			uint64_t round = read_uleb(&r->columns[ROUND]);
			if (left > 1)
				it.samples = read_uleb(&r->columns[ROUND_SAMPLES]) + 1;
			if (r->columns[ROUND].failed || r->columns[ROUND_SAMPLES].failed ||
			    round >= CCT_ROUNDS || (int64_t)round <= last || !it.samples || it.samples > left)
				return decoder_refuse(r->decoder, "row %u has an impossible round", row);
			it.round = (uint32_t)round;
			last = (int64_t)round;
			left -= it.samples;
			expected += r->s.usual[round] * it.samples;
			vec_push(&r->s.rounds, it);
		}
		r->s.rows.at[row].weight += expected * r->unit;
	}
	return 0;
}

static int samples_read_calls(struct samples_reader *r)
{
	struct samples *s = &r->s;

	if (!samples_sum(s))
		return decoder_refuse(r->decoder, "too many threads in too many contexts");
	for (uint32_t node = SAMPLES_FIRST_NODE; node < s->cct->nodes.n; node++) {
		uint32_t *above = NULL;
		for (uint32_t i = s->first[node]; i != SAMPLES_NONE; i = s->pairs.at[i].next) {
			struct sample_pair *pair = &s->pairs.at[i];
			bool is_known =
				r->flags & SAMPLES_FOLLOW && samples_follows(s, node, &above, pair->thread);
			pair->old = is_known ? 0 : (uint64_t)read_sleb(&r->columns[CALLS]);
			uint64_t calls = pair->samples - pair->old;
			if (calls)
				vec_push(&s->calls,
					 ((struct cct_value){ node, pair->thread, CCT_ACTIVATIONS, calls }));
		}
		if (r->columns[CALLS].failed || s->n_steps > SAMPLES_STEPS_MAX)
			return decoder_refuse(r->decoder, "calls of node %u are missing", node);
	}
	return 0;
}

/* In the order of sections 9, 16 and 18. */
static void samples_give(const struct samples *s, struct cct *cct)
{
	vec_reserve(&cct->values, cct->values.n + 2 * s->rows.n + s->rounds.n + s->calls.n);
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct sample_row *row = &s->rows.at[i];
		vec_push(&cct->values, ((struct cct_value){ row->node, row->thread, 0, row->samples }));
		if (row->weight)
			vec_push(&cct->values,
				 ((struct cct_value){ row->node, row->thread, 1, row->weight }));
	}
	for (size_t i = 0; i < s->rounds.n; i++) {
		const struct sample_round *it = &s->rounds.at[i];
		const struct sample_row *row = &s->rows.at[it->row];
		vec_push(&cct->values,
			 ((struct cct_value){ row->node, row->thread, CCT_ROUND + it->round, it->samples }));
	}
	for (size_t i = 0; i < s->calls.n; i++)
		vec_push(&cct->values, s->calls.at[i]);
}

static int samples_read(struct samples_reader *r, struct profile *profile, bool is_relative)
{
	struct reader all = reader_of(r->decoder->bytes);
	int error;

	r->unit = read_uleb(&all);
	r->flags = read_uleb(&all);
	r->has_usual = is_relative && r->flags & SAMPLES_HAVE_ROUNDS;
	for (size_t i = 0; r->has_usual && i < CCT_ROUNDS; i++)
		r->s.usual[i] = read_uleb(&all);
	for (size_t i = 0; i < SAMPLES_COLUMNS; i++)
		r->columns[i] = reader_of(read_bytes(&all, read_uleb(&all)));
	if (all.failed || !r->unit || profile->metrics.n != 2)
		return decoder_refuse(r->decoder,
				      "it is not whole, or has no unit, or there are not two metrics");
	error = samples_read_rows(r);
	if (!error && r->flags & SAMPLES_HAVE_ROUNDS)
		error = samples_read_rounds(r);
	if (!error && r->flags & SAMPLES_HAVE_CALLS)
		error = samples_read_calls(r);
	for (size_t i = 0; !error && i < SAMPLES_COLUMNS; i++)
		if (reader_left(&r->columns[i]))
			error = decoder_refuse(r->decoder, "column %zu has %zu bytes too many", i,
					       reader_left(&r->columns[i]));
	return error;
}

static int samples_decode_any(struct decoder *decoder, struct profile *profile, bool is_relative)
{
	struct samples_reader r = { .decoder = decoder };

	if (profile->cct.values.n)
		return decoder_refuse(decoder, "values are there in two forms");
	samples_init(&r.s, &profile->cct);
	int error = samples_read(&r, profile, is_relative);
	if (!error)
		samples_give(&r.s, &profile->cct);
	samples_done(&r.s);
	return error;
}

int samples_decode(struct decoder *decoder, struct profile *profile)
{
	return samples_decode_any(decoder, profile, true);
}

int samples_before_decode(struct decoder *decoder, struct profile *profile)
{
	return samples_decode_any(decoder, profile, false);
}
