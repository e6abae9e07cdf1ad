/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/database.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

struct epochs *database_new(void)
{
	struct epochs *epochs = NULL;
	struct diag diag = { 0 };

	snprintf(folder, sizeof(folder), "/tmp/cpprof_epochs.XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	CHECK_EQ(epochs_open(folder, true, &epochs, &diag), 0);
	return epochs;
}

void database_done(struct epochs *epochs)
{
	epochs_close(epochs);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *database_folder(void)
{
	return folder;
}
