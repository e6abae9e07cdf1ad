/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * deep_program: what runs in the kernel at the moment of a sample, just before the sample is written. It
 * copies what of the thread's stack lies beyond the snapshot.
 *
 * The stack from there, or from where a hint says, to the end of its mapping is read page by page. A page is
 * written into the ring only if it differs from what was last written of this thread's page; then an outline
 * says of every page what it holds, by a hash of its bytes. deep_stack puts them together again. Nothing is
 * read later, when the target has moved on.
 *
 * Instructions only: perf_deep loads them. Assembled here, so that no BPF compiler is needed to build.
 */
#pragma once

#include <linux/bpf.h>
#include <stdint.h>

#include "base/vec.h"
#include "binary/isa/isa.h"

/* The maps the instructions name, by descriptor. The first three hold one value a CPU. */
struct deep_maps {
	int cpu;     /* DEEP_CPU_SIZE: pages written of late */
	int page;    /* DEEP_PAGE_RECORD: a page record being made */
	int outline; /* DEEP_OUTLINE_SIZE: an outline being made */
	int threads; /* 8 -> DEEP_THREAD_SIZE: where a thread's stack lies */
	int limits;  /* 8 -> 8: pages to be read at most, by the keys of deep_need; filled by cpprof */
	int known;   /* DEEP_KEY_SIZE -> 8: the hash of what was last written of a thread's page */
	int output;  /* perf event array: where records go */
	int hints;   /* 8 -> 8: where copying begins, by the keys of deep_need; filled by cpprof */
	int hinted;  /* one word: is there any hint? */
};
#define DEEP_CPU_SIZE 16
#define DEEP_THREAD_SIZE 16
#define DEEP_KEY_SIZE 16

struct deep_program {
	VEC(struct bpf_insn) code;
	uint32_t starts[3]; /* of its functions, the entry first, in instructions */
};

struct deep_limits {
	uint32_t snapshot;    /* bytes the kernel copies by itself */
	uint32_t n_pages;     /* read with a sample, at most DEEP_PAGES_MAX */
	uint32_t n_first;     /* the same for a thread without a limit of its own, below first_stack */
	uint64_t first_stack; /* stacks from here on are those that processes start with */
	uint32_t n_written; /* of a CPU in 2^DEEP_WINDOW_SHIFT ns: samples must find room in the ring, too */
};
#define DEEP_WINDOW_SHIFT 24 /* 17 ms */

void deep_program_make(struct deep_program *program, const struct isa *isa, const struct deep_maps *maps,
		       const struct deep_limits *limits);
