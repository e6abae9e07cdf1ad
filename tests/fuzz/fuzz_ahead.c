/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ahead: the first byte selects the machine and the kind of address, the second where to start; the rest
 * is JIT code. Whatever it is, simulating it ahead must end, and the recipe must tell where the caller is.
 */
#include <stdlib.h>

#include "recipes/ahead.h"

#define CODE 0x10000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes code_at(void *context, uint64_t pc)
{
	const struct bytes *code = context;

	return pc < CODE || pc - CODE >= code->len ? (struct bytes){ 0 }
						   : bytes_from(*code, (size_t)(pc - CODE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > 65536)
		return 0;
	const struct isa *isa = data[0] & 1 ? &isa_x86_64 : &isa_aarch64;
	struct bytes code = { data + 2, size - 2 };
	struct ahead *ahead = ahead_new(isa, 1u << 9);
	struct recipes recipes;

	recipes_init(&recipes);
	uint64_t start = CODE + (uint64_t)data[1] * isa->min_insn;
	uint32_t recipe = ahead_recipe(ahead, code_at, &code, start, data[0] & 2, &recipes);
	if (recipe != RECIPE_NONE) {
		const struct recipe *r = &recipes.recipes.at[recipe];
		if (r->cfa_kind == CFA_NONE || r->cfa_reg >= isa->n_regs ||
		    !recipe_rule(&recipes, r, isa->ra))
			abort();
	}
	recipes_done(&recipes);
	ahead_free(ahead);
	return 0;
}
