/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs_recover: what a killed daemon has left. The lock is held, so nobody else is writing here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "profile/epochs_private.h"

/* Temporary files; and links, which are no part of a database. */
static size_t recover_clean(const struct epochs *epochs, const char *folder)
{
	CLEANUP(freep)
	char *path = folder ? epochs_path(epochs, folder, NULL) : alloc_text(epochs->directory);
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if ((S_ISREG(st.st_mode) && fresh_file_is_unfinished(entry->d_name)) ||
		    (folder && S_ISLNK(st.st_mode)))
			n += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* What is damaged will not become readable: it was written whole. After other errors, such as a full disk,
 * the epoch stays open, for the next daemon. */
static void recover_epoch(struct epochs *epochs, const char *path, struct epochs_recovered *ret)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	struct diag diag = { 0 };
	int error = profile_read(path, &profile, &diag);
	bool is_damaged = error == -EBADMSG;

	if (!error)
		error = epochs_put(epochs, profile, &diag);
	if ((error && !is_damaged) || unlink(path) < 0)
		return;
	ret->n_finished += !is_damaged;
	ret->n_damaged += is_damaged;
}

/* The daemon was killed after it had written the finished epoch. */
static bool recover_is_finished(const struct epoch *all, size_t n, const struct epoch *open)
{
	for (size_t i = 0; i < n; i++)
		if (!all[i].is_open && all[i].start_ms == open->start_ms)
			return true;
	return false;
}

struct epochs_recovered epochs_recover(struct epochs *epochs)
{
	static const char *const folders[] = { NULL, "epochs", "images", "outbox" };
	struct epochs_recovered recovered = { 0 };
	VEC(char *) open = { 0 };
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		recovered.n_unfinished += recover_clean(epochs, folders[i]);
	const struct epoch *all = epochs_list_all(epochs, &n);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(freep) char *path = epochs_path(epochs, "epochs", all[i].name);
		if (!all[i].is_open)
			continue;
		if (recover_is_finished(all, n, &all[i]))
			unlink(path);
		else
			vec_push(&open, TAKE(path));
	}
	for (size_t i = 0; i < open.n; i++) {
		recover_epoch(epochs, open.at[i], &recovered);
		free(open.at[i]);
	}
	vec_done(&open);
	return recovered;
}
