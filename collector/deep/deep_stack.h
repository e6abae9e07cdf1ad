/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outer_stack: what the program of outer_program wrote beside a sample, put together again.
 *
 * Two records. A page: magic, address, hash, OUTER_PAGE bytes. An outline, written right before its sample:
 * magic, sp, first address, end of the stack's mapping, count, the kernel's name for the thread, then a hash
 * for each page. A page is what its hash says: it may have come with this sample or with an earlier one of
 * the thread, and where it is not known (its record was lost) the copy ends there.
 *
 * Pure and bounded: the records may come from a file. Private to the sources.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"
#include "collector/event.h"
#include "collector/order.h"

#define OUTER_MAGIC_PAGE 0x0165676170707063ull    /* "cppage" and a version */
#define OUTER_MAGIC_OUTLINE 0x01656e696c707063ull /* "cpline" and a version */
#define OUTER_PAGE STACK_PAGE
#define OUTER_PAGES_MAX 2048 /* 8 MiB: what most systems let a stack grow to */
#define OUTER_PAGE_HEADER 24
#define OUTER_PAGE_RECORD (OUTER_PAGE_HEADER + OUTER_PAGE)
#define OUTER_OUTLINE_HEADER 48
#define OUTER_HOLE 0 /* instead of a hash: the page was not in memory */
#define OUTER_OUTLINE_SIZE (OUTER_OUTLINE_HEADER + 8 * OUTER_PAGES_MAX)

/* Of OUTER_PAGE bytes. The program computes the same; any change of one word changes it. */
uint64_t outer_hash(const uint8_t *page);
#define OUTER_FACTOR 0x9ddfea08eb382d69ull
#define OUTER_LANES 4

struct outer_stacks;
struct outer_stacks *outer_stacks_new(void);
void outer_stacks_free(struct outer_stacks *stacks);

/* The payload of a record of the program's event. Anything else is ignored. */
void outer_stacks_take(struct outer_stacks *stacks, pid_t tid, struct bytes payload);
/*
 * The sample that follows: joined with the outline if that is its own. What it points to is valid until the
 * next call of either.
 */
void outer_stacks_join(struct outer_stacks *stacks, pid_t tid, const struct isa *isa, struct sample *sample);

/*
 * The kernel stamps their records a moment after their sample, though it writes them before it. They wait
 * here until what follows in the ring is read, and go into the order, and a raw file, with their sample's
 * time.
 */
struct outer_waiting {
	uint64_t time_ns;
	size_t offset, len; /* set when it is added */
	size_t time_at;     /* offset of the time in the record */
	pid_t tid;
	bool is_outline;
};
struct outer_wait {
	struct writer bytes;
	VEC(struct outer_waiting) records;
};
void outer_wait_add(struct outer_wait *wait, struct order *order, const struct outer_waiting *it,
		    struct bytes record, struct bytes payload);
/* Something else was read: a sample of thread tid, or another record (tid -1). */
void outer_wait_end(struct outer_wait *wait, struct order *order, pid_t tid, uint64_t time_ns);
void outer_wait_done(struct outer_wait *wait);
