/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * trace_layout: what the BPF program trace.bpf.c and cpprof have in common.
 *
 * Included by both, so it includes nothing but the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define TRACE_MAGIC 0x01656361727470ull /* "ptrace" and a version */
#define TRACE_FUNCTIONS_MAX 1024
#define TRACE_ARG_NONE 255

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

/* A return address that the kernel has put its own in the place of, for a probe of returns. */
struct trace_hidden {
	__u64 stack;   /* sp at the entry of the function whose it is */
	__u64 address; /* where it will return to */
};
#define TRACE_HIDDEN_MAX 32

/* A call that has ended; it comes with the sample of its end. Times in ns. */
struct trace_call {
	__u64 magic;
	__u32 function;
	__u32 site;          /* enum trace_site: of the end */
	__u64 wall, off_cpu; /* less what calls of traced functions inside it took */
	__u64 whole_wall;    /* with them */
	__u64 arg, ret;
	__u64 entry;    /* where the function begins, at run time */
	__u64 n_hidden; /* of its callers, innermost first */
	struct trace_hidden hidden[TRACE_HIDDEN_MAX];
};

/* What happened to a function's calls, by CPU. */
struct trace_count {
	__u64 entries, exits;
	__u64 abandoned; /* entered again at the same place on the stack: left without an exit (longjmp,
			    exceptions) */
	__u64 strange;   /* exits without an entry: entered before the probes were there */
	__u64 dropped;   /* no room in the ring, or in the table of open calls */
};

/* Set before the program is loaded. */
struct trace_options {
	__u32 is_x86; /* whose struct pt_regs it is */
	__u32 hides;  /* probes of returns are used: return addresses must be looked up */
	__u32 arg;    /* number of the argument to be read, from 0; TRACE_ARG_NONE = none */
};
