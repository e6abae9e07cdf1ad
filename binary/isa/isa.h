/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa: an instruction reduced to what its consumers need: its effects on stack and registers, and its control
 * flow. No code outside isa_*.c handles opcodes. Registers are DWARF numbers.
 *
 * Effects are applied in order; each sees the results of the previous one. Registers that an instruction
 * writes without a describing effect are in `clobbers`, which is applied after the effects. A partially
 * written register (8 or 16 bits) is clobbered. Memory without an address in the flat address space
 * (thread-local segments, scattered stores) appears in no effect.
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
	FLOW_CALL,   /* to target, returns to next */
	FLOW_CALL_INDIRECT,
	FLOW_JUMP_INDIRECT,
	FLOW_RETURN,
	FLOW_STOP, /* ud2, hlt, brk, udf: execution ends */
};

/* The condition of a FLOW_BRANCH on the last EFFECT_COMPARE; only those that limit a table index or equate
 * two registers. */
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
			    operand: base is REG_NONE and a LOAD into REG_NONE precedes it */
};

struct effect {
	uint8_t kind, reg, base, index;
	uint8_t shift; /* of the index */
	uint8_t width; /* bytes: of a push, load, store (255: that many or more), compare; of a SET or AND,
			* the width of the result, 8 or 4 (upper half zeroed) */
	uint8_t is_signed : 1; /* LOAD: sign-extended; SET: the index is sign-extended from index_width before
				  the shift */
	uint8_t is_subtracted : 1; /* SET: the shifted index is subtracted */
	uint8_t index_width;       /* SET, LOAD: how many bytes of the index register are used; 8 = all */
	int64_t imm;               /* pc-relative operands are already absolute vaddrs, with base REG_NONE */
};

#define INSN_MAX_EFFECTS 4
struct insn {
	uint64_t target; /* of a direct jump, branch or call */
	uint64_t slot; /* vaddr of the memory word that a pc-relative indirect call or jump uses; 0 = none */
	struct effect effect[INSN_MAX_EFFECTS];
	uint64_t clobbers; /* mask of registers written without an effect that describes the value */
	uint64_t reads;    /* mask of registers read, hidden operands included */
	uint8_t n_effects, flow, len;
	uint8_t condition; /* enum condition, of a FLOW_BRANCH */
	uint8_t through;   /* register an indirect jump or call goes through; REG_NONE if through memory: then
			      the last effect is a LOAD into REG_NONE with the address of the word */
	bool is_padding;   /* nop, int3 between functions, endbr/bti excluded */
	bool is_fill; /* a trap that only fills space: 0xcc, on every machine; zeros are often data instead */
	bool is_entry_mark; /* endbr64, bti c, paciasp: where indirect calls may land */
	bool is_syscall;
	bool is_signed;  /* retaa, braa: authenticates its target address. The kernel cannot set probes on it
			  */
	bool is_address; /* the constant it sets is pc-relative: the address of something */
	bool writes_flags; /* a later branch no longer depends on the last EFFECT_COMPARE before this
			      instruction */
};

/*
 * The registers that an instruction needs and writes, as masks. If no register that it needs has a known
 * value, it only makes the registers it writes unknown; this is the case for most instructions in most
 * places.
 */
struct isa_use {
	uint64_t needs, writes;
};
#define USE_CONSTANT (1ull << 63) /* in needs: it makes a constant, or loads from a fixed address */

/* The condition of a branch, so that its outcome can be computed from the registers. */
enum branch_test {
	BRANCH_BY_FLAGS, /* condition, 0 to 15, as the machine numbers them */
	BRANCH_IF_ZERO,  /* the register's low width bytes are 0 */
	BRANCH_IF_CLEAR, /* the register's bit is 0 */
};
struct isa_branch {
	uint8_t test;      /* enum branch_test */
	uint8_t condition; /* BRANCH_BY_FLAGS */
	uint8_t reg, width, bit;
	bool is_inverted; /* taken if the condition is false; not used for flags */
};

/* Distances in bytes from the start of the code: the lowest, and the highest plus one. */
struct isa_room {
	int64_t low, high;
};

/* A direct call, or an instruction that sets a register to a constant. */
struct isa_quick {
	uint64_t value; /* target of the call; the constant */
	uint8_t reg;    /* REG_NONE: it is a call */
};

struct isa {
	const char *name;
	uint16_t elf_machine;
	uint8_t sp, fp, ra, pc,
		n_regs;      /* DWARF numbers; ra: the column of the return address (x86-64: pc itself) */
	uint8_t min_insn;    /* 1 or 4: code alignment */
	bool call_pushes_ra; /* otherwise the call puts it into ra */
	uint8_t goroutine;   /* the register in which Go keeps the address of the current goroutine */
	bool is_goroutine_reserved; /* ... also in assembly */
	uint64_t callee_saved;      /* mask; sp is not in it */
	uint64_t argument_regs;     /* mask: live at a function's entry */
	uint64_t probe_regs;        /* mask: pass the frame size to a stack probe, which preserves them */
	const char *const *reg_names;

	/* 0, or -EBADMSG if it is not an instruction. */
	int (*decode)(struct bytes code, uint64_t vaddr, struct insn *ret);
	/*
	 * Classifies an instruction without decoding it. True if it has min_insn bytes, always continues with
	 * the next one, is not padding, compares nothing, and does not change sp, fp and ra. Then ret has
	 * exactly the registers that it writes and needs. NULL if the instruction set has no such shortcut.
	 */
	bool (*glance)(struct bytes code, struct isa_use *ret);
	/* Do the bytes before a return address end in a call instruction? If ret is not NULL, it receives the
	 * call. */
	bool (*ends_in_call)(struct bytes before_pc, uint64_t pc, struct insn *ret);
	/* The condition of the branch at the start of the code; false if it is not a conditional branch, or
	 * an unusual one. */
	bool (*branch)(struct bytes code, struct isa_branch *ret);
	/* Does a sequence start here that a probe, or any other trap, would make repeat forever
	 * (load-exclusive, store-exclusive)? Returns its minimum length in bytes; 0 = no. */
	size_t (*fragile_len)(struct bytes code);
	/* One line of disassembly; returns its length. */
	size_t (*format)(struct bytes code, uint64_t vaddr, char *text, size_t size);
	/* The vector width in bytes of SIMD arithmetic, of which vectorised loops consist (packed.h); 0 for
	 * other instructions. Whole instructions only. */
	unsigned (*packed_width)(struct bytes code);
	/* Does the instruction take a single value out of a vector register? NULL = compilers do not use
	 * vector registers for scalar values. */
	bool (*takes_number)(struct bytes code);
	/* The same for a store of a whole vector register, of which loops that copy or fill consist. */
	unsigned (*stored_width)(struct bytes code);
	/* Is it an atomic read-modify-write instruction (packed.h)? */
	bool (*is_atomic)(struct bytes code);
	/* The number of registers that it loads or stores. */
	unsigned (*accesses)(struct bytes code);
	/*
	 * The number of bytes of code that are instructions which always continue with the next one or branch
	 * within the room, form no address by themselves, and do not change these registers (mask). May be
	 * too low. NULL if the instruction set has no such shortcut.
	 */
	size_t (*idle_len)(struct bytes code, uint64_t registers, struct isa_room room);
	/*
	 * True for an instruction of min_insn bytes that is a direct call, or that only sets a register to
	 * the first half of an address. NULL if the instruction set has no such shortcut.
	 */
	bool (*quick)(struct bytes code, uint64_t vaddr, struct isa_quick *ret);
	/*
	 * Might the code contain a direct call of a place inside it, other than its first byte and the
	 * instruction after the call? False is certain; true is not, because data may look like a call.
	 */
	bool (*may_call_inside)(struct bytes code);
	/* Removes the pointer authentication bits from a return address. */
	uint64_t (*strip_pc)(uint64_t pc);
	/* Is the code the signal trampoline (mov $rt_sigreturn; syscall)? */
	bool (*is_signal_trampoline)(struct bytes code);
};

extern const struct isa isa_x86_64, isa_aarch64;
/* NULL if the machine is not supported. */
const struct isa *isa_for_machine(uint16_t elf_machine);
/* "zydis" or "xed", as the build chose. */
const char *x86_decoder_name(void);

/*
 * Does the kernel emulate this instruction if a probe is set on it? Others are single-stepped, which takes
 * longer.
 */
bool isa_is_emulated(const struct isa *isa, const struct insn *insn);
/* Does it compute a division or a square root? Its latency depends on the values. */
bool isa_is_division(const struct isa *isa, struct bytes code);
