/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * blocked_layout: what the BPF program blocked.bpf.c and cpprof have in common.
 */
#pragma once

#include <linux/types.h>

#define BLOCKED_THREADS_MAX 16384
#define BLOCKED_REGS 34   /* the words of the larger struct user_pt_regs, that of AArch64 */
#define BLOCKED_FRAMES 48 /* of the kernel's part of the stack */

/* A thread that waits in the kernel. */
struct blocked_thread {
	__u64 tid;
	__u64 n_switches; /* since it began: if this is the same later, it has not run meanwhile */
	__u64 n_frames;
	__u64 regs[BLOCKED_REGS];     /* of its user code, as the kernel saved them */
	__u64 frames[BLOCKED_FRAMES]; /* innermost first */
};

/* Set before the program is loaded. */
struct blocked_options {
	__u64 n_regs; /* words of this machine's struct pt_regs that are user registers */
};
