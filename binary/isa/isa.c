/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/isa/isa.h"

static const struct isa *const isas[] = { &isa_x86_64, &isa_aarch64 };

const struct isa *isa_for_machine(uint16_t elf_machine)
{
	for (size_t i = 0; i < ARRAY_LEN(isas); i++)
		if (isas[i]->elf_machine == elf_machine)
			return isas[i];
	return NULL;
}
