/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_files: the files that a child which looks up names may read even if the user for whom it runs could
 * not: images that were mapped, debug files that we fetched, and files in folders from the command line.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "binary/elf/image.h"
#include "symbolize/files/debugfile.h"

struct known_files {
	const struct images *images;
	const struct debug_search *search;
	VEC(char *) fetched; /* by debuginfod; they are in our cache */
};

/* context: a struct known_files. */
bool known_files_has(const void *context, const char *path, const struct stat *st);
void known_files_done(struct known_files *known);
