/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_scale.h"
#include "profile/check.h"
#include "profile/merge.h"
#include "tests/support/profiles.h"
#include "tests/test.h"
#include "unwinder/cct_fold.h"

static void check_whole(const struct profile *p)
{
	OWNED struct profile *again = NULL;
	CLEANUP(writer_done) struct writer file = { 0 };
	struct diag diag = { 0 };

	CHECK_EQ(profile_check(p, "x", &diag), 0);
	profile_pack(p, &file);
	CHECK_EQ(profile_parse(writer_bytes(&file), "x", &again, &diag), 0);
	CHECK_STR(profile_difference(p, again), "none");
}

static uint64_t sum_of(const struct profile *p, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->cct.values.n; i++)
		sum += p->cct.values.at[i].metric == metric ? p->cct.values.at[i].value : 0;
	return sum;
}

TEST(a_profile_merged_with_itself_has_the_same_tree_and_twice_the_costs)
{
	OWNED struct profile *a = sample_profile();
	OWNED struct profile *b = sample_profile();
	size_t n_nodes = a->cct.nodes.n, n_functions = a->functions.n;

	profile_merge(a, b);
	check_whole(a);
	CHECK_EQ(a->cct.nodes.n, n_nodes);
	CHECK_EQ(a->functions.n, n_functions);
	CHECK_EQ(a->images.n, 3);
	CHECK_EQ(a->threads.n, 6);
	CHECK_EQ(a->metrics.n, 2);
	CHECK_EQ(a->notes.n, 1);
	CHECK_EQ(sum_of(a, 0), 200);
	CHECK_EQ(a->quality.samples, 200);
	CHECK_STR(intern_text(&a->strings, a->run.target), "./solve");
}

static uint64_t duration_of(const struct profile *p, uint32_t kind, uint32_t *ret_n)
{
	uint64_t value = 0;

	*ret_n = 0;
	for (size_t i = 0; i < p->cct.values.n; i++)
		if (p->cct.values.at[i].metric == kind) {
			value = p->cct.values.at[i].value;
			(*ret_n)++;
		}
	return value;
}

TEST(durations_of_calls_are_kept_and_merged)
{
	OWNED struct profile *a = sample_profile();
	OWNED struct profile *b = sample_profile();
	uint32_t slow = CCT_DURATION_CLASS + log_scale_class(5000000), n;

	cct_add_duration(&a->cct, 3, 0, 700, 1);
	cct_add_duration(&a->cct, 3, 0, 5000000, 2);
	check_whole(a);
	cct_add_duration(&b->cct, 3, 0, 90, 1);
	cct_add_duration(&b->cct, 3, 0, 5000001, 3);
	OWNED struct profile *merged = profile_new();
	merged->run.is_resolved = 1;
	profile_merge(merged, a);
	profile_merge(merged, b);
	check_whole(merged);
	CHECK_EQ(sum_of(merged, CCT_DURATION_SUM), 700 + 2 * 5000000 + 90 + 3 * 5000001ull);
	CHECK_EQ(sum_of(merged, slow), 5);
	/* The threads of two runs are different threads. */
	(void)duration_of(merged, CCT_DURATION_LEAST, &n);
	CHECK_EQ(n, 2);

	struct merger *m = merger_new(&(struct merge_options){ .reduces = true });
	struct diag diag = { 0 };
	CHECK_EQ(merger_add(m, a, "a", &diag), 0);
	CHECK_EQ(merger_add(m, b, "b", &diag), 0);
	OWNED struct profile *reduced = merger_finish(m);
	profile_unpack(reduced);
	CHECK_EQ(duration_of(reduced, CCT_DURATION_LEAST, &n), 90);
	CHECK_EQ(n, 1);
	CHECK_EQ(duration_of(reduced, CCT_DURATION_MOST, &n), 5000001);
	CHECK_EQ(duration_of(reduced, slow, &n), 5);
}

TEST(merging_into_nothing_gives_the_same_profile)
{
	OWNED struct profile *a = profile_new();
	OWNED struct profile *b = sample_profile();

	a->run.is_resolved = 1;
	profile_merge(a, b);
	check_whole(a);
	CHECK_EQ(sum_of(a, 0), 100);
	CHECK_EQ(sum_of(a, 1), sum_of(b, 1));
	CHECK_EQ(a->functions.n, b->functions.n);
	CHECK_STR(intern_text(&a->strings, a->functions.at[3].name), "solve");
	CHECK_STR(intern_text(&a->strings, a->functions.at[3].inlines.at[1].name), "mul");
}

TEST(other_events_become_other_metrics)
{
	OWNED struct profile *a = sample_profile();
	OWNED struct profile *b = sample_profile();

	b->events.at[0].name = b->metrics.at[1].name = intern_add(&b->strings, "cycles");
	profile_merge(a, b);
	check_whole(a);
	CHECK_EQ(a->metrics.n, 3);
	CHECK_STR(intern_text(&a->strings, a->metrics.at[2].name), "cycles");
	CHECK_EQ(sum_of(a, 1), sum_of(b, 1));
	CHECK_EQ(sum_of(a, 2), sum_of(b, 1));
	CHECK_EQ(sum_of(a, 0), 200);
}

TEST(images_with_other_build_ids_stay_apart)
{
	OWNED struct profile *a = sample_profile();
	OWNED struct profile *b = sample_profile();

	b->images.at[0].build_id.bytes[0] ^= 1;
	profile_merge(a, b);
	check_whole(a);
	CHECK_EQ(a->images.n, 4);
	CHECK_EQ(a->functions.n, 7); /* main and solve occur twice */
}

TEST(a_better_map_wins_regardless_of_its_origin)
{
	for (int i = 0; i < 2; i++) {
		OWNED struct profile *a = sample_profile();
		OWNED struct profile *b = sample_profile();
		struct profile *worse = i ? a : b;
		struct function_map *map = &worse->functions.at[1];
		map->vaddr = map->parent_vaddr = 0x2064; /* only one address is known */
		map->size = 1;
		map->source = MAP_FROM_NOTHING;
		vec_clear(&map->lines);
		vec_clear(&map->ranges);
		vec_clear(&map->inlines);
		profile_merge(a, b);
		CHECK_EQ(a->functions.n, 5);
		CHECK_EQ(a->functions.at[3].vaddr, 0x2000);
		CHECK_EQ(a->functions.at[3].lines.n, 3);
	}
}

TEST(times_are_converted_to_one_clock)
{
	OWNED struct profile *early = sample_profile();
	OWNED struct profile *late = sample_profile();
	OWNED struct profile *again = sample_profile();

	late->run.start_unix_ns += 5000000000;
	again->run.start_unix_ns += 5000000000;
	profile_merge(late, early);  /* the times of the destination are shifted */
	profile_merge(early, again); /* the times of the source are shifted */
	check_whole(late);
	check_whole(early);
	CHECK_EQ(late->run.start_unix_ns, early->run.start_unix_ns);
	CHECK_EQ(early->run.duration_ns, 2 * again->run.duration_ns); /* without the time between the runs */
	CHECK_EQ(late->run.duration_ns, 2 * again->run.duration_ns);
	CHECK_EQ(early->run.n_runs, 2);
	CHECK_EQ(early->processes.at[3].start_ns, 5500000000);
	CHECK_EQ(late->processes.at[3].start_ns, 5500000000);
	CHECK_EQ(early->processes.at[2].exit_ns, 0);
	profile_merge(early, late);
	CHECK_EQ(early->run.n_runs, 4);
	CHECK_EQ(early->run.duration_ns, 4 * again->run.duration_ns);
	CHECK_EQ(early->quality.own_cpu_ns, 4 * again->quality.own_cpu_ns);
}

TEST(random_profiles_merge_to_the_sum_of_both)
{
	for (uint32_t seed = 1; seed < 10; seed++) {
		OWNED struct profile *a = random_profile(seed, 200);
		OWNED struct profile *b = random_profile(seed + 100, 150);
		uint64_t samples = sum_of(a, 0) + sum_of(b, 0), weight = sum_of(a, 1) + sum_of(b, 1);
		profile_merge(a, b);
		check_whole(a);
		CHECK_EQ(sum_of(a, 0), samples);
		CHECK_EQ(sum_of(a, 1), weight);
	}
}

/* A new path for each sample, below one that is hot. */
static struct profile *profile_of_paths(uint64_t first, size_t n)
{
	struct profile *profile = sample_profile();
	uint32_t hot = cct_child(&profile->cct, CCT_ROOT, 0, 0x100, 0);

	vec_clear(&profile->timeline);
	profile->run.is_resolved = 0; /* no symbols are known */
	cct_add_value(&profile->cct, hot, 0, 0, 1000);
	for (size_t i = 0; i < n; i++)
		cct_add_value(&profile->cct, cct_child(&profile->cct, hot, 0, 0x10000 + (first + i) * 4, 0),
			      0, 0, 1);
	profile->quality.samples += 1000 + n;
	profile->quality.by_end[STACK_COMPLETE] += 1000 + n;
	return profile;
}

TEST(a_merge_keeps_its_memory_limit_and_its_sums)
{
	struct merger *merger =
		merger_new(&(struct merge_options){ .joins = MERGE_BY_NAME, .max_bytes = 1u << 20 });
	struct diag diag = { 0 };
	uint64_t samples = 0;

	for (uint64_t i = 0; i < 20; i++) {
		OWNED struct profile *one = profile_of_paths(i * 5000, 5000);
		samples += profile_sum(one, 0);
		CHECK_EQ(merger_add(merger, one, "one", &diag), 0);
	}
	OWNED struct profile *all = merger_finish(merger);
	profile_unpack(all);
	CHECK_EQ(profile_sum(all, 0), samples);
	CHECK(all->cct.nodes.n < 20000); /* of 100,000 contexts */
	CHECK(all->quality.thinned_below > 1);
	CHECK(all->quality.thinned_samples > 50000 && all->quality.thinned_samples <= samples);
	uint64_t hot = 0;
	for (size_t i = 0; i < all->cct.values.n; i++)
		if (all->cct.nodes.at[all->cct.values.at[i].node].vaddr == 0x100 &&
		    !all->cct.values.at[i].metric)
			hot += all->cct.values.at[i].value;
	CHECK_EQ(hot, 20 * 1000);
	CHECK_EQ(profile_check(all, "all", &diag), 0);
}

TEST(the_fastest_clock_rate_is_kept_unless_one_is_unknown)
{
	OWNED struct profile *a = sample_profile();
	OWNED struct profile *b = sample_profile();
	OWNED struct profile *c = sample_profile();

	a->run.cycle_fs = 400000;
	b->run.cycle_fs = 390000;
	c->run.cycle_fs = 0;
	profile_merge(a, b);
	CHECK_EQ(a->run.cycle_fs, 390000);
	profile_merge(a, c);
	CHECK_EQ(a->run.cycle_fs, 0);
}
