/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_source_private: the parts of a live source. perf_setup.c makes it, perf_source.c reads it.
 */
#pragma once

#include "collector/deep/deep_need.h"
#include "collector/deep/deep_stack.h"
#include "collector/group_reads.h"
#include "collector/live/drain.h"
#include "collector/live/known.h"
#include "collector/live/perf_events.h"
#include "collector/live/perf_source.h"
#include "collector/live/priority.h"
#include "collector/live/targets.h"
#include "collector/perfdata/perf_writer.h"
#include "collector/process/envoy.h"
#include "collector/process/launch.h"
#include "collector/process/mapping.h"
#include "collector/process/stack_top.h"
#include "collector/wait/run_delay.h"
#include "collector/wait/wakings.h"

/* When to wait, for how long, and whether it is over. */
struct perf_pace {
	uint64_t round_ns;        /* when rings were last read by us */
	uint64_t stopped_ns;      /* 0 = not stopped */
	uint64_t samples_from_ns; /* sampling starts then; 0 = it has started */
	uint64_t cpus_ns;         /* when we last checked which CPUs are online */
	uint64_t hurry_until_ns;  /* until then, code is being unwound that may soon be gone */
	uint32_t n_asked;         /* how many events were asked for */
	uint64_t wakeups;
	int wake_fd;                  /* -1 = none */
	bool is_called;               /* wake_fd was readable */
	bool is_stopped, is_finished; /* no more samples; no more records */
};

struct perf_live {
	struct source source;      /* first: a struct source * is a struct perf_live * */
	struct drain *drain;       /* records, in order */
	struct perf_events events; /* what the kernel counts, and for whom */
	struct targets targets;
	int cgroup; /* 0 = none */
	struct launch launch;
	struct priority priority;
	struct envoy *envoy;
	struct known *known;
	struct mapper *mapper;
	struct stack_tops *tops;
	struct deep_stacks *deep;
	struct deep_needs *needs;
	struct group_reads group_reads;
	VEC(struct event) before;      /* threads that were waiting when we started; handed out first */
	struct blocked_places *places; /* where they wait, as far as known; NULL = unknown */
	struct run_delays run_delays;  /* for waits that no BPF program times */
	struct wakings wakings;        /* for waits that one does */
	bool with_waits, inherits;     /* as requested */
	bool asks_soon;                /* likewise */
	bool adds_results;             /* for traced calls */
	uint32_t n_counters;           /* ... and events that are counted in each of them */
	double every;                  /* bytes per sample, for allocations; 0 = samples are calls */
	uint64_t random;
	struct hidden_return hidden[TRACE_HIDDEN_MAX]; /* of the current sample */
	struct perf_writer *raw;                       /* NULL = not requested */
	struct perf_pace pace;

	struct perf_scratch scratch;
	struct perf_record record;
	bool is_foreign;        /* ... belongs to a process that is not recorded */
	uint64_t idle, foreign; /* what the samples of event 0 represent that were dropped because of that */
	uint64_t n_damaged;     /* records that came in order, but were invalid */
	uint64_t lost;          /* samples reported as lost so far */
};

/* ---- who waits already, perf_waiting.c ---------------------------------------------------------- */

struct perf_waiting {
	const pid_t *pids;
	size_t n_pids;
	const pid_t *tids;
	size_t n_tids;
	bool inherits; /* also the children of those processes */
};
/* Hands them out as events, before all others. */
void perf_live_find_waiting(struct perf_live *live, const struct perf_waiting *whose, uint64_t now_ns);
/* The same for all targets, if samples begin later than the recording. */
void perf_live_find_waiting_now(struct perf_live *live, uint64_t now_ns);

/* ---- and where, perf_blocked.c ------------------------------------------------------------------- */

/* Adds a sample of each of those threads whose place can be found: with BPF only. */
void perf_live_place_waiting(struct perf_live *live);
void blocked_places_free(struct blocked_places *places);

/* ---- calls, perf_calls.c ------------------------------------------------------------------------- */

/* Calls of chosen functions become samples; their probes are set later. */
int perf_live_open_calls(struct perf_live *live, const struct perf_source_options *options,
			 struct diag *diag);
/* The current sample is the end of a call, or an allocation. False if it is neither. */
bool perf_live_finish_call(struct perf_live *live, struct sample *sample);

/* ---- what was seen of a sampled thread, perf_seen.c ----------------------------------------------- */

/* How many of len bytes copied from sp upwards belong to the thread's stack; len if that is not known. */
uint64_t perf_live_clip(struct perf_live *live, const struct event *event, uint64_t sp, uint64_t len);

extern const struct source_ops perf_live_ops;

static inline struct perf_live *perf_live_of(struct source *source)
{
	return (struct perf_live *)source;
}
