/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * trace_layout: what the BPF program trace.bpf.c and cpprof have in common.
 *
 * Included by both, so it includes nothing but the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define TRACE_MAGIC 0x03656361727470ull /* "ptrace" and a version */
#define TRACE_FUNCTIONS_MAX 1024
#define TRACE_ARG_NONE 255
#define TRACE_COUNTERS_MAX 4
#define TRACE_FUNCTION_MASK 0xffffu

/* What a probe is, by its cookie: the function's number and where in it. */
enum trace_site {
	TRACE_ENTRY,
	TRACE_EXIT,   /* its own return instruction, or a jump to another function */
	TRACE_RETURN, /* a probe of the return address: the function has just been left */
};
static inline __u64 trace_cookie(__u32 function, enum trace_site site)
{
	return (__u64)function << 2 | (__u64)site;
}

/* Part of the cookie of a function written in Go, whose stacks move. */
#define TRACE_COOKIE_GO (1ull << 35)

/* Part of the cookie of a probe of an entry that is so many bytes behind the start of the function. */
#define TRACE_COOKIE_SKIPS (1ull << 36)
#define TRACE_SKIP 4

/* ... of a function of one instruction, which is its end, too. */
#define TRACE_COOKIE_WHOLE (1ull << 37)

/* ... of an exit that is a jump to another function: what that will return is not known there. */
#define TRACE_COOKIE_JUMP (1ull << 38)

/*
 * Of an allocation function: which of its arguments say how much it gives and which block it takes back. It
 * is part of the cookie.
 */
struct trace_grant {
	__u8 size;    /* number of an argument, from 0; TRACE_GRANT_NONE */
	__u8 count;   /* how many times that */
	__u8 freed;   /* the address of a block that is given back */
	__u8 pointer; /* where the address of the new block is put; none = it is the result */
};
#define TRACE_GRANT_NONE 7
#define TRACE_GRANT_SHIFT 40
static inline __u64 trace_grant_bits(struct trace_grant grant)
{
	return ((__u64)grant.size | (__u64)grant.count << 4 | (__u64)grant.freed << 8 |
		(__u64)grant.pointer << 12)
	       << TRACE_GRANT_SHIFT;
}
static inline struct trace_grant trace_grant_of(__u64 cookie)
{
	__u64 bits = cookie >> TRACE_GRANT_SHIFT;

	return (struct trace_grant){ bits & 7, bits >> 4 & 7, bits >> 8 & 7, bits >> 12 & 7 };
}

/* Logarithms of numbers from 1 to 2, in 65536ths: log2(1 + i / TRACE_LOGS). */
#define TRACE_LOGS 256

/* A return address that the kernel has put its own in the place of, for a probe of returns. */
struct trace_hidden {
	__u64 stack;   /* sp at the entry of the function whose it is */
	__u64 address; /* where it will return to */
};
#define TRACE_HIDDEN_MAX 64 /* the kernel hides no more of a thread */

/* A block that was sampled and is not freed. */
struct trace_block_key {
	__u64 address;
	__u32 process, zero;
};
#define TRACE_BLOCKS_MAX 262144

/* A call that has ended; it comes with the sample of its end. Times in ns. */
struct trace_call {
	__u64 magic;
	__u32 function;
	__u32 site;          /* enum trace_site: of the end */
	__u64 wall, off_cpu; /* less what calls of traced functions inside it took */
	__u64 faults;        /* page faults; the same */
	__u64 whole_wall;    /* with them */
	__u64 arg, ret;
	__u64 entry;    /* where the function begins, at run time */
	__u64 n_hidden; /* of its callers, innermost first */
	__u64 n_stands; /* how many calls it stands for: those that were not watched, and itself */
	__u64 block;    /* of an allocation: its own number, and its size is arg; else 0 */
	__u64 counted[TRACE_COUNTERS_MAX]; /* events that were asked for; as the times. Not in Go */
	struct trace_hidden hidden[TRACE_HIDDEN_MAX];
};

/*
 * A call path that is known again: what the walk of a stack depended on, at the end of a call. Its number
 * says where it is counted.
 */
#define TRACE_PATH_WORDS 48
#define TRACE_PATHS_MAX 16384
struct trace_path_key {
	__u64 frame; /* sp */
	__u32 thread, function;
};
struct trace_path {
	__u64 generation;
	__u64 pc, fp, ra;
	__u32 number, n_words;
	__u32 uses_fp, uses_ra;
	struct {
		__u64 addr, value;
	} words[TRACE_PATH_WORDS];
};
/* What was counted of a path; durations with all that was called. */
struct trace_sums {
	__u64 seen, calls; /* calls: with those that others stand for */
	__u64 wall, off_cpu, faults, arg, ret, duration;
	__u64 least, most;
	__u64 counted[TRACE_COUNTERS_MAX];
};
struct trace_class_key {
	__u32 number, class; /* of a path; of base/log_scale.h */
};

/* What happened to a function's calls, by CPU. */
struct trace_count {
	__u64 entries, exits;
	__u64 abandoned; /* entered again at the same place on the stack: left without an exit (longjmp,
			    exceptions) */
	__u64 strange;   /* exits without an entry: entered before the probes were there */
	__u64 dropped;   /* no room in the ring, or in the table of open calls */
	__u64 known;     /* on paths that were known: counted, and not sent */
	__u64 bytes;     /* that were asked for, of allocation functions */
};

/* Set before the program is loaded. */
struct trace_options {
	__u32 is_x86;           /* whose struct pt_regs it is */
	__u32 hides;            /* probes of returns are used: return addresses must be looked up */
	__u32 arg;              /* number of the argument to be read, from 0; TRACE_ARG_NONE = none */
	__u32 paths;            /* paths are known again */
	__u32 counts;           /* entries are counted, and nothing else is done */
	__u32 held;             /* of allocations: blocks are followed until they are freed */
	__u32 n_counters, zero; /* events that are counted by call */
	__u64 every; /* of allocations: bytes from one sample to the next, on average, times ln 2 */
};
