/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_ring: the kernel writes head, and we write tail. Reading head before the data, and writing tail after
 * reading it, is all the synchronisation there is.
 */
#include "collector/live/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

#define RECORD_MAX 65536 /* sizes are u16 */
#define PIECES 16        /* in which a ring is handed back */

static void ring_copy_out(const struct ring_view *view, uint64_t at, uint8_t *to, size_t len)
{
	size_t offset = at & (view->size - 1);
	size_t first = len < view->size - offset ? len : view->size - offset;

	memcpy(to, view->data + offset, first);
	memcpy(to + first, view->data, len - first);
}

bool ring_view_next(struct ring_view *view, struct bytes *ret)
{
	struct perf_event_header header;

	if (view->at == view->head)
		return false;
	if (view->head - view->at < sizeof(header)) {
		view->is_damaged = true;
		view->at = view->head;
		return false;
	}
	ring_copy_out(view, view->at, (uint8_t *)&header, sizeof(header));
	if (header.size < sizeof(header) || header.size > view->head - view->at) {
		view->is_damaged = true;
		view->at = view->head;
		return false;
	}

	size_t offset = view->at & (view->size - 1);
	const uint8_t *start = view->data + offset;
	if (offset + header.size > view->size) {
		ring_copy_out(view, view->at, view->scratch, header.size);
		start = view->scratch;
	}
	*ret = (struct bytes){ start, header.size };
	view->at += header.size;
	return true;
}

int perf_ring_open(struct perf_ring *ring, int fd, size_t n_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, (n_pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct perf_ring){ .fd = fd, .map = map, .map_len = (n_pages + 1) * page };
	ring->view.data = (const uint8_t *)map + page;
	ring->view.size = n_pages * page;
	ring->view.scratch = alloc_zero(1, RECORD_MAX);
	ring->rounds = alloc_zero(RING_ROUNDS, sizeof(*ring->rounds));
	return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (ring->map)
		munmap(ring->map, ring->map_len);
	free(ring->view.scratch);
	free(ring->rounds);
	*ring = (struct perf_ring){ .fd = -1 };
}

void perf_ring_begin(struct perf_ring *ring)
{
	struct perf_event_mmap_page *page = ring->map;

	ring->view.head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	if (ring->view.head - ring->view.at >
	    ring->view.size) { /* impossible; but if so, nothing may be read */
		ring->view.is_damaged = true;
		ring->view.at = ring->view.head;
	}
}

static void ring_begin_round(struct perf_ring *ring, uint64_t at)
{
	ring->rounds[++ring->last_round % RING_ROUNDS] = (struct ring_round){ .end = at };
}

static bool ring_has_room_for_round(const struct perf_ring *ring)
{
	return ring->last_round - ring->first_round < RING_ROUNDS - 1;
}

/* So that a single record that is needed for long does not hold back the space of the whole round. */
static void ring_split_round(struct perf_ring *ring, uint64_t at)
{
	struct ring_round *now = &ring->rounds[ring->last_round % RING_ROUNDS];
	uint64_t begin = ring->last_round == ring->first_round
				 ? ring->tail
				 : ring->rounds[(ring->last_round - 1) % RING_ROUNDS].end;

	if (!now->loan || at - begin < ring->view.size / PIECES ||
	    ring->last_round - ring->first_round >= RING_ROUNDS / 2)
		return;
	now->end = at;
	ring_begin_round(ring, at);
}

/* If three quarters of a ring are lent, it would soon lose new records. */
size_t *perf_ring_loan(struct perf_ring *ring, struct bytes record)
{
	const struct ring_view *view = &ring->view;
	bool is_in_place = record.at >= view->data && record.at < view->data + view->size;

	if (!is_in_place || !ring_has_room_for_round(ring) || view->at - ring->tail > view->size / 4 * 3)
		return NULL;
	ring_split_round(ring, view->at - record.len);
	return &ring->rounds[ring->last_round % RING_ROUNDS].loan;
}

void perf_ring_end(struct perf_ring *ring)
{
	struct ring_round *last = &ring->rounds[ring->last_round % RING_ROUNDS];

	last->end = ring->view.at;
	if (last->loan && ring_has_room_for_round(ring))
		ring_begin_round(ring, ring->view.at);
	perf_ring_give_back(ring);
}

size_t perf_ring_room(const struct perf_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->map;
	uint64_t used = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - ring->tail;

	return used < ring->view.size ? ring->view.size - used : 0;
}

void perf_ring_give_back(struct perf_ring *ring)
{
	struct perf_event_mmap_page *page = ring->map;

	for (;; ring->first_round++) {
		const struct ring_round *first = &ring->rounds[ring->first_round % RING_ROUNDS];
		if (first->loan)
			break;
		ring->tail = first->end;
		if (ring->first_round == ring->last_round)
			break;
	}
	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
