/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa: an instruction reduced to what its consumers need: its effects on stack and registers, and its control
 * flow. No code outside isa_*.c handles opcodes. Registers are DWARF numbers.
 *
 * Effects happen in order; each sees the registers as the one before left them. What an
 * instruction writes and no effect describes is in `clobbers`, which happens after the effects.
 * A register written in part (8 or 16 bits) is clobbered. Memory that has no address in the flat
 * space (thread-local segments, scattered stores) appears in no effect.
 *
 * Calls and returns have no effect of their own: the effect of a call on registers is defined by the ABI, and
 * a return is judged by the state before it. Both x86-64 and AArch64 are always compiled in; isa_for_machine
 * picks one per image.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define REG_MAX 33   /* AArch64: x0-x30, sp, pc; x86-64 uses 17 */
#define REG_NONE 255 /* no register: the effect's base or index is absent */

enum insn_flow {
	FLOW_NEXT,
	FLOW_JUMP,   /* to target */
	FLOW_BRANCH, /* to target or next */
	FLOW_CALL,   /* to target, comes back to next */
	FLOW_CALL_INDIRECT,
	FLOW_JUMP_INDIRECT,
	FLOW_RETURN,
	FLOW_STOP, /* ud2, hlt, brk, udf: control goes nowhere */
};

/* What a FLOW_BRANCH asks of the last EFFECT_COMPARE; only what bounds a table or equates two registers. */
enum condition {
	CONDITION_OTHER,
	CONDITION_EQUAL,
	CONDITION_NOT_EQUAL,
	CONDITION_ABOVE, /* unsigned > */
	CONDITION_ABOVE_EQUAL,
	CONDITION_BELOW,
	CONDITION_BELOW_EQUAL,
};

enum effect_kind {
	EFFECT_PUSH, /* sp -= width; [sp] = reg, as it was before (REG_NONE: something unknown) */
	EFFECT_POP,  /* reg = [sp]; sp += width; reg is a whole register and never sp */
	EFFECT_SET, /* reg = base + (index << shift) + imm; either may be REG_NONE: a constant. is_subtracted:
		       base - (index << shift) + imm */
	EFFECT_AND, /* reg = base & imm, imm sign-extended: alignment of sp, limits of an index */
	EFFECT_LOAD,  /* reg = width bytes at [base + (index << shift) + imm]; reg REG_NONE: only the address
			 matters (see COMPARE, through) */
	EFFECT_STORE, /* width bytes at [base + (index << shift) + imm] = reg (REG_NONE: something unknown) */
	EFFECT_EXCHANGE, /* reg <-> base */
	EFFECT_COMPARE,  /* base with reg, or with imm if reg is REG_NONE; imm is masked to width. Memory
			    operand: base is REG_NONE and a LOAD into REG_NONE stands before it */
};

struct effect {
	uint8_t kind, reg, base, index;
	uint8_t shift; /* of the index */
	uint8_t width; /* bytes: of a push, load, store (255: that many or more), compare; of a SET or AND,
			* the width of the result, 8 or 4 (upper half zeroed) */
	uint8_t is_signed : 1; /* LOAD: sign-extended; SET: the index is sign-extended from index_width before
				  the shift */
	uint8_t is_subtracted : 1; /* SET: the shifted index is subtracted */
	uint8_t index_width;       /* SET, LOAD: how many bytes of the index register count; 8 = all */
	int64_t imm;               /* pc-relative operands are already absolute vaddrs, with base REG_NONE */
};

#define INSN_MAX_EFFECTS 4
struct insn {
	uint64_t target; /* of a direct jump, branch or call */
	uint64_t slot; /* vaddr of the memory word a pc-relative indirect call or jump goes through; 0 = none
			*/
	struct effect effect[INSN_MAX_EFFECTS];
	uint64_t clobbers; /* mask of registers overwritten with something no effect describes */
	uint64_t reads;    /* mask of registers read, hidden operands included */
	uint8_t n_effects, flow, len;
	uint8_t condition; /* enum condition, of a FLOW_BRANCH */
	uint8_t through;   /* register an indirect jump or call goes through; REG_NONE if through memory: then
			    * the last   effect is a LOAD into REG_NONE with the address of the word */
	bool is_padding;   /* nop, int3 between functions, endbr/bti excluded */
	bool is_entry_mark; /* endbr64, bti c, paciasp: where indirect calls may land */
	bool is_syscall;
	bool is_signed;  /* retaa, braa: checks the signature of the address that it goes to. No kernel probes
			    it */
	bool is_address; /* the constant it sets was counted from pc: the address of something */
	bool writes_flags; /* the last EFFECT_COMPARE before this instruction no longer says what a branch
			      asks */
};

/*
 * What an instruction can do to known register values, as masks. If no register that it needs is known, it
 * only makes the ones it writes unknown: true for most instructions in most places.
 */
struct isa_use {
	uint64_t needs, writes;
};
#define USE_CONSTANT (1ull << 63) /* in needs: it makes a constant, or loads from a fixed address */

/* What a conditional branch looks at, so that whoever has the registers can tell where it will go. */
enum branch_test {
	BRANCH_BY_FLAGS, /* condition, 0 to 15, as the machine numbers them */
	BRANCH_IF_ZERO,  /* the register's low width bytes are 0 */
	BRANCH_IF_CLEAR, /* the register's bit is 0 */
};
struct isa_branch {
	uint8_t test;      /* enum branch_test */
	uint8_t condition; /* BRANCH_BY_FLAGS */
	uint8_t reg, width, bit;
	bool is_inverted; /* taken if it is not so; never by flags */
};

/* Distances in bytes from where the code begins: the lowest, and one behind the highest. */
struct isa_room {
	int64_t low, high;
};

/* A direct call, or a constant put into a register. */
struct isa_quick {
	uint64_t value; /* where the call goes; the constant */
	uint8_t reg;    /* REG_NONE: it is a call */
};

struct isa {
	const char *name;
	uint16_t elf_machine;
	uint8_t sp, fp, ra, pc,
		n_regs;      /* DWARF numbers; ra: the column of the return address (x86-64: pc itself) */
	uint8_t min_insn;    /* 1 or 4: code alignment */
	bool call_pushes_ra; /* else the call leaves it in ra */
	uint8_t goroutine;   /* the register in which Go keeps the address of what it runs */
	bool is_goroutine_reserved; /* ... in assembly, too */
	uint64_t callee_saved;      /* mask; sp is not in it */
	uint64_t argument_regs;     /* mask: live at a function's entry */
	uint64_t probe_regs;        /* mask: a stack probe finds the size of the frame here, and leaves it */
	const char *const *reg_names;

	/* 0, or -EBADMSG for what is no instruction. */
	int (*decode)(struct bytes code, uint64_t vaddr, struct insn *ret);
	/*
	 * Classifies an instruction without decoding it. True if it has min_insn bytes, surely continues
	 * with the next one, is not padding, compares nothing, and leaves sp, fp and ra alone. Then ret
	 * says exactly which registers it writes and needs. NULL if the instruction set has no such
	 * shortcut.
	 */
	bool (*glance)(struct bytes code, struct isa_use *ret);
	/* The bytes right before a return address: is there a call instruction that ends them? Its insn, if
	 * ret. */
	bool (*ends_in_call)(struct bytes before_pc, uint64_t pc, struct insn *ret);
	/* What the conditional branch at the start of the code looks at; false if it is none, or an odd one.
	 */
	bool (*branch)(struct bytes code, struct isa_branch *ret);
	/* Does the code at its start begin a sequence that a probe, or any other trap, makes start over for
	 * ever? How many bytes that has, at least; 0 = it does not. */
	size_t (*fragile_len)(struct bytes code);
	/* One line of disassembly; returns its length. */
	size_t (*format)(struct bytes code, uint64_t vaddr, char *text, size_t size);
	/* Arithmetic on several values at once, what vectorised loops consist of: on how many bytes
	 * (packed.h); 0 if it is none. Whole instructions only. */
	unsigned (*packed_width)(struct bytes code);
	/* Does the instruction take a single number out of a vector register? NULL = compilers compute none
	 * there.
	 */
	bool (*takes_number)(struct bytes code);
	/* The same of a store of a whole vector register: what loops that copy or fill consist of. */
	unsigned (*stored_width)(struct bytes code);
	/* Does it read and write memory in one step, as other processors see it (packed.h)? */
	bool (*is_atomic)(struct bytes code);
	/* How many registers it loads from memory or stores to it. */
	unsigned (*accesses)(struct bytes code);
	/*
	 * How many bytes of code are instructions that surely continue with the next one or branch within
	 * the room, form no address by themselves, and leave these registers (mask) alone? May be fewer
	 * than there are. NULL if the instruction set has no such shortcut.
	 */
	size_t (*idle_len)(struct bytes code, uint64_t registers, struct isa_room room);
	/*
	 * True for an instruction of min_insn bytes that is a direct call, or that does nothing but put
	 * the first half of an address into a register. NULL if the instruction set has no such shortcut.
	 */
	bool (*quick)(struct bytes code, uint64_t vaddr, struct isa_quick *ret);
	/* A return address as it stands in memory, authentication bits removed. */
	uint64_t (*strip_pc)(uint64_t pc);
	/* The code at vaddr is the signal trampoline (mov $rt_sigreturn; syscall). */
	bool (*is_signal_trampoline)(struct bytes code);
};

extern const struct isa isa_x86_64, isa_aarch64;
/* NULL if we do not know the machine. */
const struct isa *isa_for_machine(uint16_t elf_machine);
/* "zydis" or "xed", as the build chose. */
const char *x86_decoder_name(void);

/*
 * Does the kernel do what this instruction does by itself when a probe is set on it? Any other is stepped
 * over, which takes longer.
 */
bool isa_is_emulated(const struct isa *isa, const struct insn *insn);
/* Does it divide, or take a root? How long that takes depends on the values. */
bool isa_is_division(const struct isa *isa, struct bytes code);
