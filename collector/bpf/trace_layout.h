/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * trace_layout: declarations shared by the BPF program trace.bpf.c and cpprof.
 *
 * Included by both, so it includes only the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define TRACE_MAGIC 0x03656361727470ull /* "ptrace" and a version */
#define TRACE_FUNCTIONS_MAX 1024
#define TRACE_ARG_NONE 255
#define TRACE_COUNTERS_MAX 4
#define TRACE_FUNCTION_MASK 0xffffu

/* The kind of a probe. Its cookie contains the function's number and this. */
enum trace_site {
	TRACE_ENTRY,
	TRACE_EXIT,   /* its own return instruction, or a jump to another function */
	TRACE_RETURN, /* a probe of the return address: the function has just been left */
};
static inline __u64 trace_cookie(__u32 function, enum trace_site site)
{
	return (__u64)function << 2 | (__u64)site;
}

/* Flag in the cookie: a function written in Go, whose stacks move. */
#define TRACE_COOKIE_GO (1ull << 35)

/* Flag in the cookie: the entry probe is TRACE_SKIP bytes after the start of the function. */
#define TRACE_COOKIE_SKIPS (1ull << 36)
#define TRACE_SKIP 4

/* Flag in the cookie: a function of one instruction, which is both entry and exit. */
#define TRACE_COOKIE_WHOLE (1ull << 37)

/* Flag in the cookie: an exit that is a jump to another function, whose result is not known there. */
#define TRACE_COOKIE_JUMP (1ull << 38)

/*
 * For an allocation function: which of its arguments are the size of the new block, and the block that it
 * frees. Part of the cookie.
 */
struct trace_grant {
	__u8 size;    /* number of an argument, from 0, or TRACE_GRANT_NONE */
	__u8 count;   /* the number of elements */
	__u8 freed;   /* the address of a block that is freed */
	__u8 pointer; /* where the address of the new block is stored; none = it is the result */
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

/* A return address that the kernel has replaced by its own for a return probe. */
struct trace_hidden {
	__u64 stack;   /* sp at the entry of the function */
	__u64 address; /* the true return address */
};
#define TRACE_HIDDEN_MAX 64 /* the kernel hides at most this many per thread */

/* A block that was sampled and has not been freed. */
struct trace_block_key {
	__u64 address;
	__u32 process, zero;
};
#define TRACE_BLOCKS_MAX 262144

/* A call that has ended; sent with the sample taken at its end. Times in ns. */
struct trace_call {
	__u64 magic;
	__u32 function;
	__u32 site;          /* enum trace_site: of the end */
	__u64 wall, off_cpu; /* without calls of other traced functions inside it */
	__u64 faults;        /* page faults, likewise */
	__u64 whole_wall;    /* including them */
	__u64 arg, ret;
	__u64 entry;    /* run-time address of the function's start */
	__u64 n_hidden; /* hidden return addresses of its callers, innermost first */
	__u64 n_stands; /* how many calls it represents: those that were not measured, and itself */
	__u64 block;    /* for an allocation: the number of the block, whose size is arg; otherwise 0 */
	__u64 counted[TRACE_COUNTERS_MAX]; /* requested events, likewise. Not in Go */
	struct trace_hidden hidden[TRACE_HIDDEN_MAX];
};

/*
 * A call path that can be recognised: what the result of unwinding depended on, at the end of a call. Its
 * number says where it is counted.
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
/* What was counted for a path; durations include callees. */
struct trace_sums {
	__u64 seen, calls; /* calls: including those that were not measured */
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
	__u64 abandoned; /* entered again at the same stack address: left without an exit (longjmp,
			    exceptions) */
	__u64 strange;   /* exits without an entry: entered before the probes were set */
	__u64 dropped;   /* no room in the ring, or in the table of open calls */
	__u64 known;     /* on known paths: counted in the kernel, not sent */
	__u64 bytes;     /* allocated, for allocation functions */
};

/* Set before the program is loaded. */
struct trace_options {
	__u32 is_x86;           /* the layout of struct pt_regs */
	__u32 hides;            /* return probes are used: return addresses must be looked up */
	__u32 arg;              /* number of the argument to be read, from 0; TRACE_ARG_NONE = none */
	__u32 paths;            /* known paths are recognised */
	__u32 counts;           /* only count entries */
	__u32 held;             /* for allocations: blocks are tracked until they are freed */
	__u32 n_counters, zero; /* events that are counted per call */
	__u64 every;            /* for allocations: mean number of bytes between samples, times ln 2 */
};
