/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_events: kernel events on threads, and the rings they write into.
 *
 * An event that new threads inherit can be mapped only per CPU, so each thread has one descriptor per CPU and
 * event. All events of a CPU write into that CPU's one ring. The ring belongs to an anchor: an event that
 * counts nothing, on cpprof's own thread, and so outlives every target.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collector/deep/perf_deep.h"
#include "collector/live/drain.h"
#include "collector/live/events.h"
#include "collector/live/perf_holds.h"
#include "collector/live/periods.h"
#include "collector/live/watched.h"
#include "collector/probe/perf_probe.h"
#include "collector/wait/perf_waits.h"

struct perf_want {
	const struct isa *isa;      /* of this machine */
	uint64_t frequency, period; /* one of them 0 */
	uint32_t stack_size;        /* a multiple of 8, at most PERF_STACK_MAX */
	bool with_kernel;           /* also samples in the kernel, with the kernel's part of the stack */
	bool is_probed;             /* samples are the calls that probes see, and no others */
	bool is_inherited;
	bool has_groups;        /* samples carry the counts of their group */
	bool has_small_records; /* with switches only: without the CPU, and without telling inherited events
				   apart */
	bool has_switches;      /* the first event records when threads leave a CPU and come back */
	bool spares_threads;    /* threads get no event if everything can be had without */
	bool has_fixed_periods; /* clocks sample at exactly the requested rate */
	bool has_few_periods;   /* clocks have one of PERIODS_FEW */
	bool starts_on_exec;    /* otherwise by perf_events_enable */
	bool starts_later;      /* names and mappings at once, samples by perf_events_enable_samples */
	uint64_t ring_bytes;    /* at most this much for all rings; 0 = a default */
	bool is_machine;        /* perf_events_add is called once, for PERF_EVERYTHING */
	int cgroup;             /* is_machine: samples only this one, an open folder; 0 = everything */
	const char *online;     /* the list of online CPUs; NULL = the kernel's */
};
#define PERF_EVERYTHING (-1) /* instead of a thread: whatever runs on a CPU */
#define PERF_STACK_MAX 65528
/* For read_format: Linux 6.0 and later count what they could not write. */
#define PERF_COUNTS_LOST (1u << 4)

struct perf_fd {
	int fd;
	uint32_t attr; /* index */
	uint32_t cpu;  /* index */
	uint64_t id;
};

struct perf_events {
	VEC(struct perf_event_attr) attrs; /* as opened; with starts_later, the last one only tracks */
	VEC(struct perf_layout) layouts;   /* of their samples; they differ in the period only */
	bool have_layouts;                 /* not all are the same */
	size_t n_sampling;                 /* attrs that sample */
	struct map by_id;                  /* event id -> attr */
	VEC(int) cpus;
	VEC(int) anchors;  /* one per CPU */
	VEC(bool) is_gone; /* by CPU: it was taken offline; its events are dead, its ring is not */
	const char *online;
	int online_fd;        /* the kernel's list, read every second; 0 = not opened yet */
	char online_text[64]; /* as last read; "" = no events for all of them yet */
	bool is_machine;
	int cgroup;
	uint64_t counted_gone;          /* by first events whose CPU was taken offline */
	uint64_t rest_from_ns, rest_ns; /* of CPUs, see perf_rest.c: when counting began; 0 = it has ended,
					   at rest_ns */
	bool starts_later; /* applies to samples: what processes do is recorded from the beginning */
	size_t ring_bytes; /* of one ring */
	VEC(struct perf_fd) fds;
	struct perf_holds holds; /* of threads that are watched */
	struct periods periods;  /* of clocks */
	struct perf_deep deep;   /* its event counts as one more attr, after the last */
	struct perf_waits waits; /* its event counts as one more attr after that */
	size_t wait_attr;        /* the attr whose switches it sees; SIZE_MAX = none is for waits */
	size_t cpu_attr; /* the attr that reports what all processes do, by CPU; SIZE_MAX = threads have one
			    for that */
	struct watched watched; /* whose reports count */
	bool spares_threads;
	struct perf_probe probe; /* if is_probed: opened by the caller */
	struct drain *drain;     /* borrowed: owns the rings, one per CPU */
};

/* What the kernel is asked for, except when to sample. */
struct perf_event_attr perf_event_attr_of(const struct event_spec *spec, bool with_kernel);
/*
 * Can this event be opened at all, and in the kernel? 0 or -errno: -ENOENT, -EOPNOTSUPP, -ENODEV if the
 * machine does not have it, -EACCES if we may not.
 */
int perf_events_probe(const struct event_spec *spec, bool with_kernel);
/* Can these be counted together, and read at each sample of the first? 0 or -errno: -EINVAL if the kernel or
 * the counters of this machine cannot do it. */
int perf_events_probe_group(const struct event_spec *specs, size_t n, const struct perf_want *want);
/* May we sample whatever runs on a CPU? */
bool perf_events_may_watch_cpus(void);
/* The highest frequency that the kernel accepts; 0 = unknown. */
uint64_t perf_events_max_frequency(void);

/* perf_event itself was refused: explains why, and what would help. Returns the error, -EPERM as -EACCES. */
__attribute__((format(printf, 3, 4))) int perf_events_refused(struct diag *diag, int error, const char *what,
							      ...);
/* Gives the drain its rings, and tells it what is written into them. specs are copied into attrs. */
int perf_events_init(struct perf_events *events, const struct event_spec *specs, size_t n,
		     const struct perf_want *want, struct drain *drain, struct diag *diag);
void perf_events_done(struct perf_events *events);
/* Of a sample of one of the attrs. */
const struct perf_layout *perf_events_layout(const struct perf_events *events, struct bytes sample);
/* Bytes of stack that a busy CPU copies into its ring in a second; UINT64_MAX if the rate is unknown. */
uint64_t perf_events_bytes_a_second(const struct perf_events *events);
/*
 * From now on stacks are copied beyond the snapshot, up to this many bytes, for events that are added later.
 * Without it, or if it is refused, everything else works the same.
 */
int perf_events_add_deep(struct perf_events *events, const struct isa *isa, uint64_t bytes,
			 struct text *ret_log, struct diag *diag);

/* A CPU has come online. */
void perf_events_open_deep(struct perf_events *events, size_t cpu);
/* From now on waits are timed in the kernel, for events that are added later, up to this many samples per
 * second and CPU. Without it, or if it is refused, there are records of switches instead. */
int perf_events_add_waits(struct perf_events *events, const struct perf_want *want, uint64_t max_switches,
			  struct diag *diag);

/* Opens the events of one thread, disabled. -ESRCH: it is gone; -EMFILE: no descriptors left; -EACCES,
 * -EPERM: we may not profile it. */
int perf_events_add(struct perf_events *events, pid_t tid);
/* Enables what was added, starting with descriptor `first`. */
void perf_events_enable(struct perf_events *events, size_t first);
/* For starts_later: samples are taken from now on. */
void perf_events_enable_samples(struct perf_events *events);
void perf_events_disable(struct perf_events *events);

/* Draws random periods from now on; perf_events_init calls it. */
void perf_events_start_periods(struct perf_events *events, const struct perf_want *want);
/* In nanoseconds; 0 = not a clock. */
uint64_t perf_events_mean_period(const struct perf_event_attr *attr);
/* When the next round of samples should begin, and beginning it: clocks get new periods. */
uint64_t perf_events_round_due(const struct perf_events *events);
void perf_events_begin_round(struct perf_events *events, uint64_t now_ns);
/* The kernel starts or stops suppressing samples. */
void perf_events_throttle(struct perf_events *events, const struct throttle_change *change);

/* Records that the kernel could not write since the beginning, by its own count; 0 before Linux 6.0. */
uint64_t perf_events_lost(const struct perf_events *events);
/* Does the kernel count them? */
bool perf_events_count_lost(const struct perf_events *events);
/* What the first event has counted, including threads that inherited it. The samples should add up to it. */
uint64_t perf_events_counted(const struct perf_events *events);
/* This one of the first event is closed; what it has counted still counts. */
void perf_events_leave(struct perf_events *events, int fd);
/*
 * How long the CPUs were idle while events on them were enabled, in ns, by the kernel's own count; 0 if
 * events are not on CPUs, or not clocks. begin and end: when they are enabled and disabled.
 */
uint64_t perf_events_resting(const struct perf_events *events);
void perf_events_begin_rest(struct perf_events *events);
void perf_events_end_rest(struct perf_events *events);
/* How long the threads of an event have run. */
uint64_t perf_events_ran(const struct perf_events *events, int fd);

/* ---- CPUs, perf_cpus.c ------------------------------------------------------------------------ */

/* "0-3,8": the CPUs that are online now, from the file. At least one. */
struct cpu_list {
	VEC(int) at;
};
void cpu_list_read(const char *path, struct cpu_list *ret);
void perf_events_list_cpus(struct perf_events *events);
/* For is_machine: CPUs that have come online get events, and a ring if they never had one. Returns how many.
 */
size_t perf_events_follow_cpus(struct perf_events *events);

/* One CPU's anchor, and its ring. */
int perf_events_add_ring(struct perf_events *events, size_t cpu);
/* Events of one thread on one CPU. */
int perf_events_add_on(struct perf_events *events, size_t cpu, pid_t tid);
/* The part of its threads' run time that an event was counted, if it has to share counters with others; 1 =
 * all of it, or unknown. */
double perf_events_running(const struct perf_events *events, size_t attr);
/* It is read when the first of its group samples. */
bool perf_event_is_member(const struct perf_event_attr *attr);
/* Is it counted by the kernel, not by the processor, and not a clock? */
bool perf_event_is_counted_by_kernel(const struct event_spec *spec);

/* Descriptors needed for one thread. */
size_t perf_events_per_thread(const struct perf_events *events);
