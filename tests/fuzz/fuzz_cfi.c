/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cfi: an unwind program, compiled for both machines; every resulting recipe is formatted and its
 * expressions are evaluated.
 *
 * input: u8 length of the CIE's program, u8 code alignment, u8 data alignment (signed), u8 return
 * address column, u8 address encoding; the CIE's program; the rest is the FDE's
 */
#include <stdlib.h>

#include "recipes/cfi.h"
#include "tests/unit/unwinder/test_isa.h"
#include "unwinder/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const struct recipes *recipes)
{
	static const uint8_t snapshot[256];
	struct sample sample = { .stack = { snapshot, sizeof(snapshot) }, .stack_was_full = true };
	struct cursor cursor;
	uint64_t value;

	sample.regs.known = UINT64_MAX >> (64 - REG_MAX);
	for (unsigned i = 0; i < REG_MAX; i++)
		sample.regs.value[i] = 0x7000 + i * 8;
	sample.regs.value[test_x86.sp] = 0x7000;
	cursor_init(&cursor, NULL, NULL);
	cursor_begin(&cursor, &test_x86, 1, &sample);
	struct expr_input input = { &cursor, 0x10000, true, 0x7080 };
	for (size_t i = 0; i < recipes->exprs.n; i++)
		expr_eval(recipes->exprs.at[i], &input, &value);
}

static void compile(const struct fde *fde, const struct isa *isa)
{
	struct recipe_rows rows = { 0 };
	struct recipes recipes;
	char text[256];

	recipes_init(&recipes);
	cfi_compile(fde, isa, &recipes, &rows);
	if (rows.rows.n == 0 || rows.rows.at[0].start != 0)
		abort();
	for (size_t i = 0; i < rows.rows.n; i++) {
		if (i && rows.rows.at[i].start <= rows.rows.at[i - 1].start)
			abort();
		if (rows.rows.at[i].start >= fde->size)
			abort();
		recipe_format(&recipes, rows.rows.at[i].recipe, isa, text, sizeof(text));
	}
	evaluate(&recipes);
	vec_done(&rows.rows);
	recipes_done(&recipes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((struct bytes){ data, size });
	struct fde fde = { .start = 0x1000, .size = 0x10000, .program_vaddr = 0x40000 };
	uint8_t cie_len = read_u8(&r);

	fde.cie.code_align = read_u8(&r);
	fde.cie.data_align = (int8_t)read_u8(&r);
	fde.cie.ra_reg = read_u8(&r);
	fde.cie.address_encoding = read_u8(&r);
	fde.cie.program = read_bytes(&r, cie_len);
	fde.program = read_bytes(&r, reader_left(&r));
	compile(&fde, &test_x86);
	compile(&fde, &test_arm);
	return 0;
}
