/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_isa: the first byte selects the machine, the rest is code. Whatever the bytes, a decoded
 * instruction is inside them and names only registers that exist.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "binary/isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool is_reg(const struct isa *isa, uint8_t reg)
{
	return reg == REG_NONE || reg < isa->n_regs;
}

static void check_insn(const struct isa *isa, const struct insn *insn, size_t room)
{
	uint64_t known = (UINT64_C(1) << isa->n_regs) - 1;

	require(insn->len > 0 && insn->len <= room);
	require(insn->n_effects <= INSN_MAX_EFFECTS);
	require(insn->flow <= FLOW_STOP && insn->condition <= CONDITION_BELOW_EQUAL);
	require(is_reg(isa, insn->through));
	require(!((insn->reads | insn->clobbers) & ~known));
	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *effect = &insn->effect[i];

		require(effect->kind <= EFFECT_COMPARE && effect->shift < 64 && effect->width > 0);
		require(is_reg(isa, effect->reg) && is_reg(isa, effect->base) && is_reg(isa, effect->index));
		if (effect->kind == EFFECT_SET || effect->kind == EFFECT_AND)
			require(effect->reg != REG_NONE && (effect->width == 4 || effect->width == 8));
	}
}

static void check_text(const struct isa *isa, struct bytes code, uint64_t vaddr)
{
	char text[128];
	size_t len = isa->format(code, vaddr, text, sizeof text);

	require(len < sizeof text && strlen(text) == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct isa *isa = isa_for_machine(size && data[0] & 1 ? EM_AARCH64 : EM_X86_64);
	struct bytes code = bytes_from((struct bytes){ data, size }, 1);
	const uint64_t vaddr = 0x401000;

	if (!isa)
		return 0;
	for (size_t at = 0; at < code.len && at < 4096; at += isa->min_insn) {
		struct bytes here = bytes_from(code, at);
		struct insn insn;

		if (isa->decode(here, vaddr + at, &insn) == 0)
			check_insn(isa, &insn, here.len);
		if (isa->ends_in_call(bytes_slice(code, 0, at), vaddr + at, &insn))
			require(insn.flow == FLOW_CALL || insn.flow == FLOW_CALL_INDIRECT);
		check_text(isa, here, vaddr + at);
		isa->is_signal_trampoline(here);
	}
	return 0;
}
