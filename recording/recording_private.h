/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_private: declarations shared by the files of a recording.
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

/* What the first event has counted since the beginning. */
struct recording_counts {
	uint64_t time_ns; /* as of this */
	uint64_t counted, idle, others;
	uint64_t resting; /* how long CPUs were idle, as the kernel says */
};

struct recording {
	struct recording_options options;
	struct resolve_options names; /* as given, plus what the workers lend */
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
	uint64_t tidy_ns;   /* when memory was last cleaned up */
	uint64_t memory_ns; /* when memory use was last measured */
	int memory_fd;      /* where it is read; 0 = not opened yet */
	uint64_t rest_bytes,
		rest_own; /* memory use after the last cleanup; after dropping all results about code */
	uint64_t epoch_start_ns, epoch_end_ns; /* on the clock of the events; end 0 = no epochs */
	struct recording_counts account_from;  /* of the current epoch */
	uint64_t wakeups_before, n_nameless;
	struct child namer;                     /* looks up the names of the last epoch */
	struct map unasked;                     /* pids whose user is read at their next sample */
	struct machine *machine;                /* what is counted; NULL = everything */
	struct allocators allocators;           /* if target.every */
	struct known_paths known;               /* if target.is_traced */
	struct budget budget;                   /* if target.is_traced */
	uint64_t reset_ns;                      /* earlier results are discarded; 0 = none are */
	bool has_nothing;                       /* nothing to trace: it is over */
	struct trace trace;                     /* if target.is_traced */
	uint64_t start_ns, end_ns, progress_ns; /* end 0 = open */
	uint64_t tick_ns;                       /* when the clock was last read for everything that is due */
	uint64_t look_ns;                       /* and only to see whether anything is */
	bool is_slow;                           /* events take long */
	int wait_ms;         /* for the next event, computed when the clock was last read; 0 before that */
	bool is_stopped;     /* is_over returned true, or the duration was over */
	bool is_hurried;     /* is_urgent returned true */
	uint64_t stopped_ns; /* when; 0 = it ended by itself, or is running */
	pid_t first_pid;     /* of a file */
	int raw_error;       /* of the raw recording, and why */
	struct diag raw_diag;
	bool has_told_missing; /* about functions that were not found */
	bool has_no_reader;    /* of the stream: it is over */
	bool has_kernel;       /* stacks of a file go into the kernel */
};

uint64_t recording_max_memory(const struct recording_options *options);
/* See knowledge_set_patience. */
unsigned recording_patience(const struct recording_options *options);
void recording_note(struct recording *r, const char *text);
void recording_fault(struct recording *r, enum recording_part part, const struct diag *diag);

/* Live: before anything is started, can the outputs be written? */
int recording_live_check(const struct recording_options *options, struct diag *diag);
int recording_live_open(struct recording *r, struct diag *diag);
void recording_live_event(struct recording *r, const struct event *event);
/* Learns whose process an event is of. */
void recording_ask_user(struct recording *r, const struct event *event);
/* Fills in what only the recording knows about the run. */
void recording_live_describe(struct recording *r, struct profile *profile);
/* Does what is due: checkpoints, exports, names. */
void recording_live_tick(struct recording *r, uint64_t now);
void recording_init_trace(struct recording *r);
/* For allocations: which were not freed. Before the profile is finished. */
void recording_live_hold(struct recording *r);
void recording_live_finish(struct recording *r, struct profile *profile);
/* Tells the profile that processes could not be read, see collector/process/envoy.h. */
void recording_live_note_silent(const struct recording *r, struct profile *profile);
/* Tells the profile what the first event has counted. end_ns: its epoch ended then, and the next one begins;
 * 0 = it has all until now. */
void recording_account(struct recording *r, struct profile *profile, uint64_t end_ns);
/* The part of the time that an event was counted, if it had to share counters; otherwise 1. */
double recording_running(const struct recording *r, uint32_t event);
/* By how much the wall clock is ahead of the monotonic clock since the start (suspend), in ns; 0 = not ahead.
 * recording_live_set_clock takes it into account. */
uint64_t recording_live_clock_gap(const struct recording *r);
void recording_live_set_clock(struct recording *r);
/* Sets where checkpoints are written from now on; NULL = nowhere. */
void recording_live_write_to(struct recording *r, const char *path);
/* The last live export. */
void recording_live_last(struct recording *r, struct profile *profile);

/* recording_epoch.c: is it over, as of an event or of the clock? */
void recording_epoch_plan(struct recording *r, uint64_t start_ns);
void recording_epoch_tick(struct recording *r, uint64_t time_ns);
void recording_epoch_follow_clock(struct recording *r, uint64_t now);
void recording_epoch_end(struct recording *r);
/* Frees memory that is no longer needed. */
void recording_epoch_tidy(struct recording *r, uint64_t now);

int recording_file_open(struct recording *r, struct diag *diag);
void recording_file_event(struct recording *r, const struct event *event);
/* At the end of the events: notes that came up while reading. */
void recording_file_notes(struct recording *r);
/* Names from this machine are used only if the recording was made here. */
void recording_file_names(struct recording *r);
/* A perf.data file does not say whose processes these were. Who can write the programs' files can name any
 * file as their source, so the processes are taken for theirs, unless only root and our user can. */
void recording_file_users(struct recording *r);
