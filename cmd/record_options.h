/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_options: the options of `record` and `attach`. They differ only in how the target is given, and
 * `record -p` is attach.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/habits.h"
#include "cmd/options.h"
#include "cmd/record_clock.h"
#include "cmd/symbol_options.h"
#include "collector/process/target.h"
#include "report/export/exporter.h"
#include "report/quality.h"
#include "unwinder/unwinder.h"

struct record_options {
	struct option_list pid_texts, tid_texts, names; /* as typed */
	struct pid_list pids, tids;                     /* what they mean */
	bool is_by_name;                                /* pids were found by -n */
	char **argv;                                    /* a command to run; NULL = attach */

	bool is_machine; /* everything that runs */
	const char *cgroup;
	struct option_list allow, deny; /* rules of recording/machine.h */
	int clock;                      /* enum record_clock */
	bool with_commands;             /* is_machine: command lines are recorded */
	struct option_list events, labels;
	struct option_list functions;  /* trace: functions to trace; none = take samples */
	uint64_t arg;                  /* trace: number of the argument to be added up, from 1; 0 = none */
	int exits;                     /* trace: enum call_exits */
	bool adds_results;             /* trace */
	bool allocations, held;        /* trace: of memory; also memory that is not freed */
	bool is_dry;                   /* trace: only show what it would do */
	double refresh;                /* trace: interval of showing results, in seconds; 0 = never */
	const char *control;           /* trace: a FIFO for commands; NULL = none */
	double max_overhead;           /* trace: percent of a CPU; 0 = no limit */
	uint64_t every;                /* trace: mean number of bytes between sampled allocations */
	struct option_list allocators; /* trace: further functions that allocate */
	uint64_t frequency, period, stack_size, deep_bytes, ring_bytes, max_memory;
	double duration, delay, checkpoint; /* seconds; 0 = none */
	bool switch_records;                /* waits are not timed in the kernel */
	uint64_t max_switches;              /* maximum number sampled per second and CPU */
	bool wall, off_cpu;                 /* also record where threads wait; only that */
	bool all_user, has_fixed_periods, inherits, resolves, opens;
	int unwind;         /* enum unwind_mode */
	uint64_t n_workers; /* 0 = by the number of CPUs */
	const char *output, *raw, *format, *watch;
	const struct exporter *exporter; /* by --format or the name of the output; NULL = a profile */
	mode_t mode;                     /* permissions of the output; 0 = only the owner */
	double stream, interval;         /* seconds between two live exports; stream 0 = none */
	struct symbol_options symbols;
	struct quality_bar min_quality;
	struct habits habits;
	uint64_t cpu_before_ns; /* as in recording_options */
	uint64_t n_repeats;     /* runs of the command; each has its own profile */
	bool has_rank;
	uint32_t rank; /* in an MPI job */
	bool is_quiet;
	int verbosity;
};

/* Negative: continue. Otherwise the exit code; the error has been printed. */
int record_options_parse(struct record_options *options, const char *command, int argc, char **argv);
void record_options_done(struct record_options *options);
