/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source: where events come from: live perf_event rings (perf_source), or a perf.data file (perf_file).
 * Consumers need not distinguish them.
 */
#pragma once

#include "base/vec.h"
#include "collector/event.h"

/* What an event's values are. Waits are sampled once, and have several. */
enum source_values {
	SOURCE_WEIGHTS,       /* of its samples */
	SOURCE_OFF_CPU,       /* ns from its samples, when a thread leaves its CPU, until it runs again */
	SOURCE_WAITS,         /* the number of those; has no samples */
	SOURCE_WALL,          /* ns on a CPU and off; has no samples */
	SOURCE_RUNNABLE,      /* ns off a CPU in which the thread was runnable; has no samples */
	SOURCE_SAMPLED_WAITS, /* the number of sampled waits, each of which may represent several */
};

/* One event that samples count. */
struct source_event {
	enum source_values values;
	char name[64]; /* "cpu-clock" */
	char unit[16]; /* of a sample's weight: "ns" for clocks, otherwise "count" */
	uint32_t type;
	uint64_t config;
	uint64_t frequency; /* requested; 0 if by period */
	uint64_t period;    /* requested; 0 if by frequency */
	bool excludes_kernel;
	uint32_t n_own_frames; /* innermost frames of its samples that belong to the BPF program that took
				  them */
};

struct source_info {
	const struct isa *isa;
	VEC(struct source_event) events;
	uint32_t n_counters; /* for calls: how many of the events after page-faults are counters */
	bool is_machine;     /* everything was recorded, not selected processes */
	uint32_t stack_size; /* requested snapshot size */
	char *no_deep;       /* why deep stacks are not copied, if requested; NULL = they are */
	char *bpf_log;       /* log of the kernel's verifier, if it refused the program; NULL = it did not */
	uint64_t start_unix_ns; /* wall clock at time zero of the recording, 0 = unknown */
	uint64_t start_ns;      /* the events' clock at that moment, 0 = unknown */
	bool has_near_waits; /* only the duration of waits is known; they are attributed to where a thread was
				last sampled */
	bool has_run_delays; /* time in which threads were runnable but not running is known only per thread
			      */
	bool has_timed_waits;          /* waits were timed in the kernel, and only some of them sampled */
	bool has_sampled_waits;        /* there are records of all waits, but only some were sampled */
	char *host, *kernel, *cpu;     /* NULL = unknown */
	char *cpu_id;                  /* as in collector/live/cpu_id.h; NULL = unknown */
	uint64_t cycle_fs;             /* duration of a CPU cycle; 0 = unknown */
	char *command;                 /* what was recorded */
	uint64_t locked_kb, raised_by; /* live only: memory of ring buffers, steps of nice by which the
					  priority was raised */
	VEC(char *) notes;             /* fallbacks and limits reached, one sentence each, for the user */
};

/* An event by its values; UINT32_MAX if there is none. */
uint32_t source_info_find(const struct source_info *info, enum source_values values);
/* Adds the events that belong to one of SOURCE_OFF_CPU, which exists or (with has_near_waits) will be added.
 */
void source_info_add_waits(struct source_info *info);

/* Do its samples represent everything that it counts? Not for clocks that continue in the kernel but do not
 * sample there, and not for waits. */
bool source_event_counts_all(const struct source_info *info, uint32_t event);

struct source;
struct source_ops {
	/* See source_next. */
	int (*next)(struct source *source, struct event *ret, int timeout_ms, struct diag *diag);
	/* Reads target memory now; NULL if there is no live target. Returns bytes read or -errno. pid may be
	 * that of any thread: the main thread of a process may have ended before the others. May be called
	 * from any thread. */
	ssize_t (*read_memory)(struct source *source, pid_t pid, uint64_t addr, void *to, size_t len);
	void (*close)(struct source *source);
	/* Makes source look for each file again, when it is mapped next. NULL: it need not. */
	void (*forget_files)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct images *images; /* borrowed; mapping events refer to it */
	struct source_info info;
	/* If the last event returned is a sample: where the next one was taken, as far as that is known, so
	 * that its data can be prefetched. */
	struct sample_place next;
};

/*
 * 1 and the next event; 0 at the end (of the file, or when every target has ended); -EAGAIN if there was none
 * within timeout_ms (live only; negative = wait forever); another -errno is a fault.
 */
int source_next(struct source *source, struct event *ret, int timeout_ms, struct diag *diag);
/* Calls take for every event until the end, for a source that ends by itself: a file. 0, or -errno after the
 * events before the error. */
int source_each(struct source *source, void (*take)(void *context, const struct event *event), void *context,
		struct diag *diag);
void source_close(struct source *source);
/* Adds to info->notes. */
__attribute__((format(printf, 2, 3))) void source_info_note(struct source_info *info, const char *format,
							    ...);
void source_info_done(struct source_info *info);
