/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/record/perf_regs.h"

#include <elf.h>
#include <string.h>

/* Bit number in the kernel's mask -> DWARF number. */
static const uint8_t x86_64_dwarf[] = {
	0,        3,        2,        1,                        /* ax bx cx dx: DWARF counts ax dx cx bx */
	4,        5,        6,        7,                        /* si di bp sp */
	16,                                                     /* ip */
	REG_NONE,                                               /* flags */
	REG_NONE, REG_NONE,                                     /* cs ss */
	REG_NONE, REG_NONE, REG_NONE, REG_NONE,                 /* ds es fs gs: never delivered */
	8,        9,        10,       11,       12, 13, 14, 15, /* r8-r15 */
};

static const uint8_t aarch64_dwarf[] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
	15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, /* x0-x29 */
	30, 31, 32,                                                 /* lr sp pc */
};

static const struct table {
	uint16_t elf_machine;
	uint64_t mask;
	const uint8_t *dwarf;
	size_t n;
} tables[] = {
	/* we do not use flags, cs and ss, but perf asks for them and its unwinder expects them */
	{ EM_X86_64, 0xff0fff, x86_64_dwarf, ARRAY_LEN(x86_64_dwarf) },
	{ EM_AARCH64, 0x1ffffffff, aarch64_dwarf, ARRAY_LEN(aarch64_dwarf) },
};

static const struct table *regs_table_of(const struct isa *isa)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (isa && tables[i].elf_machine == isa->elf_machine)
			return &tables[i];
	return NULL;
}

uint64_t perf_regs_mask(const struct isa *isa)
{
	const struct table *table = regs_table_of(isa);

	return table ? table->mask : 0;
}

struct regs perf_regs_read(const struct isa *isa, uint64_t mask, struct bytes values)
{
	const struct table *table = regs_table_of(isa);
	struct regs regs = { 0 };

	for (size_t bit = 0, at = 0; table && bit < table->n && at + 8 <= values.len; bit++) {
		if (!(mask >> bit & 1))
			continue;
		uint8_t reg = table->dwarf[bit];
		if (reg != REG_NONE) {
			memcpy(&regs.value[reg], values.at + at, 8);
			regs.known |= 1ull << reg;
		}
		at += 8;
	}
	return regs;
}

size_t perf_regs_write(const struct isa *isa, uint64_t mask, const struct regs *regs, uint64_t *ret_values)
{
	const struct table *table = regs_table_of(isa);
	size_t n = 0;

	for (size_t bit = 0; table && bit < table->n; bit++) {
		if (!(mask >> bit & 1))
			continue;
		uint8_t reg = table->dwarf[bit];
		ret_values[n++] = regs_known(regs, reg) ? regs->value[reg] : 0;
	}
	return n;
}
