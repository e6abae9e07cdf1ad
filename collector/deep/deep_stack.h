/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_stack: combines what the BPF program (collector/bpf/deep.bpf.c) wrote for a sample with that sample.
 *
 * There are two records. A page: magic, address, hash, DEEP_PAGE bytes. An outline, written directly before
 * its sample: magic, sp, first address, end of the stack's mapping, count, the kernel's identifier of the
 * thread, then a hash for each page. A page is identified by its hash: it may have been written for this
 * sample or for an earlier one of the thread. If it is not known (its record was lost), the copy ends there.
 *
 * Pure and bounded: the records may come from a file. Private to the sources.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "collector/bpf/deep_layout.h"
#include "collector/event.h"

#define DEEP_PAGE_HEADER offsetof(struct deep_page_record, words)
#define DEEP_PAGE_RECORD sizeof(struct deep_page_record)
#define DEEP_OUTLINE_HEADER offsetof(struct deep_outline, hashes)
#define DEEP_OUTLINE_SIZE sizeof(struct deep_outline)
_Static_assert(DEEP_PAGE == STACK_PAGE, "pages of the program are those of samples");

/* The hash of DEEP_PAGE bytes. The BPF program computes the same; any change of one word changes it. */
uint64_t deep_hash(const uint8_t *page);

struct deep_stacks;
struct deep_stacks *deep_stacks_new(void);
void deep_stacks_free(struct deep_stacks *stacks);
/* n_known: how many pages the BPF program remembers. To be called before the first record. */
void deep_stacks_limit(struct deep_stacks *stacks, size_t n_known);
/* The thread has ended: frees its pages. */
void deep_stacks_forget(struct deep_stacks *stacks, pid_t tid);

/* The payload of a record of the program's event. Anything else is ignored. */
void deep_stacks_take(struct deep_stacks *stacks, pid_t tid, struct bytes payload);
/*
 * Adds the pages of the last outline to the sample that follows it, if the outline belongs to it. They are
 * valid until the next call of either function.
 */
void deep_stacks_join(struct deep_stacks *stacks, pid_t tid, const struct isa *isa, struct sample *sample);
