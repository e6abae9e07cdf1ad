/* SPDX-License-Identifier: Apache-2.0 */
/* Compares shortcuts for A64 words that are not fully decoded with the decoder, on random words. */
#include "binary/isa/a64/a64.h"
#include "tests/test.h"

/* Words that are skipped must be irrelevant to the survey of a text. */
TEST(a64_idle_words_are_irrelevant_to_the_survey)
{
	uint64_t seed = 7;
	unsigned n_idle = 0, n_branches = 0;

	for (unsigned round = 0; round < 3000000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t word = (uint32_t)(seed >> 32);
		uint64_t known = round % 4   ? 1ull << (seed >> 20 & 31) | 1ull << (seed >> 10 & 31)
				 : round % 8 ? 0xffffffff
					     : 0;
		struct bytes code = { (const uint8_t *)&word, 4 };
		struct insn insn;
		if (!isa_aarch64.idle_len(code, known, (struct isa_room){ -0x1000, 0x800 }) ||
		    isa_aarch64.decode(code, 0x10000, &insn) < 0)
			continue;
		n_idle++;
		n_branches += insn.flow == FLOW_BRANCH;
		CHECK(insn.flow == FLOW_NEXT ||
		      (insn.flow == FLOW_BRANCH && insn.target >= 0xf000 && insn.target < 0x10800));
		CHECK(!insn.is_address);
		CHECK_EQ(insn.clobbers & known, 0);
		for (unsigned i = 0; i < insn.n_effects; i++) {
			const struct effect *e = &insn.effect[i];
			bool is_memory = e->kind == EFFECT_LOAD || e->kind == EFFECT_STORE;
			CHECK(e->reg >= REG_MAX || e->kind == EFFECT_STORE || e->kind == EFFECT_PUSH ||
			      e->kind == EFFECT_COMPARE || !(known >> e->reg & 1));
			CHECK(e->base >= REG_MAX || e->kind == EFFECT_COMPARE || !(known >> e->base & 1));
			CHECK(!is_memory || e->base != REG_NONE);
		}
	}
	CHECK(n_idle > 300000);
	CHECK(n_branches > 1000);
}

TEST(a64_idle_words_end_before_the_first_relevant_one)
{
	/* nop-like work, a branch 8 back, a call */
	const uint32_t words[] = { 0x8b010000, 0x8b020000, 0x54ffffc1, 0x94000001, 0x8b010000 };
	struct bytes code = { (const uint8_t *)words, sizeof(words) };

	CHECK_EQ(isa_aarch64.idle_len(code, 0, (struct isa_room){ 0, 20 }), 12);
	CHECK_EQ(isa_aarch64.idle_len(code, 0, (struct isa_room){ 4, 20 }), 8);       /* branches too far */
	CHECK_EQ(isa_aarch64.idle_len(code, 1u << 2, (struct isa_room){ 0, 20 }), 4); /* x2 is read */
	CHECK_EQ(isa_aarch64.idle_len(bytes_slice(code, 0, 7), 0, (struct isa_room){ 0, 20 }), 4);
}

/* Does the shortcut agree with the decoder on this word? */
static void check_quick(uint32_t word, uint64_t vaddr, struct isa_quick quick)
{
	struct insn insn;

	CHECK_EQ(isa_aarch64.decode((struct bytes){ (const uint8_t *)&word, 4 }, vaddr, &insn), 0);
	if (quick.reg == REG_NONE) {
		CHECK_EQ(insn.flow, FLOW_CALL);
		CHECK_EQ(insn.target, quick.value);
		CHECK_EQ(insn.n_effects, 0);
		CHECK_EQ(insn.clobbers, 1u << isa_aarch64.ra);
		return;
	}
	CHECK_EQ(insn.flow, FLOW_NEXT);
	CHECK_EQ(insn.n_effects, 1);
	CHECK_EQ(insn.clobbers, 0);
	CHECK(insn.is_address);
	CHECK_EQ(insn.effect[0].kind, EFFECT_SET);
	CHECK_EQ(insn.effect[0].reg, quick.reg);
	CHECK_EQ(insn.effect[0].base, REG_NONE);
	CHECK_EQ(insn.effect[0].index, REG_NONE);
	CHECK_EQ(insn.effect[0].width, 8);
	CHECK_EQ((uint64_t)insn.effect[0].imm, quick.value);
	CHECK_EQ(quick.value % 4096, 0);
}

TEST(a64_quick_calls_and_pages_agree_with_the_decoder)
{
	uint64_t seed = 17;
	unsigned n_calls = 0, n_pages = 0;

	for (unsigned round = 0; round < 1000000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t word = (uint32_t)(seed >> 32);
		uint64_t vaddr = (seed >> 8 & 0xffffff) * 4;
		struct isa_quick quick;
		if (!isa_aarch64.quick((struct bytes){ (const uint8_t *)&word, 4 }, vaddr, &quick))
			continue;
		check_quick(word, vaddr, quick);
		n_calls += quick.reg == REG_NONE;
		n_pages += quick.reg != REG_NONE;
	}
	CHECK(n_calls > 10000);
	CHECK(n_pages > 10000);
}

TEST(a64_quick_rows_of_vector_words_agree_with_the_full_table)
{
	uint64_t seed = 13;
	unsigned n_skipped = 0, n_used = 0;

	for (unsigned round = 0; round < 1000000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t word = (uint32_t)(seed >> 32) | 0x0e000000;
		const struct a64_row *row = a64_find(word), *quick = a64_find_effects(word);
		CHECK(row && quick);
		CHECK_EQ(quick->kind, row->kind);
		CHECK_EQ(quick->uses, row->uses);
		n_skipped += row != quick;
		n_used += row->uses != 0;
	}
	CHECK(n_skipped > 500000);
	CHECK(n_used > 1000);
}

static uint64_t reg_mask(uint8_t reg)
{
	return reg < REG_MAX ? 1ull << reg : 0;
}

/* Does the quick look at this word agree with the decoder? */
static void check_glance(uint32_t word, struct isa_use glance)
{
	struct insn insn;
	uint64_t needs = 0, frame = 1ull << isa_aarch64.sp | 1ull << isa_aarch64.fp | 1ull << isa_aarch64.ra;

	CHECK_EQ(isa_aarch64.decode((struct bytes){ (const uint8_t *)&word, 4 }, 0x1000, &insn), 0);
	CHECK_EQ(insn.flow, FLOW_NEXT);
	CHECK_EQ(insn.len, 4);
	CHECK(!insn.is_padding && !insn.is_entry_mark && !insn.is_syscall && !insn.is_address &&
	      !insn.writes_flags);
	uint64_t writes = insn.clobbers;
	for (unsigned i = 0; i < insn.n_effects; i++) {
		const struct effect *e = &insn.effect[i];
		CHECK(e->kind == EFFECT_SET || e->kind == EFFECT_LOAD || e->kind == EFFECT_STORE);
		needs |= reg_mask(e->base) | reg_mask(e->index) |
			 (e->kind == EFFECT_STORE ? reg_mask(e->reg) : 0);
		needs |= e->base == REG_NONE && e->index == REG_NONE ? USE_CONSTANT : 0;
		writes |= e->kind == EFFECT_STORE ? 0 : reg_mask(e->reg);
	}
	CHECK_EQ(writes, glance.writes);
	CHECK_EQ(needs & ~glance.needs, 0);
	CHECK_EQ((needs | writes | glance.needs) & frame, 0);
}

TEST(a64_glance_agrees_with_the_decoder)
{
	uint64_t seed = 11;
	unsigned n = 0;

	for (unsigned round = 0; round < 5000000; round++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t word = (uint32_t)(seed >> 32);
		struct isa_use glance;
		if (!isa_aarch64.glance((struct bytes){ (const uint8_t *)&word, 4 }, &glance))
			continue;
		n++;
		check_glance(word, glance);
	}
	CHECK(n > 100000);
}

TEST(a64_glance_covers_common_instructions)
{
	static const struct {
		uint32_t word;
		uint64_t needs, writes;
	} common[] = {
		{ 0xaa0103e0, 1u << 1, 1u << 0 },           /* mov x0, x1 */
		{ 0x8b020020, 1u << 1 | 1u << 2, 1u << 0 }, /* add x0, x1, x2 */
		{ 0x91000420, 1u << 1, 1u << 0 },           /* add x0, x1, #1 */
		{ 0x52800020, USE_CONSTANT, 1u << 0 },      /* mov w0, #1 */
		{ 0xf9400020, 1u << 1, 1u << 0 },           /* ldr x0, [x1] */
		{ 0xb9000020, 1u << 0 | 1u << 1, 0 },       /* str w0, [x1] */
		{ 0xf8627820, 1u << 1 | 1u << 2, 1u << 0 }, /* ldr x0, [x1, x2, lsl #3] */
	};
	static const uint32_t others[] = {
		0xd503201f, /* nop */
		0x910003fd, /* mov x29, sp */
		0xf9400fe0, /* ldr x0, [sp, #24] */
		0xaa0003fe, /* mov x30, x0 */
		0xf100003f, /* cmp x1, #0 */
		0x54000040, /* b.eq */
		0x90000000, /* adrp */
		0x2a208000, /* unallocated: a 32-bit shift by 32 */
	};
	struct isa_use glance;

	for (size_t i = 0; i < ARRAY_LEN(common); i++) {
		CHECK(isa_aarch64.glance((struct bytes){ (const uint8_t *)&common[i].word, 4 }, &glance));
		CHECK_EQ(glance.needs, common[i].needs);
		CHECK_EQ(glance.writes, common[i].writes);
		CHECK(!isa_aarch64.glance((struct bytes){ (const uint8_t *)&common[i].word, 3 }, &glance));
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		CHECK(!isa_aarch64.glance((struct bytes){ (const uint8_t *)&others[i], 4 }, &glance));
}
