/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * paths_layout: what the BPF program paths.bpf.c and cpprof have in common.
 *
 * Included by both, so it includes nothing but the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define PATHS_PROBES_MAX 65536
#define PATHS_COUNTED_MAX 262144 /* different ways, of all functions and callers */

/* What is done to a way's number. */
enum paths_end {
	PATHS_GOES_ON, /* it grows */
	PATHS_ENDS,    /* it grows, is counted, and another begins */
	PATHS_LEAVES,  /* it grows and is counted; the function is left */
};
struct paths_action {
	__u32 add;
	__u32 end;           /* enum paths_end */
	__u32 next;          /* PATHS_ENDS: the number that the next way begins with */
	__u32 expect;        /* the block whose probe comes next; PATHS_NOWHERE if it leaves */
	__u32 goes_to_entry; /* ... and on the way there the function's first instruction */
	__u32 zero;
};
#define PATHS_NOWHERE 0xffffffffu

/* Parts of a probe, done in this order. */
enum paths_stage {
	PATHS_ARRIVAL = 1, /* the block may have been reached through a table */
	PATHS_PAD = 2,     /* ... by an exception: what went on is dropped */
	PATHS_ENTRY = 4,
	PATHS_BRANCH = 8, /* one of two actions, by the test */
	PATHS_PASS = 16,  /* the first of them */
};

/* As enum branch_test. */
enum paths_test { PATHS_BY_FLAGS, PATHS_IF_ZERO, PATHS_IF_CLEAR };

/* One place, known by its number, which is the probe's cookie. */
struct paths_probe {
	__u32 function, block;
	__u32 stages;
	__u8 test, condition, is_inverted, bit;
	__u32 reg;   /* words from the start of struct pt_regs: the one tested */
	__u32 width; /* bytes of it */
	__u32 cfa_reg;
	__s32 cfa_offset;           /* the frame is known by cfa_reg + cfa_offset */
	struct paths_action entry;  /* of PATHS_ENTRY, and of PATHS_PAD */
	struct paths_action way[2]; /* taken; not taken */
};

/* From a jump through a table to one of its targets. */
struct paths_arrival {
	__u32 function, from, to; /* blocks */
};

struct paths_key {
	__u64 caller; /* the return address, counted from the function's first instruction; 0 = not asked */
	__u32 function, number;
};

struct paths_stats {
	__u64 hits;
	__u64 dropped; /* ways that did not go on where they had to: longjmp, an exception */
	__u64 partial; /* that were under way when probes were set */
	__u64 full;    /* that there was no room to count */
};

/* Set before the program is loaded. */
struct paths_options {
	__u32 is_x86;    /* whose struct pt_regs it is */
	__u32 by_caller; /* ways are told apart by who called */
	__u32 process;   /* only this one; 0 = any */
	__u32 zero;
};
