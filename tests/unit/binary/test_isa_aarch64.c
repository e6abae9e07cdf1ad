/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What A64 instructions do, as one line each: "sp=sp-32; [sp]8=x29" sets sp, then stores 8 bytes;
 * "x0=[x1+x2:4<<2]s4" loads 4 bytes sign-extended at x1 plus the lower 4 bytes of x2 times 4;
 * "w0=x1&0xff" masks bits in a 32-bit result; "x0?5" compares; "flags?" stands for flags that no compare
 * describes; "!x0" clobbers.
 */
#include <errno.h>

#include "base/text.h"
#include "binary/isa/isa.h"
#include "tests/test.h"

#define AT 0x1000

static int decode(uint32_t word, uint64_t vaddr, struct insn *ret)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			     (uint8_t)(word >> 24) };

	return isa_aarch64.decode((struct bytes){ bytes, 4 }, vaddr, ret);
}

static void show_reg(struct text *text, unsigned reg, unsigned width)
{
	const char *name = reg == REG_NONE ? "?" : isa_aarch64.reg_names[reg];

	if (width == 4 && name[0] == 'x')
		text_printf(text, "w%s", name + 1);
	else
		text_printf(text, "%s", name);
}

static void show_sum(struct text *text, const struct effect *e)
{
	size_t start = text->len;

	if (e->base != REG_NONE)
		show_reg(text, e->base, 8);
	if (e->index != REG_NONE) {
		text_printf(text, "%s", e->is_subtracted ? "-" : text->len > start ? "+" : "");
		show_reg(text, e->index, 8);
		if (e->index_width != 8)
			text_printf(text, ":%s%u", e->kind == EFFECT_SET && e->is_signed ? "s" : "",
				    e->index_width);
		if (e->shift)
			text_printf(text, "<<%u", e->shift);
	}
	if (text->len == start)
		text_printf(text, "%lld", (long long)e->imm);
	else if (e->imm)
		text_printf(text, "%+lld", (long long)e->imm);
}

static void show_memory(struct text *text, const struct effect *e)
{
	text_printf(text, "[");
	show_sum(text, e);
	text_printf(text, "]%s%u", e->is_signed ? "s" : "", e->width);
}

static void show_compare(struct text *text, const struct effect *e)
{
	show_reg(text, e->base, e->width);
	text_printf(text, "?");
	if (e->reg != REG_NONE)
		show_reg(text, e->reg, 8);
	else
		text_printf(text, "%lld", (long long)e->imm);
}

static void show_effect(struct text *text, const struct effect *e)
{
	switch (e->kind) {
	case EFFECT_SET:
		show_reg(text, e->reg, e->width);
		text_printf(text, "=");
		show_sum(text, e);
		break;
	case EFFECT_AND:
		show_reg(text, e->reg, e->width);
		text_printf(text, "=");
		show_reg(text, e->base, 8);
		text_printf(text, "&0x%llx", (long long)e->imm);
		break;
	case EFFECT_LOAD:
		show_reg(text, e->reg, 8);
		text_printf(text, "=");
		show_memory(text, e);
		break;
	case EFFECT_STORE:
		show_memory(text, e);
		text_printf(text, "=");
		show_reg(text, e->reg, 8);
		break;
	default:
		show_compare(text, e);
		break;
	}
}

static void show(struct text *text, const struct insn *insn)
{
	bool has_flags = insn->writes_flags;

	text_clear(text);
	text_add(text, "", 0);
	for (unsigned i = 0; i < insn->n_effects; i++) {
		text_printf(text, "%s", i ? "; " : "");
		show_effect(text, &insn->effect[i]);
		has_flags &= insn->effect[i].kind != EFFECT_COMPARE;
	}
	if (has_flags)
		text_printf(text, "%sflags?", text->len ? "; " : "");
	for (unsigned reg = 0; reg < REG_MAX; reg++)
		if (insn->clobbers >> reg & 1)
			text_printf(text, "%s!%s", text->len ? "; " : "", isa_aarch64.reg_names[reg]);
}

static const struct {
	uint32_t word;
	const char *text, *effects;
} effects[] = {
	{ 0xa9be7bfd, "stp x29, x30, [sp, #-32]!", "sp=sp-32; [sp]8=x29; [sp+8]8=x30" },
	{ 0xa8c27bfd, "ldp x29, x30, [sp], #32", "x29=[sp]8; x30=[sp+8]8; sp=sp+32" },
	{ 0xa9410400, "ldp x0, x1, [x0, #16]", "x1=[x0+24]8; x0=[x0+16]8" },
	{ 0xa90153f3, "stp x19, x20, [sp, #16]", "[sp+16]8=x19; [sp+24]8=x20" },
	{ 0xa90153ff, "stp xzr, x20, [sp, #16]", "[sp+16]8=?; [sp+24]8=x20" },
	{ 0x293f0861, "stp w1, w2, [x3, #-8]", "[x3-8]4=x1; [x3-4]4=x2" },
	{ 0x69400861, "ldpsw x1, x2, [x3]", "x1=[x3]s4; x2=[x3+4]s4" },
	{ 0xadbe27e8, "stp q8, q9, [sp, #-64]!", "sp=sp-64; [sp]32=?" },
	{ 0x6cc127e8, "ldp d8, d9, [sp], #16", "sp=sp+16" },
	{ 0xf81f0ffe, "str x30, [sp, #-16]!", "sp=sp-16; [sp]8=x30" },
	{ 0xf84107fe, "ldr x30, [sp], #16", "x30=[sp]8; sp=sp+16" },
	{ 0x3c810420, "str q0, [x1], #16", "[x1]16=?; x1=x1+16" },
	{ 0x3d000c20, "str b0, [x1, #3]", "[x1+3]1=?" },
	{ 0xf85f83a0, "ldur x0, [x29, #-8]", "x0=[x29-8]8" },
	{ 0xb81ec3a0, "stur w0, [x29, #-20]", "[x29-20]4=x0" },
	{ 0x39401c62, "ldrb w2, [x3, #7]", "x2=[x3+7]1" },
	{ 0x79c00c62, "ldrsh w2, [x3, #6]", "x2=[x3+6]s2" },
	{ 0xb9800862, "ldrsw x2, [x3, #8]", "x2=[x3+8]s4" },
	{ 0xf940007f, "ldr xzr, [x3]", "" },
	{ 0xf8627820, "ldr x0, [x1, x2, lsl #3]", "x0=[x1+x2<<3]8" },
	{ 0xb8625820, "ldr w0, [x1, w2, uxtw #2]", "x0=[x1+x2:4<<2]4" },
	{ 0xb8a2d820, "ldrsw x0, [x1, w2, sxtw #2]", "x0=[x1+x2:4<<2]s4" },
	{ 0x38624820, "ldrb w0, [x1, w2, uxtw]", "x0=[x1+x2:4]1" },
	{ 0x78627be0, "ldrh w0, [sp, x2, lsl #1]", "x0=[sp+x2<<1]2" },
	{ 0xf83f6825, "str x5, [x1, xzr]", "[x1]8=x5" },
	{ 0x58000041, "ldr x1, .+8", "x1=[4104]8" },
	{ 0x98000041, "ldrsw x1, .+8", "x1=[4104]s4" },
	{ 0x5c000041, "ldr d1, .+8", "" },
	{ 0xd10083ff, "sub sp, sp, #0x20", "sp=sp-32" },
	{ 0x914007ff, "add sp, sp, #1, lsl #12", "sp=sp+4096" },
	{ 0x910043fd, "add x29, sp, #0x10", "x29=sp+16" },
	{ 0x910003bf, "mov sp, x29", "sp=x29" },
	{ 0x910003e9, "mov x9, sp", "x9=sp" },
	{ 0x11000420, "add w0, w1, #1", "w0=x1+1" },
	{ 0x8b020c20, "add x0, x1, x2, lsl #3", "x0=x1+x2<<3" },
	{ 0x8b420c20, "add x0, x1, x2, lsr #3", "!x0" },
	{ 0x8b22c820, "add x0, x1, w2, sxtw #2", "x0=x1+x2:s4<<2" },
	{ 0x8b222420, "add x0, x1, w2, uxth #1", "x0=x1+x2:2<<1" },
	{ 0x8b0203e0, "add x0, xzr, x2", "x0=x2" },
	{ 0x8b3063ff, "add sp, sp, x16", "sp=sp+x16" },
	{ 0xcb3063ff, "sub sp, sp, x16", "sp=sp-x16" },
	{ 0xcb020020, "sub x0, x1, x2", "x0=x1-x2" },
	{ 0xcb1f0020, "sub x0, x1, xzr", "x0=x1" },
	{ 0xaa0103e0, "mov x0, x1", "x0=x1" },
	{ 0x2a0103e0, "mov w0, w1", "w0=x1" },
	{ 0xaa1f03e0, "mov x0, xzr", "x0=0" },
	{ 0xd37df020, "lsl x0, x1, #3", "x0=x1<<3" },
	{ 0x93407c20, "sxtw x0, w1", "x0=x1:s4" },
	{ 0x13001c20, "sxtb w0, w1", "w0=x1:s1" },
	{ 0x53001c20, "uxtb w0, w1", "w0=x1&0xff" },
	{ 0x53003c20, "uxth w0, w1", "w0=x1&0xffff" },
	{ 0xd3431020, "ubfx x0, x1, #3, #2", "!x0" },
	{ 0xb37d0420, "bfi x0, x1, #3, #2", "!x0" },
	{ 0xd2a000a0, "movz x0, #5, lsl #16", "x0=327680" },
	{ 0x92800000, "mov x0, #-1", "x0=-1" },
	{ 0x12800000, "mov w0, #-1", "w0=4294967295" },
	{ 0xf28000a0, "movk x0, #5", "!x0" },
	{ 0xb2009fe0, "mov x0, #0xff00ff00ff00ff", "x0=71777214294589695" },
	{ 0xb2401c20, "orr x0, x1, #0xff", "!x0" },
	{ 0x927ced3f, "and sp, x9, #-16", "sp=x9&0xfffffffffffffff0" },
	{ 0x92401020, "and x0, x1, #0x1f", "x0=x1&0x1f" },
	{ 0x121c6c20, "and w0, w1, #-16", "w0=x1&0xfffffff0" },
	{ 0x72001020, "ands w0, w1, #0x1f", "w0=x1&0x1f; flags?" },
	{ 0xf240001f, "tst x0, #1", "flags?" },
	{ 0xea00001f, "tst x0, x0", "x0?0" },
	{ 0xea01001f, "tst x0, x1", "flags?" },
	{ 0x10000080, "adr x0, .+16", "x0=4112" },
	{ 0xf0000000, "adrp x0, .+0x3000", "x0=16384" },
	{ 0x7103e81f, "cmp w0, #0xfa", "w0?250" },
	{ 0xf140041f, "cmp x0, #1, lsl #12", "x0?4096" },
	{ 0x3100041f, "cmn w0, #1", "w0?4294967295" },
	{ 0xb100041f, "cmn x0, #1", "x0?-1" },
	{ 0xeb01001f, "cmp x0, x1", "x0?x1" },
	{ 0x6b01001f, "cmp w0, w1", "w0?x1" },
	{ 0xeb1f001f, "cmp x0, xzr", "x0?0" },
	{ 0xeb2b63ff, "cmp sp, x11", "sp?x11" },
	{ 0xeb01081f, "cmp x0, x1, lsl #2", "flags?" },
	{ 0xeb21401f, "cmp x0, w1, uxtw", "flags?" },
	{ 0xf1000400, "subs x0, x0, #1", "x0?1; x0=x0-1" },
	{ 0xb1000400, "adds x0, x0, #1", "x0?-1; x0=x0+1" },
	{ 0xab020020, "adds x0, x1, x2", "x0=x1+x2; flags?" },
	{ 0xfa431800, "ccmp x0, #3, #0, ne", "flags?" },
	{ 0x1e612000, "fcmp d0, d1", "flags?" },
	{ 0x9a820020, "csel x0, x1, x2, eq", "!x0" },
	{ 0x9b027c20, "mul x0, x1, x2", "!x0" },
	{ 0x9b020c20, "madd x0, x1, x2, x3", "!x0" },
	{ 0x1ac20c20, "sdiv w0, w1, w2", "!x0" },
	{ 0x885f7c20, "ldxr w0, [x1]", "x0=[x1]4" },
	{ 0x88007c41, "stxr w0, w1, [x2]", "[x2]4=x1; !x0" },
	{ 0xc8208c41, "stlxp w0, x1, x3, [x2]", "[x2]8=x1; [x2+8]8=x3; !x0" },
	{ 0xc8dffc20, "ldar x0, [x1]", "x0=[x1]8" },
	{ 0x38bfc020, "ldaprb w0, [x1]", "x0=[x1]1" },
	{ 0x889ffc20, "stlr w0, [x1]", "[x1]4=x0" },
	{ 0xc8a07c41, "cas x0, x1, [x2]", "[x2]8=?; !x0" },
	{ 0x4862fcc4, "caspal x2, x3, x4, x5, [x6]", "[x6]16=?; !x2; !x3" },
	{ 0xb8200041, "ldadd w0, w1, [x2]", "[x2]4=?; !x1" },
	{ 0xf8e083e1, "swpal x0, x1, [sp]", "[sp]8=?; !x1" },
	{ 0xb820005f, "stadd w0, [x2]", "[x2]4=?" },
	{ 0x9e660000, "fmov x0, d0", "!x0" },
	{ 0x9e670000, "fmov d0, x0", "" },
	{ 0x0e073c00, "umov w0, v0.b[3]", "!x0" },
	{ 0x4e183c00, "mov x0, v0.d[1]", "!x0" },
	{ 0x4e040c00, "dup v0.4s, w0", "" },
	{ 0x1e780000, "fcvtzs w0, d0", "!x0" },
	{ 0x9e59f400, "fcvtzu x0, d0, #3", "!x0" },
	{ 0x9e620020, "scvtf d0, x1", "" },
	{ 0x4ea28420, "add v0.4s, v1.4s, v2.4s", "" },
	{ 0x4cdfa000, "ld1 {v0.16b, v1.16b}, [x0], #32", "x0=x0+32" },
	{ 0x4cc27000, "ld1 {v0.16b}, [x0], x2", "x0=x0+x2" },
	{ 0x4c0023e0, "st1 {v0.16b, v1.16b, v2.16b, v3.16b}, [sp]", "[sp]64=?" },
	{ 0x0dbf5800, "st2 {v0.h, v1.h}[3], [x0], #4", "[x0]4=?; x0=x0+4" },
	{ 0x4dffe800, "ld4r {v0.4s, v1.4s, v2.4s, v3.4s}, [x0], #16", "x0=x0+16" },
	{ 0xd53bd040, "mrs x0, tpidr_el0", "!x0" },
	{ 0xd51b4200, "msr nzcv, x0", "" },
	{ 0xf9800400, "prfm pldl1keep, [x0, #8]", "" },
	{ 0xdac10020, "pacia x0, x1", "!x0" },
	{ 0xdac143e0, "xpaci x0", "!x0" },
	{ 0xd503219f, "autia1716", "!x17" },
	{ 0xd503233f, "paciasp", "" },
	{ 0xf8201c20, "ldraa x0, [x1, #8]!", "x1=x1+8; x0=[x1]8" },
	{ 0x043f57ff, "addvl sp, sp, #-1", "!sp" },
	{ 0x0420e3e0, "cntb x0", "!x0" },
	{ 0x04f0e3e0, "incd x0", "!x0" },
	{ 0xd4000001, "svc #0", "!x0" },
};

TEST(a64_effects_are_those_of_the_instruction)
{
	struct text text = { 0 };
	size_t n_wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
		struct insn insn;

		CHECK_EQ(decode(effects[i].word, AT, &insn), 0);
		CHECK_EQ(insn.flow, FLOW_NEXT);
		CHECK_EQ(insn.len, 4);
		show(&text, &insn);
		if (strcmp(text.at, effects[i].effects) == 0)
			continue;
		print_error("%s: %s, not %s\n", effects[i].text, text.at, effects[i].effects);
		n_wrong++;
	}
	text_done(&text);
	CHECK_EQ(n_wrong, 0);
}

static const struct {
	uint32_t word;
	const char *text;
	uint8_t flow;
	uint64_t target;
	uint8_t condition;
	uint8_t through;
} flows[] = {
	{ 0x14000004, "b .+16", FLOW_JUMP, AT + 16, 0, REG_NONE },
	{ 0x17ffffff, "b .-4", FLOW_JUMP, AT - 4, 0, REG_NONE },
	{ 0x97fffffe, "bl .-8", FLOW_CALL, AT - 8, 0, REG_NONE },
	{ 0x54000040, "b.eq .+8", FLOW_BRANCH, AT + 8, CONDITION_EQUAL, REG_NONE },
	{ 0x54000041, "b.ne .+8", FLOW_BRANCH, AT + 8, CONDITION_NOT_EQUAL, REG_NONE },
	{ 0x54000042, "b.cs .+8", FLOW_BRANCH, AT + 8, CONDITION_ABOVE_EQUAL, REG_NONE },
	{ 0x54000043, "b.cc .+8", FLOW_BRANCH, AT + 8, CONDITION_BELOW, REG_NONE },
	{ 0x54000048, "b.hi .+8", FLOW_BRANCH, AT + 8, CONDITION_ABOVE, REG_NONE },
	{ 0x54ffffe9, "b.ls .-4", FLOW_BRANCH, AT - 4, CONDITION_BELOW_EQUAL, REG_NONE },
	{ 0x5400004c, "b.gt .+8", FLOW_BRANCH, AT + 8, CONDITION_OTHER, REG_NONE },
	{ 0x5400004e, "b.al .+8", FLOW_JUMP, AT + 8, CONDITION_OTHER, REG_NONE },
	{ 0xb4000040, "cbz x0, .+8", FLOW_BRANCH, AT + 8, CONDITION_OTHER, REG_NONE },
	{ 0x35ffffe0, "cbnz w0, .-4", FLOW_BRANCH, AT - 4, CONDITION_OTHER, REG_NONE },
	{ 0x36000040, "tbz w0, #0, .+8", FLOW_BRANCH, AT + 8, CONDITION_OTHER, REG_NONE },
	{ 0xb7ffffe0, "tbnz x0, #63, .-4", FLOW_BRANCH, AT - 4, CONDITION_OTHER, REG_NONE },
	{ 0xd61f0200, "br x16", FLOW_JUMP_INDIRECT, 0, 0, 16 },
	{ 0xd71f0a11, "braa x16, x17", FLOW_JUMP_INDIRECT, 0, 0, 16 },
	{ 0xd63f0060, "blr x3", FLOW_CALL_INDIRECT, 0, 0, 3 },
	{ 0xd63f087f, "blraaz x3", FLOW_CALL_INDIRECT, 0, 0, 3 },
	{ 0xd65f03c0, "ret", FLOW_RETURN, 0, 0, 30 },
	{ 0xd65f0120, "ret x9", FLOW_RETURN, 0, 0, 9 },
	{ 0xd65f0bff, "retaa", FLOW_RETURN, 0, 0, 30 },
	{ 0xd4200020, "brk #1", FLOW_STOP, 0, 0, REG_NONE },
	{ 0x00000000, "udf #0", FLOW_STOP, 0, 0, REG_NONE },
};

TEST(a64_flow_goes_where_the_instruction_goes)
{
	for (size_t i = 0; i < ARRAY_LEN(flows); i++) {
		struct insn insn;

		CHECK_EQ(decode(flows[i].word, AT, &insn), 0);
		if (insn.flow != flows[i].flow || insn.target != flows[i].target)
			print_error("%s:\n", flows[i].text);
		CHECK_EQ(insn.flow, flows[i].flow);
		CHECK_EQ(insn.target, flows[i].target);
		CHECK_EQ(insn.condition, flows[i].condition);
		CHECK_EQ(insn.through, flows[i].through);
		CHECK_EQ(insn.n_effects, 0);
	}
}

TEST(a64_call_leaves_the_return_address_in_x30)
{
	struct insn insn;

	CHECK_EQ(decode(0x94000001, AT, &insn), 0);
	CHECK_EQ(insn.clobbers, UINT64_C(1) << 30);
	CHECK_EQ(decode(0xd63f0060, AT, &insn), 0);
	CHECK_EQ(insn.clobbers, UINT64_C(1) << 30);
	CHECK_EQ(insn.reads, 1 << 3);
}

TEST(a64_reads_distinguish_sp_and_zr)
{
	struct insn insn;

	CHECK_EQ(decode(0xf94003e0, AT, &insn), 0); /* ldr x0, [sp] */
	CHECK_EQ(insn.reads, UINT64_C(1) << 31);
	CHECK_EQ(decode(0xaa1f03e0, AT, &insn), 0); /* mov x0, xzr */
	CHECK_EQ(insn.reads, 0);
	CHECK_EQ(decode(0xa9bf7bfd, AT, &insn), 0); /* stp x29, x30, [sp, #-16]! */
	CHECK_EQ(insn.reads, UINT64_C(7) << 29);
	CHECK_EQ(decode(0xb3400820, AT, &insn), 0); /* bfxil x0, x1, #0, #3 */
	CHECK_EQ(insn.reads, 3);
}

TEST(a64_fill_between_functions_is_a_trap)
{
	struct insn insn;

	CHECK_EQ(decode(0xcccccccc, AT, &insn), 0);
	CHECK(insn.is_fill && insn.is_padding && insn.flow == FLOW_STOP);
	CHECK_EQ(insn.len, 4);
	CHECK_EQ(decode(0, AT, &insn), 0); /* udf #0: often data */
	CHECK(!insn.is_fill && insn.is_padding);
	CHECK(decode(0xcccccccd, AT, &insn) < 0);
}

TEST(a64_hints_have_marks)
{
	struct insn insn;

	CHECK_EQ(decode(0xd503201f, AT, &insn), 0); /* nop */
	CHECK(insn.is_padding && !insn.is_entry_mark);
	CHECK_EQ(decode(0xd503245f, AT, &insn), 0); /* bti c */
	CHECK(insn.is_entry_mark && !insn.is_padding);
	CHECK_EQ(decode(0xd503233f, AT, &insn), 0); /* paciasp */
	CHECK(insn.is_entry_mark);
	CHECK_EQ(decode(0xd503249f, AT, &insn), 0); /* bti j: for jumps, not calls */
	CHECK(!insn.is_entry_mark);
	CHECK_EQ(decode(0xd4000001, AT, &insn), 0); /* svc #0 */
	CHECK(insn.is_syscall);
	CHECK_EQ(decode(0x10000060, AT, &insn), 0); /* adr x0, .+12 */
	CHECK(insn.is_address);
	CHECK_EQ(decode(0xd281e000, AT, &insn), 0); /* mov x0, #0xf00: not an address */
	CHECK(!insn.is_address);
}

TEST(a64_invalid_instructions_are_refused)
{
	static const uint32_t words[] = {
		0x00010000, /* unallocated */
		0x0bc20020, /* add with a reserved shift */
		0x0b028020, /* 32-bit add shifted by 32 */
		0x12400000, /* 32-bit and with N set */
		0x9240fc00, /* and with all ones */
		0x32800000, /* a move with the reserved opcode */
		0xf8c00400, /* post-indexed prefetch */
		0xffffffff,
	};
	struct insn insn;

	for (size_t i = 0; i + 1 < ARRAY_LEN(words); i++)
		CHECK_EQ(decode(words[i], AT, &insn), -EBADMSG);
	CHECK_EQ(isa_aarch64.decode((struct bytes){ (const uint8_t *)words, 3 }, AT, &insn), -EBADMSG);
}

TEST(a64_any_word_decodes_or_is_refused)
{
	size_t n_good = 0;

	for (uint64_t word = 0; word < UINT64_C(1) << 32;
	     word += 1021) { /* a prime: every field takes every value */
		struct insn insn;
		char text[96];
		uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
				     (uint8_t)(word >> 24) };
		struct bytes code = { bytes, 4 };

		if (isa_aarch64.decode(code, AT, &insn) < 0)
			continue;
		n_good++;
		CHECK(insn.n_effects <= INSN_MAX_EFFECTS);
		CHECK_EQ(insn.clobbers >> 32 | insn.reads >> 32, 0);
		for (unsigned i = 0; i < insn.n_effects; i++) {
			const struct effect *e = &insn.effect[i];
			CHECK(e->reg == REG_NONE || e->reg < REG_MAX);
			CHECK(e->base == REG_NONE || e->base < REG_MAX);
			CHECK(e->index == REG_NONE || e->index < REG_MAX);
			CHECK(e->reg != REG_NONE || e->kind == EFFECT_STORE || e->kind == EFFECT_COMPARE);
		}
		CHECK(isa_aarch64.format(code, AT, text, sizeof(text)) < sizeof(text));
	}
	CHECK(n_good > 1000000);
}

TEST(a64_a_call_is_recognised_before_a_return_address)
{
	const uint8_t code[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0x02, 0x00, 0x00, 0x94 }; /* stp..; bl .+8 */
	struct insn insn;

	CHECK(isa_aarch64.ends_in_call((struct bytes){ code, 8 }, AT, &insn));
	CHECK_EQ(insn.flow, FLOW_CALL);
	CHECK_EQ(insn.target, AT + 4);
	CHECK(!isa_aarch64.ends_in_call((struct bytes){ code, 4 }, AT, NULL));
	CHECK(!isa_aarch64.ends_in_call((struct bytes){ code, 3 }, AT, NULL));
}

TEST(a64_signatures_are_stripped_from_return_addresses)
{
	CHECK_EQ(isa_aarch64.strip_pc(0x002a00aaaabbbb10), 0x0000aaaabbbb10);
	CHECK_EQ(isa_aarch64.strip_pc(0xaaaabbbb10), 0xaaaabbbb10);
	CHECK_EQ(isa_aarch64.strip_pc(0xffb7800080123456), 0xffff800080123456);
}

TEST(a64_the_signal_trampoline_is_recognised_by_its_code)
{
	const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };

	CHECK(isa_aarch64.is_signal_trampoline((struct bytes){ code, 8 }));
	CHECK(!isa_aarch64.is_signal_trampoline((struct bytes){ code, 7 }));
	CHECK(!isa_aarch64.is_signal_trampoline((struct bytes){ code + 4, 4 }));
}

TEST(a64_text_is_truncated_to_the_buffer)
{
	const uint8_t code[] = { 0xfd, 0x7b, 0xbf, 0xa9 };
	char text[8];

	CHECK_EQ(isa_aarch64.format((struct bytes){ code, 4 }, AT, text, sizeof(text)), 7);
	CHECK_STR(text, "stp x29");
}

TEST(a64_a_call_inside_the_code_is_seen_without_decoding)
{
	const uint32_t nop = 0xd503201f, call = 0x94000000, jump = 0x14000000, back = 0x03ffffff;
	const struct {
		uint32_t code[4];
		bool is_inside;
	} cases[] = {
		{ { nop, call | 2, nop, nop }, true }, /* the last instruction */
		{ { nop, nop, call | (back - 0), nop }, true },
		{ { nop, call | 1, nop, nop }, false },          /* the next one */
		{ { nop, call | 3, nop, nop }, false },          /* just behind */
		{ { nop, nop, call | (back - 1), nop }, false }, /* the first one: it calls itself */
		{ { nop, nop, call | (back - 2), nop }, false }, /* just before */
		{ { nop, jump | 2, nop, nop }, false },
		{ { nop, nop, nop, call | back }, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bytes code = { (const uint8_t *)cases[i].code, 16 };
		CHECK_EQ(isa_aarch64.may_call_inside(code), cases[i].is_inside);
	}
	CHECK(!isa_aarch64.may_call_inside((struct bytes){ (const uint8_t *)cases[7].code, 15 }));
	CHECK(!isa_aarch64.may_call_inside((struct bytes){ NULL, 0 }));
}
