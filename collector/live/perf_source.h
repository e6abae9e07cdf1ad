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
#include "base/real_user.h"
#include "collector/bpf/trace_layout.h"
#include "collector/probe/probe_links.h"
#include "collector/source.h"

struct perf_source_options {
	/* One of these kinds of target: */
	bool is_machine;    /* everything on all CPUs; with argv: until that has ended */
	bool asks_soon;     /* is_machine: the reader asks processes for more than records contain */
	bool is_tree;       /* is_machine: the reader wants the command and its descendants only */
	const char *cgroup; /* is_machine: only this one, a folder; NULL = everywhere */
	const char *online; /* is_machine: as in perf_want */
	const pid_t *pids;  /* processes with all their threads */
	size_t n_pids;
	const pid_t *tids; /* single threads */
	size_t n_tids;
	char *const *argv;       /* a command to run; NULL-terminated */
	const sigset_t *signals; /* the command's signal mask; NULL = the caller's own */

	bool skips_refused;        /* what we cannot attach to becomes a note, if others are left */
	const char *const *events; /* names; none = cycles if there is a PMU, else cpu-clock */
	size_t n_events;
	bool with_waits, without_cpu; /* also what threads do off the CPU; only that */
	bool has_switch_records;      /* waits are paired from records of switches, even if BPF is allowed */
	uint64_t max_switches;        /* how many a CPU samples per second */
	uint64_t frequency, period;   /* period 0 = by frequency; both 0 = SOURCE_FREQUENCY */
	uint32_t stack_size;          /* bytes of stack copied with each sample, rounded up to 8 */
	uint64_t deep_bytes; /* of the stack beyond that, copied at the same moment if the kernel can; 0 =
				none */
	uint64_t delay_ns;   /* samples start after this time */
	uint64_t ring_bytes; /* of all rings; 0 = a default */
	bool all_user;       /* no samples in the kernel */
	bool is_traced; /* no events are sampled: perf_source_trace chooses the functions whose calls are */
	enum call_exits exits; /* is_traced */
	unsigned arg;          /* is_traced: the number of the argument to be summed, from 1; 0 = none */
	bool adds_results;
	bool counts;    /* is_traced: calls are only counted, when they begin */
	uint64_t every; /* is_traced: allocations are sampled, one per this many bytes; 0 = calls are measured
			 */
	bool held;      /* ... and followed until they are freed */
	/* is_traced: the command is about to start, as this process; probes may be set. NULL = not called. */
	void (*before_start)(void *context, struct source *source, pid_t pid);
	void *before_context;
	bool has_fixed_periods; /* clocks are not varied: a program in step with them is shown wrongly */
	bool has_few_periods;   /* they are varied, but among a few periods: then weights take less room */
	bool inherits; /* existing children are attached to; new threads and processes are followed */
	int wake_fd;   /* while it is readable, source_next does not wait; 0 = none */
};

#define SOURCE_FREQUENCY 997
#define SOURCE_FREQUENCY_MACHINE 19 /* timers fire on idle CPUs, too */
#define SOURCE_STACK_SIZE_MACHINE 8192
#define SOURCE_STACK_SIZE 16384 /* up to this size the copy costs the target less than the interrupt */
#define SOURCE_STACK_SIZE_MIN 512
#define SOURCE_STACK_SIZE_MAX 65528
#define SOURCE_MAX_SWITCHES 1000     /* each has a stack */
#define SOURCE_DEEP_BYTES (8u << 20) /* the stack limit of most systems; no more can be had */

/*
 * -EACCES, -EPERM: we may not profile it; -ESRCH: no such process; -ENOTSUP: a 32-bit program. images is
 * borrowed. The command is running when this returns.
 */
int perf_source_open(struct images *images, const struct perf_source_options *options, struct source **ret,
		     struct diag *diag);

/* The pid of a started command (0 = none). */
pid_t perf_source_child(const struct source *source);
/* Has the command ended? ret_status as from waitpid. Waits at most timeout_ms. */
bool perf_source_wait(struct source *source, int timeout_ms, int *ret_status);

/*
 * Every record is also written into a perf.data file. fd: an empty regular file, taken over in any case; name
 * is for messages. Call it before the first source_next.
 */
int perf_source_raw_open(struct source *source, int fd, const char *name, struct diag *diag);
/* Completes the file, if there is one. Reports a write that failed at any time. */
int perf_source_raw_close(struct source *source, const char *command_line, struct diag *diag);
/* Adds an event that the kernel did not write; does nothing if there is no raw file. */
void perf_source_raw_event(struct source *source, const struct event *event);

struct probe_function;
struct perf_probe;
/* is_traced: from now on calls of these functions are samples. As probe_links_add. */
int perf_source_trace(struct source *source, pid_t pid, const char *path,
		      const struct probe_function *functions, size_t n, size_t *ret_refused);
/* is_traced: the probes themselves. */
struct perf_probe *perf_source_probe(struct source *source);
/* The counts of a function's calls. */
struct trace_count perf_source_trace_count(const struct source *source, uint32_t function);
/* The numbers of sampled blocks that have not been freed; free() them. */
size_t perf_source_blocks(const struct source *source, uint64_t **ret);

/* No more samples from now on; what was written so far can still be read. */
void perf_source_stop(struct source *source);

/*
 * A process seems to run where nothing is mapped. If records were lost since its mappings were last read,
 * they are read from /proc, and handed out next.
 */
void perf_source_look_again(struct source *source, pid_t pid);

/* How much of the memory that came with a sample was used by its walk. */
struct perf_stack_use {
	uint64_t reach;     /* it was read up to here */
	uint64_t elsewhere; /* the sp of another stack, which was wanted; 0 = none was */
	bool is_cut_off;    /* it ended because there was no more */
	bool has_jit;       /* it went through code that is in no file */
};
/*
 * A sample's stack has been walked, now or a little later. What is needed determines how much is copied
 * beyond the snapshot, and from where; also how soon samples are handed out.
 */
void perf_source_stack_used(struct source *source, const struct event *event,
			    const struct perf_stack_use *use);

/* The user of a sampled process, also if it has ended since, as far as the kernel can tell. */
bool perf_source_user(struct source *source, const struct event *event, struct user *ret);

/* What the first event has counted so far, sampled or not. Costs a system call for each thread
 * and CPU. */
uint64_t perf_source_counted(const struct source *source);

/* The part of the threads' run time that this event was counted: 1 = all of it. */
double perf_source_running(const struct source *source, uint32_t event);

struct perf_source_stats {
	size_t n_rings, ring_bytes; /* of one ring */
	size_t n_threads;           /* with events of their own; those that inherit are not included */
	uint64_t wakeups;
	uint64_t read_bytes;    /* from the rings */
	uint64_t late;          /* records that came out of order */
	uint64_t damaged;       /* rings or records that were invalid */
	uint64_t idle, foreign; /* what dropped samples of event 0 represent: idle CPUs, processes that are
				   not recorded */
	uint64_t resting; /* how long CPUs with events were idle, in ns, as the kernel says; 0 = unknown */
	size_t n_silent;  /* users whose processes kept us waiting, see envoy.h */
};
struct perf_source_stats perf_source_stats(struct source *source);
