/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/isa/isa.h"

#include <elf.h>
#include <string.h>

static const struct isa *const isas[] = { &isa_x86_64, &isa_aarch64 };

const struct isa *isa_for_machine(uint16_t elf_machine)
{
	for (size_t i = 0; i < ARRAY_LEN(isas); i++)
		if (isas[i]->elf_machine == elf_machine)
			return isas[i];
	return NULL;
}

bool isa_is_emulated(const struct isa *isa, const struct insn *insn)
{
	bool is_direct = insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH || insn->flow == FLOW_CALL;

	if (insn->is_signed)
		return false;
	if (insn->is_padding || is_direct)
		return true;
	if (isa->elf_machine == EM_AARCH64)
		return insn->flow == FLOW_RETURN || insn->flow == FLOW_JUMP_INDIRECT ||
		       insn->flow == FLOW_CALL_INDIRECT || insn->is_address;
	return insn->n_effects == 1 && insn->effect[0].kind == EFFECT_PUSH && insn->effect[0].reg != REG_NONE;
}

/* The names of both machines' instructions: [v]div.., [v]sqrt.., idiv, sdiv, udiv, fdiv.., fsqrt.. */
bool isa_is_division(const struct isa *isa, struct bytes code)
{
	static const char *const names[] = { "div", "sqrt" };
	char text[128];

	if (isa->format(code, 0, text, sizeof(text)) == 0)
		return false;
	const char *name = text + strspn(text, "vfisu");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0 ||
		    (name > text && strncmp(name - 1, names[i], strlen(names[i])) == 0))
			return true;
	return false;
}
