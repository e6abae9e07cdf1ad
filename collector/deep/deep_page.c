/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * deep_page: the part of the program that reads one page and writes it if it is new.
 */
#include "collector/deep/deep_asm.h"
#include "collector/deep/deep_stack.h"

#define WORDS (DEEP_PAGE / 8)

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

/* r0 = hash of the page at r6 + DEEP_PAGE_HEADER; deep_hash() in instructions. */
static void hash_page(struct deep_program *p)
{
	static const int lanes[DEEP_LANES] = { R2, R3, R4, R5 };

	set_wide(p, R9, 0, DEEP_FACTOR);
	for (int i = 0; i < DEEP_LANES; i++)
		set(p, lanes[i], i + 1);
	for (int i = 0; i < WORDS; i++) {
		int lane = lanes[i % DEEP_LANES];
		load(p, R1, R6, DEEP_PAGE_HEADER + 8 * i);
		alu(p, BPF_XOR, lane, R1);
		emit(p, BPF_ALU | BPF_END | BPF_TO_BE, lane, 0, 0, 64);
		alu(p, BPF_MUL, lane, R9);
	}
	set(p, R0, 0);
	for (int i = 0; i < DEEP_LANES + 2;
	     i++) { /* two rounds more, so that the last words reach all bits */
		if (i < DEEP_LANES)
			alu(p, BPF_XOR, R0, lanes[i]);
		emit(p, BPF_ALU | BPF_END | BPF_TO_BE, R0, 0, 0, 64);
		alu(p, BPF_MUL, R0, R9);
	}
}

/* Into the outline: what page r1 holds, and that it was read. */
static void note_page(struct deep_program *p, const struct deep_maps *maps)
{
	store(p, FP, PAGE_HASH, R0);
	lookup_own(p, maps->outline, PAGE_ZERO, 1);
	load(p, R1, FP, PAGE_INDEX);
	alu_imm(p, BPF_AND, R1, DEEP_PAGES_MAX - 1);
	alu_imm(p, BPF_LSH, R1, 3);
	alu(p, BPF_ADD, R0, R1);
	load(p, R1, FP, PAGE_HASH);
	store(p, R0, DEEP_OUTLINE_HEADER, R1);
	load(p, R1, FP, PAGE_INDEX);
	alu_imm(p, BPF_ADD, R1, 1);
	load(p, R2, FP, PAGE_LOOP);
	store(p, R2, LOOP_N, R1);
}

/* Leaves the function if the page is as it was when it was last written. */
static void skip_known(struct deep_program *p, const struct deep_maps *maps)
{
	lookup(p, maps->known, PAGE_KEY);
	size_t is_new = jump_if_imm(p, BPF_JEQ, R0, 0);
	load(p, R1, R0, 0);
	load(p, R2, FP, PAGE_HASH);
	size_t differs = jump_if(p, BPF_JNE, R1, R2);
	leave(p, 0);
	land(p, is_new);
	land(p, differs);
}

/* Leaves the function if this CPU has written all it may for now. */
static void keep_to_limit(struct deep_program *p, const struct deep_maps *maps, uint32_t n_written)
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
static void write_page(struct deep_program *p, const struct deep_maps *maps)
{
	set_wide(p, R1, 0, DEEP_MAGIC_PAGE);
	store(p, R6, 0, R1);
	load(p, R1, FP, PAGE_ADDR);
	store(p, R6, 8, R1);
	load(p, R1, FP, PAGE_HASH);
	store(p, R6, 16, R1);
	load(p, R1, FP, PAGE_LOOP);
	load(p, R1, R1, LOOP_CONTEXT);
	move(p, R4, R6);
	set(p, R5, DEEP_PAGE_RECORD);
	output(p, maps);
	size_t failed = jump_if_imm(p, BPF_JNE, R0, 0);
	update(p, maps->known, PAGE_KEY, PAGE_HASH);
	land(p, failed);
}

/* r1 = number of the page, r2 = the loop. 0: go on. A page that is not in memory (never written, or paged
 * out) is a hole. */
void deep_page_make(struct deep_program *p, const struct deep_maps *maps, uint32_t n_written)
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
	point(p, R1, R6, DEEP_PAGE_HEADER);
	set(p, R2, DEEP_PAGE);
	load(p, R3, FP, PAGE_ADDR);
	call(p, BPF_FUNC_probe_read_user);
	size_t is_there = jump_if_imm(p, BPF_JEQ, R0, 0);
	set(p, R0, DEEP_HOLE);
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
