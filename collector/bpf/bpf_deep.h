/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_deep: loads the program deep.bpf.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "collector/bpf/bpf_trace.h"
#include "collector/bpf/deep_layout.h"

struct bpf_deep;

/* Which stacks are copied, in addition to those of sampling events. */
struct bpf_deep_use {
	bool waits;                    /* stacks of waits */
	const struct bpf_trace *calls; /* only stacks of traced calls; NULL = none */
	uint32_t n_known;              /* pages that are remembered; 0 = the program's default */
};

/*
 * -EPERM, -EACCES: not permitted; -EOPNOTSUPP: cpprof was built without libbpf; others: not supported by the
 * kernel. The diag says what was refused; ret_log, which may be NULL, gets the verifier's log.
 */
int bpf_deep_open(const struct deep_options *options, uint32_t n_cpus, const struct bpf_deep_use *use,
		  struct bpf_deep **ret, struct text *ret_log, struct diag *diag);
void bpf_deep_close(struct bpf_deep *deep);

/* The program's descriptor, to be attached to sampling events. */
int bpf_deep_program(const struct bpf_deep *deep);
/* That of the corresponding program for waits, which also writes their samples; -1 = not requested. */
int bpf_deep_wait_program(const struct bpf_deep *deep);
/* Sets the event through which records on this CPU are written. 0 or -errno. */
int bpf_deep_output(const struct bpf_deep *deep, int cpu, int event);
/* The same for samples of waits: for stacks of at most the snapshot's size, a half of it, a quarter, ...
 * size: which of the DEEP_SAMPLE_SIZES. */
int bpf_deep_sample_output(const struct bpf_deep *deep, int cpu, unsigned size, int event);
/* Sets the maximum number of pages for a thread or place; NULL: the default. */
void bpf_deep_limit(const struct bpf_deep *deep, uint64_t key, const uint32_t *n_pages);
/* Sets where copying begins for stacks at a place: at the address in the word `hint`. */
void bpf_deep_hint(const struct bpf_deep *deep, uint64_t key, uint64_t hint);
/* What the program noted at the last sample of this thread; false if another thread's is there by now. */
bool bpf_deep_seen(const struct bpf_deep *deep, uint64_t thread, struct deep_seen *ret);
