/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct_fold.h"

#include "base/cleanup.h"
#include "tests/test.h"

#define IMAGE 3u

/* A path by its frames, outermost first; the sample belongs to a thread. */
static uint32_t test_add(struct cct *cct, uint32_t thread, const char *path, uint64_t samples)
{
	uint32_t node = CCT_ROOT;

	for (; *path; path++)
		node = cct_child(cct, node, IMAGE, (uint8_t)*path, CCT_IS_RETURN);
	cct_add_value(cct, node, thread, 0, samples);
	cct_add_value(cct, node, thread, 1, 1000 * samples);
	return node;
}

static uint64_t test_sum(const struct cct *cct, uint32_t thread, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < cct->values.n; i++)
		if (cct->values.at[i].thread == thread && cct->values.at[i].metric == metric)
			sum += cct->values.at[i].value;
	return sum;
}

static size_t test_others(const struct cct *cct)
{
	size_t n = 0;

	for (uint32_t i = 0; i < cct->nodes.n; i++)
		n += cct_is_other(cct, i);
	return n;
}

/* Deep random paths, most of them sampled once; and a heavy one. */
static void test_grow(struct cct *cct, uint64_t seed, size_t n)
{
	char path[16] = { 0 };

	for (size_t i = 0; i < n; i++) {
		for (size_t at = 0; at + 1 < sizeof(path); at++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			path[at] = (char)('a' + (seed >> 60) % 4);
		}
		test_add(cct, (uint32_t)(i % 3), path, 1);
		test_add(cct, 0, "heavy", 1);
	}
}

TEST(folding_keeps_sums_by_thread_and_metric_and_heavy_paths)
{
	CLEANUP(freep) uint32_t *place = NULL;
	struct cct cct;
	uint64_t before[3][2];

	cct_init(&cct);
	test_grow(&cct, 1, 5000);
	uint32_t heavy = test_add(&cct, 0, "heavy", 1);
	size_t n_nodes = cct.nodes.n, max = cct_bytes(&cct);
	for (uint32_t i = 0; i < 6; i++)
		before[i / 2][i % 2] = test_sum(&cct, i / 2, i % 2);
	uint64_t n_folded = cct_fold(&cct, max, NULL, &place);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_EQ(test_sum(&cct, i / 2, i % 2), before[i / 2][i % 2]);
	CHECK(cct_bytes(&cct) <= max / 2);
	CHECK(n_folded > n_nodes / 2 && test_others(&cct) > 0);
	CHECK(cct_other_samples(&cct) > 0 && cct_other_samples(&cct) <= 5000);
	CHECK_EQ(test_add(&cct, 0, "heavy", 1), place[heavy]);
	for (uint32_t i = 1; i < cct.nodes.n; i++) /* folded nodes have no children */
		CHECK(cct.nodes.at[i].parent < i && !cct_is_other(&cct, cct.nodes.at[i].parent));
	cct_done(&cct);
}

TEST(folding_again_adds_to_what_was_folded_before)
{
	struct cct cct;
	uint64_t n = 0;

	cct_init(&cct);
	for (uint64_t round = 0; round < 6; round++) {
		CLEANUP(freep) uint32_t *place = NULL;
		test_grow(&cct, round + 1, 3000);
		n += 3000;
		cct_fold(&cct, 600000, NULL, &place);
		CHECK(cct_bytes(&cct) <= 600000);
		CHECK_EQ(test_sum(&cct, 0, 0) + test_sum(&cct, 1, 0) + test_sum(&cct, 2, 0), 2 * n);
	}
	cct_done(&cct);
}

TEST(parallel_arrays_are_folded_with_nodes_and_values)
{
	CLEANUP(freep) uint32_t *place = NULL;
	uint64_t nodes[] = { 0, 0, 1, 1, 2, 3, 3 }, values[] = { 1, 1, 2, 2, 3, 3 };
	struct cct cct;

	cct_init(&cct);
	test_add(&cct, 0, "ax", 1); /* cold, like b */
	test_add(&cct, 0, "b", 1);
	uint32_t hot = test_add(&cct, 0, "cd", 100);
	CHECK_EQ(cct.nodes.n, 7);
	CHECK_EQ(cct.values.n, 6);
	CHECK_EQ(cct_fold(&cct, 2 * 4 * 40 * 4, &(struct cct_since){ nodes, values }, &place), 3);
	CHECK_EQ(cct.nodes.n, 5); /* the roots, the folded node, c, d */
	CHECK(cct_is_other(&cct, 2));
	CHECK_EQ(place[hot], 4);
	CHECK_EQ(nodes[2], 1);
	CHECK_EQ(nodes[3], 3);
	CHECK_EQ(nodes[4], 3);
	CHECK_EQ(cct.values.n, 4);
	CHECK_EQ(cct.values.at[0].value, 2);
	CHECK_EQ(values[0], 1);
	CHECK_EQ(values[2], 3);
	cct_done(&cct);
}

TEST(reported_values_are_folded_too)
{
	CLEANUP(freep) uint32_t *place = NULL;
	struct cct cct;
	uint64_t told = 0;

	cct_init(&cct);
	test_grow(&cct, 7, 2000);
	cct_tell(&cct);
	test_grow(&cct, 8, 2000);
	cct_fold(&cct, cct_bytes(&cct), NULL, &place);
	CHECK(cct.told.n <= cct.values.n);
	for (size_t i = 0; i < cct.told.n; i++) {
		CHECK(cct.told.at[i] <= cct.values.at[i].value);
		told += cct.values.at[i].metric == 0 ? cct.told.at[i] : 0;
	}
	CHECK_EQ(told, 4000);
	cct_done(&cct);
}

TEST(folding_keeps_the_values_of_many_threads)
{
	CLEANUP(freep) uint32_t *place = NULL;
	struct cct cct;

	cct_init(&cct);
	for (uint32_t thread = 0; thread < 1000; thread++)
		test_add(&cct, thread, "m", 1);
	CHECK_EQ(cct_fold(&cct, 1000, NULL, &place), 1);
	for (uint32_t thread = 0; thread < 1000; thread++)
		CHECK_EQ(test_sum(&cct, thread, 0), 1);
	cct_done(&cct);
}
