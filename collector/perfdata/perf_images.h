/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_images: finds the images of a recording on the machine where it is read.
 *
 * A recording contains file names; files of the same name may be different here. A file is used if it is for
 * the recorded architecture and has the recorded build-id, if there is one. It is searched under symfs, and
 * then in perf's build-id cache (~/.debug). Private to perf_file.
 */
#pragma once

#include <stdint.h>

#include "collector/perfdata/perf_header.h"
#include "collector/process/mapping.h"

struct perf_images;
/* Borrows everything except symfs, the directory to search; NULL = "/". */
struct perf_images *perf_images_new(struct images *images, const struct perf_header *header,
				    const struct isa *isa, const char *symfs);
void perf_images_free(struct perf_images *finder);

/* Fills in image and bias of the mapping of an MMAP record. */
void perf_images_resolve(struct perf_images *finder, const struct perf_record *record,
			 struct mapping *mapping);

/* Problems, one sentence each, for the user; the caller frees them. */
void perf_images_notes(const struct perf_images *finder, struct source_info *ret);
