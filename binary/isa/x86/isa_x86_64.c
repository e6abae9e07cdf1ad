/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_x86_64: the interface to x86-64: a decoder, chosen by the build, its operands reduced by x86_reduce,
 * and the few properties of code that are not those of a single instruction.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "binary/isa/isa.h"
#include "binary/isa/packed.h"
#include "binary/isa/x86/x86_operands.h"

#define BIT(reg) (UINT64_C(1) << (reg))

static int x86_64_decode(struct bytes code, uint64_t vaddr, struct insn *ret)
{
	struct x86_insn x86;
	int r = X86_DECODER.decode(code, vaddr, &x86);

	if (r < 0)
		return r;
	x86_reduce(&x86, ret);
	return 0;
}

static size_t x86_64_format(struct bytes code, uint64_t vaddr, char *text, size_t size)
{
	return X86_DECODER.format(code, vaddr, text, size);
}

/* The opcodes of a call, and prefixes; avoids decoding most bytes that are not a call. */
static bool x86_64_can_start_call(uint8_t byte)
{
	switch (byte) {
	case 0xe8:
	case 0xff:
	case 0x26: /* segments */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66: /* sizes */
	case 0x67:
	case 0xf2: /* repetition, bnd */
	case 0xf3:
		return true;
	default:
		return byte >= 0x40 && byte <= 0x4f; /* REX */
	}
}

/* The instruction that starts len bytes before pc: is it a near call that ends at pc? Far calls are not used.
 */
static bool x86_64_is_call_of_length(struct bytes before_pc, uint64_t pc, size_t len, struct insn *ret)
{
	struct bytes code = { before_pc.at + before_pc.len - len, len };
	struct x86_insn x86;

	if (!x86_64_can_start_call(code.at[0]) || X86_DECODER.decode(code, pc - len, &x86) < 0 ||
	    x86.len != len || x86.op != X86_CALL)
		return false;
	x86_reduce(&x86, ret);
	return true;
}

/* A REX prefix that extends the base or the index register. */
static bool x86_64_is_extension(uint8_t byte)
{
	return byte >= 0x41 && byte <= 0x43;
}

/*
 * Instructions cannot be decoded backwards: the bytes may end in a direct call and in a shorter indirect one
 * at the same time. A direct call is the better guess if its distance is plausible, otherwise the indirect
 * one.
 */
static bool x86_64_ends_in_call(struct bytes before_pc, uint64_t pc, struct insn *ret)
{
	const int64_t near = INT64_C(1) << 28;
	const size_t direct_len = 5, max_len = 10; /* two prefixes and a call through disp32(base,index) */
	const uint8_t *end = before_pc.at + before_pc.len;
	bool has_direct = before_pc.len >= direct_len && end[-5] == 0xe8;
	struct insn unwanted;

	ret = ret ? ret : &unwanted;
	if (has_direct && x86_64_is_call_of_length(before_pc, pc, direct_len, ret)) {
		int64_t distance = (int64_t)(ret->target - pc);

		if (distance < near && distance > -near)
			return true;
	}
	for (size_t len = 2; len <= max_len && len <= before_pc.len; len++) {
		if ((len == direct_len && has_direct) || !x86_64_is_call_of_length(before_pc, pc, len, ret))
			continue;
		/* call *%r15 ends in call *%rdi: a byte that looks like its prefix is its prefix. */
		if (len < before_pc.len && x86_64_is_extension(end[-(ptrdiff_t)len - 1]))
			return x86_64_is_call_of_length(before_pc, pc, len + 1, ret);
		return true;
	}
	return has_direct && x86_64_is_call_of_length(before_pc, pc, direct_len, ret);
}

/* A prefix does not change the distance, which is that from the end of the instruction. */
static bool x86_64_may_call_inside(struct bytes code)
{
	const size_t len = 5;

	for (size_t at = 0; at + len <= code.len; at++) {
		const uint8_t *call = memchr(code.at + at, 0xe8, code.len - len + 1 - at);
		int32_t distance;
		if (!call)
			return false;
		at = (size_t)(call - code.at);
		memcpy(&distance, call + 1, sizeof(distance));
		uint64_t target = at + len + (uint64_t)(int64_t)distance;
		if (target && target < code.len && distance)
			return true;
	}
	return false;
}

static uint64_t x86_64_strip_pc(uint64_t pc)
{
	return pc;
}

/* mov $15,%rax or %eax; syscall: what glibc, musl and Go return to from a signal handler. */
static bool x86_64_is_signal_trampoline(struct bytes code)
{
	static const uint8_t long_form[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t short_form[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return (code.len >= sizeof long_form && memcmp(code.at, long_form, sizeof long_form) == 0) ||
	       (code.len >= sizeof short_form && memcmp(code.at, short_form, sizeof short_form) == 0);
}

static bool x86_64_branch(struct bytes code, struct isa_branch *ret)
{
	size_t at = 0;

	*ret = (struct isa_branch){ .reg = REG_NONE };
	/* Hints, and the prefixes of MPX and of padding; 67 means ecx instead of rcx. */
	for (; at < code.len && at < 4; at++) {
		bool is_short = code.at[at] == 0x67;
		if (code.at[at] != 0x2e && code.at[at] != 0x3e && code.at[at] != 0xf2 &&
		    code.at[at] != 0x66 && !is_short)
			break;
		ret->width = is_short ? 4 : 0;
	}
	if (at + 1 >= code.len)
		return false;
	uint8_t first = code.at[at], second = code.at[at + 1];
	if (first >> 4 == 7 || (first == 0x0f && second >> 4 == 8)) {
		ret->condition = (first == 0x0f ? second : first) & 15;
		return true;
	}
	if (first != 0xe3) /* jrcxz */
		return false;
	ret->test = BRANCH_IF_ZERO;
	ret->reg = X86_RCX;
	ret->width = ret->width ? ret->width : 8;
	return true;
}

/* There are none: a locked instruction is a single instruction. */
static size_t x86_64_fragile_len(struct bytes code)
{
	(void)code;
	return 0;
}

static const char *const reg_names[X86_N_REGS] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
						   "rbp", "rsp", "r8",  "r9",  "r10", "r11",
						   "r12", "r13", "r14", "r15", "rip" };

const struct isa isa_x86_64 = {
	.name = "x86-64",
	.elf_machine = EM_X86_64,
	.sp = X86_RSP,
	.fp = X86_RBP,
	.ra = X86_RIP,
	.pc = X86_RIP,
	.n_regs = X86_N_REGS,
	.min_insn = 1,
	.call_pushes_ra = true,
	.goroutine = X86_R14,
	.callee_saved =
		BIT(X86_RBX) | BIT(X86_RBP) | BIT(X86_R12) | BIT(X86_R13) | BIT(X86_R14) | BIT(X86_R15),
	.argument_regs = BIT(X86_RDI) | BIT(X86_RSI) | BIT(X86_RDX) | BIT(X86_RCX) | BIT(X86_R8) |
			 BIT(X86_R9) | BIT(X86_R10), /* r10: the static chain */
	.probe_regs = BIT(X86_RAX),
	.reg_names = reg_names,
	.decode = x86_64_decode,
	.packed_width = x86_packed_width,
	.takes_number = x86_takes_number,
	.stored_width = x86_stored_width,
	.is_atomic = x86_is_atomic,
	.accesses = x86_accesses,
	.ends_in_call = x86_64_ends_in_call,
	.branch = x86_64_branch,
	.fragile_len = x86_64_fragile_len,
	.format = x86_64_format,
	.may_call_inside = x86_64_may_call_inside,
	.strip_pc = x86_64_strip_pc,
	.is_signal_trampoline = x86_64_is_signal_trampoline,
};

const char *x86_decoder_name(void)
{
	return X86_DECODER.name;
}
