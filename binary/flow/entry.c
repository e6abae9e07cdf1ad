/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/flow/entry.h"

#define MAX_INSNS 32

/* Registers that are read other than to be saved. frame: registers that point into the frame. */
static uint64_t entry_reads(const struct insn *insn, uint64_t frame)
{
	uint64_t reads = insn->reads, saved = 0, addressed = 0;
	bool writes_nothing = insn->clobbers == 0;

	for (unsigned k = 0; k < insn->n_effects; k++) {
		const struct effect *e = &insn->effect[k];
		bool is_based = e->base < REG_MAX && (frame >> e->base & 1);
		bool is_save = e->kind == EFFECT_PUSH || (e->kind == EFFECT_STORE && is_based);
		if (is_save && e->reg < REG_MAX)
			saved |= 1ull << e->reg;
		if (e->kind != EFFECT_COMPARE)
			writes_nothing = false;
		if (e->base < REG_MAX && !is_based)
			addressed |= 1ull << e->base;
		if (e->index < REG_MAX)
			addressed |= 1ull << e->index;
	}
	if (writes_nothing &&
	    reads == 1) /* test al, al: the number of vector registers that a variadic call passes */
		return 0;
	return reads & ~(saved & ~addressed);
}

static uint64_t entry_writes(const struct insn *insn)
{
	uint64_t mask = insn->clobbers;

	for (unsigned k = 0; k < insn->n_effects; k++) {
		const struct effect *e = &insn->effect[k];
		if (e->reg < REG_MAX && e->kind != EFFECT_PUSH && e->kind != EFFECT_STORE &&
		    e->kind != EFFECT_COMPARE)
			mask |= 1ull << e->reg;
	}
	return mask;
}

/* Registers that point into the frame after the instruction: sp, and the frame pointer if that is set from
 * it. */
static uint64_t entry_frame(const struct insn *insn, const struct isa *isa, uint64_t frame)
{
	frame &= ~entry_writes(insn) | 1ull << isa->sp;
	for (unsigned k = 0; k < insn->n_effects; k++) {
		const struct effect *e = &insn->effect[k];
		if (e->kind == EFFECT_SET && e->reg == isa->fp && e->base == isa->sp && e->index == REG_NONE)
			frame |= 1ull << isa->fp;
	}
	return frame;
}

bool entry_is_plausible(const struct isa *isa, const struct image *image, uint64_t vaddr)
{
	struct bytes code = image_code(image, vaddr);
	uint64_t given = isa->argument_regs | 1ull << isa->sp | 1ull << isa->ra | 1ull << isa->pc;
	uint64_t frame = 1ull << isa->sp;

	if (!isa->call_pushes_ra)
		given |= 7ull << 16; /* AArch64: x16 and x17 of the linker's stubs, x18 of the platform */
	for (unsigned n = 0; n < MAX_INSNS; n++) {
		struct insn insn;
		if (isa->decode(code, vaddr, &insn) < 0 || insn.len == 0 || insn.len > code.len)
			return n > 0;
		if (entry_reads(&insn, frame) & ~given & ((1ull << isa->n_regs) - 1))
			return false;
		if (insn.flow != FLOW_NEXT && insn.flow != FLOW_BRANCH)
			return true;
		given |= entry_writes(&insn);
		frame = entry_frame(&insn, isa, frame);
		code = bytes_from(code, insn.len);
		vaddr += insn.len;
	}
	return true;
}

bool entry_is_prologue(const struct isa *isa, const struct insn *insn)
{
	for (unsigned k = 0; k < insn->n_effects; k++) {
		const struct effect *e = &insn->effect[k];
		bool is_save = e->kind == EFFECT_PUSH ||
			       (e->kind == EFFECT_STORE && e->base == isa->sp && e->imm < 0);
		bool makes_room = e->kind == EFFECT_SET && e->reg == isa->sp && e->base == isa->sp &&
				  e->index == REG_NONE && e->imm < 0;
		if (makes_room)
			return true;
		if (is_save && e->reg < REG_MAX && ((isa->callee_saved | 1ull << isa->ra) >> e->reg & 1))
			return true;
	}
	return false;
}

bool entry_is_beginning(const struct isa *isa, const struct insn *insn)
{
	return insn->is_entry_mark || entry_is_prologue(isa, insn);
}

bool entry_makes_frame(const struct isa *isa, const struct image *image, uint64_t vaddr)
{
	struct bytes code = image_code(image, vaddr);
	struct insn save, set;

	if (isa->decode(code, vaddr, &save) < 0 || !entry_is_prologue(isa, &save) || save.len >= code.len ||
	    isa->decode(bytes_from(code, save.len), vaddr + save.len, &set) < 0)
		return false;
	const struct effect *e = &set.effect[0];
	return set.n_effects == 1 && e->kind == EFFECT_SET && e->reg == isa->fp && e->base == isa->sp &&
	       e->index == REG_NONE;
}
