/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_source: events of live processes, from outside, through perf_event.
 *
 * Opening attaches: to running processes or threads, or to a command that is started then. The source
 * ends when every target has ended. Closing detaches and leaves the targets running.
 */
#pragma once

#include <signal.h>

#include "base/diag.h"
#include "collector/bpf/trace_layout.h"
#include "collector/probe/probe_links.h"
#include "collector/source.h"

struct perf_source_options {
	/* One of these kinds of target: */
	bool is_machine;    /* whatever runs, on any CPU; with argv: until that has ended */
	bool is_tree;       /* is_machine: the reader wants the command and its descendants only */
	const char *cgroup; /* is_machine: only what runs in this one, a folder; NULL = everywhere */
	const char *online; /* is_machine: as in perf_want */
	const pid_t *pids;  /* processes with all their threads */
	size_t n_pids;
	const pid_t *tids; /* single threads */
	size_t n_tids;
	char *const *argv;       /* a command to run; NULL-terminated */
	const sigset_t *signals; /* the command's signal mask; NULL = the caller's own */

	bool skips_refused;        /* what we cannot attach to becomes a note, if others are left */
	const char *const *events; /* names; none = cycles where there is a PMU, else cpu-clock */
	size_t n_events;
	bool with_waits, without_cpu; /* what threads do off the CPU, too; that alone */
	bool has_switch_records;    /* waits are paired from records of switches, though BPF may be allowed */
	uint64_t max_switches;      /* that a CPU samples in a second */
	uint64_t frequency, period; /* period 0 = by frequency; both 0 = SOURCE_FREQUENCY */
	uint32_t stack_size;        /* bytes of stack copied with each sample, rounded up to 8 */
	uint64_t deep_bytes; /* of the stack beyond that, copied at the same moment where the kernel can; 0 =
				 none */
	uint64_t delay_ns;   /* samples only from then on */
	uint64_t ring_bytes; /* of all rings; 0 = a default */
	bool all_user;       /* no samples in the kernel */
	bool is_traced;      /* no events are sampled: perf_source_trace says whose calls are */
	enum call_exits exits; /* is_traced */
	unsigned arg;          /* is_traced: number of an argument that is added up, from 1; 0 = none */
	bool adds_results;
	bool counts;    /* is_traced: calls are counted where they begin, and nothing else is done */
	uint64_t every; /* is_traced: allocations are sampled, every so many bytes; 0 = calls are measured */
	bool held;      /* ... and followed until they are freed */
	/* is_traced: the command is about to start, as this process; probes may be set. NULL = nobody asks.
	 */
	void (*before_start)(void *context, struct source *source, pid_t pid);
	void *before_context;
	bool has_fixed_periods; /* clocks are not varied: a program that beats in time is shown wrongly */
	bool has_few_periods;   /* they are varied, but among a few periods: then weights take less room */
	bool inherits; /* children that run already are taken, threads and processes that come later followed
			*/
	int wake_fd;   /* while it can be read, source_next does not wait; 0 = none */
};

#define SOURCE_FREQUENCY 997
#define SOURCE_FREQUENCY_MACHINE 19 /* timers fire on idle CPUs, too */
#define SOURCE_STACK_SIZE_MACHINE 8192
#define SOURCE_STACK_SIZE 16384 /* up to here the copy costs the target less than the interrupt */
#define SOURCE_STACK_SIZE_MIN 512
#define SOURCE_STACK_SIZE_MAX 65528
#define SOURCE_MAX_SWITCHES 1000     /* each has a stack */
#define SOURCE_DEEP_BYTES (8u << 20) /* what most systems let a stack grow to; no more can be had */

/*
 * -EACCES, -EPERM: not ours to profile; -ESRCH: no such process; -ENOTSUP: a 32-bit program. images is
 * borrowed. The command is running when this returns.
 */
int perf_source_open(struct images *images, const struct perf_source_options *options, struct source **ret,
		     struct diag *diag);

/* Of a started command: its pid (0 = none). */
pid_t perf_source_child(const struct source *source);
/* Has the command ended? ret_status as waitpid gives it. Waits at most timeout_ms. */
bool perf_source_wait(struct source *source, int timeout_ms, int *ret_status);

/*
 * Every record goes into a perf.data file as well. fd: an empty regular file, taken in any case; name is for
 * messages. To be called before the first source_next.
 */
int perf_source_raw_open(struct source *source, int fd, const char *name, struct diag *diag);
/* Completes the file, if there is one. A write that failed at any time is reported here. */
int perf_source_raw_close(struct source *source, const char *command_line, struct diag *diag);
/* Adds an event that the kernel did not write; does nothing if there is no raw file. */
void perf_source_raw_event(struct source *source, const struct event *event);

struct probe_function;
struct perf_probe;
/* is_traced: calls of these functions are samples from now on. As probe_links_add. */
int perf_source_trace(struct source *source, pid_t pid, const char *path,
		      const struct probe_function *functions, size_t n, size_t *ret_refused);
/* is_traced: the probes themselves. */
struct perf_probe *perf_source_probe(struct source *source);
/* What became of a function's calls. */
struct trace_count perf_source_trace_count(const struct source *source, uint32_t function);
/* The numbers of sampled blocks that are not freed; free() them. */
size_t perf_source_blocks(const struct source *source, uint64_t **ret);

/* No more samples from now on; what was written so far can still be read. */
void perf_source_stop(struct source *source);

/*
 * A process seems to run where nothing is mapped. If records were lost since its mappings were last read,
 * they are read from /proc, and handed out next.
 */
void perf_source_look_again(struct source *source, pid_t pid);

/* How much of the memory that came with a sample its walk has used. */
struct perf_stack_use {
	uint64_t reach;     /* it was read up to here */
	uint64_t elsewhere; /* the sp of another stack that was wanted stands there; 0 = none was */
	bool is_cut_off;    /* it ended because there was no more */
	bool has_jit;       /* it went through code in no file */
};
/*
 * A sample's stack has been walked, now or a little later. How much is copied beyond the snapshot, and from
 * where on, follows what is needed; so does how soon samples are handed out.
 */
void perf_source_stack_used(struct source *source, const struct event *event,
			    const struct perf_stack_use *use);

/* What the first event has counted so far, sampled or not. Costs a system call for each thread
 * and CPU. */
uint64_t perf_source_counted(const struct source *source);

/* What part of the time that threads ran an event of the list was counted: 1 = all of it. */
double perf_source_running(const struct source *source, uint32_t event);

struct perf_source_stats {
	size_t n_rings, ring_bytes; /* bytes of one */
	size_t n_threads;           /* with events of their own; those that inherit come on top */
	uint64_t wakeups;
	uint64_t read_bytes; /* from the rings */
	uint64_t late;       /* records that came out of order */
	uint64_t damaged;    /* rings or records that made no sense */
};
struct perf_source_stats perf_source_stats(struct source *source);
