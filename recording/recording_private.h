/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_private: what the files of a recording share.
 */
#pragma once

#include "base/hash.h"
#include "recording/allocators.h"
#include "recording/budget.h"
#include "recording/checkpoint.h"
#include "recording/code_log.h"
#include "recording/known_paths.h"
#include "recording/live.h"
#include "recording/machine.h"
#include "recording/prefetch.h"
#include "recording/recording.h"
#include "recording/trace.h"

struct recording {
	struct recording_options options;
	struct resolve_options names; /* as given, and what the workers lend */
	char target_root[32];
	struct images *images;
	struct source *source;
	struct workers *workers;
	struct code_log *code; /* live only */
	struct output output;
	struct profile *profile; /* when it is finished */
	struct checkpoint checkpoint;
	struct prefetch prefetch;
	struct live live;
	uint64_t tidy_ns;                      /* when memory was tidied last */
	uint64_t memory_ns;                    /* when it was last looked how much memory that takes */
	uint64_t rest_bytes, rest_own;         /* of it, what tidying has left; with nothing known of code */
	uint64_t epoch_start_ns, epoch_end_ns; /* on the clock of the events; end 0 = there are none */
	uint64_t wakeups_before, n_nameless;
	struct child namer;                     /* looks up the names of the last epoch */
	struct map unasked;                     /* of a whole machine: pids whose user is not read yet */
	struct machine *machine;                /* of what is counted; NULL = of everything */
	struct allocators allocators;           /* if target.every */
	struct known_paths known;               /* if target.is_traced */
	struct budget budget;                   /* if target.is_traced */
	uint64_t reset_ns;                      /* what was measured before is forgotten; 0 = nothing is */
	bool has_nothing;                       /* to trace: it is over */
	struct trace trace;                     /* if target.is_traced */
	uint64_t start_ns, end_ns, progress_ns; /* end 0 = open */
	int wait_ms;         /* for the next event, as of the last look at the clock; 0 before the first */
	bool is_stopped;     /* is_over, or the time was */
	uint64_t stopped_ns; /* when; 0 = it ended by itself, or goes on */
	pid_t first_pid;     /* of a file */
	int raw_error;       /* of the raw recording, and why */
	struct diag raw_diag;
	bool has_told_missing; /* of functions that nothing has */
	bool has_no_reader;    /* of the stream: it is over */
	bool has_kernel;       /* stacks of a file go into the kernel */
};

uint64_t recording_max_memory(const struct recording_options *options);
/* As knowledge_set_patience. */
unsigned recording_patience(const struct recording_options *options);
void recording_note(struct recording *r, const char *text);
void recording_fault(struct recording *r, enum recording_part part, const struct diag *diag);

/* Live: before anything is started, can what shall be written be written? */
int recording_live_check(const struct recording_options *options, struct diag *diag);
int recording_live_open(struct recording *r, struct diag *diag);
void recording_live_event(struct recording *r, const struct event *event);
/* What only we know of the run. */
void recording_live_describe(struct recording *r, struct profile *profile);
/* What is due by now: checkpoints, exports, names. */
void recording_live_tick(struct recording *r, uint64_t now);
void recording_init_trace(struct recording *r);
/* Of allocations: which were not freed. Before the profile is finished. */
void recording_live_hold(struct recording *r);
void recording_live_finish(struct recording *r, struct profile *profile);
/* How far the wall clock has gone on without us, in ns; 0 = it has not. That it has is taken into account. */
uint64_t recording_live_clock_gap(const struct recording *r);
void recording_live_set_clock(struct recording *r);
/* Checkpoints go there from now on; NULL = nowhere. */
void recording_live_write_to(struct recording *r, const char *path);
/* The last live export. */
void recording_live_last(struct recording *r, struct profile *profile);

/* recording_epoch.c: is it over, as of an event or of the clock? */
void recording_epoch_plan(struct recording *r, uint64_t start_ns);
void recording_epoch_tick(struct recording *r, uint64_t time_ns);
void recording_epoch_follow_clock(struct recording *r, uint64_t now);
void recording_epoch_end(struct recording *r);
/* What is not needed any more leaves memory. */
void recording_epoch_tidy(struct recording *r, uint64_t now);

int recording_file_open(struct recording *r, struct diag *diag);
void recording_file_event(struct recording *r, const struct event *event);
/* At the end of the events: what came up while reading. */
void recording_file_notes(struct recording *r);
/* What this machine knows holds for the recording only as far as it was made here. */
void recording_file_names(struct recording *r);
