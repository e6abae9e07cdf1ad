/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_writer_private: shared by perf_writer.c (records) and perf_features.c (the end of the file).
 */
#pragma once

#include <linux/perf_event.h>

#include "base/vec.h"
#include "base/writer.h"
#include "collector/perfdata/perf_writer.h"
#include "collector/record/perf_record.h"

/* Every perf since Linux 5.13 can read this; newer fields of the struct are not used. */
#define WRITTEN_ATTR_SIZE PERF_ATTR_SIZE_VER7

struct written_event {
	struct perf_event_attr attr;
	char *name;
	VEC(uint64_t) ids;
};

struct perf_writer {
	int fd, error; /* error: the first write that failed */
	char *name;
	VEC(struct written_event) events;
	struct perf_layout layout;
	struct writer buffer;       /* what has not been written yet */
	uint64_t written;           /* end of what has */
	uint64_t fixed_up;          /* end of the data according to the header */
	uint64_t round_at;          /* end of the last round */
	uint64_t first_ns, last_ns; /* of samples; first 0 = none yet */
};

/* Appends the feature sections after the table at the start of w; the first byte of w will be at file offset
 * `at`. */
void perf_features_write(const struct perf_writer *writer, const struct images *images,
			 const char *command_line, uint64_t at, struct writer *w, uint64_t *ret_bits);
