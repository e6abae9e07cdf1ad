/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles merged by several threads, as sorted runs, give the same as profiles merged one by one.
 */
#include "base/pool.h"
#include "profile/merge.h"
#include "profile/path_run.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define N 48
#define THREADS 4

/* Sorted, like those in a database. */
static struct profile *runs_sorted(struct profile *profile)
{
	struct merger *merger = merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER });
	struct diag diag = { 0 };

	CHECK_EQ(merger_add(merger, profile, "x", &diag), 0);
	profile_free(profile);
	return merger_finish_plain(merger);
}

/* Gives image 0 another name: where it is sorted changes, but not which one it is. */
static void runs_rename(struct profile *profile)
{
	profile->images.at[0].path = intern_add(&profile->strings, "/zzz");
}

static void runs_unite(struct profile *profile)
{
	profile->images.at[1].kind = profile->images.at[0].kind;
	profile->images.at[1].elf_machine = profile->images.at[0].elf_machine;
	profile->images.at[1].build_id = profile->images.at[0].build_id;
}

static struct profile *runs_profile(uint32_t i)
{
	struct profile *profile = i % 8 == 7 ? sample_profile() : random_profile(i, 100 + 40 * (i % 11));

	for (size_t k = 0; k < profile->images.n; k++)
		profile->images.at[k].build_id = (struct build_id){ .len = 1, .bytes = { (uint8_t)k } };
	if (i % 5 == 2)
		runs_unite(profile);
	if (i % 6 == 0)
		runs_rename(profile);
	if (i % 7 == 3)
		cct_add_duration(&profile->cct, 2 + i % 8, 0, 700 + i, i);
	cct_add_value(&profile->cct, CCT_INCOMPLETE, 0, 0, 1 + i);
	cct_add_value(&profile->cct, CCT_ROOT, 0, 0, 2 + i);
	return i % 3 ? profile : runs_sorted(profile);
}

struct runs_job {
	struct merger *merger;
	struct profile *profiles[N];
};

static void runs_add(void *context, unsigned worker, size_t index)
{
	struct runs_job *job = context;
	struct diag diag = { 0 };

	(void)worker;
	CHECK_EQ(merger_add(job->merger, job->profiles[index], "x", &diag), 0);
}

static struct profile *runs_merge_all(struct runs_job *job, enum merge_joins joins, unsigned n_threads)
{
	job->merger = merger_new(&(struct merge_options){ .joins = joins, .in_threads = n_threads > 0 });
	pool_run(n_threads ? n_threads : 1, N, runs_add, job);
	CHECK_EQ(merger_count(job->merger), N);
	return merger_finish_plain(job->merger);
}

TEST(several_threads_merge_the_same_as_one)
{
	struct runs_job job;

	for (uint32_t i = 0; i < N; i++)
		job.profiles[i] = runs_profile(i);
	for (enum merge_joins joins = MERGE_BY_NUMBER; joins <= MERGE_BY_NAME; joins++) {
		OWNED struct profile *wanted = runs_merge_all(&job, joins, 0);
		OWNED struct profile *in_order = runs_merge_all(&job, joins, 1);
		OWNED struct profile *in_threads = runs_merge_all(&job, joins, THREADS);
		CHECK(wanted->cct.nodes.n > 1000);
		CHECK_STR(profile_difference(wanted, in_order), "none");
		CHECK_STR(profile_difference(wanted, in_threads), "none");
	}
	for (uint32_t i = 0; i < N; i++)
		profile_free(job.profiles[i]);
}

TEST(a_merge_by_threads_of_nothing_is_empty)
{
	OWNED struct profile *all = merger_finish_plain(
		merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER, .in_threads = true }));

	CHECK_EQ(all->cct.nodes.n, 2);
	CHECK_EQ(all->cct.values.n, 0);
}

static struct path_run *runs_two_images(image_id first, const char *first_path, image_id second,
					const char *second_path)
{
	struct path_image images[] = { { .id = first, .path = first_path },
				       { .id = second, .path = second_path } };
	uint32_t numbers[] = { 0, 1 };
	struct path_maps maps = { .images = images, .n_images = 2, .thread = numbers, .metric = numbers };
	struct cct cct;

	cct_init(&cct);
	cct_add_value(&cct, cct_child(&cct, CCT_ROOT, 0, 0x10, 0), 0, 0, 1);
	cct_add_value(&cct, cct_child(&cct, CCT_ROOT, 1, 0x20, 0), 0, 0, 1);
	struct path_run *run = path_run_make(&cct, &maps, NULL);
	cct_done(&cct);
	return run;
}

TEST(runs_whose_images_are_in_opposite_order_are_merged)
{
	struct path_run *a = runs_two_images(5, "a", 9, "b"), *b = runs_two_images(9, "b", 5, "a");
	struct path_run *both = path_run_merge(a, b, NULL);
	struct cct cct;

	CHECK_EQ(both->images.n, 2);
	CHECK_EQ(both->n_nodes, 6); /* two roots, two frames in each image */
	cct_init(&cct);
	path_run_unpack(both, &cct);
	CHECK_EQ(cct.nodes.n, 6);
	CHECK_EQ(cct.nodes.at[2].image, 5);
	CHECK_EQ(cct.nodes.at[5].image, 9);
	cct_done(&cct);
	path_run_free(a);
	path_run_free(b);
	path_run_free(both);
}
