/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * deep_layout: what the BPF program deep.bpf.c and cpprof have in common: records, keys and options.
 *
 * Included by both, so it includes nothing but the kernel's integer types.
 */
#pragma once

#include <linux/types.h>

#define DEEP_MAGIC_PAGE 0x0165676170707063ull    /* "cppage" and a version */
#define DEEP_MAGIC_OUTLINE 0x01656e696c707063ull /* "cpline" and a version */
#define DEEP_MAGIC_HIDDEN 0x0164656469687063ull  /* "cphided" and a version */
#define DEEP_MAGIC_STEPPED 0x0170657473707063ull /* "cpstep" and a version */
#define DEEP_MAGIC_NEARBY 0x017261656e707063ull  /* "cpnear" and a version */
#define DEEP_MAGIC_TAIL 0x016c696174707063ull    /* "cptail" and a version */
#define DEEP_HIDDEN_MAX 64                       /* the kernel hides no more of a thread */
#define DEEP_NEARBY_REGS 31
#define DEEP_NEARBY_STACK 64
#define DEEP_TAIL 256 /* bytes; the kernel leaves out fewer */
#define DEEP_SLOT 16  /* no probed instruction is longer */
#define DEEP_PAGE 4096
#define DEEP_PAGE_SHIFT 12
#define DEEP_PAGES_MAX 2048 /* 8 MiB: what most systems let a stack grow to */
#define DEEP_HOLE 0         /* instead of a hash: the page was not in memory */
#define DEEP_FACTOR 0x9ddfea08eb382d69ull
#define DEEP_LANES 4
#define DEEP_WINDOW_SHIFT 24 /* what a CPU may write is limited for each 17 ms */
#define DEEP_PLACE_SHIFT 16  /* a place in a process is 64 KiB of its addresses */
#define DEEP_CODE_SHIFT 8    /* of its code 256 bytes */

/* The record of one page of a stack. */
struct deep_page_record {
	__u64 magic, addr, hash;
	__u64 words[DEEP_PAGE / 8];
};

/* The record that says what each page of a stack holds, written right before the stack's sample. */
struct deep_outline {
	__u64 magic, sp, first, end, n, thread;
	__u64 hashes[DEEP_PAGES_MAX];
};

/*
 * Return addresses that the kernel has put its own in the place of, because somebody probes returns. Written
 * before the sample, too.
 */
struct deep_hidden {
	__u64 magic, sp, n;
	struct {
		__u64 stack;   /* sp at the entry of the function whose it is */
		__u64 address; /* where it will return to */
	} of[DEEP_HIDDEN_MAX]; /* innermost first */
};

/*
 * A thread that was interrupted in the kernel after its return address was replaced and before it was noted:
 * it is in one of the kernel's registers, or on the top of the kernel's stack. All that may be an address of
 * the program; 0 instead of anything else. Written before the sample, too.
 */
struct deep_nearby {
	__u64 magic, sp;
	__u64 words[DEEP_NEARBY_REGS + DEEP_NEARBY_STACK];
};

/*
 * A probed instruction that the kernel cannot emulate is executed elsewhere: the thread is at a copy of it.
 * Written before the sample, too.
 */
struct deep_stepped {
	__u64 magic, sp;
	__u64 copy, place; /* where the copy is; where the instruction belongs */
};

/*
 * The last bytes of a mapping that ends within the snapshot. The kernel copies in blocks and gives up the
 * block, and what it has read ahead, where it comes upon memory that is not there (AArch64). Written before
 * the sample, too.
 */
struct deep_tail {
	__u64 magic, sp, addr;
	__u64 words[DEEP_TAIL / 8];
};

/* Where the kernel keeps them: offsets of members; 0 = not known. */
struct deep_members {
	__u32 utask, instances;     /* of the task, of its uprobe_task */
	__u32 stack, address, next; /* of a return_instance */
	__u32 copy, place;          /* of the uprobe_task */
	__u32 space, probes, own;   /* of the task, of its mm_struct, of its xol_area: where the kernel's own
				       return address is */
};

/* Set before the program is loaded. */
struct deep_options {
	__u64 first_stack; /* stacks from here on are those that processes start with */
	__u32 snapshot;    /* bytes the kernel copies by itself */
	__u32 n_pages;     /* read with a sample, at most DEEP_PAGES_MAX */
	__u32 n_first;     /* the same for a thread without a limit of its own, below first_stack */
	__u32 n_written; /* pages of a CPU in 2^DEEP_WINDOW_SHIFT ns: samples must find room in the ring, too
			  */
	__u32 is_x86;    /* whose struct pt_regs it is */
	struct deep_members members;
};

/* The key of a place: of limits and hints that hold for one part of a process's address space. */
static inline __u64 deep_place_key(__u64 thread, __u64 sp)
{
	return 1ull << 63 | thread >> 32 << 32 | (__u32)(sp >> DEEP_PLACE_SHIFT);
}

/* The same for a piece of a process's code: of limits for samples that were taken in it. */
static inline __u64 deep_code_key(__u64 thread, __u64 pc)
{
	return 3ull << 62 | thread >> 32 << 32 | (__u32)(pc >> DEEP_CODE_SHIFT);
}
