/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_paths: the program paths.bpf.c, loaded, its tables, and the links that set it on code.
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

/* What its tables hold from the start on. */
struct bpf_paths_want {
	struct paths_options options;
	const struct paths_probe *probes;
	size_t n_probes;
	const struct paths_arrival *arrivals; /* parallel to actions */
	const struct paths_action *actions;
	size_t n_arrivals;
};

/* As bpf_trace_open. */
int bpf_paths_open(const struct bpf_paths_want *want, bool sets_many, struct bpf_paths **ret,
		   struct text *ret_log, struct diag *diag);
/* Every probe is gone when this returns. */
void bpf_paths_close(struct bpf_paths *paths);

/*
 * Probes number first to first + n - 1, at these offsets of a file, as one process has it: all or none. They
 * stay until the program is closed. 0 or -errno.
 */
int bpf_paths_set(struct bpf_paths *paths, pid_t pid, const char *path, const uint64_t *offsets,
		  uint32_t first, size_t n);

/* Counts from now on, or does not: probes come and go one after the other. */
void bpf_paths_count(struct bpf_paths *paths, bool counts);
/* Removes all probes; calls that are under way are forgotten. */
void bpf_paths_clear(struct bpf_paths *paths);

/* Calls visit for each way that was counted, which is forgotten then. */
void bpf_paths_take(const struct bpf_paths *paths,
		    void (*visit)(void *context, const struct paths_key *key, uint64_t count), void *context);
/* Sums over all CPUs. */
struct paths_stats bpf_paths_stats(const struct bpf_paths *paths);
