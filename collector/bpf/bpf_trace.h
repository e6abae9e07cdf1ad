/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_trace: the program trace.bpf.c, loaded, and the links that set it on code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/text.h"
#include "collector/bpf/trace_layout.h"

struct bpf_trace;

/* Can this kernel set many probes at once? Linux 6.6. */
bool bpf_trace_can_set_many(void);
/* As bpf_deep_open. sets_many: probes are set many at once; else one by one, as on any kernel. */
int bpf_trace_open(const struct trace_options *options, uint32_t n_cpus, bool sets_many,
		   struct bpf_trace **ret, struct text *ret_log, struct diag *diag);
/* Every probe is gone when this returns. */
void bpf_trace_close(struct bpf_trace *trace);
/* Does it know how long threads wait? Not on a kernel without type information. */
bool bpf_trace_sees_waits(const struct bpf_trace *trace);
/* Records made on this CPU go through this event. 0 or -errno. */
int bpf_trace_output(const struct bpf_trace *trace, int cpu, int event);
/* This event is the counter of that number on this CPU. 0 or -errno. */
int bpf_trace_counter(const struct bpf_trace *trace, int cpu, uint32_t counter, int event);
/* What a program must have been loaded as to run at its probes; the one that sends a call; a program that
 * runs before it, 0 or -errno. */
int bpf_trace_attach_type(const struct bpf_trace *trace);
int bpf_trace_sender(const struct bpf_trace *trace);
int bpf_trace_go_through(const struct bpf_trace *trace, int program);
/* Sums over all CPUs. */
struct trace_count bpf_trace_count(const struct bpf_trace *trace, uint32_t function);
/* One call of the function stands for so many from now on. */
void bpf_trace_stand(const struct bpf_trace *trace, uint32_t function, uint64_t n);
/* Calls that stand for others are measured if they begin before this time. */
void bpf_trace_open_window(const struct bpf_trace *trace, uint64_t until_ns);
/* Calls that are open will not be seen to end. */
void bpf_trace_forget_calls(const struct bpf_trace *trace);
/* Calls with this key and these words are counted under the path's number from now on. */
void bpf_trace_learn(const struct bpf_trace *trace, const struct trace_path_key *key,
		     struct trace_path *path);
/* All of them are forgotten; what was counted stays. */
void bpf_trace_forget_paths(const struct bpf_trace *trace);
/* What was counted under a number. False if nothing can be. */
bool bpf_trace_read_sums(const struct bpf_trace *trace, uint32_t number, struct trace_sums *ret);
void bpf_trace_each_class(const struct bpf_trace *trace,
			  void (*visit)(void *context, uint32_t number, uint32_t class, uint64_t n),
			  void *context);
/* The numbers of sampled blocks that are not freed; free() them. */
size_t bpf_trace_blocks(const struct bpf_trace *trace, uint64_t **ret);

/* Places in one file, all of a kind: parallel arrays. */
struct bpf_trace_places {
	const char *path;
	const uint64_t *offsets, *cookies;
	size_t n;
	pid_t pid;
	bool at_returns; /* probes of return addresses; offsets are entries */
};
/*
 * Probes at all places, or at none: they are gone when the descriptor is closed. Returns it, or -errno:
 * -EINVAL where one of the places cannot be probed, -EOPNOTSUPP if many are not set at once.
 */
int bpf_trace_link(const struct bpf_trace *trace, const struct bpf_trace_places *places);
/* One probe, on any kernel; place: its index. The same. */
int bpf_trace_link_one(const struct bpf_trace *trace, const struct bpf_trace_places *places, size_t place);
