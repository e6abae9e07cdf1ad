/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_aarch64: A64 instructions in the form of isa.h: the row from a64_find, its effects and control flow.
 *
 * Which registers a call changes is defined by the ABI: here, bl only clobbers x30. x30 is the return address
 * column, so it is not among the callee-saved registers: code that needs the location of the return address
 * uses isa->ra.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "binary/isa/a64/a64_effects.h"
#include "binary/isa/packed.h"

#define INSN_SIZE 4
/* No instruction, but four of the bytes that are the trap of x86-64: V8 fills with them between functions. */
#define FILL 0xcccccccc

static void aarch64_branch_condition(const struct a64_fields *f, struct insn *insn)
{
	static const uint8_t conditions[16] = {
		[0] = CONDITION_EQUAL, [1] = CONDITION_NOT_EQUAL, [2] = CONDITION_ABOVE_EQUAL,
		[3] = CONDITION_BELOW, [8] = CONDITION_ABOVE,     [9] = CONDITION_BELOW_EQUAL,
	};
	unsigned condition = a64_bits(f->word, 3, 0);

	insn->flow = condition >= 14 ? FLOW_JUMP : FLOW_BRANCH; /* al, and nv, which is also al */
	insn->condition = conditions[condition];
	insn->target = f->vaddr + (uint64_t)(a64_signed_bits(f->word, 23, 5) * 4);
}

static void aarch64_hint(const struct a64_fields *f, struct insn *insn)
{
	switch (a64_bits(f->word, 11, 5)) {
	case 0:
		insn->is_padding = true;
		break;
	case 8:  /* pacia1716 */
	case 10: /* pacib1716 */
	case 12: /* autia1716 */
	case 14: /* autib1716 */
		insn->reads |= BIT(16) | BIT(17);
		insn->clobbers |= BIT(17);
		break;
	case 25: /* paciasp */
	case 27: /* pacibsp: x30 stays the same address, signed or not */
	case 34: /* bti c */
	case 38: /* bti jc */
		insn->is_entry_mark = true;
		break;
	case 40: /* chkfeat */
		insn->reads |= BIT(16);
		insn->clobbers |= BIT(16);
		break;
	default:
		break;
	}
}

static void aarch64_jump(const struct a64_fields *f, enum a64_kind kind, struct insn *insn)
{
	switch (kind) {
	case A64_JUMP:
	case A64_CALL:
		insn->flow = kind == A64_CALL ? FLOW_CALL : FLOW_JUMP;
		insn->target = f->vaddr + (uint64_t)(a64_signed_bits(f->word, 25, 0) * 4);
		break;
	case A64_BRANCH_CONDITION:
		aarch64_branch_condition(f, insn);
		break;
	case A64_BRANCH_COMPARE:
		insn->flow = FLOW_BRANCH;
		insn->target = f->vaddr + (uint64_t)(a64_signed_bits(f->word, 23, 5) * 4);
		break;
	case A64_BRANCH_BIT:
		insn->flow = FLOW_BRANCH;
		insn->target = f->vaddr + (uint64_t)(a64_signed_bits(f->word, 18, 5) * 4);
		break;
	case A64_RETURN_LINK:
		insn->flow = FLOW_RETURN;
		insn->through = A64_LINK;
		insn->reads |= BIT(A64_LINK) | BIT(A64_SP);
		insn->is_signed = true;
		break;
	default:
		insn->is_signed = a64_bits(f->word, 11, 11);
		insn->flow = kind == A64_RETURN          ? FLOW_RETURN
			     : kind == A64_CALL_REGISTER ? FLOW_CALL_INDIRECT
							 : FLOW_JUMP_INDIRECT;
		insn->through = (uint8_t)zr_none(f->n);
		break;
	}
	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT)
		insn->clobbers |= BIT(A64_LINK);
}

void a64_add_flow(const struct a64_fields *f, enum a64_kind kind, struct insn *insn)
{
	switch (kind) {
	case A64_JUMP:
	case A64_CALL:
	case A64_BRANCH_CONDITION:
	case A64_BRANCH_COMPARE:
	case A64_BRANCH_BIT:
	case A64_JUMP_REGISTER:
	case A64_CALL_REGISTER:
	case A64_RETURN:
	case A64_RETURN_LINK:
		aarch64_jump(f, kind, insn);
		break;
	case A64_STOP:
		insn->flow = FLOW_STOP;
		insn->is_padding = f->word == 0;
		break;
	case A64_SYSCALL:
		insn->is_syscall = true;
		insn->reads |= BIT(8) | 0x3f; /* number and arguments */
		insn->clobbers |= BIT(0);     /* the kernel preserves all others */
		break;
	case A64_HINT:
		aarch64_hint(f, insn);
		break;
	default:
		break;
	}
}

static void aarch64_add_uses(const struct a64_fields *f, unsigned uses, struct insn *insn)
{
	uint64_t d = uses & A64_DSP ? BIT(f->d) : reg_bit(zr_none(f->d));
	uint64_t n = uses & A64_NSP ? BIT(f->n) : reg_bit(zr_none(f->n));
	uint64_t a = reg_bit(zr_none(f->a)), m = reg_bit(zr_none(f->m));

	insn->reads |= (uses & A64_RD ? d : 0) | (uses & A64_RN ? n : 0) | (uses & A64_RM ? m : 0) |
		       (uses & A64_RA ? a : 0);
	insn->clobbers |= (uses & A64_WD ? d : 0) | (uses & A64_WM ? m : 0) | (uses & A64_WA ? a : 0);
	insn->writes_flags = (uses & A64_FLAGS) != 0;
}

/* A word that the table does not have. */
static int aarch64_decode_other(uint32_t word, struct insn *ret)
{
	if (word != FILL)
		return -EBADMSG;
	*ret = (struct insn){
		.len = INSN_SIZE, .flow = FLOW_STOP, .through = REG_NONE, .is_padding = true, .is_fill = true
	};
	return 0;
}

static int aarch64_decode(struct bytes code, uint64_t vaddr, struct insn *ret)
{
	if (code.len < INSN_SIZE)
		return -EBADMSG;

	uint32_t word = a64_word(code.at);
	const struct a64_row *row = a64_find_effects(word);
	if (!row)
		return aarch64_decode_other(word, ret);

	struct a64_fields f = { word,
				vaddr,
				a64_bits(word, 4, 0),
				a64_bits(word, 9, 5),
				a64_bits(word, 14, 10),
				a64_bits(word, 20, 16),
				word >> 31 ? 8 : 4 };
	*ret = (struct insn){ .len = INSN_SIZE, .flow = FLOW_NEXT, .through = REG_NONE };
	aarch64_add_uses(&f, row->uses, ret);
	a64_add_arithmetic(&f, row->kind, ret);
	a64_add_memory(&f, row->kind, ret);
	a64_add_flow(&f, row->kind, ret);
	return 0;
}

static bool aarch64_ends_in_call(struct bytes before_pc, uint64_t pc, struct insn *ret)
{
	struct insn insn;

	if (before_pc.len < INSN_SIZE)
		return false;
	if (aarch64_decode(bytes_from(before_pc, before_pc.len - INSN_SIZE), pc - INSN_SIZE, &insn) < 0)
		return false;
	if (insn.flow != FLOW_CALL && insn.flow != FLOW_CALL_INDIRECT)
		return false;
	if (ret)
		*ret = insn;
	return true;
}

static size_t aarch64_format(struct bytes code, uint64_t vaddr, char *text, size_t size)
{
	if (code.len >= INSN_SIZE)
		return a64_format(a64_word(code.at), vaddr, text, size);
	if (size)
		text[0] = 0;
	return 0;
}

/*
 * Signatures are above the 48 bits that Linux gives programs unless they request more, and below bit 55,
 * which distinguishes kernel addresses from user addresses.
 */
static uint64_t aarch64_strip_pc(uint64_t pc)
{
	const uint64_t sign = UINT64_C(1) << 55, address = (UINT64_C(1) << 48) - 1;

	return pc & sign ? pc | ~address : pc & address;
}

static bool aarch64_is_signal_trampoline(struct bytes code)
{
	return code.len >= 8 && a64_word(code.at) == 0xd2801168 /* mov x8, #__NR_rt_sigreturn */ &&
	       a64_word(code.at + 4) == 0xd4000001 /* svc #0 */;
}

static bool aarch64_branch(struct bytes code, struct isa_branch *ret)
{
	uint32_t word = code.len >= INSN_SIZE ? a64_word(code.at) : 0;
	bool is_odd = word >> 24 & 1; /* cbnz, tbnz */

	*ret = (struct isa_branch){ .reg = REG_NONE };
	if (word >> 25 == 0x2a && !is_odd) { /* b.cond, bc.cond */
		ret->condition = word & 15;
		return true;
	}
	ret->reg = word & 31;
	ret->is_inverted = is_odd;
	if ((word >> 25 & 0x3f) == 0x1a) { /* cbz */
		ret->test = BRANCH_IF_ZERO;
		ret->width = word >> 31 ? 8 : 4;
		return ret->reg != 31;
	}
	ret->test = BRANCH_IF_CLEAR; /* tbz */
	ret->bit = (uint8_t)(word >> 31 << 5 | (word >> 19 & 31));
	return (word >> 25 & 0x3f) == 0x1b && ret->reg != 31;
}

#define EXCLUSIVE_MAX 16 /* instructions from a load to its store; recommended by the architecture */

/* The exclusive class has bits 29:23 = 0010000; bit 22 distinguishes loads from stores. */
static bool aarch64_is_exclusive(uint32_t word, unsigned load)
{
	return (word >> 23 & 0x7f) == 0x10 && (word >> 22 & 1) == load;
}

static size_t aarch64_fragile_len(struct bytes code)
{
	if (code.len < INSN_SIZE || !aarch64_is_exclusive(a64_word(code.at), 1))
		return 0;
	for (size_t i = 1; i <= EXCLUSIVE_MAX && (i + 1) * INSN_SIZE <= code.len; i++)
		if (aarch64_is_exclusive(a64_word(code.at + i * INSN_SIZE), 0))
			return (i + 1) * INSN_SIZE;
	return EXCLUSIVE_MAX * INSN_SIZE;
}

static bool aarch64_may_call_inside(struct bytes code)
{
	const uint32_t call_mask = 0xfc000000, call = 0x94000000;

	for (size_t at = 0; at + INSN_SIZE <= code.len; at += INSN_SIZE) {
		uint32_t word = a64_word(code.at + at);
		if ((word & call_mask) != call)
			continue;
		uint64_t target = at + (uint64_t)(a64_signed_bits(word, 25, 0) * 4);
		if (target && target < code.len && target != at + INSN_SIZE)
			return true;
	}
	return false;
}

static const char *const reg_names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",
};

const struct isa isa_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.sp = A64_SP,
	.fp = 29,
	.ra = A64_LINK,
	.pc = 32,
	.n_regs = ARRAY_LEN(reg_names),
	.min_insn = INSN_SIZE,
	.call_pushes_ra = false,
	.goroutine = 28,
	.is_goroutine_reserved = true,
	.callee_saved = 0x3ff80000, /* x19 to x29 */
	.argument_regs = 0x1ff,     /* x0 to x7, and x8: the address of a large result */
	.probe_regs = 1u << 15,
	.reg_names = reg_names,
	.decode = aarch64_decode,
	.glance = a64_glance,
	.packed_width = a64_packed_width,
	.stored_width = a64_stored_width,
	.is_atomic = a64_is_atomic,
	.accesses = a64_accesses,
	.idle_len = a64_idle_len,
	.quick = a64_quick,
	.may_call_inside = aarch64_may_call_inside,
	.ends_in_call = aarch64_ends_in_call,
	.branch = aarch64_branch,
	.fragile_len = aarch64_fragile_len,
	.format = aarch64_format,
	.strip_pc = aarch64_strip_pc,
	.is_signal_trampoline = aarch64_is_signal_trampoline,
};
