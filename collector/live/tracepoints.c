/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/tracepoints.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/process/target.h"

#define PATH_LENGTH 512

static const char *const folders[] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };

static void dir_closep(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* The folder; NULL and why not. A mount point with nothing mounted does not have it. */
static const char *tracepoints_folder(int *ret_error)
{
	*ret_error = -ENOENT;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (access(folders[i], R_OK | X_OK) == 0)
			return folders[i];
		if (errno == EACCES)
			*ret_error = -EACCES;
	}
	return NULL;
}

/* "sched:sched_switch", and nothing that leads out of the folder. */
static bool tracepoint_is_name(const char *name, size_t len)
{
	size_t n_colons = 0;

	for (size_t i = 0; i < len; i++) {
		if (name[i] == '/' || name[i] == '.')
			return false;
		n_colons += name[i] == ':';
	}
	return n_colons == 1 && name[0] != ':' && name[len - 1] != ':';
}

int tracepoint_find(const char *name, size_t len, uint64_t *ret_id)
{
	char path[PATH_LENGTH];
	int error;

	if (!len || !tracepoint_is_name(name, len))
		return -ENOENT;
	const char *folder = tracepoints_folder(&error);
	if (!folder)
		return error;

	size_t head = strcspn(name, ":");
	int n = snprintf(path, sizeof(path), "%s/%.*s/%.*s/id", folder, (int)head, name,
			 (int)(len - head - 1), name + head + 1);
	CLEANUP(freep) char *text = n < (int)sizeof(path) ? target_read_file(path, NULL) : NULL;
	if (!text)
		return -ENOENT;
	*ret_id = strtoull(text, NULL, 10);
	return 0;
}

/* The tracepoints of one subsystem. */
static void tracepoints_list(const char *folder, const char *subsystem,
			     void (*take)(void *context, const char *name), void *context)
{
	char path[PATH_LENGTH], name[PATH_LENGTH];
	struct dirent *entry;

	if (snprintf(path, sizeof(path), "%s/%s", folder, subsystem) >= (int)sizeof(path))
		return;
	CLEANUP(dir_closep) DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		uint64_t id;
		int n = snprintf(name, sizeof(name), "%s:%s", subsystem, entry->d_name);
		if (n < (int)sizeof(name) && tracepoint_find(name, (size_t)n, &id) == 0)
			take(context, name);
	}
}

int tracepoints_each(void (*take)(void *context, const char *name), void *context)
{
	struct dirent *entry;
	int error;
	const char *folder = tracepoints_folder(&error);

	if (!folder)
		return error;
	CLEANUP(dir_closep) DIR *dir = opendir(folder);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			tracepoints_list(folder, entry->d_name, take, context);
	return 0;
}
