/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * outer_asm: BPF instructions, one function each. Private to outer_program.c.
 */
#pragma once

#include "collector/outer_program.h"

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP };

static inline void emit(struct outer_program *p, int code, int dst, int src, int off, int32_t imm)
{
	vec_push(&p->code, ((struct bpf_insn){ .code = (uint8_t)code,
					       .dst_reg = (uint8_t)(dst & 15),
					       .src_reg = (uint8_t)(src & 15),
					       .off = (int16_t)off,
					       .imm = imm }));
}

static inline void move(struct outer_program *p, int dst, int src)
{
	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void set(struct outer_program *p, int dst, int32_t value)
{
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

/* op: BPF_ADD, BPF_AND, ... */
static inline void alu(struct outer_program *p, int op, int dst, int src)
{
	emit(p, BPF_ALU64 | BPF_X | op, dst, src, 0, 0);
}

static inline void alu_imm(struct outer_program *p, int op, int dst, int32_t value)
{
	emit(p, BPF_ALU64 | BPF_K | op, dst, 0, 0, value);
}

/* A 64-bit constant; or, by kind, a map or a function of the program. */
static inline void set_wide(struct outer_program *p, int dst, int kind, uint64_t value)
{
	emit(p, BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (int32_t)(uint32_t)value);
	emit(p, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

static inline void set_map(struct outer_program *p, int dst, int fd)
{
	set_wide(p, dst, BPF_PSEUDO_MAP_FD, (uint32_t)fd);
}

static inline void load(struct outer_program *p, int dst, int base, int offset)
{
	emit(p, BPF_LDX | BPF_DW | BPF_MEM, dst, base, offset, 0);
}

static inline void store(struct outer_program *p, int base, int offset, int src)
{
	emit(p, BPF_STX | BPF_DW | BPF_MEM, base, src, offset, 0);
}

static inline void store_zero(struct outer_program *p, int base, int offset)
{
	emit(p, BPF_ST | BPF_DW | BPF_MEM, base, 0, offset, 0);
}

static inline void call(struct outer_program *p, int helper)
{
	emit(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void leave(struct outer_program *p, int32_t result)
{
	set(p, R0, result);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Jumps go forward only: where to is told by land(). */
static inline size_t jump_if(struct outer_program *p, int op, int dst, int src)
{
	emit(p, BPF_JMP | BPF_X | op, dst, src, 0, 0);
	return p->code.n - 1;
}

static inline size_t jump_if_imm(struct outer_program *p, int op, int dst, int32_t value)
{
	emit(p, BPF_JMP | BPF_K | op, dst, 0, 0, value);
	return p->code.n - 1;
}

static inline size_t jump(struct outer_program *p)
{
	emit(p, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	return p->code.n - 1;
}

static inline void land(struct outer_program *p, size_t from)
{
	p->code.at[from].off = (int16_t)(p->code.n - from - 1);
}
