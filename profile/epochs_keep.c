/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs_keep: old epochs. Those of an hour are merged into one, later those of a day; finally they are
 * deleted. Symbols are deleted once no epoch refers to their image, never before.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "profile/epochs_private.h"

#define HOUR_MS 3600000ull
#define DAY_MS 86400000ull
#define TREE_BYTES (32u << 20) /* limit of the memory for merging */
/* Limits of the files, in those of an epoch. */
#define EPOCHS_PER_HOUR 2
#define EPOCHS_PER_DAY 7

/* False if the file is already gone: two processes may delete the same one. */
static bool keep_unlink(struct epochs *epochs, const char *folder, const char *name)
{
	CLEANUP(freep) char *path = epochs_path(epochs, folder, name);

	return unlink(path) == 0;
}

/* ---- merging ------------------------------------------------------------------------------------ */

/* The end of the epochs from first on that start in the same hour, or day. */
static size_t keep_group(const struct epoch *all, size_t n, size_t first, uint64_t span_ms)
{
	size_t end = first;

	while (end < n && !all[end].is_open && all[end].start_ms / span_ms == all[first].start_ms / span_ms)
		end++;
	return end;
}

/* If a file cannot be read, nothing is merged: somebody may be able to repair it. n_epochs: the limit of the
 * result. */
static bool keep_merge(struct epochs *epochs, const struct epoch *group, size_t n, size_t n_epochs)
{
	struct merger *merger =
		merger_new(&(struct merge_options){ .joins = MERGE_BY_NAME, .max_bytes = TREE_BYTES });
	CLEANUP(freep)
	char *name = alloc_printf("%" PRIu64 "-%" PRIu64 ".epoch", group[0].start_ms, group[n - 1].end_ms);
	struct diag diag = { 0 };
	int error = 0;

	for (size_t i = 0; !error && i < n; i++) {
		CLEANUP(freep) char *path = epochs_path(epochs, "epochs", group[i].name);
		CLEANUP(profile_freep) struct profile *one = NULL;
		error = profile_read(path, &one, &diag);
		if (!error)
			error = merger_add(merger, one, path, &diag);
	}
	if (error) {
		merger_free(merger);
		return false;
	}
	CLEANUP(profile_freep) struct profile *all = merger_finish(merger);
	if (epochs_write(epochs, &all, name, n_epochs * epochs->epoch_bytes, &diag) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(group[i].name, name) != 0)
			keep_unlink(epochs, "epochs", group[i].name);
	return true;
}

static size_t keep_compact(struct epochs *epochs, uint64_t span_ms, uint64_t before_ms, size_t n_epochs)
{
	size_t n, n_merged = 0, end;
	const struct epoch *all = epochs_list(epochs, &n);

	for (size_t first = 0; first<n; first = end> first ? end : first + 1) {
		end = keep_group(all, n, first, span_ms);
		bool is_old = (all[first].start_ms / span_ms + 1) * span_ms <= before_ms;
		if (is_old && end - first > 1 && keep_merge(epochs, all + first, end - first, n_epochs))
			n_merged += end - first;
	}
	return n_merged;
}

/* ---- deleting ----------------------------------------------------------------------------------- */

bool epochs_drop_oldest(struct epochs *epochs)
{
	size_t n;
	const struct epoch *all = epochs_list(epochs, &n);

	for (size_t i = 0; i < n; i++)
		if (!all[i].is_open)
			return keep_unlink(epochs, "epochs", all[i].name);
	return false;
}

static size_t keep_drop_old(struct epochs *epochs, uint64_t before_ms)
{
	size_t n, n_dropped = 0;
	const struct epoch *all = epochs_list(epochs, &n);

	for (size_t i = 0; i < n; i++)
		if (!all[i].is_open && all[i].end_ms < before_ms)
			n_dropped += keep_unlink(epochs, "epochs", all[i].name);
	return n_dropped;
}

/* The keys of all images that an epoch refers to. False if an epoch could not be read, so they are not known.
 */
static bool keep_note_images(struct epochs *epochs, struct map *ret)
{
	size_t n;
	const struct epoch *all = epochs_list(epochs, &n);

	for (size_t i = 0; i < n; i++) {
		CLEANUP(freep) char *path = epochs_path(epochs, "epochs", all[i].name);
		CLEANUP(profile_freep) struct profile *one = NULL;
		struct diag diag = { 0 };
		char key[128];
		if (profile_read_images(path, &one, &diag) < 0)
			return false;
		for (size_t j = 0; j < one->images.n; j++)
			if (epochs_image_key(one, &one->images.at[j], key))
				map_put(ret, hash_bytes((struct bytes){ (const uint8_t *)key, strlen(key) }),
					1);
	}
	return true;
}

static size_t keep_drop_names(struct epochs *epochs)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "images", NULL);
	CLEANUP(map_done) struct map used = { 0 };
	size_t n_dropped = 0;

	if (!keep_note_images(epochs, &used))
		return 0;
	DIR *dir = opendir(path);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		struct bytes bytes = { (const uint8_t *)name, strlen(name) };
		if (name[0] == '.' || map_find(&used, hash_bytes(bytes)) != MAP_NONE)
			continue;
		n_dropped += keep_unlink(epochs, "images", name);
	}
	if (dir)
		closedir(dir);
	return n_dropped;
}

struct epochs_kept epochs_keep(struct epochs *epochs, const struct epochs_limits *limits, uint64_t now_ms)
{
	struct epochs_kept kept = { 0 };
	uint64_t hours = limits->hours_after_s * 1000, days = limits->days_after_s * 1000,
		 age = limits->age_s * 1000;

	if (hours && now_ms > hours)
		kept.n_merged += keep_compact(epochs, HOUR_MS, now_ms - hours, EPOCHS_PER_HOUR);
	if (days && now_ms > days)
		kept.n_merged += keep_compact(epochs, DAY_MS, now_ms - days, EPOCHS_PER_DAY);
	if (age && now_ms > age)
		kept.n_dropped += keep_drop_old(epochs, now_ms - age);
	if (kept.n_dropped)
		kept.n_names += keep_drop_names(epochs);
	while (limits->bytes && epochs_bytes(epochs) > limits->bytes && epochs_drop_oldest(epochs)) {
		kept.n_dropped++;
		kept.n_names += keep_drop_names(epochs);
	}
	/* Symbols may have been stored after the last epoch was deleted. */
	if (limits->bytes && epochs_bytes(epochs) > limits->bytes)
		kept.n_names += keep_drop_names(epochs);
	return kept;
}
