/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * waits_layout: what the BPF program waits.bpf.c and cpprof have in common.
 *
 * Included by both, so it includes nothing but the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define WAITS_MAGIC 0x0274696177707063ull        /* "cppwait" and a version */
#define WAITS_MAGIC_WAKING 0x0277696177707063ull /* the same of struct waits_waking */
/* A power of two. The table of threads must not exceed 4 MB: older kernels allow no larger value. */
#define WAITS_THREADS_MAX 32768
#define WAITS_OWN_FRAMES 12   /* of a stack in which the program runs: it is near the innermost one */
#define WAITS_WINDOW_SHIFT 27 /* what a CPU may sample is limited for each 134 ms */

/* A sum over waits of one thread. Times in ns. */
struct waits_sum {
	__u64 n, ns;
	__u64 runnable; /* of that, after it was woken, or because it was taken off its CPU */
	__u64 longest;
};

/*
 * A wait that was sampled has ended. It stands for itself and for all waits of the thread since the last one
 * that was sampled. since 0: the thread has ended, and these were left.
 */
struct waits_record {
	__u64 magic;
	__u64 thread; /* process and thread, as cpprof numbers them */
	__u64 since, until;
	__u64 waker; /* the same of who woke it, in a system call; 0 = an interrupt, or it is not known */
	__u64 woken; /* when; 0 = it is not known */
	__u64 futex; /* address of what it waited for, if its waker was in a call of the same futex; else 0 */
	struct waits_sum sum;
};

/*
 * A watched thread wakes another whose wait was sampled: the sample that follows is of the waker, at that
 * moment. It is on the same CPU, of the same thread, and written at once.
 */
struct waits_waking {
	__u64 magic;
	__u64 thread; /* that is woken */
	__u64 waker;
	__u64 at;
};

/* What is known of a thread. */
struct waits_thread {
	__u32 number; /* the kernel's own; 0 = nobody, WAITS_GONE = nobody any more */
	__u32 window; /* of time, in which it waited last */
	__u64 thread; /* as above */
	__u64 since;  /* it left its CPU then, by the scheduler's clock; 0 = it has one */
	__u32 is_preempted;
	__u32 is_partial; /* it did not wait in the window before this one: it may have begun amid this one */
	__u64 delayed;    /* how long it was runnable in all, when it left */
	__u64 waker;
	__u64 woken, futex;   /* as above, of the present wait, if it is sampled */
	__u64 sampled;        /* when the present wait was, by the clock of samples; 0 = it was not */
	struct waits_sum sum; /* of waits that no record has told of yet */
	__u64 gap;            /* so many more are not sampled */
	__u32 n, n_last;      /* waits in this window, and in the one before */
};
#define WAITS_GONE (~0u)

enum waits_target {
	WAITS_TARGET_NOW = 1, /* watched from the first time that it is met */
	WAITS_TARGET_EXEC,    /* ... from its exec on */
	WAITS_TARGET_OWN,     /* cpprof itself: its stack is copied once */
};

/* Set before the program is loaded. */
struct waits_options {
	__u64 namespace_device, namespace_inode; /* of processes, cpprof's own */
	__u64 is_x86;                            /* whose struct pt_regs it is */
	__u64 n_sampled; /* by a CPU in 2^WAITS_WINDOW_SHIFT ns, before threads are sampled more rarely */
};
