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
	SOURCE_WEIGHTS,  /* of its samples */
	SOURCE_OFF_CPU,  /* ns between its samples, when a thread leaves its CPU, and when that is back */
	SOURCE_WAITS,    /* how many of those; has no samples */
	SOURCE_WALL,     /* ns on a CPU and off; has no samples */
	SOURCE_RUNNABLE, /* ns off a CPU in which nothing but a CPU was missing; has no samples */
	SOURCE_SAMPLED_WAITS, /* how many samples of waits there are, where each may stand for several */
};

/* One event that samples count. */
struct source_event {
	enum source_values values;
	char name[64]; /* "cpu-clock" */
	char unit[16]; /* of a sample's weight: "ns" for clocks, else "count" */
	uint32_t type;
	uint64_t config;
	uint64_t frequency; /* asked for; 0 if by period */
	uint64_t period;    /* asked for; 0 if by frequency */
	bool excludes_kernel;
	uint32_t n_own_frames; /* with which its samples begin: of the program that has taken them */
};

struct source_info {
	const struct isa *isa;
	VEC(struct source_event) events;
	uint32_t n_counters;    /* of calls: how many of the events, behind page-faults, are counters */
	bool is_machine;        /* whatever ran was recorded, not chosen processes */
	uint32_t stack_size;    /* snapshot size asked for */
	char *no_deep;          /* why deep stacks are not copied, if they were wanted; NULL = they are */
	char *bpf_log;          /* what the kernel's verifier said when it refused that; NULL = it did not */
	uint64_t start_unix_ns; /* wall clock at time zero of the recording, 0 = unknown */
	uint64_t start_ns;      /* the events' clock at that moment, 0 = unknown */
	bool has_near_waits;  /* of waits only the time is known; they are put where a thread was last sampled
			       */
	bool has_run_delays;  /* how long threads were kept from running is known by thread only */
	bool has_timed_waits; /* waits were timed in the kernel, and only some of them sampled */
	bool has_sampled_waits;        /* records tell of all of them, and only some were sampled */
	char *host, *kernel, *cpu;     /* NULL = unknown */
	char *cpu_id;                  /* the processor by its numbers; NULL = unknown */
	uint64_t cycle_fs;             /* how long a cycle takes; 0 = unknown */
	char *command;                 /* what was recorded */
	uint64_t locked_kb, raised_by; /* of a live one: memory of rings, steps of nice it was raised by */
	VEC(char *) notes;             /* fallbacks and limits met, one sentence each, for the user */
};

/* An event by its values; UINT32_MAX if there is none. */
uint32_t source_info_find(const struct source_info *info, enum source_values values);
/* There is an event of SOURCE_OFF_CPU, or will be if they are only near: adds those that go with it. */
void source_info_add_waits(struct source_info *info);

/* What it counts is what its samples stand for: not so for clocks that run on in the kernel, but do not
 * sample there, and for waits. */
bool source_event_counts_all(const struct source_info *info, uint32_t event);

struct source;
struct source_ops {
	/* See source_next. */
	int (*next)(struct source *source, struct event *ret, int timeout_ms, struct diag *diag);
	/* Reads target memory now; NULL where there is no live target. Returns bytes read or -errno. pid may
	 * be any thread's: a process's first one may have ended before the others. May be called from any
	 * thread. */
	ssize_t (*read_memory)(struct source *source, pid_t pid, uint64_t addr, void *to, size_t len);
	void (*close)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct images *images; /* borrowed; mapping events refer to it */
	struct source_info info;
	/* If the event handed out last is a sample: where the one after it was taken, as far as that is
	 * known. What it will need can be fetched meanwhile. */
	struct sample_place next;
};

/*
 * 1 and the next event; 0 at the end (the file's, or every target has gone); -EAGAIN when nothing
 * came within timeout_ms (live only; negative = wait for ever); another -errno is a fault.
 */
int source_next(struct source *source, struct event *ret, int timeout_ms, struct diag *diag);
/* Every event until the end, of a source that ends by itself: a file. 0, or -errno after what came before it.
 */
int source_each(struct source *source, void (*take)(void *context, const struct event *event), void *context,
		struct diag *diag);
void source_close(struct source *source);
/* Adds to info->notes. */
__attribute__((format(printf, 2, 3))) void source_info_note(struct source_info *info, const char *format,
							    ...);
void source_info_done(struct source_info *info);
