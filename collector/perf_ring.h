/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_ring: the ring the kernel writes records into. Emptied in one go: begin looks how far the
 * kernel has written, next gives record after record, end hands the room back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* The data part alone: size is a power of two, positions count bytes since the beginning of time. */
struct ring_view {
	const uint8_t *data;
	size_t size;
	uint64_t at, head; /* next to read; end of what is written */
	uint8_t *scratch;  /* 64 KiB: a record that wraps is put together here */
	bool is_damaged;   /* a record's size made no sense; what was left has been dropped */
};

/* The next record, header included; false at the head. Valid until the next call or the ring's end(). */
bool ring_view_next(struct ring_view *view, struct bytes *ret);

struct perf_ring {
	int fd; /* borrowed: the event the ring belongs to */
	void *map;
	size_t map_len;
	struct ring_view view;
};

/* n_pages: data pages, a power of two. -EPERM: more than may be locked. */
int perf_ring_open(struct perf_ring *ring, int fd, size_t n_pages);
void perf_ring_close(struct perf_ring *ring);

/* False if there is nothing. */
bool perf_ring_begin(struct perf_ring *ring);
static inline bool perf_ring_next(struct perf_ring *ring, struct bytes *ret)
{
	return ring_view_next(&ring->view, ret);
}
void perf_ring_end(struct perf_ring *ring);
