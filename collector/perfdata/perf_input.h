/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_input: a perf.data file, or the stream that `perf record -o -` writes, as a sequence of records.
 *
 * It handles the container, not the meaning of records: where the sections are, what to skip, how to
 * decompress records. It reads from the beginning to the end, so a stream may be endless; records of a file
 * are returned in place. Private to perf_file.
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
	bool is_stream; /* there are no sections: their contents are in records */
	uint64_t attr_entry_size;
	struct perf_section attrs, data;
	uint64_t features[4]; /* bitmap */
};

struct perf_input;
/* Takes fd in any case. name is for messages. */
int perf_input_open(int fd, const char *name, struct perf_input **ret, struct diag *diag);
void perf_input_close(struct perf_input *input);

const struct perf_file_header *perf_input_header(const struct perf_input *input);

/* The bytes of a section, as far as the file contains them; malloc'ed. -EFBIG if there are more than limit.
 */
int perf_input_section(struct perf_input *input, struct perf_section section, size_t limit,
		       struct buffer *ret);

/* 1 and the next record, complete and decompressed, valid until the next call; 0 at the end; -errno is a
 * fault. */
int perf_input_next(struct perf_input *input, struct bytes *ret, struct diag *diag);
/* The counter for leaving the last record in place; NULL: it must be copied. */
size_t *perf_input_loan(struct perf_input *input, struct bytes record);
/*
 * The file has lost a record that was not copied: what was read from it is invalid. For records that were
 * left in place this is known once is_changed returns true, at the latest at the end; the most recent record
 * may be lost before.
 */
bool perf_input_is_changed(const struct perf_input *input);
bool perf_input_is_gone(const struct perf_input *input, struct bytes record);
/* Did the file end in the middle of a record, or was the recording never finished? */
bool perf_input_is_cut(const struct perf_input *input);
