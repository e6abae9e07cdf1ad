/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording: from a source of events to a profile in a file, for commands, the daemon and tests.
 *
 * recording_open attaches, starts the command or opens the file; from now on samples are taken recording_run
 * the loop over events, until there are no more or is_over returns true recording_finish the profile: built,
 * named, written recording_save what else is kept: the raw recording, what was found out about code
 * recording_close
 *
 * It prints nothing. Errors are returned in a diag; a listener is informed of everything that does not end
 * the recording. It owns its threads (the workers) and its children (checkpoints, live exports, prefetching
 * of names): none is left after recording_finish. It handles no signals: is_over is called between events,
 * and wake_fd interrupts a wait.
 *
 * One thread uses it. The listener is called on that thread only, from within these functions.
 */
#pragma once

#include "base/text.h"
#include "collector/live/perf_source.h"
#include "collector/perfdata/perf_file.h"
#include "profile/resolve.h"
#include "recording/machine.h"
#include "recording/output.h"
#include "recording/workers.h"
#include "report/export/exporter.h"

/* What can fail without ending a recording. */
enum recording_part {
	RECORDING_RAW,  /* the raw recording: it is missing */
	RECORDING_LIVE, /* one live export; the next one may succeed */
};

/* Any of them may be NULL. */
struct recording;
struct recording_listener {
	void *context;
	/* Should the recording end now? Called at least twice a second until it returns true, and whenever
	 * target.wake_fd is readable. */
	bool (*is_over)(void *context);
	/* Called after that: should what is left be done at once, although stacks in code that was not
	 * analysed yet become incomplete? */
	bool (*is_urgent)(void *context);
	/* Called about once a second. It has to wait for the workers: NULL if it is not needed. */
	void (*progress)(void *context, uint64_t elapsed_ns, const struct profile_quality *quality);
	/* Called between events: the recording may be changed now. May be NULL. */
	void (*between)(void *context, struct recording *recording);
	/* A sentence for the user. */
	void (*note)(void *context, const char *text);
	/*
	 * The profile was written without names, which are looked up until `named` is called; a pipe is also
	 * waited for until then. The process may be ended meanwhile, from any thread, and only names are
	 * lost.
	 */
	void (*saved)(void *context, const char *path);
	void (*named)(void *context);
	/*
	 * With epoch_ns: takes the profile of an epoch, without names. Returns where checkpoints of the next
	 * epoch, which begins at next_unix_ns, are written; it must remain valid until the next call. NULL =
	 * nowhere.
	 */
	const char *(*epoch)(void *context, const struct profile *profile, uint64_t next_unix_ns);
	/*
	 * Later, in a child with a copy of everything: names of the sampled code, a few images at a time
	 * (profile/resolve_pieces.h); those of JIT-compiled code first, in the same profile. Then all have
	 * been handed over, and the profile has no contexts any more.
	 */
	size_t (*epoch_lacking)(void *context, const struct profile *profile, image_id image,
				uint64_t *vaddrs, size_t n);
	void (*epoch_names)(void *context, struct profile *names);
	void (*epoch_named)(void *context, struct profile *profile);
	/* A fault that does not end the recording. */
	void (*fault)(void *context, enum recording_part part, const struct diag *diag);
};

struct recording_options {
	const char *mode, *command_line; /* stored in the profile */

	/* Live processes, or a recording of them: */
	struct perf_source_options target;
	char *const
		*functions; /* with target.is_traced: functions to trace, as patterns of recording/chosen.h */
	size_t n_functions; /* with target.every: allocation functions in addition to the usual ones, as NAME
			       or NAME:N */
	double max_overhead; /* with target.is_traced: share of a CPU that probes may cost; 0 = no limit */
	const char *file;    /* a perf.data, "-" = standard input; NULL = live */
	struct perf_file_options file_options;
	struct machine_rules rules; /* with target.is_machine, or is_machine */
	bool is_machine;            /* the file is a recording of a whole machine */
	bool keeps_no_commands;     /* command lines are not stored in the profile */
	const char *kallsyms;       /* of the recorded kernel; NULL = the running one, if it is the same */

	unsigned n_workers; /* as in workers_options */
	/* As in workers_options, at least 1 MB; 0 = a quarter of the machine's memory, at most 1 GB: reports
	 * of more contexts would take too long. */
	uint64_t max_memory;
	enum unwind_mode unwind;
	uint64_t duration_ns; /* of sampling; 0 = until the targets end */
	/* Live only: the recorded start is not earlier than this, whatever the wall clock says; 0 = no limit.
	 */
	uint64_t not_before_unix_ns;
	uint64_t epoch_ns; /* of a whole machine: length of epochs, with one profile each; 0 = a single
			      profile */

	struct resolve_options names; /* its callbacks are also called in child processes */
	bool resolves;                /* names are looked up at the end */

	const char *output;            /* as in output_init */
	mode_t mode_bits;              /* of all files except the raw one; 0 = only the owner */
	uint64_t cpu_before_ns;        /* CPU time of this process before this recording; 0 = a new process */
	uint32_t rank;                 /* 1 + rank of the command in an MPI job; 0 = none */
	const struct exporter *format; /* an export to be written instead of a profile; NULL = a profile */

	char *const *labels; /* of exports, as in export_options */
	size_t n_labels;

	/* Live only: */
	const char *raw;        /* every record, as perf.data; NULL = none */
	uint64_t checkpoint_ns; /* the profile so far, this often; 0 = never */
	uint64_t stream_ns;     /* ndjson to standard output, this often; 0 = never */
	const char *watch;      /* a file to rewrite with an export, by its name; NULL = none */
	uint64_t watch_ns;      /* this often */
	uint64_t refresh_ns;    /* of a trace: interval of showing results on standard output; 0 = never */

	struct recording_listener listener;
};

struct recording;
/* What options point to must remain valid until recording_close. If this fails, nothing is left behind. */
int recording_open(const struct recording_options *options, struct recording **ret, struct diag *diag);
/* A fault ends the loop; recording_finish can still be called, and should be. */
int recording_run(struct recording *recording, struct diag *diag);
/* Live only: sets where checkpoints are written from now on. */
void recording_checkpoint_to(struct recording *recording, const char *path);
/*
 * Writes the profile, or an export. If that fails, it is kept in the directory for temporary files if
 * possible, and the diag says so.
 */
int recording_finish(struct recording *recording, struct diag *diag);
int recording_save(struct recording *recording, struct diag *diag);
void recording_close(struct recording *recording);

/* For a trace that only counted: describes what a measuring one would do. */
void recording_plan_trace(struct recording *recording, struct text *ret);
/* The same for a command that is not started: in its executable. */
int recording_plan_command(const struct recording_options *options, struct text *ret, struct diag *diag);
/* For a trace, between events: adds functions; removes them; discards the results; writes the profile so far.
 */
void recording_trace_more(struct recording *recording, const char *name);
void recording_trace_less(struct recording *recording, const char *name);
void recording_reset(struct recording *recording);
void recording_write_now(struct recording *recording);

/* Of the source. */
const struct source_info *recording_info(const struct recording *recording);
struct perf_source_stats recording_stats(const struct recording *recording); /* live only */
/* After recording_finish, until recording_close. An export has taken its tree. */
const struct profile *recording_profile(const struct recording *recording);
const struct output *recording_output(const struct recording *recording);
/* Did is_over or the duration end it? */
bool recording_was_stopped(const struct recording *recording);
/* Epochs whose names could not be looked up, because those of another took too long. */
uint64_t recording_nameless(const struct recording *recording);
/* The command that was started, 0 = none; it may still be running when the recording has ended. */
pid_t recording_command(const struct recording *recording);
/* Has it ended? See perf_source_wait. */
bool recording_command_ended(struct recording *recording, int timeout_ms, int *ret_status);
