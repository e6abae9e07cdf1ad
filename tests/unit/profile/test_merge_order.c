/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles merged in any order, and merges of merges, give the same bytes.
 */
#include <stdlib.h>

#include "profile/check.h"
#include "profile/merge.h"
#include "profile/timeline.h"
#include "profile/value_blocks.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define N 6

static uint32_t test_seed = 1;

static uint32_t test_next(uint32_t limit)
{
	test_seed = test_seed * 1664525 + 1013904223;
	return (test_seed >> 8) % limit;
}

static uint32_t test_text(struct profile *p, const char *text)
{
	return intern_add(&p->strings, text);
}

/* Through the file format: what it cannot represent does not count. */
static struct profile *test_reread(const struct profile *profile)
{
	CLEANUP(writer_done) struct writer file = { 0 };
	struct profile *again = NULL;
	struct diag diag = { 0 };

	profile_pack(profile, &file);
	if (profile_parse(writer_bytes(&file), "x", &again, &diag) < 0)
		print_error("%s: %s\n", diag.what, diag.why);
	CHECK(again);
	return again;
}

static struct profile *test_merge(struct profile *const *profiles, size_t n, bool reduces)
{
	struct merger *merger = merger_new(&(struct merge_options){ .reduces = reduces });
	struct diag diag = { 0 };

	for (size_t i = 0; i < n; i++)
		CHECK_EQ(merger_add(merger, profiles[i], "x", &diag), 0);
	OWNED struct profile *merged = merger_finish(merger);
	struct profile *again = test_reread(merged);
	if (profile_check(again, "x", &diag) < 0)
		print_error("%s: %s\n", diag.what, diag.why);
	CHECK_EQ(diag.error, 0);
	return again;
}

/* A random tree of merges: two of the remaining profiles are merged until one is left. */
static struct profile *test_merge_somehow(struct profile *const *profiles, size_t n, bool reduces)
{
	struct profile *left[N];

	for (size_t i = 0; i < n; i++)
		left[i] = test_reread(profiles[i]);
	while (n > 1) {
		size_t i = test_next((uint32_t)n), n_taken = 2 + (n > 2 ? test_next(2) : 0);
		struct profile *taken[3];
		for (size_t j = 0; j < n_taken; j++) {
			i = test_next((uint32_t)(n - j));
			taken[j] = left[i];
			left[i] = left[n - j - 1];
		}
		n -= n_taken - 1;
		left[n - 1] = test_merge(taken, n_taken, reduces);
		for (size_t j = 0; j < n_taken; j++)
			profile_free(taken[j]);
	}
	return left[0];
}

static void check_same_bytes(const struct profile *a, const struct profile *b)
{
	CLEANUP(writer_done) struct writer x = { 0 }, y = { 0 };

	profile_pack(a, &x);
	profile_pack(b, &y);
	if (!bytes_equal(writer_bytes(&x), writer_bytes(&y)))
		print_error("they differ in their %s\n", profile_difference(a, b));
	CHECK(bytes_equal(writer_bytes(&x), writer_bytes(&y)));
}

/* ---- by several processes ----------------------------------------------------------------------- */

#define PROCESSES_MAX 8

/* Process i sends its profile to the parent, as bytes. */
static void test_share(struct merger **mergers, uint32_t parent, uint32_t i, struct merge_numbers *ret)
{
	CLEANUP(writer_done) struct writer share = { 0 };
	struct diag diag = { 0 };

	merger_pack_share(mergers[i], &share);
	CHECK_EQ(share.len == 0, merger_count(mergers[i]) == 0);
	if (share.len)
		CHECK_EQ(merger_add_share(mergers[parent], writer_bytes(&share), "x", ret, &diag), 0);
}

/* Through bytes: numbers[i] become those of the result. */
static void test_follow(struct merge_numbers *numbers, const struct merge_numbers *parent)
{
	CLEANUP(writer_done) struct writer bytes = { 0 };

	merge_numbers_follow(numbers, parent);
	merge_numbers_pack(numbers, &bytes);
	merge_numbers_done(numbers);
	CHECK_EQ(merge_numbers_parse(writer_bytes(&bytes), numbers), 0);
}

static struct value_tables *test_tables(struct merger **mergers, struct merge_numbers *numbers, uint32_t n)
{
	struct value_deal deal = { numbers[0].n_nodes, n };
	struct writer dealt[PROCESSES_MAX][PROCESSES_MAX] = { 0 }, encoded[PROCESSES_MAX] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct packed_values *values = merger_take_values(mergers[i], &numbers[i]);
		for (uint32_t to = 0; to < n; to++)
			value_blocks_deal(&deal, values, to, &dealt[to][i]);
		packed_values_done(values);
		free(values);
		merge_numbers_done(&numbers[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		CHECK_EQ(value_blocks_encode(&deal, i, dealt[i], &encoded[i]), 0);
	struct value_tables *tables = value_blocks_join(&deal, encoded);
	CHECK(tables);
	encoded[0].len--; /* truncated */
	struct value_tables *none = value_blocks_join(&deal, encoded);
	CHECK(!none);
	for (uint32_t i = 0; i < n; i++) {
		writer_done(&encoded[i]);
		for (uint32_t j = 0; j < n; j++)
			writer_done(&dealt[i][j]);
	}
	return tables;
}

static struct profile *test_merge_shares(struct profile *const *profiles, size_t n, uint32_t n_processes)
{
	struct merger *mergers[PROCESSES_MAX];
	struct merge_numbers numbers[PROCESSES_MAX] = { 0 };
	struct diag diag = { 0 };

	for (uint32_t i = 0; i < n_processes; i++)
		mergers[i] = merger_new(&(struct merge_options){ 0 });
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(merger_add(mergers[i % n_processes], profiles[i], "x", &diag), 0);
	for (uint32_t step = 1; step < n_processes; step *= 2)
		for (uint32_t i = 0; i + step < n_processes; i += 2 * step)
			test_share(mergers, i, i + step, &numbers[i + step]);
	OWNED struct profile *all = merger_settle(mergers[0], &numbers[0]);
	for (uint32_t i = 1; i < n_processes; i++)
		test_follow(&numbers[i], &numbers[i & (i - 1)]); /* parent: lowest bit cleared */
	all->tables = test_tables(mergers, numbers, n_processes);
	return test_reread(all);
}

static void check_any_shares(const struct profile *all, struct profile *const *profiles, size_t n)
{
	for (uint32_t i = 1; i <= PROCESSES_MAX; i++) {
		OWNED struct profile *other = test_merge_shares(profiles, n, i);
		check_same_bytes(all, other);
	}
}

static void check_any_tree(struct profile *const *profiles, size_t n, bool reduces)
{
	OWNED struct profile *all = test_merge(profiles, n, reduces);

	if (!reduces)
		check_any_shares(all, profiles, n);

	for (int i = 0; i < 10; i++) {
		OWNED struct profile *other = test_merge_somehow(profiles, n, reduces);
		check_same_bytes(all, other);
	}
}

/* Each bin of 10 ms with the samples of the values, at random times within two minutes. */
static void test_add_timeline(struct profile *p)
{
	struct timeline timeline;

	timeline_init(&timeline);
	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == 0)
			timeline_add_many(&timeline, p->cct.values.at[i].thread,
					  (uint64_t)test_next(12000) * 10000000, p->cct.values.at[i].value);
	timeline_copy(&timeline, p);
	timeline_done(&timeline);
}

/* The same samples by the round in which they were taken. */
static void test_add_rounds(struct profile *p)
{
	size_t n = p->cct.values.n;

	for (size_t i = 0; i < n; i++) {
		struct cct_value value = p->cct.values.at[i];
		for (uint64_t j = 0; value.metric == 0 && j < value.value; j++)
			cct_add_value(&p->cct, value.node, value.thread, CCT_ROUND + test_next(CCT_ROUNDS),
				      1);
	}
}

static struct profile *test_one(uint32_t i)
{
	static const char *const hosts[] = { "node3", "node1", "node2" };
	struct profile *p = random_profile(i + 1, 60);

	p->run.start_unix_ns += test_next(1000000) * UINT64_C(1234567);
	p->run.host = test_text(p, hosts[i % 3]);
	p->run.n_cpus = i + 1;
	p->processes.at[0].rank = i + 1;
	test_add_timeline(p);
	test_add_rounds(p);
	return p;
}

static void test_make(struct profile **ret)
{
	for (uint32_t i = 0; i < N; i++)
		ret[i] = test_one(i);
}

static void free_all(struct profile **profiles)
{
	for (size_t i = 0; i < N; i++)
		profile_free(profiles[i]);
}

TEST(runs_of_one_program_merge_to_the_same_bytes_in_any_tree)
{
	struct profile *p[N];

	test_make(p);
	check_any_tree(p, N, false);
	OWNED struct profile *all = test_merge(p, N, false);
	CHECK_STR(intern_text(&all->strings, all->run.host), "node1 + node2 + node3");
	CHECK_EQ(all->run.n_runs, N);
	CHECK_EQ(all->run.n_cpus, N);
	CHECK_EQ(all->threads.n, 3 * N);
	free_all(p);
}

TEST(differing_metadata_merges_to_the_same_in_any_tree)
{
	struct profile *p[N];

	test_make(p);
	p[0]->run.start_unix_ns = p[3]->run.start_unix_ns = 0; /* unknown start */
	p[1]->events.at[0].name = p[1]->metrics.at[1].name = test_text(p[1], "cycles");
	p[2]->events.at[0].name = p[2]->metrics.at[1].name = test_text(p[2], "branches");
	p[2]->images.at[0].path = test_text(p[2], "/nfs/solve");
	p[4]->images.at[1].build_id = p[4]->images.at[0].build_id; /* the same file under two names */
	vec_push(&p[5]->notes, test_text(p[5], "another"));
	check_any_tree(p, N, false);
	OWNED struct profile *all = test_merge(p, N, false);
	CHECK_EQ(all->events.n, 3);
	CHECK_STR(intern_text(&all->strings, all->events.at[0].name), "branches");
	CHECK_STR(intern_text(&all->strings, all->metrics.at[3].name), "cycles");
	free_all(p);
}

TEST(common_events_keep_their_order)
{
	OWNED struct profile *a = random_profile(1, 50), *b = random_profile(2, 50);

	for (int i = 0; i < 2; i++) {
		struct profile *p = i ? a : b;
		uint32_t name = test_text(p, "branches"), unit = test_text(p, "count");
		vec_push(&p->events, ((struct profile_event){ name, unit, 997, 0, 0 }));
		vec_push(&p->metrics, ((struct profile_metric){ name, unit, 1 }));
	}
	profile_merge(a, b);
	CHECK_STR(intern_text(&a->strings, a->metrics.at[1].name), "cpu-clock");
	CHECK_STR(intern_text(&a->strings, a->metrics.at[2].name), "branches");
}

TEST(jit_code_is_never_joined_and_still_has_a_fixed_order)
{
	struct profile *p[N];

	test_make(p);
	for (size_t i = 0; i < N; i++) {
		p[i]->images.at[0].kind = IMAGE_JIT;
		p[i]->images.at[0].pid = 7; /* each in a separate container */
		p[i]->images.at[0].build_id.len = 0;
		p[i]->run.start_unix_ns = 1790000000000000000;
	}
	check_any_tree(p, N, false);
	OWNED struct profile *all = test_merge(p, N, false);
	CHECK_EQ(all->images.n, N + 2);
	free_all(p);
}

TEST(differing_function_maps_merge_to_the_same_in_any_tree)
{
	struct profile *p[N];

	for (size_t i = 0; i < N; i++)
		p[i] = sample_profile();
	p[1]->functions.at[1].source = MAP_FROM_SYMBOL;
	p[2]->functions.at[1].size = 0x180;
	p[3]->functions.at[0].name = test_text(p[3], "main@v2");
	p[4]->structures.at[0].scopes.at[1].line = 7;
	p[5]->code_bytes.at[3] = 0x90;
	check_any_tree(p, N, false);
	for (size_t i = 0; i < N; i++)
		profile_free(p[i]);
}

TEST(only_a_few_of_many_targets_are_named)
{
	struct profile *p[N];
	char name[16];

	test_make(p);
	for (size_t i = 0; i < N; i++) {
		p[i]->run.host = test_text(p[i], "a + b + c");
		snprintf(name, sizeof(name), "%zu + c + %zu", i, 2 * i + 1);
		p[i]->run.target = test_text(p[i], name);
	}
	check_any_tree(p, N, false);
	OWNED struct profile *all = test_merge(p, N, false);
	CHECK_STR(intern_text(&all->strings, all->run.host), "a + b + c");
	CHECK_STR(intern_text(&all->strings, all->run.target), "0 + 1 + 11 + 2 + 3 + 4 + 5 + 7 + others");
	free_all(p);
}

/* ---- a recording in parts ----------------------------------------------------------------------- */

/* Sixteen processes of one or two threads, with random values and times. */
static struct profile *test_recording(uint32_t seed)
{
	struct profile *p = random_profile(seed, 300);
	uint32_t comm = test_text(p, "worker");

	p->run.mode = test_text(p, "merge"); /* as in the result */
	vec_clear(&p->processes);
	vec_clear(&p->threads);
	for (uint32_t i = 0; i < 16; i++) {
		vec_push(&p->processes, (struct profile_process){ .pid = (int32_t)i + 100,
								  .comm = comm,
								  .start_ns = i * UINT64_C(100000) });
		for (uint32_t j = 0; j <= i % 2; j++)
			vec_push(&p->threads, (struct profile_thread){ .process = i,
								       .tid = (int32_t)(100 + i + 1000 * j),
								       .comm = comm,
								       .start_ns = i * UINT64_C(100000) });
	}
	vec_clear(&p->cct.values);
	cct_forget_hash(&p->cct);
	slots_init(&p->cct.value_slots);
	slots_init(&p->cct.node_slots);
	for (uint32_t i = 0; i < p->cct.nodes.n; i++)
		for (uint32_t j = 0; j < 1 + test_next(4); j++) {
			uint32_t thread = test_next((uint32_t)p->threads.n), samples = 1 + test_next(9);
			cct_add_value(&p->cct, i, thread, 0, samples);
			cct_add_value(&p->cct, i, thread, 1, samples * UINT64_C(1003009));
		}
	test_add_timeline(p);
	return p;
}

/* Only the processes of this part; the tree is that of the whole recording. */
static struct profile *test_part(const struct profile *whole, const uint32_t *part_of, uint32_t part)
{
	struct profile *p = test_reread(whole);
	uint32_t process[16] = { 0 }, thread[32] = { 0 };

	vec_clear(&p->processes);
	vec_clear(&p->threads);
	cct_done(&p->cct);
	cct_init(&p->cct);
	vec_clear(&p->timeline);
	for (uint32_t i = CCT_INCOMPLETE + 1; i < whole->cct.nodes.n; i++) {
		const struct cct_node *node = &whole->cct.nodes.at[i];
		CHECK_EQ(cct_child(&p->cct, node->parent, node->image, node->vaddr, node->flags), i);
	}
	for (uint32_t i = 0; i < whole->processes.n; i++) {
		process[i] = (uint32_t)p->processes.n;
		if (part_of[i] == part)
			vec_push(&p->processes, whole->processes.at[i]);
	}
	for (uint32_t i = 0; i < whole->threads.n; i++) {
		struct profile_thread row = whole->threads.at[i];
		thread[i] = (uint32_t)p->threads.n;
		if (part_of[row.process] != part)
			continue;
		row.process = process[row.process];
		vec_push(&p->threads, row);
	}
	for (size_t i = 0; i < whole->cct.values.n; i++) {
		const struct cct_value *value = &whole->cct.values.at[i];
		if (part_of[whole->threads.at[value->thread].process] == part)
			cct_add_value(&p->cct, value->node, thread[value->thread], value->metric,
				      value->value);
	}
	for (size_t i = 0; i < whole->timeline.n; i++) {
		struct profile_bin bin = whole->timeline.at[i];
		bool is_mine = part_of[whole->threads.at[bin.thread].process] == part;
		bin.thread = thread[bin.thread];
		if (is_mine)
			vec_push(&p->timeline, bin);
	}
	return p;
}

static struct profile *test_merge_parts(struct profile *const *parts, size_t n)
{
	struct merger *merger = merger_new(&(struct merge_options){ 0 });
	struct diag diag = { 0 };

	for (size_t i = 0; i < n; i++)
		CHECK_EQ(merger_add(merger, parts[i], "part", &diag), 0);
	OWNED struct profile *all = merger_finish(merger);
	return test_reread(all);
}

TEST(a_recording_in_parts_merges_to_the_recording)
{
	for (uint32_t seed = 1; seed < 6; seed++) {
		OWNED struct profile *whole = test_recording(seed);
		OWNED struct profile *expected = test_merge_parts(&whole, 1);
		uint32_t part_of[16];
		struct profile *parts[4];
		for (size_t i = 0; i < 16; i++)
			part_of[i] = test_next(4);
		for (uint32_t i = 0; i < 4; i++)
			parts[i] = test_part(whole, part_of, i);
		OWNED struct profile *all = test_merge_parts(parts, 4);
		/* Counts for a whole run are missing in parts; everything else is there. */
		all->run = expected->run;
		all->quality = expected->quality;
		CHECK_STR(profile_difference(all, expected), "none");
		CHECK_EQ(expected->threads.n, whole->threads.n);
		CHECK_EQ(expected->bin_ns, whole->bin_ns);
		CHECK_EQ(expected->timeline.n, whole->timeline.n);
		for (size_t i = 0; i < 4; i++)
			profile_free(parts[i]);
	}
}
