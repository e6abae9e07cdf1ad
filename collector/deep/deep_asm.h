/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * deep_asm: BPF instructions, one function each, and what the parts of the program share. Private to
 * deep_program.c and deep_page.c.
 */
#pragma once

#include "collector/deep/deep_program.h"
#include "collector/deep/deep_stack.h"

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };

static inline void emit(struct deep_program *p, int code, int dst, int src, int off, int32_t imm)
{
	vec_push(&p->code, ((struct bpf_insn){ .code = (uint8_t)code,
					       .dst_reg = (uint8_t)(dst & 15),
					       .src_reg = (uint8_t)(src & 15),
					       .off = (int16_t)off,
					       .imm = imm }));
}

static inline void move(struct deep_program *p, int dst, int src)
{
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void set(struct deep_program *p, int dst, int32_t value)
{
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

/* op: BPF_ADD, BPF_AND, ... */
static inline void alu(struct deep_program *p, int op, int dst, int src)
{
	emit(p, BPF_ALU64 | BPF_X | op, dst, src, 0, 0);
}

static inline void alu_imm(struct deep_program *p, int op, int dst, int32_t value)
{
	emit(p, BPF_ALU64 | BPF_K | op, dst, 0, 0, value);
}

/* dst = base + offset. */
static inline void point(struct deep_program *p, int dst, int base, int offset)
{
	move(p, dst, base);
	alu_imm(p, BPF_ADD, dst, offset);
}

/* A 64-bit constant; or, by kind, a map or a function of the program. */
static inline void set_wide(struct deep_program *p, int dst, int kind, uint64_t value)
{
	emit(p, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (int32_t)(uint32_t)value);
	emit(p, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

static inline void set_map(struct deep_program *p, int dst, int fd)
{
	set_wide(p, dst, BPF_PSEUDO_MAP_FD, (uint32_t)fd);
}

static inline void load(struct deep_program *p, int dst, int base, int offset)
{
	emit(p, BPF_LDX | BPF_DW | BPF_MEM, dst, base, offset, 0);
}

static inline void store(struct deep_program *p, int base, int offset, int src)
{
	emit(p, BPF_STX | BPF_DW | BPF_MEM, base, src, offset, 0);
}

static inline void store_zero(struct deep_program *p, int base, int offset)
{
	emit(p, BPF_ST | BPF_DW | BPF_MEM, base, 0, offset, 0);
}

static inline void call(struct deep_program *p, int helper)
{
	emit(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void leave(struct deep_program *p, int32_t result)
{
	set(p, R0, result);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Jumps go forward only: where to is told by land(). */
static inline size_t jump_if(struct deep_program *p, int op, int dst, int src)
{
	emit(p, BPF_JMP | BPF_X | op, dst, src, 0, 0);
	return p->code.n - 1;
}

static inline size_t jump_if_imm(struct deep_program *p, int op, int dst, int32_t value)
{
	emit(p, BPF_JMP | BPF_K | op, dst, 0, 0, value);
	return p->code.n - 1;
}

static inline size_t jump(struct deep_program *p)
{
	emit(p, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	return p->code.n - 1;
}

static inline void land(struct deep_program *p, size_t from)
{
	p->code.at[from].off = (int16_t)(p->code.n - from - 1);
}

/* r0 = the value in the map of the key at FP + key; 0 if it has none. */
static inline void lookup(struct deep_program *p, int map, int key)
{
	set_map(p, R1, map);
	point(p, R2, FP, key);
	call(p, BPF_FUNC_map_lookup_elem);
}

/* Into the map: the value at FP + value for the key at FP + key. */
static inline void update(struct deep_program *p, int map, int key, int value)
{
	set_map(p, R1, map);
	point(p, R2, FP, key);
	point(p, R3, FP, value);
	set(p, R4, BPF_ANY);
	call(p, BPF_FUNC_map_update_elem);
}

/* r0 = the CPU's value of the map, its key zero at FP + key; leaves the function if there is none. */
static inline void lookup_own(struct deep_program *p, int map, int key, int32_t result)
{
	store_zero(p, FP, key);
	lookup(p, map, key);
	size_t found = jump_if_imm(p, BPF_JNE, R0, 0);
	leave(p, result);
	land(p, found);
}

/* r1 = context, r4 = data, r5 = its size: into this CPU's ring. */
static inline void output(struct deep_program *p, const struct deep_maps *maps)
{
	set_map(p, R2, maps->output);
	set_wide(p, R3, 0, BPF_F_CURRENT_CPU);
	call(p, BPF_FUNC_perf_event_output);
}

enum cpu { CPU_WINDOW = 0, CPU_WRITTEN = 8 };
enum thread { THREAD_START = 0, THREAD_END = 8 };

/* What the entry function hands to the loop over pages, on its stack. */
enum loop { LOOP_CONTEXT = 0, LOOP_FIRST = 8, LOOP_N = 16, LOOP_THREAD = 24, LOOP_SIZE = 32 };

#define PAGE_SHIFT 12
_Static_assert(1 << PAGE_SHIFT == DEEP_PAGE, "pages are counted by shifting");

/* The function that the loop over pages calls. n_written: pages a CPU may write in one window. */
void deep_page_make(struct deep_program *p, const struct deep_maps *maps, uint32_t n_written);
