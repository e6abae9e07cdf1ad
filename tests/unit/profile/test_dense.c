/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 24: the values of an epoch are restored exactly, however compactly they are encoded.
 */
#include <stdlib.h>

#include "profile/container.h"
#include "profile/merge.h"
#include "profile/samples.h"
#include "profile/section.h"
#include "tests/support/profiles.h"
#include "tests/support/reseal.h"
#include "tests/test.h"

#define WRITER CLEANUP(writer_done)
#define UNIT 347222

enum dense_kind {
	DENSE_USUAL,       /* as recorded */
	DENSE_ODD_WEIGHTS, /* without a common divisor */
	DENSE_WITHOUT_ROUNDS,
	DENSE_WITHOUT_CALLS,
	DENSE_CALLS_AT_RANDOM, /* a frame may be a new call although its callee is not */
	DENSE_KINDS,
	/* Not supported by the section: */
	DENSE_LACKS_WEIGHT = DENSE_KINDS,
	DENSE_LACKS_ROUND,
	DENSE_CALLS_ELSEWHERE, /* in a node without samples */
	DENSE_ALL_KINDS
};

static uint32_t dense_next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* A sample, and the calls on its path: those below some frame are new. */
static void dense_add_sample(struct cct *cct, enum dense_kind kind, uint32_t *seed)
{
	uint32_t node = 2 + dense_next(seed) % ((uint32_t)cct->nodes.n - 2), thread = dense_next(seed) % 2;
	uint32_t n_old = dense_next(seed) % 4;
	uint32_t round = dense_next(seed) % CCT_ROUNDS;
	/* Nearly all samples of a round have the same. */
	uint64_t weight = (33 + 2 * (dense_next(seed) % 8 ? round : dense_next(seed) % 32)) * (uint64_t)UNIT;

	weight += kind == DENSE_ODD_WEIGHTS ? dense_next(seed) : dense_next(seed) % 50 == 0 ? 12345 : 0;
	cct_add_value(cct, node, thread, 0, 1);
	if (kind != DENSE_LACKS_WEIGHT)
		cct_add_value(cct, node, thread, 1, weight);
	if (kind != DENSE_WITHOUT_ROUNDS && (kind != DENSE_LACKS_ROUND || dense_next(seed) % 4))
		cct_add_value(cct, node, thread, CCT_ROUND + round, 1);
	uint32_t depth = 0;
	for (uint32_t i = node; i > CCT_INCOMPLETE; i = cct->nodes.at[i].parent)
		depth++;
	for (uint32_t i = node; kind != DENSE_WITHOUT_CALLS && i > CCT_INCOMPLETE;
	     i = cct->nodes.at[i].parent) {
		bool is_new = kind == DENSE_CALLS_AT_RANDOM ? dense_next(seed) % 2 : depth-- > n_old;
		if (is_new)
			cct_add_value(cct, i, thread, CCT_ACTIVATIONS, 1);
	}
	if (kind == DENSE_CALLS_ELSEWHERE)
		cct_add_value(cct, 2, 2, CCT_ACTIVATIONS, 1);
}

static struct profile *dense_profile(enum dense_kind kind, uint32_t seed, size_t n)
{
	struct merger *merger = merger_new(&(struct merge_options){ 0 });
	OWNED struct profile *one = random_profile(seed, n);
	struct diag diag = { 0 };

	one->events.n = 1;
	one->metrics.n = 2;
	cct_clear_values(&one->cct);
	for (size_t i = 0; i < n; i++)
		dense_add_sample(&one->cct, kind, &seed);
	CHECK_EQ(merger_add(merger, one, "one", &diag), 0);
	struct profile *all = merger_finish(merger);
	profile_make_dense(all);
	return all;
}

static bool dense_has(struct bytes file, uint32_t number)
{
	struct reader r = reader_of(bytes_from(file, 12));
	uint32_t n = read_u32(&r);

	for (uint32_t i = 0; i < n; i++) {
		struct reader entry = reader_of(bytes_from(file, CONTAINER_HEADER + i * CONTAINER_ENTRY));
		if (read_u32(&entry) == number)
			return true;
	}
	return false;
}

static int dense_compare(const void *a, const void *b)
{
	const struct cct_value *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

static void dense_check_values(struct profile *before, struct profile *after)
{
	profile_unpack(before);
	CHECK_EQ(before->cct.values.n, after->cct.values.n);
	qsort(before->cct.values.at, before->cct.values.n, sizeof(struct cct_value), dense_compare);
	qsort(after->cct.values.at, after->cct.values.n, sizeof(struct cct_value), dense_compare);
	for (size_t i = 0; i < before->cct.values.n; i++) {
		CHECK_EQ(dense_compare(&before->cct.values.at[i], &after->cct.values.at[i]), 0);
		CHECK_EQ(before->cct.values.at[i].value, after->cct.values.at[i].value);
	}
}

TEST(dense_values_round_trip)
{
	for (enum dense_kind kind = 0; kind < DENSE_ALL_KINDS; kind++)
		for (uint32_t seed = 1; seed < 6; seed++) {
			OWNED struct profile *before = dense_profile(kind, seed, seed * 80), *after = NULL;
			WRITER struct writer file = { 0 };
			struct diag diag = { 0 };

			profile_pack(before, &file);
			CHECK_EQ(dense_has(writer_bytes(&file), SECTION_SAMPLES), kind < DENSE_KINDS);
			CHECK_EQ(dense_has(writer_bytes(&file), SECTION_VALUES), kind >= DENSE_KINDS);
			CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
			dense_check_values(before, after);
		}
}

/* Section 22, as version 1.4 wrote it: what is usual is 64 in every round, and is not said. */
TEST(dense_values_of_an_earlier_version_are_read)
{
	OWNED struct profile *before = dense_profile(DENSE_ODD_WEIGHTS, 3, 200), *after = NULL;
	WRITER struct writer file = { 0 }, section = { 0 };
	struct diag diag = { 0 };
	struct bytes made = writer_bytes(&before->samples);
	struct reader r = reader_of(made);

	CHECK_EQ(read_uleb(&r), 1u); /* the weights have no common divisor */
	CHECK_EQ(read_uleb(&r) & SAMPLES_HAVE_ROUNDS, SAMPLES_HAVE_ROUNDS);
	write_bytes(&section, (struct bytes){ made.at, reader_offset(&r) });
	for (size_t i = 0; i < CCT_ROUNDS; i++)
		CHECK_EQ(read_uleb(&r), SAMPLES_USUAL);
	write_bytes(&section, bytes_from(made, reader_offset(&r)));
	profile_pack(before, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &after, &diag), 0);
	vec_clear(&after->cct.values);
	struct decoder decoder = { .bytes = writer_bytes(&section), .diag = &diag };
	decoder.limits[REF_THREAD] = after->threads.n;
	CHECK_EQ(samples_before_decode(&decoder, after), 0);
	dense_check_values(before, after);
}

TEST(damage_of_dense_values_is_refused_or_harmless)
{
	size_t n_read = 0, n_refused = 0;

	for (uint32_t seed = 1; seed < 3; seed++) {
		OWNED struct profile *before = dense_profile(DENSE_USUAL, seed, 30);
		WRITER struct writer file = { 0 };

		profile_pack_fast(before, &file);
		for (size_t i = CONTAINER_HEADER; i < file.len; i++) {
			CLEANUP(freep) uint8_t *copy = malloc(file.len);
			OWNED struct profile *after = NULL;
			struct diag diag = { 0 };
			memcpy(copy, file.at, file.len);
			copy[i] ^= (uint8_t)(1u << (i + seed) % 8);
			profile_reseal(copy, file.len);
			if (profile_parse((struct bytes){ copy, file.len }, "x", &after, &diag) < 0) {
				n_refused++;
				continue;
			}
			n_read++;
			for (size_t k = 0; k < after->cct.values.n; k++) {
				CHECK(after->cct.values.at[k].node < after->cct.nodes.n);
				CHECK(after->cct.values.at[k].thread < after->threads.n);
			}
		}
	}
	CHECK(n_read > 0);
	CHECK(n_refused > 0);
}
