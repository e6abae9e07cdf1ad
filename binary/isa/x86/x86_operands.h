/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_operands: an x86-64 instruction, independent of the decoder: which of the few relevant operations it
 * is, its operands, and the general registers it reads and writes, hidden operands included. x86_zydis.c or
 * x86_xed.c fills it from bytes; x86_reduce.c turns it into effects.
 *
 * Registers are DWARF numbers of the general registers (REG_NONE: any other kind).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "binary/isa/isa.h"

enum x86_reg {
	X86_RAX,
	X86_RDX,
	X86_RCX,
	X86_RBX,
	X86_RSI,
	X86_RDI,
	X86_RBP,
	X86_RSP,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_RIP, /* DWARF's return address column */
	X86_N_REGS,
};

/* Anything else is X86_OTHER: its registers and stores matter, but its operation does not. */
enum x86_op {
	X86_OTHER,
	X86_ADD,
	X86_AND,
	X86_BRANCH, /* conditional, or xbegin: operand 0 is the target */
	X86_CALL,   /* near; operand 0 is the target, a register or memory */
	X86_CMP,
	X86_CONVERT, /* cbw, cwde, cdqe: the lower half of rax extended by its sign */
	X86_DEC,
	X86_ENDBR,
	X86_ENTER,
	X86_FAR_CALL,
	X86_INC,
	X86_INT,
	X86_INT3,
	X86_JMP, /* near, as X86_CALL */
	X86_LEA,
	X86_LEAVE,
	X86_LOOP,  /* loop, loope, loopne: a branch that counts rcx down */
	X86_MOV,   /* between general registers, memory and immediates; movnti too */
	X86_MOVSX, /* movsx, movsxd */
	X86_MOVZX,
	X86_NOP,
	X86_OR,
	X86_POP,
	X86_POPF,
	X86_PUSH,
	X86_PUSHF,
	X86_RET, /* near */
	X86_SBB,
	X86_SHL,
	X86_STOP,      /* ud, hlt, far jumps and returns: control flow that is not analysed */
	X86_STORE_RDI, /* stos, movs, ins, maskmov: operand_width bytes at [rdi], more if repeated */
	X86_SUB,
	X86_SYSCALL,
	X86_TEST,
	X86_XCHG,
	X86_XOR,
	X86_N_OPS,
};

enum x86_operand_kind {
	X86_NONE,
	X86_REG, /* a general register */
	X86_MEM,
	X86_IMM,
	X86_OTHER_REG, /* vector, mask, segment, ... */
};

struct x86_operand {
	uint8_t kind;
	uint8_t width;              /* bytes; for memory 255: that many or more */
	uint8_t reg;                /* X86_REG */
	uint8_t base, index, shift; /* X86_MEM: REG_NONE if absent; with a vector index there is no address */
	bool is_high_byte;          /* ah, ch, dh, bh */
	bool has_address; /* X86_MEM: base + (index << shift) + value is the address: no fs, gs, vector index
			   */
	bool is_read, is_written;
	int64_t value; /* immediate, sign-extended from its encoding; displacement; absolute if rip-relative
			  or a target */
};

#define X86_MAX_OPERANDS 4 /* visible ones; the few instructions with five keep registers in the last */
#define X86_MAX_LEN 15
struct x86_insn {
	uint32_t reads, writes; /* masks of general registers; a conditional write also reads */
	uint8_t op, len, n_operands;
	uint8_t condition;                    /* enum condition, of an X86_BRANCH */
	uint8_t operand_width, address_width; /* bytes */
	bool writes_flags;                    /* carry or zero may have changed */
	struct x86_operand operand[X86_MAX_OPERANDS];
};

struct x86_decoder {
	const char *name;
	/* 0, or -EBADMSG if it is not an instruction. Never reads past code.len. */
	int (*decode)(struct bytes code, uint64_t vaddr, struct x86_insn *ret);
	/* One line in Intel syntax, as this decoder prints it; returns its length, 0 if it is not an
	 * instruction. */
	size_t (*format)(struct bytes code, uint64_t vaddr, char *text, size_t size);
};
extern const struct x86_decoder x86_zydis, x86_xed;

/* The effects of an instruction. Fills all of ret except effects beyond n_effects. */
void x86_reduce(const struct x86_insn *x86, struct insn *ret);
