/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: an event from the kernel. Everything that an event points to is borrowed and valid until the next
 * source_next().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"

/* By DWARF number; a bit set in known means that the value is known. */
struct regs {
	uint64_t value[REG_MAX];
	uint64_t known;
};

static inline bool regs_known(const struct regs *regs, unsigned reg)
{
	return reg < REG_MAX && (regs->known >> reg & 1);
}

/* A piece of a thread's stack. Pages of one thread with the same address and hash have the same contents. */
#define STACK_PAGE 4096
struct stack_page {
	const uint8_t *at; /* NULL: was not in memory */
	uint64_t hash;
};

/* A return address that the kernel has replaced, because the return is probed. */
struct hidden_return {
	uint64_t stack;   /* sp at the entry of the function */
	uint64_t address; /* the true return address */
	bool is_maybe; /* one of several candidates for the same function, at most one of which is correct */
};

#define SAMPLE_VALUES_MAX 15

struct sample {
	uint64_t weight; /* what this sample represents: events (or ns, for clocks) since the last one */
	uint32_t cpu;
	uint32_t event; /* index into the source's event list */
	uint32_t round; /* the sampling round (periods.h): samples of different rounds are independent */
	bool is_call;   /* a measured call, which is not a random sample */
	uint32_t n_more;
	uint64_t more[SAMPLE_VALUES_MAX]; /* what it represents of the events that follow `event` in the list
					   */
	uint64_t duration;                /* of a measured call, in ns, including callees; 0 = not a call */
	uint64_t block;                   /* of a sampled allocation: its number; 0 = not an allocation */
	uint64_t doubts[2];               /* ... the variances of its weight and of more[0] */
	uint32_t function;                /* ... or of a call: the number of its function */
	uint64_t n_stands;                /* how many calls it represents; 0 = one */
	uint64_t callee; /* start of a function that has just returned to where the sample was taken; 0 = none
			  */
	bool is_whole;   /* there are no user frames: a kernel thread, or an interrupt */
	bool in_kernel;  /* the sample hit kernel mode; regs are those of the interrupted user code */
	struct regs regs;       /* known == 0: no user registers */
	struct bytes stack;     /* copy of memory from regs.sp upwards, as far as the kernel copied it */
	struct bytes below;     /* ... and up to regs.sp, copied at the same moment; may be empty */
	bool stack_was_full;    /* the copy has the requested size: the stack may continue */
	bool stack_was_clipped; /* truncated at the end of the thread's stack: what the kernel copied beyond
				   does not belong to it */
	/* The stack beyond that copy, copied at the same moment: pages from deep_start on. */
	const struct stack_page *deep;
	uint32_t n_deep; /* 0 = there is nothing beyond, or it could not be copied */
	uint64_t deep_start;
	uint64_t deep_thread; /* the kernel's identifier of the thread, if there are any */
	const uint64_t *kernel_pc,
		*user_pc; /* innermost first; user_pc only if unwound by the kernel (frame pointers, LBR) */
	uint32_t n_kernel_pc, n_user_pc;
	bool has_frame_chain;  /* user_pc was unwound by frame pointers */
	struct bytes branches; /* branches taken before it: {u64 from, to, flags} each, newest first; only in
				  files */
	bool is_after_break;   /* pc is behind a breakpoint instruction that has just trapped ... */
	bool is_at_break;      /* ... and at another one */
	const struct hidden_return *hidden; /* innermost first, followed by candidates */
	uint32_t n_hidden;
	struct {
		pid_t pid, tid; /* the sample is that of the waker of this thread, at that moment; 0 = it is
				   not */
		image_id image; /* the image above its path, where it is counted */
	} woken;
};

/* Removes the innermost kernel frames, which belong to the BPF program that took the sample. */
static inline void sample_drop_frames(struct sample *sample, uint32_t n)
{
	if (n >= sample->n_kernel_pc)
		return;
	sample->kernel_pc += n;
	sample->n_kernel_pc -= n;
}

/* Where a sample was taken. */
struct sample_place {
	pid_t pid;
	uint64_t pc; /* 0 = not known */
};

struct mapping {
	uint64_t start, len; /* run-time addresses */
	uint64_t file_offset;
	image_id image; /* IMAGE_NONE: anonymous */
	uint64_t bias;  /* pc = vaddr + bias */
	bool is_executable;
	const char *path; /* as recorded */
};

/*
 * Every kind of event: its name, which unwinders get it if several threads unwind, and what it points to that
 * must be copied for another thread. A new kind is added here. The profile builder gets every kind: each says
 * at least that something happened at its time. Every `switch` over kinds lists all of them, without a
 * default, so that a new one does not compile until it is handled everywhere.
 */
#define EVENT_KINDS(KIND)                             \
	KIND(SAMPLE, "sample", ONE, SAMPLE)           \
	KIND(MAPPING, "mapping", EVERY, PATH)         \
	KIND(FORK, "fork", EVERY, NOTHING)            \
	KIND(EXEC, "exec", EVERY, NAME)               \
	KIND(COMM, "comm", NONE, NAME)                \
	KIND(EXIT, "exit", EVERY, NOTHING)            \
	KIND(LOST, "lost", NONE, NOTHING)             \
	KIND(THROTTLE, "throttle", NONE, NOTHING)     \
	KIND(UNTHROTTLE, "unthrottle", NONE, NOTHING) \
	KIND(SWITCH, "switch", NONE, NOTHING)         \
	KIND(CODE, "code", EVERY, CODE)

/*
 * MAPPING also replaces whatever was mapped there. FORK: pid/tid is the child, a new thread if parent_pid ==
 * pid. EXEC: the process's address space is gone, its mappings follow; comm is the new name. COMM: a thread's
 * name. EXIT: of one thread. LOST: the number of lost records or samples. THROTTLE: the kernel suppresses
 * samples from here on. SWITCH: a context switch, if requested. CODE: in recordings, JIT code as it was in
 * the process from then on.
 */
enum event_kind {
#define EVENT_KIND(kind, name, unwinders, borrowed) EVENT_##kind,
	EVENT_KINDS(EVENT_KIND)
#undef EVENT_KIND
};

enum event_unwinders {
	EVENT_UNWINDERS_NONE,
	EVENT_UNWINDERS_ONE,   /* the one that unwinds this thread's stacks */
	EVENT_UNWINDERS_EVERY, /* all: each has the address spaces of all processes */
};
enum event_borrowed {
	EVENT_BORROWED_NOTHING,
	EVENT_BORROWED_SAMPLE, /* stacks and call chains */
	EVENT_BORROWED_CODE,   /* code.bytes */
	EVENT_BORROWED_NAME,   /* comm, which unwinders do not use */
	EVENT_BORROWED_PATH,   /* mapping.path, likewise */
};

struct event_route {
	const char *name;
	enum event_unwinders unwinders;
	enum event_borrowed borrowed;
};

static inline const struct event_route *event_route(enum event_kind kind)
{
#define EVENT_ROUTE(kind, name, unwinders, borrowed) \
	[EVENT_##kind] = { name, EVENT_UNWINDERS_##unwinders, EVENT_BORROWED_##borrowed },
	static const struct event_route routes[] = { EVENT_KINDS(EVENT_ROUTE) };
#undef EVENT_ROUTE

	return &routes[kind];
}

struct event {
	enum event_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC if we chose the clock; 0 = from before the recording */
	pid_t pid, tid;   /* in cpprof's pid namespace */
	union {
		struct sample sample;
		struct mapping mapping;
		struct {
			pid_t parent_pid, parent_tid;
		} fork;
		const char *comm;
		uint64_t lost;
		struct {
			bool is_out, is_preempted;
			uint64_t waited_ns; /* when it runs again, if known */
			/* For waits that were timed in the kernel: a sampled one, and all since the previous
			 * sampled one. */
			bool is_measured;
			bool is_rest, is_cut; /* none of them was sampled; the last has not ended */
			bool is_lost;         /* its sample was lost */
			uint32_t
				sort; /* one of WAIT_SORTS; or, where they are timed in the kernel, a place */
			bool is_placed;    /* is_out, is_cut: the thread's last sample is where it waits */
			uint64_t since_ns; /* when the sampled one began; 0 = not known */
			uint64_t n, runnable_ns, longest_ns; /* runnable: part of waited_ns */
			/* The sampled one alone; 0 = not known. */
			uint64_t own_ns, own_runnable_ns;
			pid_t waker, waker_pid; /* thread that ended it; 0 = not known */
			uint32_t woken_metric;  /* metric of waits that this waker ended; 0 = none */
			uint64_t woken_ns;      /* when; 0 = not known */
			uint64_t futex;         /* address of the futex it waited for; 0 = none */
			uint32_t
				held_metric; /* metric of waits for what this thread held longest; 0 = none */
			uint64_t held_ns;    /* how long, part of waited_ns */
		} sw;
		struct {
			uint64_t addr;
			struct bytes bytes;
		} code;
	};
};
