/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct_thin.h"

#include <string.h>

#include "base/cleanup.h"
#include "tests/test.h"

#define IMAGE 3u
#define DEPTH 8
#define N_THREADS 3u

/* A path by its frames, outermost first. */
static uint32_t test_add(struct cct *cct, uint32_t root, uint32_t thread, const char *path, uint64_t samples,
			 uint32_t round)
{
	uint32_t node = root;

	for (; *path; path++)
		node = cct_child(cct, node, IMAGE, (uint8_t)*path, CCT_IS_RETURN);
	cct_add_value(cct, node, thread, 0, samples);
	cct_add_value(cct, node, thread, 1, (700 + round * 13) * samples);
	cct_add_value(cct, node, thread, CCT_ROUND + round % CCT_ROUNDS, samples);
	return node;
}

/* Random paths of several threads, most of them with one sample; each of its last two frames was called then.
 * And a frequent path. */
static void test_grow(struct cct *cct, uint64_t seed, size_t n)
{
	char path[DEPTH + 1] = { 0 };

	cct_init(cct);
	for (size_t i = 0; i < n; i++) {
		for (size_t at = 0; at < DEPTH; at++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			path[at] = (char)('a' + (seed >> 60) % 4);
		}
		uint32_t root = i % 50 ? CCT_ROOT : CCT_INCOMPLETE, thread = (uint32_t)(i % N_THREADS);
		uint32_t node = test_add(cct, root, thread, path, 1, (uint32_t)i % 40);
		cct_add_value(cct, node, thread, CCT_ACTIVATIONS, 1);
		cct_add_value(cct, cct->nodes.at[node].parent, thread, CCT_ACTIVATIONS, 1);
		test_add(cct, CCT_ROOT, 0, "frequent", 1, (uint32_t)i % 40);
	}
}

/* Is b equal to node a, or below it? */
static bool test_is_below(const struct cct *cct, uint32_t a, uint32_t b)
{
	while (b > a)
		b = cct->nodes.at[b].parent;
	return a == b;
}

/* Of one thread, in a node and below it; thread N_THREADS = of all. */
static uint64_t test_sum(const struct cct *cct, uint32_t node, uint32_t thread, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		if ((thread == N_THREADS || value->thread == thread) && value->metric == metric &&
		    test_is_below(cct, node, value->node))
			sum += value->value;
	}
	return sum;
}

static uint64_t test_rounds(const struct cct *cct, uint32_t node, uint32_t thread)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < CCT_ROUNDS; i++)
		sum += test_sum(cct, node, thread, CCT_ROUND + i);
	return sum;
}

static void test_done(struct cct *a, struct cct *b)
{
	cct_done(a);
	cct_done(b);
}

TEST(thinning_keeps_the_sums_of_threads_and_of_complete_stacks)
{
	struct cct cct, thin;

	test_grow(&cct, 1, 6000);
	uint64_t n_moved = cct_thin(&cct, 8, 5, &thin);
	CHECK(n_moved > 3000 && n_moved < 6000);
	CHECK(thin.nodes.n < cct.nodes.n / 3);
	for (uint32_t thread = 0; thread < N_THREADS; thread++) {
		CHECK_EQ(test_sum(&thin, CCT_ROOT, thread, 0), test_sum(&cct, CCT_ROOT, thread, 0));
		CHECK_EQ(test_sum(&thin, CCT_ROOT, thread, 1), test_sum(&cct, CCT_ROOT, thread, 1));
		CHECK_EQ(test_rounds(&thin, CCT_ROOT, thread), test_rounds(&cct, CCT_ROOT, thread));
		CHECK_EQ(test_sum(&thin, CCT_INCOMPLETE, thread, 0),
			 test_sum(&cct, CCT_INCOMPLETE, thread, 0));
	}
	test_done(&cct, &thin);
}

TEST(thinning_keeps_frequent_paths_and_no_rare_ones)
{
	struct cct cct, thin;

	test_grow(&cct, 2, 6000);
	uint32_t was = test_add(&cct, CCT_ROOT, 0, "frequent", 0, 0);
	cct_thin(&cct, 8, 5, &thin);
	uint32_t is = test_add(&thin, CCT_ROOT, 0, "frequent", 0, 0);
	CHECK_EQ(test_sum(&thin, is, 0, 0), 6000);
	for (uint32_t i = 0; i < CCT_ROUNDS; i++)
		CHECK_EQ(test_sum(&thin, is, 0, CCT_ROUND + i), test_sum(&cct, was, 0, CCT_ROUND + i));
	for (size_t i = 0; i < thin.values.n; i++)
		if (thin.values.at[i].metric == 0 && thin.values.at[i].node != is)
			CHECK(thin.values.at[i].value >= 8);
	test_done(&cct, &thin);
}

/* Each thread is wrong by less than one distance, which is here less than 9 samples, at each end. */
TEST(subtrees_are_wrong_by_a_few_samples_at_most)
{
	struct cct cct, thin;
	char path[3] = { 0 };

	test_grow(&cct, 3, 6000);
	cct_thin(&cct, 8, 6, &thin);
	for (path[0] = 'a'; path[0] < 'e'; path[0]++)
		for (path[1] = 'a'; path[1] < 'e'; path[1]++)
			for (uint32_t thread = 0; thread < N_THREADS; thread++) {
				uint32_t was = test_add(&cct, CCT_ROOT, 0, path, 0, 0);
				uint32_t is = test_add(&thin, CCT_ROOT, 0, path, 0, 0);
				int64_t before = (int64_t)test_sum(&cct, was, thread, 0);
				int64_t after = (int64_t)test_sum(&thin, is, thread, 0);
				CHECK(before > 90 && after - before < 18 && before - after < 18);
			}
	test_done(&cct, &thin);
}

TEST(every_path_gets_its_share_on_average)
{
	static const struct {
		const char *path;
		uint64_t samples;
	} paths[] = { { "ab", 1 }, { "ac", 3 }, { "ad", 2 }, { "b", 1 }, { "cd", 4 }, { "ce", 1 } };
	uint64_t sums[ARRAY_LEN(paths)] = { 0 };
	size_t n_runs = 4000;

	for (uint64_t seed = 0; seed < n_runs; seed++) {
		struct cct cct, thin;
		cct_init(&cct);
		for (size_t i = 0; i < ARRAY_LEN(paths); i++)
			test_add(&cct, CCT_ROOT, 0, paths[i].path, paths[i].samples, 1);
		cct_thin(&cct, 5, seed, &thin);
		CHECK_EQ(test_sum(&thin, CCT_ROOT, 0, 0), 12);
		for (size_t i = 0; i < ARRAY_LEN(paths); i++)
			sums[i] += test_sum(&thin, test_add(&thin, CCT_ROOT, 0, paths[i].path, 0, 1), 0, 0);
		test_done(&cct, &thin);
	}
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) /* six standard deviations */
		CHECK(sums[i] > paths[i].samples * n_runs - 6 * 190 &&
		      sums[i] < paths[i].samples * n_runs + 6 * 190);
}

TEST(activations_keep_their_ratio_to_samples)
{
	struct cct cct, thin;

	test_grow(&cct, 4, 3000);
	cct_thin(&cct, 8, 7, &thin);
	uint64_t before = test_sum(&cct, CCT_ROOT, N_THREADS, CCT_ACTIVATIONS);
	uint64_t after = test_sum(&thin, CCT_ROOT, N_THREADS, CCT_ACTIVATIONS);
	CHECK(after > before * 8 / 10 && after < before * 12 / 10);
	for (size_t i = 0; i < thin.values.n; i++) {
		const struct cct_value *value = &thin.values.at[i];
		if (value->metric == CCT_ACTIVATIONS)
			CHECK(value->value <= test_sum(&thin, value->node, value->thread, 0));
	}
	test_done(&cct, &thin);
}

TEST(nothing_is_rare_with_a_limit_of_one)
{
	struct cct cct, thin;

	test_grow(&cct, 5, 500);
	CHECK_EQ(cct_thin(&cct, 1, 8, &thin), 0);
	CHECK_EQ(thin.nodes.n, cct.nodes.n);
	CHECK_EQ(thin.values.n, cct.values.n);
	test_done(&cct, &thin);
}

TEST(equal_seeds_give_equal_trees)
{
	struct cct cct, a, b;

	test_grow(&cct, 6, 500);
	cct_thin(&cct, 10, 9, &a);
	cct_thin(&cct, 10, 9, &b);
	CHECK_EQ(a.values.n, b.values.n);
	CHECK_EQ(a.nodes.n, b.nodes.n);
	for (size_t i = 0; i < a.values.n && i < b.values.n; i++)
		CHECK(a.values.at[i].node == b.values.at[i].node &&
		      a.values.at[i].value == b.values.at[i].value);
	cct_done(&cct);
	test_done(&a, &b);
}

/* A metric that only one of many samples has. */
TEST(a_metric_of_few_samples_keeps_its_sum)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct cct cct, thin;
		test_grow(&cct, seed, 200);
		cct_add_value(&cct, test_add(&cct, CCT_ROOT, 1, "rarely", 1, 0), 1, 2, 3);
		cct_thin(&cct, 50, seed, &thin);
		CHECK_EQ(test_sum(&thin, CCT_ROOT, N_THREADS, 2), 3);
		CHECK_EQ(test_sum(&thin, CCT_ROOT, 1, 1), test_sum(&cct, CCT_ROOT, 1, 1));
		test_done(&cct, &thin);
	}
}

TEST(an_empty_tree_stays_empty)
{
	struct cct cct, thin;

	cct_init(&cct);
	CHECK_EQ(cct_thin(&cct, 8, 1, &thin), 0);
	CHECK_EQ(thin.nodes.n, 2);
	CHECK_EQ(thin.values.n, 0);
	test_done(&cct, &thin);
}
