/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub: the forms of stubs that GNU ld, gold, lld and mold create.
 */
#include <elf.h>
#include <string.h>

#include "binary/functions/stub.h"
#include "binary/isa/isa.h"

#define ANY (-1)
#define X86_MAX 16

/* Bytes of an x86-64 stub; ANY matches everything. */
struct x86_form {
	int16_t bytes[X86_MAX];
	uint8_t size, kind, depth, push_end;
	uint8_t slot_at; /* offset of the jump's 4-byte displacement; 0 = the form has none */
};

#define DISP ANY, ANY, ANY, ANY
#define ENDBR 0xf3, 0x0f, 0x1e, 0xfa

static const struct x86_form x86_forms[] = {
	/* jmp *slot; push $n; jmp head */
	{ { 0xff, 0x25, DISP, 0x68, DISP, 0xe9, DISP }, 16, STUB_CALL, 8, 11, 2 },
	/* endbr64; push $n; [bnd] jmp head; nop */
	{ { ENDBR, 0x68, DISP, 0xe9, DISP, 0x66, 0x90 }, 16, STUB_CALL, 8, 9, 0 },
	{ { ENDBR, 0x68, DISP, 0xf2, 0xe9, DISP, 0x90 }, 16, STUB_CALL, 8, 9, 0 },
	/* endbr64; [bnd] jmp *slot; nop */
	{ { ENDBR, 0xff, 0x25, DISP, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 16, STUB_CALL, 8, 0, 6 },
	{ { ENDBR, 0xf2, 0xff, 0x25, DISP, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 16, STUB_CALL, 8, 0, 7 },
	/* endbr64; mov $n, %r11d; jmp *slot */
	{ { ENDBR, 0x41, 0xbb, DISP, 0xff, 0x25, DISP }, 16, STUB_CALL, 8, 0, 12 },
	/* [bnd] jmp *slot; nop */
	{ { 0xff, 0x25, DISP, 0x66, 0x90 }, 8, STUB_CALL, 8, 0, 2 },
	{ { 0xf2, 0xff, 0x25, DISP, 0x90 }, 8, STUB_CALL, 8, 0, 3 },
	/* push link_map; [bnd] jmp *resolver; nop: reached from a stub that has pushed its number */
	{ { 0xff, 0x35, DISP, 0xff, 0x25, DISP, 0x0f, 0x1f, 0x40, 0x00 }, 16, STUB_HEAD, 16, 6, 8 },
	{ { 0xff, 0x35, DISP, 0xf2, 0xff, 0x25, DISP, 0x0f, 0x1f, 0x00 }, 16, STUB_HEAD, 16, 6, 9 },
};

static bool stub_x86_has_form(struct bytes code, const struct x86_form *form)
{
	if (code.len < form->size)
		return false;
	for (unsigned i = 0; i < form->size; i++)
		if (form->bytes[i] != ANY && form->bytes[i] != code.at[i])
			return false;
	return true;
}

static bool stub_x86_match_at(const struct image *image, uint64_t start, uint64_t vaddr, struct stub *ret)
{
	struct bytes code = image_code(image, start);

	for (size_t i = 0; i < ARRAY_LEN(x86_forms); i++) {
		const struct x86_form *form = &x86_forms[i];
		if (vaddr - start >= form->size || !stub_x86_has_form(code, form))
			continue;
		*ret = (struct stub){ .start = start,
				      .size = form->size,
				      .kind = form->kind,
				      .depth = form->depth,
				      .push_end = form->push_end,
				      .push_size = form->push_end ? 8 : 0 };
		if (form->slot_at) {
			int32_t disp;
			memcpy(&disp, code.at + form->slot_at, 4);
			ret->slot = start + form->slot_at + 4 + (uint64_t)(int64_t)disp;
		}
		return true;
	}
	return false;
}

/* Stubs are aligned to their size, 8 or 16. */
static bool stub_x86_match(const struct image *image, uint64_t vaddr, struct stub *ret)
{
	uint64_t wide = vaddr & ~15ull, narrow = vaddr & ~7ull;

	return stub_x86_match_at(image, wide, vaddr, ret) ||
	       (narrow != wide && stub_x86_match_at(image, narrow, vaddr, ret));
}

/* ---- AArch64 ------------------------------------------------------------------------------------ */

enum arm_word { /* what an instruction of a stub is */
		ARM_END,
		ARM_BTI,  /* bti c */
		ARM_STP,  /* stp x16, x30, [sp, #-16]! */
		ARM_ADRP, /* adrp x16, page of the slot */
		ARM_LDR,  /* ldr x17, [x16, #slot in the page] */
		ARM_ADD,  /* add x16, x16, #slot in the page */
		ARM_AUT,  /* autia1716 */
		ARM_BR,   /* br x17 */
		ARM_BR16, /* br x16 */
		ARM_NOP,
		ARM_LDR_LITERAL, /* ldr x16, the eight bytes after the next instruction */
};

static const struct {
	uint32_t mask, value;
} arm_words[] = {
	[ARM_END] = { UINT32_MAX, 0 },
	[ARM_BTI] = { UINT32_MAX, 0xd503245f },
	[ARM_STP] = { UINT32_MAX, 0xa9bf7bf0 },
	[ARM_ADRP] = { 0x9f00001f, 0x90000010 },
	[ARM_LDR] = { 0xffc003ff, 0xf9400211 },
	[ARM_ADD] = { 0xffc003ff, 0x91000210 },
	[ARM_AUT] = { UINT32_MAX, 0xd503219f },
	[ARM_BR] = { UINT32_MAX, 0xd61f0220 },
	[ARM_BR16] = { UINT32_MAX, 0xd61f0200 },
	[ARM_NOP] = { UINT32_MAX, 0xd503201f },
	[ARM_LDR_LITERAL] = { UINT32_MAX, 0x58000050 },
};

#define ARM_MAX 8
struct arm_form {
	uint8_t words[ARM_MAX]; /* enum arm_word, to ARM_END */
	uint8_t kind;
};

/* If one is the start of another, the longer form comes first. */
static const struct arm_form arm_forms[] = {
	{ { ARM_STP, ARM_ADRP, ARM_LDR, ARM_ADD, ARM_BR, ARM_NOP, ARM_NOP, ARM_NOP }, STUB_HEAD },
	{ { ARM_BTI, ARM_STP, ARM_ADRP, ARM_LDR, ARM_ADD, ARM_BR, ARM_NOP, ARM_NOP }, STUB_HEAD },
	{ { ARM_BTI, ARM_ADRP, ARM_LDR, ARM_ADD, ARM_AUT, ARM_BR }, STUB_CALL },
	{ { ARM_BTI, ARM_ADRP, ARM_LDR, ARM_ADD, ARM_BR, ARM_NOP }, STUB_CALL },
	{ { ARM_ADRP, ARM_LDR, ARM_ADD, ARM_AUT, ARM_BR, ARM_NOP }, STUB_CALL },
	{ { ARM_ADRP, ARM_LDR, ARM_ADD, ARM_BR }, STUB_CALL },
	{ { ARM_ADRP, ARM_ADD, ARM_BR16 }, STUB_VENEER },
	{ { ARM_LDR_LITERAL, ARM_BR16 }, STUB_VENEER },
};

/* The length of the form in words, if the code matches it; otherwise 0. */
static unsigned stub_arm_has_form(struct bytes code, const struct arm_form *form)
{
	unsigned n = 0;

	for (; n < ARM_MAX && form->words[n] != ARM_END; n++) {
		uint32_t word;
		if (code.len < (n + 1) * 4)
			return 0;
		memcpy(&word, code.at + (size_t)n * 4, 4);
		if ((word & arm_words[form->words[n]].mask) != arm_words[form->words[n]].value)
			return 0;
	}
	return n;
}

/* page of `here` + the adrp's 21-bit page count + the load's scaled offset */
static uint64_t stub_arm_slot(struct bytes code, const struct arm_form *form, uint64_t start)
{
	uint64_t page = 0;

	for (unsigned i = 0; i < ARM_MAX && form->words[i] != ARM_END; i++) {
		uint32_t word;
		memcpy(&word, code.at + (size_t)i * 4, 4);
		if (form->words[i] == ARM_ADRP) {
			uint64_t count = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
			uint64_t is_negative = count >> 20 & 1;
			page = (start & ~0xfffull) + ((count | (is_negative ? ~0x1fffffull : 0)) << 12);
		}
		if (form->words[i] == ARM_LDR)
			return page + (uint64_t)(word >> 10 & 0xfff) * 8;
	}
	return 0;
}

static unsigned stub_arm_push_end(const struct arm_form *form)
{
	for (unsigned i = 0; i < ARM_MAX && form->words[i] != ARM_END; i++)
		if (form->words[i] == ARM_STP)
			return (i + 1) * 4;
	return 0;
}

static bool stub_arm_match_at(const struct image *image, uint64_t start, uint64_t vaddr, struct stub *ret)
{
	struct bytes code = image_code(image, start);

	for (size_t i = 0; i < ARRAY_LEN(arm_forms); i++) {
		const struct arm_form *form = &arm_forms[i];
		unsigned n = stub_arm_has_form(code, form), push_end = stub_arm_push_end(form);
		if (vaddr - start >= (uint64_t)n * 4)
			continue;
		*ret = (struct stub){ .start = start,
				      .size = n * 4,
				      .kind = form->kind,
				      .slot = stub_arm_slot(code, form, start),
				      .push_end = (uint8_t)push_end,
				      .push_size = push_end ? 16 : 0,
				      .saves_ra = push_end != 0 };
		return true;
	}
	return false;
}

/* From the earliest start on: a short form may be the tail of a longer one. */
static bool stub_arm_match(const struct image *image, uint64_t vaddr, struct stub *ret)
{
	uint64_t last = vaddr & ~3ull;

	for (uint64_t back = ARM_MAX; back-- > 0;)
		if (last >= back * 4 && stub_arm_match_at(image, last - back * 4, vaddr, ret))
			return true;
	return false;
}

bool stub_match(const struct image *image, uint64_t vaddr, struct stub *ret)
{
	switch (image->elf_machine) {
	case EM_X86_64:
		return stub_x86_match(image, vaddr, ret);
	case EM_AARCH64:
		return stub_arm_match(image, vaddr, ret);
	default:
		return false;
	}
}

/* The target of a `b` at vaddr; 0 if there is none. */
static uint64_t stub_arm_jump(const struct image *image, uint64_t vaddr)
{
	struct insn insn;

	if (isa_aarch64.decode(image_code(image, vaddr), vaddr, &insn) < 0 || insn.flow != FLOW_JUMP)
		return 0;
	return insn.target;
}

bool stub_home(const struct image *image, uint64_t vaddr, uint64_t *ret_home)
{
	if (image->elf_machine != EM_AARCH64)
		return false;
	uint64_t start = vaddr & ~3ull; /* of the instruction, then the jump */
	for (uint64_t done = 0; done < 2 && start >= 4; done++, start -= 4) {
		uint64_t back = stub_arm_jump(image, start + 4);
		if (back < 4 || stub_arm_jump(image, start) || stub_arm_jump(image, back - 4) != start)
			continue;
		*ret_home = back - 4 + 4 * done;
		return true;
	}
	return false;
}

#define HELPER_MAX 24    /* instructions */
#define HELPER_RETURNS 2 /* one for each kind of CPU */
#define ARM_RETURN 0xd65f03c0u

static uint32_t stub_arm_word(const struct image *image, uint64_t vaddr)
{
	struct reader r = reader_of(image_code(image, vaddr));

	return read_u32(&r);
}

/* adrp x16; ldrb w16, [x16, #n]; cbz w16 */
static bool stub_asks_for_atomics(const struct image *image, uint64_t vaddr)
{
	return (stub_arm_word(image, vaddr) & 0x9f00001f) == 0x90000010 &&
	       (stub_arm_word(image, vaddr + 4) & 0xffc003ff) == 0x39400210 &&
	       (stub_arm_word(image, vaddr + 8) & 0xff00001f) == 0x34000010;
}

bool stub_is_helper(const struct image *image, uint64_t vaddr)
{
	uint64_t at = vaddr & ~3ull;
	unsigned n_returns = 0;

	if (image->elf_machine != EM_AARCH64)
		return false;
	for (unsigned n = 0; n < HELPER_MAX && n_returns < HELPER_RETURNS && at >= 4; n++, at -= 4) {
		if (stub_asks_for_atomics(image, at) ||
		    (n == 0 && stub_asks_for_atomics(image, at + 4))) /* bti before it */
			return true;
		n_returns += stub_arm_word(image, at - 4) == ARM_RETURN;
	}
	return false;
}
