/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_stack: what the BPF program (collector/bpf/deep.bpf.c) wrote beside a sample, put together again.
 *
 * Two records. A page: magic, address, hash, DEEP_PAGE bytes. An outline, written right before its sample:
 * magic, sp, first address, end of the stack's mapping, count, the kernel's name for the thread, then a hash
 * for each page. A page is what its hash says: it may have come with this sample or with an earlier one of
 * the thread, and where it is not known (its record was lost) the copy ends there.
 *
 * Pure and bounded: the records may come from a file. Private to the sources.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"
#include "collector/bpf/deep_layout.h"
#include "collector/event.h"
#include "collector/order.h"

#define DEEP_PAGE_HEADER offsetof(struct deep_page_record, words)
#define DEEP_PAGE_RECORD sizeof(struct deep_page_record)
#define DEEP_OUTLINE_HEADER offsetof(struct deep_outline, hashes)
#define DEEP_OUTLINE_SIZE sizeof(struct deep_outline)
_Static_assert(DEEP_PAGE == STACK_PAGE, "pages of the program are those of samples");

/* Of DEEP_PAGE bytes. The program computes the same; any change of one word changes it. */
uint64_t deep_hash(const uint8_t *page);

struct deep_stacks;
struct deep_stacks *deep_stacks_new(void);
void deep_stacks_free(struct deep_stacks *stacks);
/* For a program that remembers so many pages; before the first record. */
void deep_stacks_limit(struct deep_stacks *stacks, size_t n_known);

/* The payload of a record of the program's event. Anything else is ignored. */
void deep_stacks_take(struct deep_stacks *stacks, pid_t tid, struct bytes payload);
/*
 * The sample that follows: joined with the outline if that is its own. What it points to is valid until the
 * next call of either.
 */
void deep_stacks_join(struct deep_stacks *stacks, pid_t tid, const struct isa *isa, struct sample *sample);

/*
 * The kernel stamps their records a moment after their sample, though it writes them before it. They wait
 * here until what follows in the ring is read, and go into the order, and a raw file, with their sample's
 * time.
 */
struct deep_waiting {
	uint64_t time_ns;
	size_t offset, len; /* set when it is added */
	size_t time_at;     /* offset of the time in the record */
	pid_t tid;
	bool is_outline;
};
struct deep_wait {
	struct writer bytes;
	VEC(struct deep_waiting) records;
};
void deep_wait_add(struct deep_wait *wait, struct order *order, const struct deep_waiting *it,
		   struct bytes record, struct bytes payload);
/* Something else was read: a sample of thread tid, or another record (tid -1). */
void deep_wait_end(struct deep_wait *wait, struct order *order, pid_t tid, uint64_t time_ns);
void deep_wait_done(struct deep_wait *wait);
