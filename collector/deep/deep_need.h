/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_need: how much of a stack beyond the snapshot should be copied.
 *
 * For a thread's own stack, everything between the snapshot and the end of its mapping is needed. The stack
 * of a goroutine or coroutine is in a heap, followed by megabytes of other data. So each thread has a limit.
 * It rises at once when a walk needed more, and falls if much more is copied than walks need. If few walks
 * need the copied data, nothing is copied any more, with two exceptions: at stack addresses where a stack was
 * truncated before, because a goroutine that needs more than its snapshot may be there again; and in code
 * where a sample's stack was truncated, as long as samples there need more: goroutines come and go, but their
 * code stays.
 *
 * No side effects: it only decides what to copy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/bpf/deep_layout.h"

/* The limit of a thread about which nothing is known, unless it is on the initial stack of its process. */
#define DEEP_PAGES_FIRST 64
/* The same for traced calls, where every single stack matters. */
#define DEEP_PAGES_CALLS 512

/* Limits are identified by keys: the kernel's identifier of a thread, or a stack address or code in its
 * process (deep_place_key, deep_code_key). */
struct deep_needs;
struct deep_needs *deep_needs_new(void);
void deep_needs_free(struct deep_needs *needs);

/*
 * Copying begins after the snapshot, unless there is a hint for the place: then it begins at the address in
 * the word that the hint refers to. The frame of a signal on an alternate stack contains the address of the
 * interrupted stack there.
 */

/* The result of one walk. */
struct deep_use {
	uint64_t thread; /* the kernel's identifier; 0 = nothing was copied */
	uint64_t sp;
	uint64_t pc;       /* 0 = the sample did not interrupt user mode */
	uint32_t n_copied; /* pages */
	uint64_t n_needed; /* pages needed, counted from the first copied one; more than n_copied if the walk
			      also needed memory above */
	bool is_cut_off;   /* the walk would have needed more */
	uint64_t place;    /* the key of a hint */
	uint64_t hint;     /* a hint that would have helped the walk; 0 = none */
};
struct deep_limit {
	uint64_t key;
	uint32_t n_pages;
	uint64_t hint; /* 0: this is a limit; otherwise the hint for that place */
};
/* True if there is a new limit, or a new hint. */
bool deep_needs_note(struct deep_needs *needs, pid_t tid, const struct deep_use *use, struct deep_limit *ret);
/* The thread has ended. True if it had a limit, which must not apply to the next thread with its id: ret_key
 * is set. */
bool deep_needs_forget(struct deep_needs *needs, pid_t tid, uint64_t *ret_key);
