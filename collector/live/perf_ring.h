/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_ring: the ring into which the kernel writes records.
 *
 * It is read in rounds: begin checks how far the kernel has written, next returns one record after another,
 * end hands back the space of all rounds whose records are no longer needed; give_back does so between
 * rounds. A record that is still needed is counted in its round's loan.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* The data part alone: size is a power of two, positions count bytes since the ring was made. */
struct ring_view {
	const uint8_t *data;
	size_t size;
	uint64_t at, head; /* next to read; end of what has been written */
	uint8_t *scratch;  /* 64 KiB: a record that wraps is assembled here */
	bool is_damaged;   /* a record's size was invalid; the rest was dropped */
};

/* The next record, header included; false at the head. Valid until the next call or the ring's end(). */
bool ring_view_next(struct ring_view *view, struct bytes *ret);

#define RING_ROUNDS 64 /* whose records may be in the ring at once */

/* What is handed back as a whole: a round or, if it was large, a piece of one. */
struct ring_round {
	uint64_t end; /* position after its last record */
	size_t loan;  /* records still needed */
};

struct perf_ring {
	int fd; /* borrowed: the event the ring belongs to */
	void *map;
	size_t map_len;
	struct ring_view view;
	uint64_t tail;             /* everything before it belongs to the kernel again */
	struct ring_round *rounds; /* RING_ROUNDS, used in turn; on the heap, because loans point at them */
	unsigned first_round, last_round; /* the oldest one still needed; the one being read */
};

/* n_pages: data pages, a power of two. -EPERM: more than may be locked. */
int perf_ring_open(struct perf_ring *ring, int fd, size_t n_pages);
void perf_ring_close(struct perf_ring *ring);

void perf_ring_begin(struct perf_ring *ring);
static inline bool perf_ring_next(struct perf_ring *ring, struct bytes *ret)
{
	return ring_view_next(&ring->view, ret);
}
/* The counter under which this record may stay in the ring after end(); NULL: it must be copied. */
size_t *perf_ring_loan(struct perf_ring *ring, struct bytes record);
void perf_ring_end(struct perf_ring *ring);
void perf_ring_give_back(struct perf_ring *ring);
/* Bytes that the kernel can still write. */
size_t perf_ring_room(const struct perf_ring *ring);
