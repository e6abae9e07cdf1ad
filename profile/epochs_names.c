/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs_names: symbols. Those of files are stored once per image; those of JIT-compiled code are stored in
 * the epoch, because another function may be at the same address later.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/epochs_private.h"
#include "profile/merge_private.h"

#define DAY_S 86400

/* A build-id is only a claim. Names from a file that other users can write are kept apart by user: so a user
 * can give wrong names only to files of their own. */
bool epochs_image_key(const struct profile *profile, const struct profile_image *image, char ret[128])
{
	size_t len = 0;

	if (image->kind == IMAGE_JIT || image->kind == IMAGE_UNKNOWN)
		return false;
	for (size_t i = 0; i < image->build_id.len && len < 100; i++)
		len += (size_t)snprintf(ret + len, 128 - len, "%02x", image->build_id.bytes[i]);
	if (!image->build_id.len) {
		const char *path = intern_text(&profile->strings, image->path);
		uint64_t hash = hash_bytes((struct bytes){ (const uint8_t *)path, strlen(path) });
		len = (size_t)snprintf(ret, 128, "path-%016" PRIx64, hash);
	}
	if (image->writer == IMAGE_WRITERS)
		len += (size_t)snprintf(ret + len, 128 - len, "-others");
	else if (image->writer)
		len += (size_t)snprintf(ret + len, 128 - len, "-user%" PRIu32, image->writer - 1);
	snprintf(ret + len, 128 - len, ".names");
	return true;
}

/* A profile that contains only one image and its symbols. */
static struct profile *epochs_names_of(const struct profile *profile, uint32_t image)
{
	struct merger *merger = merger_new(&(struct merge_options){ 0 });
	struct profile *head = profile_new();
	struct profile_image row = profile->images.at[image];
	struct diag diag = { 0 };

	row.path = intern_add(&head->strings, intern_text(&profile->strings, row.path));
	row.debug = 0;
	vec_push(&head->images, row);
	(void)merger_add(merger, head, "names", &diag);
	profile_free(head);
	merger_add_names(merger, profile);
	return merger_finish(merger);
}

/* Adds the stored symbols to a merge, and frees them again at once. False if there are none. */
static bool epochs_add_known(const char *path, struct merger *merger, size_t *ret_functions,
			     size_t *ret_codes)
{
	CLEANUP(profile_freep) struct profile *known = NULL;
	struct diag ignored = { 0 };

	if (profile_read(path, &known, &ignored) < 0)
		return false;
	*ret_functions = known->functions.n;
	*ret_codes = known->codes.n;
	return merger_add(merger, known, path, &ignored) == 0;
}

static int epochs_put_image(struct epochs *epochs, const struct profile *profile, uint32_t image,
			    struct diag *diag)
{
	char key[128];
	CLEANUP(profile_freep) struct profile *names = NULL;
	size_t n_functions = 0, n_codes = 0;

	if (!epochs_image_key(profile, &profile->images.at[image], key))
		return 0;
	names = epochs_names_of(profile, image);
	if (!names->functions.n)
		return 0;
	CLEANUP(freep) char *path = epochs_path(epochs, "images", key);
	struct merger *merger = merger_new(&(struct merge_options){ 0 });
	if (epochs_add_known(path, merger, &n_functions, &n_codes)) {
		merger_add_names(merger, names);
		profile_free(names);
		names = merger_finish(merger);
		if (names->functions.n == n_functions && names->codes.n == n_codes) {
			utimensat(AT_FDCWD, path, NULL, 0); /* nothing new: looked up today */
			return 0;
		}
	} else {
		merger_free(merger);
	}
	return profile_write(names, path, diag);
}

/* Code without a symbol is looked up again once a day, because symbols may have been installed since. */
static bool epochs_is_fresh(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_mtim.tv_sec / DAY_S == time(NULL) / DAY_S;
}

size_t epochs_lack_names(const struct epochs *epochs, const struct profile *profile, uint32_t image,
			 uint64_t *vaddrs, size_t n)
{
	CLEANUP(profile_freep) struct profile *known = NULL;
	struct diag ignored = { 0 };
	struct profile_image row = profile->images.at[image];
	size_t n_left = 0;
	char key[128];

	epochs_mark_image(&row);
	if (!epochs_image_key(profile, &row, key))
		return n;
	CLEANUP(freep) char *path = epochs_path(epochs, "images", key);
	bool is_fresh = epochs_is_fresh(path);
	if (profile_read(path, &known, &ignored) < 0)
		return n;
	for (size_t i = 0; i < n; i++) {
		const struct function_map *map = profile_function(known, 0, vaddrs[i]);
		if (!map || (map->source == MAP_FROM_NOTHING && !is_fresh))
			vaddrs[n_left++] = vaddrs[i];
	}
	return n_left;
}

/* Writes the epoch again, with them, unless it was deleted meanwhile. */
static int epochs_put_jit_names(struct epochs *epochs, const struct profile *profile, struct diag *diag)
{
	CLEANUP(freep) char *name = epochs_name(profile);
	CLEANUP(freep) char *path = epochs_path(epochs, "epochs", name);
	CLEANUP(profile_freep) struct profile *plain = NULL;
	int error = epochs_make_plain(profile, name, &plain, diag);

	if (!error && plain->functions.n && access(path, F_OK) == 0)
		error = epochs_write_file(epochs, &plain, name, epochs->epoch_bytes, diag);
	return error;
}

static bool epochs_has_jit(const struct profile *profile, const bool *is_used)
{
	for (size_t i = 0; i < profile->images.n; i++)
		if (is_used[i] && profile->images.at[i].kind == IMAGE_JIT)
			return true;
	return false;
}

int epochs_put_names(struct epochs *epochs, struct profile *profile, struct diag *diag)
{
	CLEANUP(freep) bool *is_used = merge_used_images(profile);
	int error = epochs_has_jit(profile, is_used) ? epochs_put_jit_names(epochs, profile, diag) : 0;

	memset(is_used, 0, profile->images.n);
	for (size_t i = 0; i < profile->functions.n; i++)
		is_used[profile->functions.at[i].image] = true;
	epochs_mark_kernel(profile);
	for (uint32_t i = 0; !error && i < profile->images.n; i++)
		if (is_used[i])
			error = epochs_put_image(epochs, profile, i, diag);
	return error;
}
