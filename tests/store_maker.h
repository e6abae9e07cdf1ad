/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_maker: a store of a test's own.
 *
 *     char path[] = STORE_PATH;
 *     struct store *store = store_make(path);
 *     ...
 *     store_remove(store, path);
 */
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/store.h"
#include "tests/test.h"

#define STORE_PATH "/tmp/cpprof_test_XXXXXX"

static inline struct store *store_make(char *path)
{
	CHECK(mkdtemp(path) != NULL);
	return store_open(path, 0);
}

static inline void store_remove(struct store *store, const char *path)
{
	DIR *directory = opendir(path);

	store_close(store);
	for (struct dirent *entry; directory && (entry = readdir(directory));)
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(path);
}
