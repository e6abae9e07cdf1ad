/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_trace: loads the program trace.bpf.c, and attaches it to code.
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
/* See bpf_deep_open. sets_many: many probes are set at once; otherwise one by one, as on any kernel. */
int bpf_trace_open(const struct trace_options *options, uint32_t n_cpus, bool sets_many,
		   struct bpf_trace **ret, struct text *ret_log, struct diag *diag);
/* All probes have been removed when this returns. */
void bpf_trace_close(struct bpf_trace *trace);
/* Does it know how long threads wait? Not on a kernel without type information (BTF). */
bool bpf_trace_sees_waits(const struct bpf_trace *trace);
/* Sets the event through which records on this CPU are written. 0 or -errno. */
int bpf_trace_output(const struct bpf_trace *trace, int cpu, int event);
/* Sets the event that is the counter of that number on this CPU. 0 or -errno. */
int bpf_trace_counter(const struct bpf_trace *trace, int cpu, uint32_t counter, int event);
/* The attach type that a program needs to run at its probes; the program that sends a call; sets a program
 * that runs before that one, 0 or -errno. */
int bpf_trace_attach_type(const struct bpf_trace *trace);
int bpf_trace_sender(const struct bpf_trace *trace);
int bpf_trace_go_through(const struct bpf_trace *trace, int program);
/* Sums over all CPUs. */
struct trace_count bpf_trace_count(const struct bpf_trace *trace, uint32_t function);
/* From now on, each measured call of the function represents n calls. */
void bpf_trace_stand(const struct bpf_trace *trace, uint32_t function, uint64_t n);
/* Calls that represent others are measured if they begin before this time. */
void bpf_trace_open_window(const struct bpf_trace *trace, uint64_t until_ns);
/* Forgets active calls: their ends will not be seen. */
void bpf_trace_forget_calls(const struct bpf_trace *trace);
/* From now on, calls with this key and these words are counted under the path's number. */
void bpf_trace_learn(const struct bpf_trace *trace, const struct trace_path_key *key,
		     struct trace_path *path);
/* Forgets all paths; keeps what was counted. */
void bpf_trace_forget_paths(const struct bpf_trace *trace);
/* What was counted under a number. False if there is no such number. */
bool bpf_trace_read_sums(const struct bpf_trace *trace, uint32_t number, struct trace_sums *ret);
void bpf_trace_each_class(const struct bpf_trace *trace,
			  void (*visit)(void *context, uint32_t number, uint32_t class, uint64_t n),
			  void *context);
/* The numbers of sampled blocks that have not been freed; free() them. */
size_t bpf_trace_blocks(const struct bpf_trace *trace, uint64_t **ret);

/* Places in one file, all of the same kind: parallel arrays. */
struct bpf_trace_places {
	const char *path;
	const uint64_t *offsets, *cookies;
	size_t n;
	pid_t pid;
	bool at_returns; /* probes of return addresses; offsets are entries */
};
/*
 * Sets probes at all places, or at none; they are removed when the descriptor is closed. Returns the
 * descriptor, or -errno: -EINVAL if one of the places cannot be probed, -EOPNOTSUPP if many cannot be set at
 * once.
 */
int bpf_trace_link(const struct bpf_trace *trace, const struct bpf_trace_places *places);
/* The same for one probe, on any kernel; place: its index. */
int bpf_trace_link_one(const struct bpf_trace *trace, const struct bpf_trace_places *places, size_t place);
