/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * deep_layout: declarations shared by the BPF program deep.bpf.c and cpprof: records, keys and options.
 *
 * Included by both, so it includes only the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define DEEP_MAGIC_PAGE 0x0165676170707063ull    /* "cppage" and a version */
#define DEEP_MAGIC_OUTLINE 0x01656e696c707063ull /* "cpline" and a version */
#define DEEP_MAGIC_HIDDEN 0x0164656469687063ull  /* "cphided" and a version */
#define DEEP_MAGIC_STEPPED 0x0170657473707063ull /* "cpstep" and a version */
#define DEEP_MAGIC_TRAPPED 0x0170617274707063ull /* "cptrap" and a version */
#define DEEP_MAGIC_NEARBY 0x017261656e707063ull  /* "cpnear" and a version */
#define DEEP_MAGIC_TAIL 0x016c696174707063ull    /* "cptail" and a version */
#define DEEP_MAGIC_BELOW 0x01776f6c65627063ull   /* "cpbelow" and a version */
#define DEEP_HIDDEN_MAX 64                       /* the kernel hides at most this many per thread */
#define DEEP_NEARBY_REGS 31
#define DEEP_NEARBY_STACK 64
#define DEEP_TAIL 256  /* bytes; the kernel omits fewer */
#define DEEP_BELOW 128 /* bytes: the red zone of x86-64 */
#define DEEP_SLOT 16   /* longer than any probed instruction */
#define DEEP_PAGE 4096
#define DEEP_PAGE_SHIFT 12
#define DEEP_PAGES_MAX 2048 /* 8 MiB: the stack limit on most systems */
#define DEEP_HOLE 0         /* instead of a hash: the page was not in memory */
#define DEEP_FACTOR 0x9ddfea08eb382d69ull
#define DEEP_LANES 4
#define DEEP_WINDOW_SHIFT 24 /* the amount that a CPU may write is limited per 17 ms */
#define DEEP_PLACE_SHIFT 16  /* a place in a process is 64 KiB of its addresses */
#define DEEP_CODE_SHIFT 8    /* of its code 256 bytes */
#define DEEP_SEEN 2048       /* threads that were sampled last; a power of two */

/* The record of one page of a stack. */
struct deep_page_record {
	__u64 magic, addr, hash;
	__u64 words[DEEP_PAGE / 8];
};

/* The record with the contents of each page of a stack, as hashes; written directly before the stack's
 * sample. */
struct deep_outline {
	__u64 magic, sp, first, end, n, thread;
	__u64 hashes[DEEP_PAGES_MAX];
};

/*
 * Return addresses that the kernel has replaced by its own for return probes. Also written before the sample.
 */
struct deep_hidden {
	__u64 magic, sp, n;
	struct {
		__u64 stack;   /* sp at the entry of the function */
		__u64 address; /* the true return address */
	} of[DEEP_HIDDEN_MAX]; /* innermost first */
};

/*
 * For a thread that was interrupted in the kernel after its return address was replaced and before the kernel
 * recorded it: the address is in one of the kernel's registers, or at the top of the kernel's stack. Contains
 * everything that may be an address of the program; other words are 0. Also written before the sample.
 */
struct deep_nearby {
	__u64 magic, sp;
	__u64 words[DEEP_NEARBY_REGS + DEEP_NEARBY_STACK];
};

/*
 * A probed instruction that the kernel cannot emulate is executed out of line: the thread is at a copy of it.
 * Also written before the sample.
 */
struct deep_stepped {
	__u64 magic, sp;
	__u64 copy, place; /* where the copy is; where the instruction belongs */
};

/*
 * x86-64: the thread has executed a breakpoint, and pc is behind it. If it is that of a probe, the kernel
 * sets pc back when it has found the probe. Also written before the sample.
 */
struct deep_trapped {
	__u64 magic, sp;
	__u64 has_next; /* there is a breakpoint at pc, too */
};

/*
 * The last bytes of a mapping that ends within the snapshot. The kernel copies in blocks; on a fault it drops
 * the whole block and what it has read ahead (AArch64). Also written before the sample.
 */
struct deep_tail {
	__u64 magic, sp, addr;
	__u64 words[DEEP_TAIL / 8];
};

/*
 * The bytes below the sp of a thread that was interrupted, which a function may use without moving
 * sp (x86-64). The kernel's snapshot does not include them. Also written before the sample.
 */
struct deep_below {
	__u64 magic, sp;
	__u64 words[DEEP_BELOW / 8];
};

/* Where the kernel stores these: offsets of members; 0 = not known. The loader could relocate them, but it
 * takes longer to find them. */
struct deep_members {
	__u32 storage;              /* of the task: the address of its thread-local storage */
	__u32 first_stack;          /* of an mm_struct: where the first stack's frames end */
	__u32 probed;               /* of the task: its uprobe_task */
	__u32 instances, ended;     /* of the uprobe_task: its return_instances, and those kept for reuse */
	__u32 stack, address, next; /* of a return_instance */
	__u32 copy, place;          /* of the uprobe_task */
	__u32 space, probes, own; /* of the task, its mm_struct; of that; of its xol_area: where the kernel's
				     own return address is */
};

/* Events for samples of waits on one CPU: each copies half as much of the stack as the one before. */
#define DEEP_SAMPLE_SIZES 4
static inline __u32 deep_sample_size(__u32 snapshot, unsigned size)
{
	return snapshot >> size & ~7u;
}

/*
 * What the program knows about a thread at its last sample, and cpprof would have to ask for, when the thread
 * may have ended. It is read while the program runs, so check says whether all of it belongs together.
 */
struct deep_seen {
	__u64 thread, user; /* as bpf_get_current_pid_tgid and bpf_get_current_uid_gid return them */
	__u64 start, end;   /* of the mapping that contains its stack; end 0 = not known */
	__u64 check;
};

static inline __u64 deep_seen_check(const struct deep_seen *seen)
{
	__u64 check = seen->thread;

	check = check * DEEP_FACTOR + seen->user;
	check = check * DEEP_FACTOR + seen->start;
	return (check * DEEP_FACTOR + seen->end) | 1; /* not that of an empty one */
}

/* Set before the program is loaded. */
struct deep_options {
	__u64 first_stack; /* stacks at or above this address are initial stacks of processes */
	__u32 snapshot;    /* bytes that the kernel copies anyway */
	__u32 n_pages;     /* pages read with a sample, at most DEEP_PAGES_MAX */
	__u32 n_first;     /* the same for a thread without a limit of its own, below first_stack */
	__u32 n_written; /* maximum number of pages per CPU in 2^DEEP_WINDOW_SHIFT ns: the ring must also have
			    room for samples */
	__u32 is_x86;    /* the layout of struct pt_regs */
	__u32 n_cpus;    /* numbers of CPUs are below this */
	struct deep_members members;
};

/* The key of a place: for limits and hints that apply to one part of a process's address space. */
static inline __u64 deep_place_key(__u64 thread, __u64 sp)
{
	return 1ull << 63 | thread >> 32 << 32 | (__u32)(sp >> DEEP_PLACE_SHIFT);
}

/* The same for a piece of a process's code: for limits that apply to samples taken in it. */
static inline __u64 deep_code_key(__u64 thread, __u64 pc)
{
	return 3ull << 62 | thread >> 32 << 32 | (__u32)(pc >> DEEP_CODE_SHIFT);
}
