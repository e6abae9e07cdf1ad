/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: what the kernel saw, in time order. Borrowed: everything an event points to is valid until
 * the next source_next().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"

/* DWARF numbering; bit set in known = value is the target's. */
struct regs {
	uint64_t value[REG_MAX];
	uint64_t known;
};

static inline bool regs_known(const struct regs *regs, unsigned reg)
{
	return reg < REG_MAX && (regs->known >> reg & 1);
}

/* A piece of a thread's stack. Pages of one thread with the same address and hash hold the same bytes. */
#define STACK_PAGE 4096
struct stack_page {
	const uint8_t *at; /* NULL: was not in memory */
	uint64_t hash;
};

struct sample {
	uint64_t weight; /* what this sample stands for: events (or ns, for clocks) since the last one */
	uint32_t cpu;
	uint32_t event;         /* index into the source's event list */
	bool in_kernel;         /* the sample hit kernel mode; regs are those of the interrupted user code */
	struct regs regs;       /* known == 0: no user registers */
	struct bytes stack;     /* copy of memory from regs.sp upwards, only what the kernel really copied */
	bool stack_was_full;    /* the copy filled the requested size: the stack may go on */
	bool stack_was_clipped; /* cut off at the end of the thread's stack: what the kernel copied beyond is
				   not its own */
	/* What of the stack lies beyond that copy, copied at the same moment: pages from deep_start on. */
	const struct stack_page *deep;
	uint32_t n_deep; /* 0 = there is nothing beyond, or it could not be had */
	uint64_t deep_start;
	uint64_t deep_thread; /* the kernel's name for whose they are, if there are any */
	const uint64_t *kernel_pc,
		*user_pc; /* innermost first; user_pc only if unwound by the kernel (frame pointers, LBR) */
	uint32_t n_kernel_pc, n_user_pc;
};

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

enum event_kind {
	EVENT_SAMPLE,
	EVENT_MAPPING,  /* also replaces whatever was mapped there */
	EVENT_FORK,     /* pid/tid is the child; a new thread if parent_pid == pid */
	EVENT_EXEC,     /* the process's address space is gone; its mappings follow; comm is the new name */
	EVENT_COMM,     /* a thread's name */
	EVENT_EXIT,     /* of one thread */
	EVENT_LOST,     /* count records or samples lost */
	EVENT_THROTTLE, /* the kernel held back samples from here */
	EVENT_UNTHROTTLE,
	EVENT_SWITCH, /* context switch, where asked for */
	EVENT_CODE,   /* in recordings: code in no file, as it was in the process from now on */
};

struct event {
	enum event_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC where we chose the clock; 0 = was so before the recording */
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
		} sw;
		struct {
			uint64_t addr;
			struct bytes bytes;
		} code;
	};
};
