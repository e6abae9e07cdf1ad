/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/epochs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/check.h"
#include "profile/keep_process.h"
#include "profile/merge.h"
#include "tests/support/database.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define SECOND 1000000000ull
#define HOUR_S 3600ull
#define START EPOCHS_START

static void put_at(struct epochs *epochs, uint64_t second)
{
	OWNED struct profile *profile = epoch_at(second);
	struct diag diag = { 0 };

	CHECK_EQ(epochs_put(epochs, profile, &diag), 0);
	CHECK_EQ(epochs_put_names(epochs, profile, &diag), 0);
}

static struct profile *read_all(struct epochs *epochs, const char *process, size_t *ret_n_bad)
{
	struct epochs_query query = { .process = process };
	struct profile *profile = NULL;
	struct diag diag = { 0 };

	CHECK_EQ(epochs_read(epochs, &query, &profile, ret_n_bad, &diag), 0);
	return profile;
}

static size_t count_files(const char *name)
{
	char path[128];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", database_folder(), name);
	DIR *dir = opendir(path);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

TEST(a_time_range_is_the_sum_of_its_epochs_with_names)
{
	struct epochs *epochs = database_new();
	size_t n, n_bad;

	put_at(epochs, 0);
	put_at(epochs, 600);
	const struct epoch *list = epochs_list(epochs, &n);
	CHECK_EQ(n, 2);
	CHECK_EQ(list[0].end_ms, list[1].start_ms);
	CHECK(list[0].is_indexed && list[0].samples == 100);

	OWNED struct profile *one = epoch_at(0);
	OWNED struct profile *both = read_all(epochs, NULL, &n_bad);
	CHECK_EQ(n_bad, 0);
	CHECK_EQ(both->quality.samples, 2 * one->quality.samples);
	CHECK_EQ(profile_sum(both, 1), 2 * profile_sum(one, 1));
	CHECK_EQ(both->threads.n, one->threads.n); /* both have the same threads */
	CHECK_EQ(both->cct.nodes.n, one->cct.nodes.n);
	CHECK(both->functions.n > 0);
	CHECK(both->run.is_resolved && !both->run.n_runs);
	struct diag diag = { 0 };
	CHECK_EQ(profile_check(both, "both", &diag), 0);
	database_done(epochs);
}

TEST(names_are_stored_once_per_image_and_not_in_epochs)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *one = epoch_at(0);
	char path[256];
	size_t n;

	put_at(epochs, 0);
	size_t n_images = count_files("images");
	put_at(epochs, 600);
	CHECK(n_images > 0);
	CHECK_EQ(count_files("images"), n_images);
	snprintf(path, sizeof(path), "%s/epochs/%s", database_folder(), epochs_list(epochs, &n)[0].name);
	OWNED struct profile *plain = NULL;
	struct diag diag = { 0 };
	CHECK_EQ(profile_read(path, &plain, &diag), 0);
	CHECK_EQ(plain->functions.n + plain->structures.n + plain->codes.n, 0);
	database_done(epochs);
}

/* A server that starts a thread for each request. */
TEST(short_lived_threads_are_joined_by_name_if_they_are_many)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *profile = epoch_at(0);
	struct profile_thread brief = profile->threads.at[0];
	uint32_t first = (uint32_t)profile->threads.n;
	struct diag diag = { 0 };
	size_t n_bad, n_joined = 0;

	for (int i = 0; i < 300; i++) {
		brief.tid = 5000 + i;
		brief.start_ns = SECOND + (uint64_t)i * 1000;
		brief.exit_ns = i == 299 ? 0 : brief.start_ns + 500; /* the last one is still alive */
		vec_push(&profile->threads, brief);
		cct_add_value(&profile->cct, 3, first + (uint32_t)i, 0, 1);
		cct_add_value(&profile->cct, 3, first + (uint32_t)i, 1, 1003009);
	}
	profile->quality.samples += 300;
	CHECK_EQ(epochs_put(epochs, profile, &diag), 0);
	OWNED struct profile *all = read_all(epochs, NULL, &n_bad);
	CHECK_EQ(all->threads.n, first + 2);
	for (size_t i = 0; i < all->cct.values.n; i++)
		if (all->cct.values.at[i].metric == 0 &&
		    all->threads.at[all->cct.values.at[i].thread].tid == 0)
			n_joined += all->cct.values.at[i].value;
	CHECK_EQ(n_joined, 299 + 70); /* and the samples of `worker`, which is short-lived as well */
	CHECK_EQ(profile_sum(all, 0), profile_sum(profile, 0));
	database_done(epochs);
}

TEST(epochs_lack_names_reports_only_missing_names)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *profile = epoch_at(0);
	const struct function_map *map = &profile->functions.at[0];
	uint64_t wanted[] = { map->vaddr, map->vaddr + map->size - 1, UINT64_MAX - 1 }, vaddrs[3];
	struct diag diag = { 0 };

	CHECK(map->source != MAP_FROM_NOTHING);
	memcpy(vaddrs, wanted, sizeof(wanted));
	CHECK_EQ(epochs_lack_names(epochs, profile, map->image, vaddrs, 3), 3);
	CHECK_EQ(epochs_put_names(epochs, profile, &diag), 0);
	CHECK_EQ(epochs_lack_names(epochs, profile, map->image, vaddrs, 3), 1);
	CHECK_EQ(vaddrs[0], UINT64_MAX - 1);
	database_done(epochs);
}

/* Symbols may be installed later. */
TEST(code_without_a_symbol_is_looked_up_again_after_a_day)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *profile = epoch_at(0);
	uint32_t image = profile->functions.at[0].image;
	uint64_t vaddr = profile->functions.at[0].vaddr;
	struct diag diag = { 0 };
	struct dirent *entry;
	char path[512];

	profile->functions.at[0].source = MAP_FROM_NOTHING;
	CHECK_EQ(epochs_put_names(epochs, profile, &diag), 0);
	CHECK_EQ(epochs_lack_names(epochs, profile, image, &vaddr, 1), 0);
	snprintf(path, sizeof(path), "%s/images", database_folder());
	DIR *dir = opendir(path);
	const struct timespec past[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".names"))
			CHECK_EQ(utimensat(dirfd(dir), entry->d_name, past, 0), 0);
	closedir(dir);
	CHECK_EQ(epochs_lack_names(epochs, profile, image, &vaddr, 1), 1);
	CHECK_EQ(epochs_put_names(epochs, profile, &diag), 0); /* no new names */
	CHECK_EQ(epochs_lack_names(epochs, profile, image, &vaddr, 1), 0);
	database_done(epochs);
}

/* In the next epoch there is a different function at the address. */
TEST(names_of_code_that_a_jit_compiler_wrote_stay_with_their_epoch)
{
	struct epochs *epochs = database_new();
	struct diag diag = { 0 };
	size_t n_bad, n_found[2] = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		OWNED struct profile *profile = epoch_at(i * 600);
		CHECK(profile->functions.n > 0);
		struct function_map *map = &profile->functions.at[0];
		profile->images.at[map->image].kind = IMAGE_JIT;
		profile->images.at[map->image].build_id.len = 0;
		profile->images.at[map->image].pid = 77;
		map->source = MAP_FROM_PERFMAP;
		map->name = intern_add(&profile->strings, i ? "later" : "earlier");
		CHECK_EQ(epochs_put(epochs, profile, &diag), 0);
		CHECK_EQ(epochs_put_names(epochs, profile, &diag), 0);
	}
	OWNED struct profile *both = read_all(epochs, NULL, &n_bad);
	for (size_t i = 0; i < both->functions.n; i++) {
		const char *name = intern_text(&both->strings, both->functions.at[i].name);
		n_found[0] += strcmp(name, "earlier") == 0;
		n_found[1] += strcmp(name, "later") == 0;
	}
	CHECK_EQ(n_found[0], 1);
	CHECK_EQ(n_found[1], 1);
	size_t n, n_images = 0;
	CHECK_EQ(epochs_list(epochs, &n)[0].samples, 100); /* samples are not counted twice */

	/* It is still code of one process. */
	struct scope_tree tree;
	image_id shown = IMAGE_NONE;
	profile_take_tree(both, &(struct fuse_options){ 0 }, &tree);
	for (uint32_t i = 0; i < tree.scopes.n; i++) {
		image_id image = scope_frame(&tree, i)->image;
		if (image == IMAGE_NONE || both->images.at[image].kind != IMAGE_JIT || image == shown)
			continue;
		n_images++;
		shown = image;
	}
	CHECK_EQ(n_images, 1);
	scope_tree_done(&tree);
	database_done(epochs);
}

/* A deleted epoch is not recreated. */
TEST(names_do_not_recreate_a_deleted_epoch)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *profile = epoch_at(0);
	struct diag diag = { 0 };

	profile->images.at[profile->functions.at[0].image].kind = IMAGE_JIT;
	profile->functions.at[0].source = MAP_FROM_PERFMAP;
	CHECK_EQ(epochs_put(epochs, profile, &diag), 0);
	CHECK(epochs_drop_oldest(epochs));
	CHECK_EQ(epochs_put_names(epochs, profile, &diag), 0);
	CHECK_EQ(count_files("epochs"), 0);
	database_done(epochs);
}

TEST(a_damaged_epoch_is_left_out)
{
	struct epochs *epochs = database_new();
	char path[256];
	size_t n, n_bad;

	put_at(epochs, 0);
	put_at(epochs, 600);
	snprintf(path, sizeof(path), "%s/epochs/%s", database_folder(), epochs_list(epochs, &n)[0].name);
	CHECK_EQ(truncate(path, 100), 0);
	OWNED struct profile *rest = read_all(epochs, NULL, &n_bad);
	CHECK_EQ(n_bad, 1);
	CHECK_EQ(rest->quality.samples, 100);
	database_done(epochs);
}

TEST(one_process_alone_and_epochs_without_it_are_not_read)
{
	struct epochs *epochs = database_new();
	size_t n_bad;
	OWNED struct profile *one = epoch_at(0);
	CLEANUP(freep) char *name = alloc_text(intern_text(&one->strings, one->processes.at[0].comm));
	struct diag diag = { 0 };

	one->quality.counted = profile_sum(one, 1);
	CHECK_EQ(epochs_put(epochs, one, &diag), 0);
	OWNED struct profile *part = read_all(epochs, name, &n_bad);
	CHECK_EQ(profile_check(part, "part", &diag), 0);
	uint64_t samples = 0;
	for (size_t i = 0; i < one->cct.values.n; i++)
		if (one->cct.values.at[i].metric == 0 &&
		    strcmp(intern_text(
				   &one->strings,
				   one->processes.at[one->threads.at[one->cct.values.at[i].thread].process]
					   .comm),
			   name) == 0)
			samples += one->cct.values.at[i].value;
	CHECK_EQ(part->quality.samples, samples);
	CHECK_EQ(part->quality.counted, 0); /* that was by all processes */
	struct profile *none = NULL;
	CHECK_EQ(epochs_read(epochs, &(struct epochs_query){ .process = "no such process" }, &none, &n_bad,
			     &diag),
		 -ENOENT);
	database_done(epochs);
}

TEST(epochs_of_an_hour_or_day_are_merged_and_sums_stay_the_same)
{
	struct epochs *epochs = database_new();
	struct epochs_limits limits = { .hours_after_s = 24 * HOUR_S };
	size_t n, n_bad;

	for (uint64_t i = 0; i < 12; i++) /* two hours */
		put_at(epochs, i * 600);
	OWNED struct profile *before = read_all(epochs, NULL, &n_bad);
	uint64_t now_ms = START / 1000000 + 26 * HOUR_S * 1000;
	CHECK_EQ(epochs_keep(epochs, &limits, now_ms - HOUR_S * 1000).n_merged,
		 6); /* only the first hour is old enough */
	CHECK_EQ(epochs_keep(epochs, &limits, now_ms).n_merged, 6);
	epochs_list(epochs, &n);
	CHECK_EQ(n, 2);
	OWNED struct profile *after = read_all(epochs, NULL, &n_bad);
	CHECK_EQ(after->quality.samples, before->quality.samples);
	CHECK_EQ(profile_sum(after, 1), profile_sum(before, 1));
	CHECK_EQ(after->run.duration_ns, before->run.duration_ns);
	CHECK(after->functions.n > 0);
	limits = (struct epochs_limits){ .days_after_s = 24 * HOUR_S };
	epochs_keep(epochs, &limits, now_ms + 48 * HOUR_S * 1000);
	epochs_list(epochs, &n);
	CHECK_EQ(n, 1);
	database_done(epochs);
}

/* A profile with that many more short-lived processes, each with one sample. */
static struct profile *epoch_of_many(size_t n)
{
	struct profile *profile = epoch_at(0);
	uint32_t comm = intern_add(&profile->strings, "cc1");
	uint32_t node = cct_child(&profile->cct, CCT_ROOT, 0, 0x1234, 0);

	vec_clear(&profile->timeline);
	profile->quality.samples += n;
	profile->quality.by_end[STACK_COMPLETE] += n;

	for (size_t i = 0; i < n; i++) {
		vec_push(&profile->processes, ((struct profile_process){ .pid = (pid_t)(1000 + i),
									 .comm = comm,
									 .start_ns = (1 + i) * 1000,
									 .exit_ns = (2 + i) * 1000 }));
		vec_push(&profile->threads,
			 ((struct profile_thread){ .process = (uint32_t)profile->processes.n - 1,
						   .tid = (pid_t)(1000 + i),
						   .comm = comm,
						   .start_ns = (1 + i) * 1000,
						   .exit_ns = (2 + i) * 1000 }));
		cct_add_value(&profile->cct, node, (uint32_t)profile->threads.n - 1, 0, 1);
	}
	return profile;
}

TEST(short_lived_processes_are_joined_by_name_if_they_are_many)
{
	static const size_t counts[] = { 20, 1000 };

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct epochs *epochs = database_new();
		OWNED struct profile *many = epoch_of_many(counts[i]);
		OWNED struct profile *before = epoch_at(0);
		struct diag diag = { 0 };
		size_t n_bad;
		CHECK_EQ(epochs_put(epochs, many, &diag), 0);
		OWNED struct profile *all = read_all(epochs, NULL, &n_bad);
		CHECK_EQ(profile_sum(all, 0), profile_sum(many, 0));
		size_t n_more = i ? 1 : counts[i]; /* if there are few, they keep their pids */
		CHECK_EQ(all->processes.n, before->processes.n + n_more);
		CHECK_EQ(all->threads.n, before->threads.n + n_more);
		size_t n_unnumbered = 0;
		for (size_t j = 0; j < all->processes.n; j++)
			n_unnumbered +=
				strcmp(intern_text(&all->strings, all->processes.at[j].comm), "cc1") == 0 &&
				!all->processes.at[j].pid;
		CHECK_EQ(n_unnumbered, i);
		CHECK_EQ(profile_check(all, "all", &diag), 0);
		database_done(epochs);
	}
}

/* Killed after the merge was written but before its inputs were removed. */
TEST(an_epoch_that_was_merged_into_another_counts_once)
{
	struct epochs *epochs = database_new();
	struct epochs_limits limits = { .hours_after_s = 1 };
	size_t n_bad;

	for (uint64_t i = 0; i < 6; i++)
		put_at(epochs, i * 600);
	epochs_keep(epochs, &limits, START / 1000000 + 48 * HOUR_S * 1000);
	put_at(epochs, 600); /* one of the inputs still exists */
	OWNED struct profile *all = read_all(epochs, NULL, &n_bad);
	CHECK_EQ(all->quality.samples, 600);
	database_done(epochs);
}

TEST(the_oldest_epochs_are_deleted_first_and_names_when_unused)
{
	struct epochs *epochs = database_new();
	size_t n;

	for (uint64_t i = 0; i < 4; i++)
		put_at(epochs, i * 600);
	struct epochs_limits limits = { .age_s = 1200 };
	CHECK_EQ(epochs_keep(epochs, &limits, START / 1000000 + 2400 * 1000).n_dropped, 1);
	CHECK_EQ(epochs_list(epochs, &n)[0].start_ms, START / 1000000 + 600000);
	CHECK(count_files("images") > 0);
	limits = (struct epochs_limits){ .bytes = 1 };
	struct epochs_kept kept = epochs_keep(epochs, &limits, START / 1000000);
	CHECK_EQ(kept.n_dropped, 3);
	CHECK(kept.n_names > 0);
	CHECK_EQ(count_files("images"), 0);
	database_done(epochs);
}

TEST(the_open_epoch_of_a_killed_daemon_is_recovered)
{
	struct epochs *epochs = database_new();
	OWNED struct profile *profile = epoch_at(0);
	CLEANUP(freep) char *path = epochs_open_path(epochs, profile->run.start_unix_ns);
	struct diag diag = { 0 };
	size_t n, n_bad;

	profile->run.is_checkpoint = 1;
	CHECK_EQ(profile_write(profile, path, &diag), 0);
	CHECK(epochs_list(epochs, &n)[0].is_open);
	OWNED struct profile *open = read_all(epochs, NULL, &n_bad); /* an open epoch can be read */
	CHECK_EQ(open->quality.samples, 100);
	epochs_recover(epochs);
	const struct epoch *list = epochs_list(epochs, &n);
	CHECK(n == 1 && !list[0].is_open);
	CHECK_EQ(access(path, F_OK), -1);
	database_done(epochs);
}

TEST(a_second_writer_is_refused)
{
	struct epochs *epochs = database_new();
	pid_t pid = fork();

	if (pid == 0) {
		struct epochs *second = NULL;
		struct diag diag = { 0 };
		_exit(epochs_open(database_folder(), true, &second, &diag) == -EBUSY ? 0 : 1);
	}
	int status = 1;
	waitpid(pid, &status, 0);
	database_done(epochs);
	CHECK_EQ(status, 0);
}

TEST(a_database_of_a_later_version_is_refused)
{
	struct epochs *epochs = database_new(), *again = NULL;
	char path[128];
	struct diag diag = { 0 };

	snprintf(path, sizeof(path), "%s/version", database_folder());
	FILE *file = fopen(path, "w");
	CHECK(file && fputs("cpprof database 2\n", file) >= 0 && fclose(file) == 0);
	CHECK_EQ(epochs_open(database_folder(), false, &again, &diag), -EBADMSG);
	CHECK(strstr(diag.why, "later version") != NULL);
	CHECK_EQ(epochs_open("/tmp", false, &again, &diag), -ENOENT);
	database_done(epochs);
}
