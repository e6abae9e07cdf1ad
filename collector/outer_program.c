/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "collector/outer_program.h"

#include <elf.h>
#include <stddef.h>

#include "collector/outer_asm.h"
#include "collector/outer_need.h"
#include "collector/outer_stack.h"

#define WORDS (OUTER_PAGE / 8)
#define PAGE_SHIFT 12
_Static_assert(1 << PAGE_SHIFT == OUTER_PAGE, "pages are counted by shifting");

/* r0 = the CPU's value of the map, its key zero at FP + key; leaves the function if there is none. */
static void lookup_own(struct outer_program *p, int map, int key, int32_t result)
{
	store_zero(p, FP, key);
	set_map(p, R1, map);
	move(p, R2, FP);
	alu_imm(p, BPF_ADD, R2, key);
	call(p, BPF_FUNC_map_lookup_elem);
	size_t found = jump_if_imm(p, BPF_JNE, R0, 0);
	leave(p, result);
	land(p, found);
}

/* r1 = context, r4 = data, r5 = its size: into this CPU's ring. */
static void output(struct outer_program *p, const struct outer_maps *maps)
{
	set_map(p, R2, maps->output);
	set_wide(p, R3, 0, BPF_F_CURRENT_CPU);
	call(p, BPF_FUNC_perf_event_output);
}

enum cpu { CPU_WINDOW = 0, CPU_WRITTEN = 8 };
enum thread { THREAD_START = 0, THREAD_END = 8 };

/* ---- one page ------------------------------------------------------------------------------- */

/* What the entry function hands to the loop over pages, on its stack. */
enum loop { LOOP_CONTEXT = 0, LOOP_FIRST = 8, LOOP_N = 16, LOOP_THREAD = 24, LOOP_SIZE = 32 };
/* The page function's own stack. */
enum page_slot {
	PAGE_LOOP = -8,
	PAGE_INDEX = -16,
	PAGE_ADDR = -24,
	PAGE_THREAD = -32,
	PAGE_HASH = -40,
	PAGE_ZERO = -48
};
#define PAGE_KEY PAGE_THREAD /* thread and address */

/* r0 = hash of the page at r6 + OUTER_PAGE_HEADER; outer_hash() in instructions. */
static void hash_page(struct outer_program *p)
{
	static const int lanes[OUTER_LANES] = { R2, R3, R4, R5 };

	set_wide(p, R9, 0, OUTER_FACTOR);
	for (int i = 0; i < OUTER_LANES; i++)
		set(p, lanes[i], i + 1);
	for (int i = 0; i < WORDS; i++) {
		int lane = lanes[i % OUTER_LANES];
		load(p, R1, R6, OUTER_PAGE_HEADER + 8 * i);
		alu(p, BPF_XOR, lane, R1);
		emit(p, BPF_ALU | BPF_END | BPF_TO_BE, lane, 0, 0, 64);
		alu(p, BPF_MUL, lane, R9);
	}
	set(p, R0, 0);
	for (int i = 0; i < OUTER_LANES + 2;
	     i++) { /* two rounds more, so that the last words reach all bits */
		if (i < OUTER_LANES)
			alu(p, BPF_XOR, R0, lanes[i]);
		emit(p, BPF_ALU | BPF_END | BPF_TO_BE, R0, 0, 0, 64);
		alu(p, BPF_MUL, R0, R9);
	}
}

/* Into the outline: what page r1 holds, and that it was read. */
static void note_page(struct outer_program *p, const struct outer_maps *maps)
{
	store(p, FP, PAGE_HASH, R0);
	lookup_own(p, maps->outline, PAGE_ZERO, 1);
	load(p, R1, FP, PAGE_INDEX);
	alu_imm(p, BPF_AND, R1, OUTER_PAGES_MAX - 1);
	alu_imm(p, BPF_LSH, R1, 3);
	alu(p, BPF_ADD, R0, R1);
	load(p, R1, FP, PAGE_HASH);
	store(p, R0, OUTER_OUTLINE_HEADER, R1);
	load(p, R1, FP, PAGE_INDEX);
	alu_imm(p, BPF_ADD, R1, 1);
	load(p, R2, FP, PAGE_LOOP);
	store(p, R2, LOOP_N, R1);
}

/* Leaves the function if the page is as it was when it was last written. */
static void skip_known(struct outer_program *p, const struct outer_maps *maps)
{
	set_map(p, R1, maps->known);
	move(p, R2, FP);
	alu_imm(p, BPF_ADD, R2, PAGE_KEY);
	call(p, BPF_FUNC_map_lookup_elem);
	size_t is_new = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R1, R0, 0);
	load(p, R2, FP, PAGE_HASH);
	size_t differs = jump_if(p, BPF_JNE, R1, R2);
	leave(p, 0);
	land(p, is_new);
	land(p, differs);
}

/* Leaves the function if this CPU has written all it may for now. */
static void keep_to_limit(struct outer_program *p, const struct outer_maps *maps, uint32_t n_written)
{
	lookup_own(p, maps->cpu, PAGE_ZERO, 1);
	load(p, R1, R0, CPU_WRITTEN);
	size_t may = jump_if_imm(p, BPF_JLT, R1, (int32_t)n_written);
	leave(p, 0);
	land(p, may);
	alu_imm(p, BPF_ADD, R1, 1);
	store(p, R0, CPU_WRITTEN, R1);
}

/* A page that found no room in the ring is not known: it will be tried again. */
static void write_page(struct outer_program *p, const struct outer_maps *maps)
{
	set_wide(p, R1, 0, OUTER_MAGIC_PAGE);
	store(p, R6, 0, R1);
	load(p, R1, FP, PAGE_ADDR);
	store(p, R6, 8, R1);
	load(p, R1, FP, PAGE_HASH);
	store(p, R6, 16, R1);
	load(p, R1, FP, PAGE_LOOP);
	load(p, R1, R1, LOOP_CONTEXT);
	move(p, R4, R6);
	set(p, R5, OUTER_PAGE_RECORD);
	output(p, maps);
	size_t failed = jump_if_imm(p, BPF_JNE, R0, 0);
	set_map(p, R1, maps->known);
	move(p, R2, FP);
	alu_imm(p, BPF_ADD, R2, PAGE_KEY);
	move(p, R3, FP);
	alu_imm(p, BPF_ADD, R3, PAGE_HASH);
	set(p, R4, BPF_ANY);
	call(p, BPF_FUNC_map_update_elem);
	land(p, failed);
}

/* r1 = number of the page, r2 = the loop. 0: go on. A page that is not in memory (never written, or paged
 * out) is a hole. */
static void make_page_function(struct outer_program *p, const struct outer_maps *maps, uint32_t n_written)
{
	store(p, FP, PAGE_LOOP, R2);
	store(p, FP, PAGE_INDEX, R1);
	load(p, R3, R2, LOOP_FIRST);
	alu_imm(p, BPF_LSH, R1, PAGE_SHIFT);
	alu(p, BPF_ADD, R3, R1);
	store(p, FP, PAGE_ADDR, R3);
	load(p, R3, R2, LOOP_THREAD);
	store(p, FP, PAGE_THREAD, R3);
	lookup_own(p, maps->page, PAGE_ZERO, 1);
	move(p, R6, R0);
	move(p, R1, R6);
	alu_imm(p, BPF_ADD, R1, OUTER_PAGE_HEADER);
	set(p, R2, OUTER_PAGE);
	load(p, R3, FP, PAGE_ADDR);
	call(p, BPF_FUNC_probe_read_user);
	size_t is_there = jump_if_imm(p, BPF_JEQ, R0, 0);
	set(p, R0, OUTER_HOLE);
	note_page(p, maps);
	leave(p, 0);
	land(p, is_there);
	hash_page(p);
	note_page(p, maps);
	skip_known(p, maps);
	keep_to_limit(p, maps, n_written);
	write_page(p, maps);
	leave(p, 0);
}

/* ---- the stack's mapping -------------------------------------------------------------------- */

/* r2 = the mapping, r3 = room for its start and end, which are its first two words since ever. */
static void make_mapping_function(struct outer_program *p)
{
	move(p, R1, R3);
	move(p, R3, R2);
	set(p, R2, 16);
	call(p, BPF_FUNC_probe_read_kernel);
	leave(p, 0);
}

/* ---- the entry ------------------------------------------------------------------------------ */

enum entry_slot { ENTRY_LOOP = -32, ENTRY_SP = -40, ENTRY_ZERO = -48, ENTRY_END = -56, ENTRY_START = -64 };

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
static void find_sp(struct outer_program *p, const struct isa *isa)
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
	move(p, R3, R0);
	alu_imm(p, BPF_ADD, R3, machine.sp);
	move(p, R1, FP);
	alu_imm(p, BPF_ADD, R1, ENTRY_SP);
	set(p, R2, 8);
	call(p, BPF_FUNC_probe_read_kernel);
	land(p, is_user);
}

/* A call of a function of ours, to be bound to it when its place is known. */
static size_t set_function(struct outer_program *p, int dst)
{
	set_wide(p, dst, BPF_PSEUDO_FUNC, 0);
	return p->code.n - 2;
}

static void bind(struct outer_program *p, size_t at, unsigned function)
{
	p->code.at[at].imm = (int32_t)(p->starts[function] - at - 1);
}

/*
 * r3 = end of the mapping that holds sp, which is remembered; leaves if there is none (a kernel thread), or
 * mappings are being changed just now. Returns the reference to the mapping function.
 */
static size_t find_mapping(struct outer_program *p, const struct outer_maps *maps)
{
	store_zero(p, FP, ENTRY_START);
	store_zero(p, FP, ENTRY_END);
	call(p, BPF_FUNC_get_current_task_btf);
	move(p, R1, R0);
	load(p, R2, FP, ENTRY_SP);
	size_t function = set_function(p, R3);
	move(p, R4, FP);
	alu_imm(p, BPF_ADD, R4, ENTRY_START);
	set(p, R5, 0);
	call(p, BPF_FUNC_find_vma);
	load(p, R1, FP, ENTRY_SP);
	load(p, R2, FP, ENTRY_START);
	load(p, R3, FP, ENTRY_END);
	size_t is_below = jump_if(p, BPF_JLT, R1, R2);
	size_t is_inside = jump_if(p, BPF_JLT, R1, R3);
	land(p, is_below);
	leave(p, 1);
	land(p, is_inside);
	set_map(p, R1, maps->threads);
	move(p, R2, FP);
	alu_imm(p, BPF_ADD, R2, ENTRY_LOOP + LOOP_THREAD);
	move(p, R3, FP);
	alu_imm(p, BPF_ADD, R3, ENTRY_START);
	set(p, R4, BPF_ANY);
	call(p, BPF_FUNC_map_update_elem);
	load(p, R3, FP, ENTRY_END);
	return function;
}

/* r3 = end of the mapping that holds sp: the thread's as remembered, if sp still lies in it. */
static size_t find_end(struct outer_program *p, const struct outer_maps *maps)
{
	call(p, BPF_FUNC_get_current_pid_tgid);
	store(p, FP, ENTRY_LOOP + LOOP_THREAD, R0);
	set_map(p, R1, maps->threads);
	move(p, R2, FP);
	alu_imm(p, BPF_ADD, R2, ENTRY_LOOP + LOOP_THREAD);
	call(p, BPF_FUNC_map_lookup_elem);
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

/* r0 = the limit with the key at FP + key, or none. */
static void lookup_limit(struct outer_program *p, const struct outer_maps *maps, int key)
{
	set_map(p, R1, maps->limits);
	move(p, R2, FP);
	alu_imm(p, BPF_ADD, R2, key);
	call(p, BPF_FUNC_map_lookup_elem);
}

/* r7 = the limit of the place that sp is in, or 0: outer_place_key() in instructions. */
static void find_place_limit(struct outer_program *p, const struct outer_maps *maps)
{
	load(p, R1, FP, ENTRY_SP);
	alu_imm(p, BPF_RSH, R1, OUTER_PLACE_SHIFT);
	alu_imm(p, BPF_LSH, R1, 32);
	alu_imm(p, BPF_RSH, R1, 32);
	load(p, R2, FP, ENTRY_LOOP + LOOP_THREAD);
	alu_imm(p, BPF_RSH, R2, 32);
	alu_imm(p, BPF_LSH, R2, 32);
	alu(p, BPF_OR, R1, R2);
	set_wide(p, R2, 0, 1ull << 63);
	alu(p, BPF_OR, R1, R2);
	store(p, FP, ENTRY_START, R1);
	set(p, R7, 0);
	lookup_limit(p, maps, ENTRY_START);
	size_t has_none = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R7, R0, 0);
	land(p, has_none);
}

/* r7 = how many pages are to be read at most. */
static void find_limit(struct outer_program *p, const struct outer_maps *maps,
		       const struct outer_limits *limits)
{
	lookup_limit(p, maps, ENTRY_LOOP + LOOP_THREAD);
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

/* Leaves if the snapshot reaches to the stack's end; else sets up the loop, its count in r1. */
static void set_up_loop(struct outer_program *p, const struct outer_maps *maps,
			const struct outer_limits *limits)
{
	load(p, R2, FP, ENTRY_SP);
	alu_imm(p, BPF_ADD, R2, (int32_t)limits->snapshot);
	alu_imm(p, BPF_AND, R2, -OUTER_PAGE);
	store(p, FP, ENTRY_LOOP + LOOP_FIRST, R2);
	store(p, FP, ENTRY_END, R3);
	size_t is_deeper = jump_if(p, BPF_JLT, R2, R3);
	leave(p, 1);
	land(p, is_deeper);
	find_limit(p, maps, limits);
	load(p, R2, FP, ENTRY_LOOP + LOOP_FIRST);
	load(p, R3, FP, ENTRY_END);
	store(p, FP, ENTRY_LOOP + LOOP_CONTEXT, R6);
	store_zero(p, FP, ENTRY_LOOP + LOOP_N);
	alu(p, BPF_SUB, R3, R2);
	alu_imm(p, BPF_ADD, R3, OUTER_PAGE - 1);
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
static void start_window(struct outer_program *p, const struct outer_maps *maps)
{
	move(p, R8, R1);
	lookup_own(p, maps->cpu, ENTRY_ZERO, 1);
	move(p, R7, R0);
	call(p, BPF_FUNC_ktime_get_ns);
	alu_imm(p, BPF_RSH, R0, OUTER_WINDOW_SHIFT);
	load(p, R1, R7, CPU_WINDOW);
	size_t is_same = jump_if(p, BPF_JEQ, R0, R1);
	store(p, R7, CPU_WINDOW, R0);
	store_zero(p, R7, CPU_WRITTEN);
	land(p, is_same);
	move(p, R1, R8);
}

static void write_outline(struct outer_program *p, const struct outer_maps *maps)
{
	static const struct {
		int from, to;
	} fields[] = { { ENTRY_SP, 8 },
		       { ENTRY_LOOP + LOOP_FIRST, 16 },
		       { ENTRY_END, 24 },
		       { ENTRY_LOOP + LOOP_THREAD, 40 },
		       { ENTRY_LOOP + LOOP_N, 32 } };

	lookup_own(p, maps->outline, ENTRY_ZERO, 1);
	set_wide(p, R1, 0, OUTER_MAGIC_OUTLINE);
	store(p, R0, 0, R1);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		load(p, R5, FP, fields[i].from);
		store(p, R0, fields[i].to, R5);
	}
	size_t fits = jump_if_imm(p, BPF_JLE, R5, OUTER_PAGES_MAX);
	leave(p, 1);
	land(p, fits);
	alu_imm(p, BPF_LSH, R5, 3);
	alu_imm(p, BPF_ADD, R5, OUTER_OUTLINE_HEADER);
	move(p, R1, R6);
	move(p, R4, R0);
	output(p, maps);
}

void outer_program_make(struct outer_program *program, const struct isa *isa, const struct outer_maps *maps,
			const struct outer_limits *limits)
{
	struct outer_program *p = program;

	*p = (struct outer_program){ 0 };
	move(p, R6, R1);
	find_sp(p, isa);
	size_t mapping = find_end(p, maps);
	set_up_loop(p, maps, limits);
	start_window(p, maps);
	size_t page = set_function(p, R2);
	move(p, R3, FP);
	alu_imm(p, BPF_ADD, R3, ENTRY_LOOP);
	set(p, R4, 0);
	call(p, BPF_FUNC_loop);
	write_outline(p, maps);
	leave(p, 1); /* the sample is to be written in any case */

	p->starts[1] = (uint32_t)p->code.n;
	make_mapping_function(p);
	p->starts[2] = (uint32_t)p->code.n;
	make_page_function(p, maps, limits->n_written);
	bind(p, mapping, 1);
	bind(p, page, 2);
}
