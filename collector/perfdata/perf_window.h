/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_window: access to the bytes of a recording from its beginning to its end, as far as they exist.
 *
 * A file is mapped and read in place. A pipe is read into a buffer, and so is what was appended to a file
 * after it was opened. A file that is truncated or changed meanwhile only becomes shorter. Private to
 * perf_input.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define WINDOW_SIZE (256u << 10) /* a few of the largest records */

struct perf_window {
	int fd;
	bool is_seekable, is_at_eof;
	const uint8_t *bytes; /* of the mapping, or of the buffer */
	size_t start, end;    /* of those that are available and not yet used */
	uint64_t read_at;     /* file offset of end */
	uint64_t limit;       /* nothing is read beyond; UINT64_MAX: until the file ends */
	uint8_t *buffer;

	void *map;
	size_t map_len;
	volatile bool is_changed; /* the file has become shorter than the mapping, or cannot be read */
	size_t *loans;            /* for each piece of the mapping: records in it that are still needed */
	size_t n_dropped;         /* pieces that are no longer in our memory */
};

/* Takes fd in any case. The window must not move until it is closed. */
int perf_window_open(struct perf_window *window, int fd);
void perf_window_close(struct perf_window *window);

/* Moves to another part of a file. */
void perf_window_go(struct perf_window *window, uint64_t offset, uint64_t limit);
/* Makes `want` bytes available, or fewer if there are no more; want <= WINDOW_SIZE. */
int perf_window_fill(struct perf_window *window, size_t want);
/* What is available; in the buffer it is valid until the next call of fill or skip. */
static inline struct bytes perf_window_bytes(const struct perf_window *window)
{
	return (struct bytes){ window->bytes + window->start, window->end - window->start };
}
uint64_t perf_window_offset(const struct perf_window *window);
/* Marks the first len available bytes as used. */
void perf_window_use(struct perf_window *window, size_t len);
/* The same for any number; 1 if there are fewer. */
int perf_window_skip(struct perf_window *window, uint64_t len);

/* The data is inconsistent: from here on the file is read instead of mapped. False if it was not mapped. */
bool perf_window_distrust(struct perf_window *window);

/* The counter for leaving bytes of the mapping in place; NULL: they must be copied. */
size_t *perf_window_loan(struct perf_window *window, struct bytes bytes);
/* Are these bytes of the mapping no longer in the file? What was read there may have been zeroes. */
bool perf_window_is_gone(const struct perf_window *window, struct bytes bytes);
