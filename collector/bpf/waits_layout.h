/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * waits_layout: declarations shared by the BPF program waits.bpf.c and cpprof.
 *
 * Included by both, so it includes only the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define WAITS_MAGIC 0x0474696177707063ull        /* "cppwait" and a version */
#define WAITS_MAGIC_3 0x0374696177707063ull      /* without waits_record.runnable */
#define WAITS_MAGIC_2 0x0274696177707063ull      /* ... and without waits_record.place */
#define WAITS_MAGIC_WAKING 0x0277696177707063ull /* the same for struct waits_waking */
/* Powers of two. Both tables together must not exceed 4 MB: older kernels allow no larger value. */
#define WAITS_THREADS_MAX 16384
#define WAITS_PLACES_MAX 16384
#define WAITS_PLACES_OF_THREAD 16
#define WAITS_LONG 8          /* so many times as long as usual is a long wait */
#define WAITS_OWN_FRAMES 12   /* the innermost ones of a stack in which the program runs */
#define WAITS_SHORT_NS 65536  /* of waits up to this length, not every waker is sampled: */
#define WAITS_WAKERS 32       /* fewer than this many lie between two that are */
#define WAITS_WINDOW_SHIFT 27 /* the number of samples of a CPU is limited per 134 ms */

/* A sum over waits of one thread. Times in ns. */
struct waits_sum {
	__u64 n, ns;
	__u64 runnable; /* part of ns for which it was runnable, because it had been woken or preempted */
	__u64 longest;
};

/*
 * A sampled wait has ended. It represents itself and all waits of the thread since the previous sampled one;
 * but a long wait represents only long waits in the same place, and other waits never represent long ones. A
 * wait that was sampled because there had been a long one in its place, but is not long, represents only
 * itself, and so does one whose end was not reported by the kernel. since 0: the thread has ended, and these
 * waits had not been reported.
 */
struct waits_record {
	__u64 magic;
	__u64 thread; /* pid and tid in cpprof's pid namespace */
	__u64 since, until;
	__u64 waker; /* the same for the thread that woke it in a system call; 0 = an interrupt, or unknown */
	__u64 woken; /* when; 0 = not known */
	__u64 futex; /* address of the futex it waited for, if its waker was in a system call on the same
			futex; otherwise 0 */
	struct waits_sum sum;
	__u64 place;    /* for long waits: the key of the place; otherwise 0 */
	__u64 runnable; /* of the sampled wait alone: how long it was runnable */
};

/*
 * A watched thread wakes another whose wait was sampled: the next sample is that of the waker at that moment.
 * It is written immediately, on the same CPU and in the same thread. Of short waits, only some have it.
 */
struct waits_waking {
	__u64 magic;
	__u64 thread; /* the woken thread */
	__u64 waker;
	__u64 at;
};

/*
 * A place in which a thread has waited for much longer than it usually does: the same system call, with the
 * same stack below it, judging by a few registers. A thread that has many short waits and a few long ones is
 * sampled almost only in short ones; those samples must not represent the time of the long ones.
 */
struct waits_place {
	__u32 number, key;    /* the thread, and the place; number 0 or WAITS_GONE = unused */
	__u32 next;           /* next place of the same thread: index + 1; 0 = none */
	__u32 window;         /* window of time in which it was last sampled */
	__u64 thread;         /* as above */
	__u64 unused;         /* makes the size a power of two, so that the index needs no multiplication */
	struct waits_sum sum; /* of long waits that have not been reported */
};

/* What is known about a thread. */
struct waits_thread {
	__u32 number; /* the kernel's id; 0 = unused, WAITS_GONE = no longer used */
	__u32 is_preempted;
	__u64 thread;  /* as above */
	__u64 since;   /* when it left its CPU, by the scheduler's clock; 0 = it is on a CPU */
	__u64 delayed; /* its total time runnable when it left the CPU */
	__u64 usual;   /* usual length of its waits, in ns */
	__u64 sampled; /* when the current wait was sampled, by the clock of samples; 0 = it was not */
	__u32 wanted,
		n_wanted; /* key of a place whose next wait is to be sampled; so many more are looked at */
	__u64 wanted_ns;  /* how long it has waited there since that was last sampled */
	__u32 places, n_places; /* the first of its places: index + 1; how many */
	struct waits_sum sum;   /* of waits that have not been reported, except those of places */
	__u32 window;           /* window of time in which it last waited */
	__u32 is_partial;       /* it did not wait in the previous window: it may have started in this one */
	__u32 n, n_last;        /* waits in this window, and in the previous one */
	__u64 gap;              /* how many more waits are not sampled */
	__u64 waker, woken, futex; /* as above, for the current wait, if it is sampled */
	__u32 n_skipped;           /* how many more wakers of short waits are not sampled */
	__u32 is_wanted; /* the current wait is sampled only because of its place, not by its turn */
};
#define WAITS_GONE (~0u)
/* ... but its waits could not be reported, because the ring was full: cpprof reads them from the table. */
#define WAITS_LEFT (~1u)

enum waits_target {
	WAITS_TARGET_NOW = 1, /* watched from its first context switch on */
	WAITS_TARGET_EXEC,    /* ... from its exec on */
	WAITS_TARGET_OWN,     /* cpprof itself: its stack is copied once */
};

/* Set before the program is loaded. */
struct waits_options {
	__u64 namespace_device, namespace_inode; /* cpprof's pid namespace */
	__u64 is_x86;                            /* whose struct pt_regs it is */
	__u64 n_sampled; /* maximum per CPU in 2^WAITS_WINDOW_SHIFT ns; beyond that, threads are sampled less
			    often */
	/* x86-64: a CPU's preempt_count, from its struct rq, which is also a per-CPU variable. 0 = not known.
	 * The kernel resolves the variable's name only if its symbol table has data, too. */
	__s64 preempt_count;
};
