/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "profile/check.h"
#include "profile/epochs_private.h"
#include "tests/support/database.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define MS 1000000ull
#define EPOCH_MS 600000ull
#define HOUR_MS 3600000ull
#define START_MS (1700000000000ull / HOUR_MS * HOUR_MS)
#define N_PATHS 20000

/* The nth epoch: every sample has another path. */
static struct profile *epoch_of_paths(uint64_t nth)
{
	struct profile *profile = sample_profile();

	for (uint64_t i = 0; i < N_PATHS; i++) {
		uint64_t vaddr = hash_u64(nth * N_PATHS + i) % 4000000;
		cct_add_value(&profile->cct, cct_child(&profile->cct, CCT_ROOT, 0, vaddr, 0), 0, 0, 1);
	}
	vec_clear(&profile->timeline);
	profile->quality.samples += N_PATHS;
	profile->quality.by_end[STACK_COMPLETE] += N_PATHS;
	profile->run.start_unix_ns = (START_MS + nth * EPOCH_MS) * MS;
	profile->run.duration_ns = EPOCH_MS * MS;
	return profile;
}

static struct profile *read_all(struct epochs *epochs)
{
	struct profile *profile = NULL;
	struct diag diag = { 0 };
	size_t n_bad;

	CHECK_EQ(epochs_read(epochs, &(struct epochs_query){ 0 }, &profile, &n_bad, &diag), 0);
	CHECK_EQ(n_bad, 0);
	CHECK_EQ(profile_check(profile, "all", &diag), 0);
	return profile;
}

/* The size of one epoch that has at most so many bytes. */
static size_t check_epoch(size_t max_bytes)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *many = epoch_of_paths(0);
	struct diag diag = { 0 };
	size_t n;

	epochs_limit(epochs, max_bytes);
	CHECK_EQ(epochs_put(epochs, many, &diag), 0);
	size_t bytes = epochs_list(epochs, &n)[0].bytes;
	OWNED struct profile *all = read_all(epochs);
	CHECK_EQ(profile_sum(all, 0), profile_sum(many, 0));
	CHECK_EQ(profile_sum(all, 1), profile_sum(many, 1));
	CHECK_EQ(all->quality.thinned_below > 1, max_bytes > 0);
	CHECK_EQ(all->quality.thinned_samples > N_PATHS / 2, max_bytes > 0);
	CHECK(all->quality.thinned_samples <= all->quality.samples);
	database_done(epochs);
	return bytes;
}

TEST(an_epoch_keeps_its_size_and_its_sums)
{
	size_t whole = check_epoch(0), limited = check_epoch(whole / 5);

	CHECK(limited <= whole / 5);
	CHECK(limited > whole / 10); /* no more than necessary is left out */
}

TEST(an_hour_keeps_its_size_and_its_sums)
{
	size_t limit = 20000, n;
	struct epochs *epochs = database_new();
	struct epochs_limits limits = { .hours_after_s = 1 };
	struct diag diag = { 0 };
	uint64_t samples = 0;

	epochs_limit(epochs, limit);
	for (uint64_t i = 0; i < 6; i++) {
		OWNED struct profile *many = epoch_of_paths(i);
		samples += profile_sum(many, 0);
		CHECK_EQ(epochs_put(epochs, many, &diag), 0);
	}
	CHECK_EQ(epochs_keep(epochs, &limits, START_MS + 48 * HOUR_MS).n_merged, 6);
	const struct epoch *hour = epochs_list(epochs, &n);
	CHECK_EQ(n, 1);
	CHECK(hour->bytes <= 2 * limit);
	CHECK(hour->bytes > limit);
	OWNED struct profile *all = read_all(epochs);
	CHECK_EQ(profile_sum(all, 0), samples);
	database_done(epochs);
}

/* It cannot be smaller: each thread keeps a path. The daemon goes on anyway. */
TEST(an_impossible_limit_is_not_kept)
{
	CHECK(check_epoch(100) > 100);
}
