/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * goroutine: the part of deep.bpf.c that knows where a goroutine's stack is.
 */
#pragma once

/* What Go keeps in registers. */
struct goroutine {
	struct range stack; /* its bounds, the first members of struct g; 0: none */
	__u64 saved_sp;     /* sp before a clock function switched to the thread's stack */
};

/* Where struct pt_regs has the registers with its address (r14, x28) and that sp (r12, x20). */
#define GOROUTINE_X86 1
#define GOROUTINE_ARM 28
#define SAVED_SP_X86 3
#define SAVED_SP_ARM 20

/* In a program that is not Go, the registers contain anything. has_regs: the context has the registers of
 * user mode. */
static __always_inline void find_goroutine(void *context, int has_regs, struct goroutine *ret)
{
	__u64 address = 0;

	ret->saved_sp = ret->stack.start = ret->stack.end = 0;
	if (!has_regs) {
		const __u64 *regs = entry_registers();
		address = options.is_x86 ? regs[GOROUTINE_X86] : regs[GOROUTINE_ARM];
		ret->saved_sp = options.is_x86 ? regs[SAVED_SP_X86] : regs[SAVED_SP_ARM];
	} else if (options.is_x86) {
		address = CONTEXT_WORD(context, GOROUTINE_X86);
		ret->saved_sp = CONTEXT_WORD(context, SAVED_SP_X86);
	} else {
		address = CONTEXT_WORD(context, GOROUTINE_ARM);
		ret->saved_sp = CONTEXT_WORD(context, SAVED_SP_ARM);
	}
	if (address < DEEP_PAGE || address & 7 ||
	    bpf_probe_read_user(&ret->stack, sizeof(ret->stack), (void *)address))
		ret->stack.start = ret->stack.end = 0;
}

/* If sp is within these bounds, they are assumed to be correct. */
static __always_inline int is_on_goroutine(const struct goroutine *goroutine, __u64 sp)
{
	return sp >= goroutine->stack.start && sp < goroutine->stack.end;
}

/* The first members of Go's struct g. */
struct goroutine_head {
	struct range stack;
	__u64 guard, system_guard;
};
#define GO_GUARD_MAX 8192ull                   /* the guard is a little above the stack's start, */
#define GO_GUARD_SPECIAL 0xfffffffffffff000ull /* or a number that no address can be */

/*
 * On x86-64 Go also keeps the goroutine's address in the word below the thread-local storage. Other programs
 * have anything there, so everything that is known about a goroutine is checked.
 */
static __always_inline int find_kept_goroutine(struct range *ret)
{
	struct goroutine_head head;
	__u64 storage = read_task(options.members.storage), address = 0;

	if (!storage || bpf_probe_read_user(&address, sizeof(address), (void *)(storage - 8)) ||
	    address < DEEP_PAGE || address & 7 || bpf_probe_read_user(&head, sizeof(head), (void *)address))
		return 0;
	*ret = head.stack;
	__u64 size = head.stack.end - head.stack.start;
	return head.stack.start < head.stack.end && !(size & (size - 1)) && head.system_guard == ~0ull &&
	       (head.guard - head.stack.start < GO_GUARD_MAX || head.guard >= GO_GUARD_SPECIAL);
}

/*
 * A clock function runs on the thread's stack and returns to the goroutine's: copying begins there. The size
 * of a goroutine's stack is a power of two. On x86-64 the vdso may use both registers: then the whole stack
 * is copied.
 */
static __always_inline int follow_goroutine(const struct goroutine *goroutine, __u64 sp, struct range *stack)
{
	__u64 size = goroutine->stack.end - goroutine->stack.start, most = options.n_pages * DEEP_PAGE;
	struct range kept;

	if (is_on_goroutine(goroutine, sp))
		return 0;
	if (is_on_goroutine(goroutine, goroutine->saved_sp) && !(size & (size - 1))) {
		stack->start = goroutine->saved_sp;
		stack->end = goroutine->stack.end;
		return 1;
	}
	if (!options.is_x86 || !find_kept_goroutine(&kept) || (sp >= kept.start && sp < kept.end))
		return 0;
	stack->start = kept.end - kept.start > most ? kept.end - most : kept.start;
	stack->end = kept.end;
	return 1;
}
