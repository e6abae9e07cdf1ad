/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_paths: loads the program paths.bpf.c, fills its tables, and attaches it to code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/text.h"
#include "collector/bpf/paths_layout.h"

struct bpf_paths;

/* The initial contents of its tables. */
struct bpf_paths_want {
	struct paths_options options;
	const struct paths_probe *probes;
	size_t n_probes;
	const struct paths_arrival *arrivals; /* parallel to actions */
	const struct paths_action *actions;
	size_t n_arrivals;
};

/* See bpf_trace_open. */
int bpf_paths_open(const struct bpf_paths_want *want, bool sets_many, struct bpf_paths **ret,
		   struct text *ret_log, struct diag *diag);
/* All probes have been removed when this returns. */
void bpf_paths_close(struct bpf_paths *paths);

/*
 * Sets the probes with the numbers first to first + n - 1 at these offsets of a file, for one process: all or
 * none. They remain until the program is closed. 0 or -errno.
 */
int bpf_paths_set(struct bpf_paths *paths, pid_t pid, const char *path, const uint64_t *offsets,
		  uint32_t first, size_t n);

/* Starts or stops counting: the probes themselves are set and removed one after the other. */
void bpf_paths_count(struct bpf_paths *paths, bool counts);
/* Removes all probes; active calls are forgotten. */
void bpf_paths_clear(struct bpf_paths *paths);

/* Calls visit for each execution path that was counted, and removes it. */
void bpf_paths_take(const struct bpf_paths *paths,
		    void (*visit)(void *context, const struct paths_key *key, uint64_t count), void *context);
/* Sums over all CPUs. */
struct paths_stats bpf_paths_stats(const struct bpf_paths *paths);
