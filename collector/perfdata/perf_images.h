/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_images: the images of a recording, found on the disk of whoever reads it.
 *
 * A recording names files; those of that name here may be others. A file is taken if it is for the
 * recorded machine and its build-id is the recorded one, where one was recorded. It is looked for under
 * symfs, and then in perf's own cache of what it recorded (~/.debug). Private to perf_file.
 */
#pragma once

#include <stdint.h>

#include "collector/perfdata/perf_header.h"
#include "collector/process/mapping.h"

struct perf_images;
/* Borrows all but symfs, the directory to look in; NULL = "/". */
struct perf_images *perf_images_new(struct images *images, const struct perf_header *header,
				    const struct isa *isa, const char *symfs);
void perf_images_free(struct perf_images *finder);

/* Fills in image and bias of the mapping of an MMAP record. */
void perf_images_resolve(struct perf_images *finder, const struct perf_record *record,
			 struct mapping *mapping);

/* What went wrong, one sentence each, for the user; the caller frees them. */
void perf_images_notes(const struct perf_images *finder, struct source_info *ret);
