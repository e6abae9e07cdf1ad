/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * hidden: the part of deep.bpf.c that reports what probes of other tools hide from a sample: return
 * addresses, and the true pc of the thread.
 */
#pragma once

#define IP_X86 16
#define TRAMPOLINE_X86 32 /* bytes: more than the code to which probed calls return */
#define TRAMPOLINE_SAVES 3

/* The kernel's page for probes in the address space of the thread: a function whose return is probed returns
 * to its start. 0 if there is none. */
static __always_inline __u64 probes_page(void)
{
	__u64 space = read_task(options.members.space),
	      page = space && options.members.own ? read_kernel(space + options.members.probes) : 0;

	return page ? read_kernel(page + options.members.own) : 0;
}

/*
 * x86-64: the system call at that address takes a call off the list, and only at its end writes the true
 * return address to the stack. Until then, the call is the first of those kept for reuse (since Linux 6.14).
 * Returns the kernel's record of it, or 0.
 */
static __always_inline __u64 find_ended(__u64 sp, __u64 task)
{
	__u64 page, ended;

	if (!options.is_x86 || !options.members.ended || !(page = probes_page()) ||
	    entry_registers()[IP_X86] - page >= TRAMPOLINE_X86)
		return 0;
	ended = read_kernel(task + options.members.ended);
	return ended && read_kernel(ended + options.members.stack) == sp + 8 * (TRAMPOLINE_SAVES - 1) ? ended
												      : 0;
}

/* State of the loop over the probed calls of a thread. */
struct hidden_loop {
	__u64 it, n; /* the kernel's record of the next one; how many were read */
	__u64 ended; /* the record of the first one, if that is not on the list; 0 = it is */
};

static long note_hidden(__u64 index, struct hidden_loop *loop)
{
	struct deep_hidden *record = bpf_map_lookup_elem(&cpprof_hidden, &zero);
	__u64 it = loop->ended ? loop->ended : loop->it;

	if (!it || !record || index >= DEEP_HIDDEN_MAX)
		return 1;
	record->of[index].stack = read_kernel(it + options.members.stack);
	record->of[index].address = read_kernel(it + options.members.address);
	if (!loop->ended)
		loop->it = read_kernel(it + options.members.next);
	loop->ended = 0;
	loop->n = index + 1;
	return 0;
}

static __always_inline void write_hidden(void *context, __u64 sp, __u64 pc, __u64 task)
{
	struct hidden_loop loop = { 0 };

	if (!options.members.next)
		return;
	loop.it = read_kernel(task + options.members.instances);
	if (!pc)
		loop.ended = find_ended(sp, task);
	if (!loop.it && !loop.ended)
		return;
	bpf_loop(DEEP_HIDDEN_MAX, note_hidden, &loop, 0);
	struct deep_hidden *record = bpf_map_lookup_elem(&cpprof_hidden, &zero);
	__u64 n = loop.n;
	if (!record || n > DEEP_HIDDEN_MAX)
		return;
	record->magic = DEEP_MAGIC_HIDDEN;
	record->sp = sp;
	record->n = n;
	bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, record,
			      __builtin_offsetof(struct deep_hidden, of) + 16 * n);
}

/* Has the kernel replaced the return address of a function that was just entered, and not yet recorded the
 * true one? */
static __always_inline int is_in_between(__u64 sp, __u64 task)
{
	__u64 ra = 0, own = probes_page(), last;

	if (!own)
		return 0;
	if (options.is_x86)
		bpf_probe_read_user(&ra, sizeof(ra), (void *)sp);
	else
		ra = entry_registers()[30];
	last = read_kernel(task + options.members.instances);
	return ra == own && (!last || read_kernel(last + options.members.stack) != sp);
}

static __always_inline void copy_registers(void *context, struct deep_nearby *record)
{
	if (options.is_x86) {
#pragma unroll
		for (int i = 0; i < 15; i++)
			record->words[i] = CONTEXT_WORD(context, i);
	} else {
#pragma unroll
		for (int i = 0; i < DEEP_NEARBY_REGS; i++)
			record->words[i] = CONTEXT_WORD(context, i);
	}
}

/* The kernel's own addresses are not reported. */
static long drop_kernel_word(__u64 index, void *nothing)
{
	struct deep_nearby *record = bpf_map_lookup_elem(&cpprof_nearby, &zero);

	(void)nothing;
	if (!record || index >= DEEP_NEARBY_REGS + DEEP_NEARBY_STACK)
		return 1;
	if (record->words[index] >> 48)
		record->words[index] = 0;
	return 0;
}

/* The context has the registers of the kernel. */
static __always_inline void write_nearby(void *context, __u64 sp)
{
	__u64 own_sp = options.is_x86 ? CONTEXT_WORD(context, 19) : CONTEXT_WORD(context, 31);
	struct deep_nearby *record = bpf_map_lookup_elem(&cpprof_nearby, &zero);

	if (!record)
		return;
	__builtin_memset(record->words, 0, sizeof(record->words));
	copy_registers(context, record);
	bpf_probe_read_kernel(&record->words[DEEP_NEARBY_REGS], 8 * DEEP_NEARBY_STACK, (void *)own_sp);
	if (bpf_loop(DEEP_NEARBY_REGS + DEEP_NEARBY_STACK, drop_kernel_word, 0, 0) !=
	    DEEP_NEARBY_REGS + DEEP_NEARBY_STACK)
		return;
	record->magic = DEEP_MAGIC_NEARBY;
	record->sp = sp;
	bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, record, sizeof(*record));
}

/* Between the traps before and after a copied instruction, also in the kernel. */
static __always_inline void write_stepped(void *context, __u64 sp, __u64 task)
{
	struct deep_stepped record = { .magic = DEEP_MAGIC_STEPPED, .sp = sp };

	record.copy = options.members.copy ? read_kernel(task + options.members.copy) : 0;
	if (!record.copy)
		return;
	record.place = read_kernel(task + options.members.place);
	bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, &record, sizeof(record));
}

/* ---- breakpoints of x86-64 ---------------------------------------------------------------------------- */

#define ORIG_AX_X86 15
#define SS_X86 20
#define BREAKPOINT_X86 0xcc
#define BREAKPOINT_VECTOR 3
#define N_EXCEPTIONS 32
#define GATE_BYTES 16
/* Where Linux maps the interrupt descriptor table, since 4.15: its gates have the kernel's entry points. */
#define GATES 0xfffffe0000000000ull
/* FRED, which replaces the table in newer processors: what the word with ss says about the event. */
#define FRED_VECTOR(word) ((word) >> 32 & 0xff)
#define FRED_TYPE(word) ((word) >> 48 & 15)
#define FRED_SOFTWARE_EXCEPTION 6

/* State of the search for the entry point that contains an address: the last one before it. */
struct gate_loop {
	__u64 address, start, number;
};

static long look_at_gate(__u64 index, struct gate_loop *loop)
{
	__u64 gate = GATES + GATE_BYTES * index, low = read_kernel(gate), high = read_kernel(gate + 8);
	__u64 start = (low & 0xffff) | low >> 48 << 16 | high << 32;

	if (start <= loop->address && start > loop->start) {
		loop->start = start;
		loop->number = index;
	}
	return 0;
}

/* Has a breakpoint brought the thread into the kernel? Below the registers that an entry point saves is the
 * address to which the function that it calls returns. */
static __always_inline int is_in_breakpoint(__u64 regs)
{
	struct gate_loop loop = { .address = read_kernel(regs - 8) };
	__u64 word = read_kernel(regs + 8 * SS_X86);

	if (FRED_VECTOR(word) == BREAKPOINT_VECTOR && FRED_TYPE(word) == FRED_SOFTWARE_EXCEPTION)
		return 1;
	bpf_loop(N_EXCEPTIONS, look_at_gate, &loop, 0);
	return loop.number == BREAKPOINT_VECTOR;
}

static __always_inline int has_breakpoint(__u64 pc)
{
	__u8 byte = 0;

	return !bpf_probe_read_user(&byte, sizeof(byte), (void *)pc) && byte == BREAKPOINT_X86;
}

static __always_inline void write_trapped(void *context, __u64 sp)
{
	struct deep_trapped record = { .magic = DEEP_MAGIC_TRAPPED, .sp = sp };
	const __u64 *regs = entry_registers();
	__u64 pc = regs[IP_X86];

	if (regs[ORIG_AX_X86] != -1ull || !has_breakpoint(pc - 1) || !is_in_breakpoint((__u64)regs))
		return; /* most often, it is a system call */
	record.has_next = has_breakpoint(pc);
	bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, &record, sizeof(record));
}

/* Usually there is nothing to do, because the process has no probes. pc: 0 if the kernel had been entered;
 * then the context has the registers of the kernel, if it has any. */
static __always_inline void write_probes(void *context, int has_regs, __u64 sp, __u64 pc)
{
	__u64 task = read_task(options.members.probed);

	if (options.is_x86 && !pc)
		write_trapped(context, sp); /* perhaps the first one of the thread */
	if (!task)
		return;
	write_hidden(context, sp, pc, task);
	write_stepped(context, sp, task);
	if (has_regs && !pc && is_in_between(sp, task))
		write_nearby(context, sp);
}
