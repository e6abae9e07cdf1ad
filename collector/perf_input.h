/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_input: a perf.data file, or the stream that `perf record -o -` writes, as a sequence of records.
 *
 * It knows the container and nothing of what records mean: where the sections lie, what to skip, how
 * compressed records unpack. Reads sequentially in a window, so a stream may be endless and a file that
 * is cut off or changes under us is only ever short. Private to perf_file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/compress.h"
#include "base/diag.h"

struct perf_section {
	uint64_t offset, size;
};

struct perf_file_header {
	bool is_stream; /* there are no sections: what they would say comes as records */
	uint64_t attr_entry_size;
	struct perf_section attrs, data;
	uint64_t features[4]; /* bitmap */
};

struct perf_input;
/* Takes fd in any case. name is for messages. */
int perf_input_open(int fd, const char *name, struct perf_input **ret, struct diag *diag);
void perf_input_close(struct perf_input *input);

const struct perf_file_header *perf_input_header(const struct perf_input *input);

/* The bytes of a section, as far as the file holds them; malloc'ed. -EFBIG if there are more than limit. */
int perf_input_section(struct perf_input *input, struct perf_section section, size_t limit,
		       struct buffer *ret);

/* 1 and the next record, whole and unpacked, valid until the next call; 0 at the end; -errno is a fault. */
int perf_input_next(struct perf_input *input, struct bytes *ret, struct diag *diag);
/* The end came in the middle of a record, or the recording was never finished. */
bool perf_input_is_cut(const struct perf_input *input);
