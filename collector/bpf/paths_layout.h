/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * paths_layout: declarations shared by the BPF program paths.bpf.c and cpprof.
 *
 * Included by both, so it includes only the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define PATHS_PROBES_MAX 65536
#define PATHS_COUNTED_MAX 262144 /* distinct paths of all functions and callers */

/* What is done to the number of the current path. */
enum paths_end {
	PATHS_GOES_ON, /* adds to it */
	PATHS_ENDS,    /* adds to it, counts it, and starts another path */
	PATHS_LEAVES,  /* adds to it and counts it; the function is left */
};
struct paths_action {
	__u32 add;
	__u32 end;           /* enum paths_end */
	__u32 next;          /* PATHS_ENDS: the initial number of the next path */
	__u32 expect;        /* the block whose probe comes next; PATHS_NOWHERE if it leaves */
	__u32 goes_to_entry; /* ... after executing the function's first instruction */
	__u32 zero;
};
#define PATHS_NOWHERE 0xffffffffu

/* Parts of a probe, done in this order. */
enum paths_stage {
	PATHS_ARRIVAL = 1, /* the block may have been reached through a table */
	PATHS_PAD = 2,     /* ... by an exception: the current path is dropped */
	PATHS_ENTRY = 4,
	PATHS_BRANCH = 8, /* one of two actions, by the test */
	PATHS_PASS = 16,  /* the first of the two actions */
};

/* See enum branch_test. */
enum paths_test { PATHS_BY_FLAGS, PATHS_IF_ZERO, PATHS_IF_CLEAR };

/* One place, identified by its number, which is the probe's cookie. */
struct paths_probe {
	__u32 function, block;
	__u32 stages;
	__u8 test, condition, is_inverted, bit;
	__u32 reg;   /* the tested register: words from the start of struct pt_regs */
	__u32 width; /* bytes of it */
	__u32 cfa_reg;
	__s32 cfa_offset;           /* the frame is identified by cfa_reg + cfa_offset */
	struct paths_action entry;  /* for PATHS_ENTRY and PATHS_PAD */
	struct paths_action way[2]; /* taken; not taken */
};

/* From a jump through a table to one of its targets. */
struct paths_arrival {
	__u32 function, from, to; /* blocks */
};

struct paths_key {
	__u64 caller; /* the return address, relative to the function's first instruction; 0 = not requested
		       */
	__u32 function, number;
};

struct paths_stats {
	__u64 hits;
	__u64 dropped; /* paths that did not continue as expected: longjmp, an exception */
	__u64 partial; /* paths that had already begun when the probes were set */
	__u64 full;    /* paths that were not counted because there was no room */
};

/* Set before the program is loaded. */
struct paths_options {
	__u32 is_x86;    /* the layout of struct pt_regs */
	__u32 by_caller; /* paths are distinguished by the caller */
	__u32 process;   /* only this process; 0 = any */
	__u32 zero;
};
