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

	bool is_machine; /* whatever runs */
	const char *cgroup;
	struct option_list allow, deny; /* rules of recording/machine.h */
	int clock;                      /* enum record_clock */
	bool with_commands;             /* is_machine: command lines are kept */
	struct option_list events, labels;
	struct option_list functions; /* trace: whose calls; none = samples are taken */
	uint64_t arg;                 /* trace: an argument to be added up, from 1; 0 = none */
	int exits;                    /* trace: enum call_exits */
	bool adds_results;            /* trace */
	bool allocations, held;       /* trace: of memory; what of it is not freed */
	bool is_dry;                  /* trace: only what it would do */
	double refresh;      /* trace: seconds from one look at how it stands to the next; 0 = none */
	const char *control; /* trace: a FIFO to be told through; NULL = none */
	double max_overhead; /* trace: percent of a CPU; 0 = any */
	uint64_t every;      /* trace: bytes from one allocation that is sampled to the next */
	struct option_list allocators; /* trace: further functions that allocate */
	uint64_t frequency, period, stack_size, deep_bytes, ring_bytes, max_memory;
	double duration, delay, checkpoint; /* seconds; 0 = none */
	bool switch_records;                /* waits are not timed in the kernel */
	uint64_t max_switches;              /* sampled by a CPU in a second */
	bool wall, off_cpu;                 /* what threads do off the CPU, too; that alone */
	bool all_user, has_fixed_periods, inherits, resolves, opens;
	int unwind;         /* enum unwind_mode */
	uint64_t n_workers; /* 0 = by the number of CPUs */
	const char *output, *raw, *format, *watch;
	const struct exporter *exporter; /* by --format or the name of the output; NULL = a profile */
	mode_t mode;                     /* of what is written; 0 = the owner's alone */
	double stream, interval;         /* seconds between two live exports; stream 0 = none */
	struct symbol_options symbols;
	struct quality_bar min_quality;
	struct habits habits;
	uint64_t cpu_before_ns; /* as in recording_options */
	uint64_t n_repeats;     /* of the command; each run has a profile of its own */
	bool has_rank;
	uint32_t rank; /* in an MPI job */
	bool is_quiet;
	int verbosity;
};

/* Negative: go on. Otherwise the exit code; what was wrong has been printed. */
int record_options_parse(struct record_options *options, const char *command, int argc, char **argv);
void record_options_done(struct record_options *options);
