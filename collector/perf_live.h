/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_live: what perf_source.c (the stream), perf_round.c, perf_attach.c and perf_setup.c (its beginning) share. Private.
 */
#pragma once

#include <poll.h>

#include "collector/launch.h"
#include "collector/mapping.h"
#include "collector/order.h"
#include "collector/outer_need.h"
#include "collector/outer_stack.h"
#include "collector/perf_events.h"
#include "collector/perf_source.h"
#include "collector/perf_writer.h"
#include "collector/stack_top.h"

struct perf_target {
	pid_t pid;
	pid_t tid; /* 0: the whole process */
	int pidfd; /* -1: asked through /proc */
	bool is_gone;
};

struct perf_live {
	struct source source; /* first: a struct source * is a struct perf_live * */
	struct perf_events events;
	struct order *order;
	struct mapper *mapper;
	struct stack_tops *tops;
	struct outer_stacks *outer;
	struct outer_needs *needs;
	VEC(struct outer_wait) waits; /* one a ring */
	struct launch launch;
	VEC(struct perf_target) targets;

	/* What /proc told when we attached, to be handed out before anything else. Strings are owned. */
	VEC(struct event) known;
	size_t next_known;
	struct map maps_read;  /* pid -> index into maps_ns */
	VEC(uint64_t) maps_ns; /* mappings older than this are in `known` already */
	bool is_attaching;
	struct map forked; /* while attaching: threads whose birth was seen, so they have inherited events */

	struct perf_writer *raw; /* NULL = not asked for */
	struct perf_scratch scratch;
	struct perf_record record;
	uint64_t round_ns, samples_from_ns;
	uint32_t n_asked; /* for events */
	bool is_stopped, is_finished; /* no more samples; no more records */
	bool is_busy;                 /* the last round brought more than samples */
	uint64_t hurry_until_ns;      /* until then code is walked that may be gone soon */
	int wake_fd;                  /* -1 = none */
	bool is_called;               /* it was readable */
	VEC(struct pollfd) polls;
	uint64_t lost; /* told of so far; after the end, what is still to be told */
	uint32_t n_losses;     /* times that records were lost, mappings maybe among them */
	struct map looked_for; /* pid -> n_losses when its mappings were last read again */
	struct perf_source_stats stats;
};

extern const struct source_ops perf_live_ops;

uint64_t perf_live_now(void);
/* perf_round.c: reads every ring once. */
void perf_live_round(struct perf_live *live);
/* What has been walked need not wait in the rings. */
void perf_live_give_back(struct perf_live *live);
__attribute__((format(printf, 2, 3))) void perf_live_note(struct perf_live *live, const char *format, ...);

/* perf_attach.c: opens events on every thread of the targets and learns their names and mappings. */
int perf_attach_all(struct perf_live *live, const struct perf_source_options *options, struct diag *diag);
int perf_attach_command(struct perf_live *live, const struct perf_source_options *options, struct diag *diag);
