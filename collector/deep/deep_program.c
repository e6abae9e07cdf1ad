/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "collector/deep/deep_program.h"

#include <elf.h>
#include <stddef.h>

#include "collector/deep/deep_asm.h"
#include "collector/deep/deep_need.h"
#include "collector/deep/deep_stack.h"

#define SNAPSHOT_PAGES_MAX 16 /* the kernel copies less than 64 KiB */

/* ---- the stack's mapping -------------------------------------------------------------------- */

/* r2 = the mapping, r3 = room for its start and end, which are its first two words since ever. */
static void make_mapping_function(struct deep_program *p)
{
	move(p, R1, R3);
	move(p, R3, R2);
	set(p, R2, 16);
	call(p, BPF_FUNC_probe_read_kernel);
	leave(p, 0);
}

/* ---- the entry ------------------------------------------------------------------------------ */

enum entry_slot {
	ENTRY_LOOP = -32,
	ENTRY_SP = -40,
	ENTRY_ZERO = -48,
	ENTRY_END = -56,
	ENTRY_START = -64,
	ENTRY_FROM = -72 /* where copying begins */
};

/* Where struct pt_regs has sp, and how it tells that they are those of user mode. */
struct machine {
	int sp, mode, mask, is_user;
};

static struct machine machine_of(const struct isa *isa)
{
	if (isa->elf_machine == EM_X86_64)
		return (struct machine){ .sp = 19 * 8, .mode = 17 * 8, .mask = 3, .is_user = 3 }; /* cs */
	return (struct machine){ .sp = 31 * 8, .mode = 33 * 8, .mask = 15, .is_user = 0 };        /* pstate */
}

/* FP[ENTRY_SP] = sp in user mode: that of the interrupt, or where the kernel was entered. */
static void find_sp(struct deep_program *p, const struct isa *isa)
{
	struct machine machine = machine_of(isa);

	load(p, R1, R6, machine.sp);
	store(p, FP, ENTRY_SP, R1);
	load(p, R1, R6, machine.mode);
	alu_imm(p, BPF_AND, R1, machine.mask);
	size_t is_user = jump_if_imm(p, BPF_JEQ, R1, machine.is_user);
	call(p, BPF_FUNC_get_current_task_btf);
	move(p, R1, R0);
	call(p, BPF_FUNC_task_pt_regs);
	point(p, R3, R0, machine.sp);
	point(p, R1, FP, ENTRY_SP);
	set(p, R2, 8);
	call(p, BPF_FUNC_probe_read_kernel);
	land(p, is_user);
}

/* A call of a function of ours, to be bound to it when its place is known. */
static size_t set_function(struct deep_program *p, int dst)
{
	set_wide(p, dst, BPF_PSEUDO_FUNC, 0);
	return p->code.n - 2;
}

static void bind(struct deep_program *p, size_t at, unsigned function)
{
	p->code.at[at].imm = (int32_t)(p->starts[function] - at - 1);
}

/*
 * FP[ENTRY_START], FP[ENTRY_END] = the mapping that holds the address at FP[slot], or the next one; zeros if
 * there is none (a kernel thread), or mappings are being changed just now. Returns the reference to the
 * mapping function.
 */
static size_t find_range(struct deep_program *p, int slot)
{
	store_zero(p, FP, ENTRY_START);
	store_zero(p, FP, ENTRY_END);
	call(p, BPF_FUNC_get_current_task_btf);
	move(p, R1, R0);
	load(p, R2, FP, slot);
	size_t function = set_function(p, R3);
	point(p, R4, FP, ENTRY_START);
	set(p, R5, 0);
	call(p, BPF_FUNC_find_vma);
	return function;
}

/* r3 = end of the mapping that holds sp, which is remembered; leaves if there is none. */
static size_t find_mapping(struct deep_program *p, const struct deep_maps *maps)
{
	size_t function = find_range(p, ENTRY_SP);

	load(p, R1, FP, ENTRY_SP);
	load(p, R2, FP, ENTRY_START);
	load(p, R3, FP, ENTRY_END);
	size_t is_below = jump_if(p, BPF_JLT, R1, R2);
	size_t is_inside = jump_if(p, BPF_JLT, R1, R3);
	land(p, is_below);
	leave(p, 1);
	land(p, is_inside);
	update(p, maps->threads, ENTRY_LOOP + LOOP_THREAD, ENTRY_START);
	load(p, R3, FP, ENTRY_END);
	return function;
}

/* r3 = end of the mapping that holds sp: the thread's as remembered, if sp still lies in it. */
static size_t find_end(struct deep_program *p, const struct deep_maps *maps)
{
	call(p, BPF_FUNC_get_current_pid_tgid);
	store(p, FP, ENTRY_LOOP + LOOP_THREAD, R0);
	lookup(p, maps->threads, ENTRY_LOOP + LOOP_THREAD);
	size_t is_new = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R1, FP, ENTRY_SP);
	load(p, R2, R0, THREAD_START);
	size_t is_below = jump_if(p, BPF_JLT, R1, R2);
	load(p, R3, R0, THREAD_END);
	size_t is_known = jump_if(p, BPF_JLT, R1, R3);
	land(p, is_new);
	land(p, is_below);
	size_t function = find_mapping(p, maps);
	land(p, is_known);
	return function;
}

/* FP[slot] = deep_place_key(), in instructions, of the place that sp is in. */
static void make_place_key(struct deep_program *p, int slot)
{
	load(p, R1, FP, ENTRY_SP);
	alu_imm(p, BPF_RSH, R1, DEEP_PLACE_SHIFT);
	alu_imm(p, BPF_LSH, R1, 32);
	alu_imm(p, BPF_RSH, R1, 32);
	load(p, R2, FP, ENTRY_LOOP + LOOP_THREAD);
	alu_imm(p, BPF_RSH, R2, 32);
	alu_imm(p, BPF_LSH, R2, 32);
	alu(p, BPF_OR, R1, R2);
	set_wide(p, R2, 0, 1ull << 63);
	alu(p, BPF_OR, R1, R2);
	store(p, FP, slot, R1);
}

/* r7 = the limit of the place that sp is in, or 0. */
static void find_place_limit(struct deep_program *p, const struct deep_maps *maps)
{
	make_place_key(p, ENTRY_START);
	set(p, R7, 0);
	lookup(p, maps->limits, ENTRY_START);
	size_t has_none = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R7, R0, 0);
	land(p, has_none);
}

/* r7 = how many pages are to be read at most. */
static void find_limit(struct deep_program *p, const struct deep_maps *maps, const struct deep_limits *limits)
{
	lookup(p, maps->limits, ENTRY_LOOP + LOOP_THREAD);
	size_t is_new = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R7, R0, 0);
	size_t is_thread = jump_if_imm(p, BPF_JNE, R7, 0);
	find_place_limit(p, maps);
	size_t is_place = jump(p);
	land(p, is_new);
	set(p, R7, (int32_t)limits->n_pages);
	set_wide(p, R1, 0, limits->first_stack);
	load(p, R2, FP, ENTRY_SP);
	size_t is_first = jump_if(p, BPF_JGE, R2, R1);
	set(p, R7, (int32_t)limits->n_first);
	land(p, is_thread);
	land(p, is_place);
	land(p, is_first);
	size_t is_less = jump_if_imm(p, BPF_JLE, R7, (int32_t)limits->n_pages);
	set(p, R7, (int32_t)limits->n_pages);
	land(p, is_less);
}

/* FP[ENTRY_ZERO] = the word that r7 names; the jump is taken if it cannot be read. */
static size_t read_word(struct deep_program *p)
{
	point(p, R1, FP, ENTRY_ZERO);
	set(p, R2, 8);
	move(p, R3, R7);
	call(p, BPF_FUNC_probe_read_user);
	return jump_if_imm(p, BPF_JNE, R0, 0);
}

/*
 * The word that r7 names, if it lies above sp (the signal's frame is still there), holds the sp of another
 * stack: FP[ENTRY_FROM] and FP[ENTRY_END] become that stack's. Else they stay; the end is in r9.
 */
static size_t follow_word(struct deep_program *p)
{
	load(p, R1, FP, ENTRY_SP);
	size_t is_below = jump_if(p, BPF_JLT, R7, R1);
	size_t is_unread = read_word(p);
	size_t function = find_range(p, ENTRY_ZERO);
	load(p, R1, FP, ENTRY_ZERO);
	load(p, R2, FP, ENTRY_START);
	load(p, R3, FP, ENTRY_END);
	size_t is_before = jump_if(p, BPF_JLT, R1, R2);
	size_t is_behind = jump_if(p, BPF_JGE, R1, R3);
	store(p, FP, ENTRY_FROM, R1);
	size_t is_done = jump(p);
	land(p, is_before);
	land(p, is_behind);
	store(p, FP, ENTRY_END, R9);
	land(p, is_below);
	land(p, is_unread);
	land(p, is_done);
	return function;
}

/*
 * FP[ENTRY_FROM] = end of the snapshot, which the kernel breaks off at a page that is not in memory: a stack
 * may have pages that nobody has touched. r9 = end of the stack.
 */
static void find_snapshot_end(struct deep_program *p, uint32_t snapshot)
{
	size_t is_over[SNAPSHOT_PAGES_MAX], is_missing[SNAPSHOT_PAGES_MAX], n = 0;

	load(p, R7, FP, ENTRY_SP);
	move(p, R1, R7);
	alu_imm(p, BPF_ADD, R1, (int32_t)snapshot);
	store(p, FP, ENTRY_FROM, R1);
	alu_imm(p, BPF_AND, R7, -DEEP_PAGE);
	for (; n <= snapshot / DEEP_PAGE && n < SNAPSHOT_PAGES_MAX; n++) {
		is_over[n] = jump_if(p, BPF_JGE, R7, R9);
		is_missing[n] = read_word(p);
		alu_imm(p, BPF_ADD, R7, DEEP_PAGE);
	}
	size_t is_whole = jump(p);
	for (size_t i = 0; i < n; i++)
		land(p, is_missing[i]);
	store(p, FP, ENTRY_FROM, R7);
	for (size_t i = 0; i < n; i++)
		land(p, is_over[i]);
	land(p, is_whole);
}

/* r3 = end of the stack. Sets FP[ENTRY_FROM] and FP[ENTRY_END]. Returns the reference to the mapping
 * function. */
static size_t find_from(struct deep_program *p, const struct deep_maps *maps,
			const struct deep_limits *limits)
{
	move(p, R9, R3);
	store(p, FP, ENTRY_END, R3);
	find_snapshot_end(p, limits->snapshot);
	lookup_own(p, maps->hinted, ENTRY_ZERO, 1);
	load(p, R1, R0, 0);
	size_t has_none = jump_if_imm(p, BPF_JEQ, R1, 0);
	make_place_key(p, ENTRY_START);
	lookup(p, maps->hints, ENTRY_START);
	size_t is_unknown = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R7, R0, 0);
	size_t function = follow_word(p);
	land(p, has_none);
	land(p, is_unknown);
	return function;
}

/* Leaves if the snapshot reaches to the stack's end; else sets up the loop, its count in r1. */
static void set_up_loop(struct deep_program *p, const struct deep_maps *maps,
			const struct deep_limits *limits)
{
	load(p, R2, FP, ENTRY_FROM);
	alu_imm(p, BPF_AND, R2, -DEEP_PAGE);
	store(p, FP, ENTRY_LOOP + LOOP_FIRST, R2);
	load(p, R3, FP, ENTRY_END);
	size_t is_deeper = jump_if(p, BPF_JLT, R2, R3);
	leave(p, 1);
	land(p, is_deeper);
	find_limit(p, maps, limits);
	load(p, R2, FP, ENTRY_LOOP + LOOP_FIRST);
	load(p, R3, FP, ENTRY_END);
	store(p, FP, ENTRY_LOOP + LOOP_CONTEXT, R6);
	store_zero(p, FP, ENTRY_LOOP + LOOP_N);
	alu(p, BPF_SUB, R3, R2);
	alu_imm(p, BPF_ADD, R3, DEEP_PAGE - 1);
	alu_imm(p, BPF_RSH, R3, PAGE_SHIFT);
	move(p, R1, R7);
	size_t is_longer = jump_if(p, BPF_JGE, R3, R1);
	move(p, R1, R3);
	land(p, is_longer);
	size_t has_any = jump_if_imm(p, BPF_JNE, R1, 0);
	leave(p, 1);
	land(p, has_any);
}

/* Time runs in windows: a new one has its writes before it. r1, which the loop wants, is kept in r8. */
static void start_window(struct deep_program *p, const struct deep_maps *maps)
{
	move(p, R8, R1);
	lookup_own(p, maps->cpu, ENTRY_ZERO, 1);
	move(p, R7, R0);
	call(p, BPF_FUNC_ktime_get_ns);
	alu_imm(p, BPF_RSH, R0, DEEP_WINDOW_SHIFT);
	load(p, R1, R7, CPU_WINDOW);
	size_t is_same = jump_if(p, BPF_JEQ, R0, R1);
	store(p, R7, CPU_WINDOW, R0);
	store_zero(p, R7, CPU_WRITTEN);
	land(p, is_same);
	move(p, R1, R8);
}

static void write_outline(struct deep_program *p, const struct deep_maps *maps)
{
	static const struct {
		int from, to;
	} fields[] = { { ENTRY_SP, 8 },
		       { ENTRY_LOOP + LOOP_FIRST, 16 },
		       { ENTRY_END, 24 },
		       { ENTRY_LOOP + LOOP_THREAD, 40 },
		       { ENTRY_LOOP + LOOP_N, 32 } };

	lookup_own(p, maps->outline, ENTRY_ZERO, 1);
	set_wide(p, R1, 0, DEEP_MAGIC_OUTLINE);
	store(p, R0, 0, R1);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		load(p, R5, FP, fields[i].from);
		store(p, R0, fields[i].to, R5);
	}
	size_t fits = jump_if_imm(p, BPF_JLE, R5, DEEP_PAGES_MAX);
	leave(p, 1);
	land(p, fits);
	alu_imm(p, BPF_LSH, R5, 3);
	alu_imm(p, BPF_ADD, R5, DEEP_OUTLINE_HEADER);
	move(p, R1, R6);
	move(p, R4, R0);
	output(p, maps);
}

void deep_program_make(struct deep_program *program, const struct isa *isa, const struct deep_maps *maps,
		       const struct deep_limits *limits)
{
	struct deep_program *p = program;

	*p = (struct deep_program){ 0 };
	move(p, R6, R1);
	find_sp(p, isa);
	size_t mapping = find_end(p, maps);
	size_t other_mapping = find_from(p, maps, limits);
	set_up_loop(p, maps, limits);
	start_window(p, maps);
	size_t page = set_function(p, R2);
	point(p, R3, FP, ENTRY_LOOP);
	set(p, R4, 0);
	call(p, BPF_FUNC_loop);
	write_outline(p, maps);
	leave(p, 1); /* the sample is to be written in any case */

	p->starts[1] = (uint32_t)p->code.n;
	make_mapping_function(p);
	p->starts[2] = (uint32_t)p->code.n;
	deep_page_make(p, maps, limits->n_written);
	bind(p, mapping, 1);
	bind(p, other_mapping, 1);
	bind(p, page, 2);
}
