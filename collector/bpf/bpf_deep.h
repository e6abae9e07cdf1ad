/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_deep: the program deep.bpf.c, loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "collector/bpf/bpf_trace.h"
#include "collector/bpf/deep_layout.h"

struct bpf_deep;

/* Whose stacks are copied beside those of sampling events. */
struct bpf_deep_use {
	bool waits;                    /* of waits */
	const struct bpf_trace *calls; /* of traced calls, and of nothing else; NULL = of none */
	uint32_t n_known;              /* pages that are remembered; 0 = as many as the program says */
};

/*
 * -EPERM, -EACCES: not permitted; -EOPNOTSUPP: cpprof was built without libbpf; others: a kernel that cannot.
 * The diag says what was refused; ret_log, which may be NULL, gets the verifier's log.
 */
int bpf_deep_open(const struct deep_options *options, uint32_t n_cpus, const struct bpf_deep_use *use,
		  struct bpf_deep **ret, struct text *ret_log, struct diag *diag);
void bpf_deep_close(struct bpf_deep *deep);

/* The program's descriptor, to be attached to sampling events. */
int bpf_deep_program(const struct bpf_deep *deep);
/* That of its twin for waits, which writes their samples, too; -1 = it was not asked for. */
int bpf_deep_wait_program(const struct bpf_deep *deep);
/* Records made on this CPU go through this event. 0 or -errno. */
int bpf_deep_output(const struct bpf_deep *deep, int cpu, int event);
/* The same for samples of waits. */
int bpf_deep_sample_output(const struct bpf_deep *deep, int cpu, int event);
/* How many pages are copied at most, by thread or place; NULL: as of any other. */
void bpf_deep_limit(const struct bpf_deep *deep, uint64_t key, const uint32_t *n_pages);
/* Where copying begins of stacks at a place: at the address that stands in the word `hint`. */
void bpf_deep_hint(const struct bpf_deep *deep, uint64_t key, uint64_t hint);
