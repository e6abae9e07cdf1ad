/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands: the named operands of base instructions, and the mnemonics that depend on more than
 * a mask (bit fields, moves, conditional selects). Written as binutils writes them.
 */
#include "binary/isa/a64/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

const char *a64_condition(unsigned condition)
{
	static const char *const names[16] = { "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
					       "hi", "ls", "ge", "lt", "gt", "le", "al", "nv" };

	return names[condition & 15];
}

static unsigned operand_bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

static void operand_print_label(struct a64_text *t, int64_t words)
{
	PRINT("0x%llx", (unsigned long long)(t->vaddr + (uint64_t)(words * 4)));
}

static void operand_label26(struct a64_text *t)
{
	operand_print_label(t, a64_signed_bits(t->word, 25, 0));
}

static void operand_label19(struct a64_text *t)
{
	operand_print_label(t, a64_signed_bits(t->word, 23, 5));
}

static void operand_label14(struct a64_text *t)
{
	operand_print_label(t, a64_signed_bits(t->word, 18, 5));
}

static int64_t operand_adr_imm(const struct a64_text *t)
{
	return a64_signed_bits(t->word, 23, 5) * 4 + operand_bits(t, 30, 29);
}

static void operand_adr(struct a64_text *t)
{
	PRINT("0x%llx", (unsigned long long)(t->vaddr + (uint64_t)operand_adr_imm(t)));
}

static void operand_adrp(struct a64_text *t)
{
	PRINT("0x%llx",
	      (unsigned long long)((t->vaddr & ~UINT64_C(0xfff)) + ((uint64_t)operand_adr_imm(t) << 12)));
}

static void operand_bit_number(struct a64_text *t)
{
	PRINT("%u", operand_bits(t, 31, 31) << 5 | operand_bits(t, 23, 19));
}

static void operand_imm12(struct a64_text *t)
{
	PRINT("#0x%x%s", operand_bits(t, 21, 10), operand_bits(t, 22, 22) ? ", lsl #12" : "");
}

static void operand_bitmask(struct a64_text *t)
{
	uint64_t value = 0;

	a64_bitmask(t->word, &value);
	PRINT("#0x%llx", (unsigned long long)(t->word >> 31 ? value : (uint32_t)value));
}

/* A logical immediate that movz or movn could set is printed as orr, so that it assembles to the same word.
 */
static bool operand_fits_move_wide(uint64_t value, unsigned n_chunks)
{
	unsigned zeroes = 0, ones = 0;

	for (unsigned i = 0; i < n_chunks; i++) {
		zeroes += (value >> 16 * i & 0xffff) == 0;
		ones += (value >> 16 * i & 0xffff) == 0xffff;
	}
	return zeroes + 1 >= n_chunks || ones + 1 >= n_chunks;
}

static void operand_orr_or_mov(struct a64_text *t)
{
	uint64_t value = 0;

	a64_bitmask(t->word, &value);
	if (operand_bits(t, 4, 0) != 31 && operand_fits_move_wide(value, t->word >> 31 ? 4 : 2))
		a64_print(t, "orr {rd:sp}, {rn}, {bitmask}");
	else
		a64_print(t, "mov {rd:sp}, {bitmask}");
}

static void operand_move_wide(struct a64_text *t)
{
	unsigned op = operand_bits(t, 30, 29), hw = operand_bits(t, 22, 21), imm = operand_bits(t, 20, 5);
	uint64_t value = (uint64_t)imm << 16 * hw;

	if (op == 3 || (imm == 0 && hw) || (op == 0 && imm == 0xffff && !(t->word >> 31))) {
		PRINT("%s ", op == 0 ? "movn" : op == 2 ? "movz" : "movk");
		a64_print(t, "{rd}, #{imm16.5}");
		if (hw)
			PRINT(", lsl #%u", hw * 16);
		return;
	}
	value = op == 0 ? ~value : value;
	a64_print(t, "mov {rd}, ");
	PRINT("#0x%llx", (unsigned long long)(t->word >> 31 ? value : (uint32_t)value));
}

static void operand_print_bitfield(struct a64_text *t, const char *name, unsigned lsb, unsigned width)
{
	PRINT("%s ", name);
	a64_print(t, "{rd}, {rn}");
	PRINT(", #%u, #%u", lsb, width);
}

static bool operand_print_extension(struct a64_text *t, unsigned op, unsigned top)
{
	static const struct {
		uint8_t op, top;
		const char *template;
	} names[] = { { 0, 7, "sxtb {rd}, {wn}" },
		      { 0, 15, "sxth {rd}, {wn}" },
		      { 0, 31, "sxtw {xd}, {wn}" },
		      { 2, 7, "uxtb {wd}, {wn}" },
		      { 2, 15, "uxth {wd}, {wn}" } };
	bool is_wide = t->word >> 31;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].op != op || names[i].top != top || (op == 2 && is_wide) ||
		    (top == 31 && !is_wide))
			continue;
		a64_print(t, names[i].template);
		return true;
	}
	return false;
}

/* sbfm, bfm and ubfm under their usual aliases. */
static void operand_bitfield(struct a64_text *t)
{
	unsigned op = operand_bits(t, 30, 29), rotate = operand_bits(t, 21, 16),
		 top = operand_bits(t, 15, 10), size = t->word >> 31 ? 64 : 32;

	if (op == 1 && top < rotate && operand_bits(t, 9, 5) == 31) {
		a64_print(t, "bfc {rd}, ");
		PRINT("#%u, #%u", size - rotate, top + 1);
	} else if (op == 1 && top < rotate) {
		operand_print_bitfield(t, "bfi", size - rotate, top + 1);
	} else if (op == 1) {
		operand_print_bitfield(t, "bfxil", rotate, top - rotate + 1);
	} else if (op == 2 && top != size - 1 && top + 1 == rotate) {
		a64_print(t, "lsl {rd}, {rn}, ");
		PRINT("#%u", size - rotate);
	} else if (top == size - 1) {
		a64_print(t, op == 2 ? "lsr {rd}, {rn}, " : "asr {rd}, {rn}, ");
		PRINT("#%u", rotate);
	} else if (top < rotate) {
		operand_print_bitfield(t, op == 2 ? "ubfiz" : "sbfiz", size - rotate, top + 1);
	} else if (rotate != 0 || !operand_print_extension(t, op, top)) {
		operand_print_bitfield(t, op == 2 ? "ubfx" : "sbfx", rotate, top - rotate + 1);
	}
}

static void operand_extract(struct a64_text *t)
{
	a64_print(t, operand_bits(t, 9, 5) == operand_bits(t, 20, 16) ? "ror {rd}, {rn}, #{imm6.10}"
								      : "extr {rd}, {rn}, {rm}, #{imm6.10}");
}

static void operand_shift(struct a64_text *t)
{
	static const char *const names[] = { "lsl", "lsr", "asr", "ror" };
	unsigned kind = operand_bits(t, 23, 22), amount = operand_bits(t, 15, 10);

	if (kind || amount)
		PRINT(", %s #%u", names[kind], amount);
}

static const char *const extensions[] = { "uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx" };

/* The extension is omitted, or is a plain lsl, if sp is involved and nothing is extended. */
static void operand_extended(struct a64_text *t)
{
	unsigned option = operand_bits(t, 15, 13), amount = operand_bits(t, 12, 10), is_wide = t->word >> 31;
	bool has_sp =
		operand_bits(t, 9, 5) == 31 || (operand_bits(t, 4, 0) == 31 && !operand_bits(t, 29, 29));

	a64_print_reg(t, is_wide && (option & 3) == 3 ? 'x' : 'w', operand_bits(t, 20, 16), false);
	if (has_sp && option == (is_wide ? 3u : 2u)) {
		if (amount)
			PRINT(", lsl #%u", amount);
		return;
	}
	PRINT(", %s", extensions[option]);
	if (amount)
		PRINT(" #%u", amount);
}

static void operand_select_form(struct a64_text *t, const char *name, const char *same, const char *zero)
{
	unsigned n = operand_bits(t, 9, 5), m = operand_bits(t, 20, 16), condition = operand_bits(t, 15, 12);
	const char *inverse = a64_condition(condition ^ 1);

	if (n != m || condition >= 14) {
		PRINT("%s ", name);
		a64_print(t, "{rd}, {rn}, {rm}, {cond.12}");
	} else if (n == 31 && zero) {
		PRINT("%s ", zero);
		a64_print(t, "{rd}, ");
		PRINT("%s", inverse);
	} else {
		PRINT("%s ", same);
		a64_print(t, "{rd}, {rn}, ");
		PRINT("%s", inverse);
	}
}

static void operand_csinc(struct a64_text *t)
{
	operand_select_form(t, "csinc", "cinc", "cset");
}

static void operand_csinv(struct a64_text *t)
{
	operand_select_form(t, "csinv", "cinv", "csetm");
}

static void operand_csneg(struct a64_text *t)
{
	operand_select_form(t, "csneg", "cneg", NULL);
}

static void operand_pac(struct a64_text *t)
{
	static const char *const names[] = { "pacia", "pacib", "pacda", "pacdb",
					     "autia", "autib", "autda", "autdb" };

	PRINT("%s", names[operand_bits(t, 12, 10)]);
}

static void operand_pacz(struct a64_text *t)
{
	static const char *const names[] = { "paciza", "pacizb", "pacdza", "pacdzb",
					     "autiza", "autizb", "autdza", "autdzb" };

	PRINT("%s", names[operand_bits(t, 12, 10)]);
}

static void operand_hint(struct a64_text *t)
{
	static const char *const names[64] = {
		[0] = "nop",       [1] = "yield",      [2] = "wfe",        [3] = "wfi",
		[4] = "sev",       [5] = "sevl",       [6] = "dgh",        [7] = "xpaclri",
		[8] = "pacia1716", [10] = "pacib1716", [12] = "autia1716", [14] = "autib1716",
		[16] = "esb",      [17] = "psb csync", [18] = "tsb csync", [20] = "csdb",
		[24] = "paciaz",   [25] = "paciasp",   [26] = "pacibz",    [27] = "pacibsp",
		[28] = "autiaz",   [29] = "autiasp",   [30] = "autibz",    [31] = "autibsp",
		[32] = "bti",      [34] = "bti c",     [36] = "bti j",     [38] = "bti jc",
	};
	unsigned number = operand_bits(t, 11, 5);

	if (number < ARRAY_LEN(names) && names[number])
		PRINT("%s", names[number]);
	else
		PRINT("hint #0x%x", number);
}

static void operand_barrier(struct a64_text *t)
{
	static const char *const names[16] = {
		[1] = "oshld", [2] = "oshst",  [3] = "osh",  [5] = "nshld", [6] = "nshst", [7] = "nsh",
		[9] = "ishld", [10] = "ishst", [11] = "ish", [13] = "ld",   [14] = "st",   [15] = "sy"
	};
	unsigned number = operand_bits(t, 11, 8);

	if (names[number])
		PRINT("%s", names[number]);
	else
		PRINT("#0x%02x", number);
}

static void operand_barrier_nxs(struct a64_text *t)
{
	static const char *const names[] = { "osh", "nsh", "ish", "sy" };

	PRINT("%snxs", names[operand_bits(t, 11, 10)]);
}

static void operand_barrier_number(struct a64_text *t)
{
	if (operand_bits(t, 11, 8) != 15)
		PRINT(" #0x%x", operand_bits(t, 11, 8));
}

static void operand_ssbb(struct a64_text *t)
{
	PRINT("%s", operand_bits(t, 10, 10) ? "pssbb" : "ssbb");
}

static void operand_pstate(struct a64_text *t)
{
	static const struct {
		uint8_t op1, op2;
		const char *name;
	} names[] = { { 0, 3, "uao" }, { 0, 4, "pan" }, { 0, 5, "spsel" },   { 3, 1, "ssbs" },
		      { 3, 2, "dit" }, { 3, 4, "tco" }, { 3, 6, "daifset" }, { 3, 7, "daifclr" } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].op1 != operand_bits(t, 18, 16) || names[i].op2 != operand_bits(t, 7, 5))
			continue;
		PRINT("%s", names[i].name);
		return;
	}
	t->is_unknown = true;
}

static void operand_sys_fields(struct a64_text *t)
{
	PRINT("#%u, C%u, C%u, #%u", operand_bits(t, 18, 16), operand_bits(t, 15, 12), operand_bits(t, 11, 8),
	      operand_bits(t, 7, 5));
}

static void operand_sys(struct a64_text *t)
{
	static const struct {
		uint16_t code; /* op1:CRn:CRm:op2 */
		const char *name;
	} names[] = { { 0x1ba1, "dc zva" },  { 0x1ba3, "dc gva" },  { 0x1ba4, "dc gzva" },
		      { 0x1bd1, "dc cvac" }, { 0x1bd9, "dc cvau" }, { 0x1bf1, "dc civac" },
		      { 0x1ba9, "ic ivau" }, { 0x1be1, "dc cvap" } };
	unsigned code = operand_bits(t, 18, 5);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].code != code)
			continue;
		PRINT("%s, ", names[i].name);
		a64_print(t, "{xd}");
		return;
	}
	PRINT("sys ");
	operand_sys_fields(t);
	if (operand_bits(t, 4, 0) != 31)
		a64_print(t, ", {xd}");
}

static void operand_system_register(struct a64_text *t)
{
	static const struct {
		uint16_t code; /* o0:op1:CRn:CRm:op2 */
		const char *name;
	} names[] = {
		{ 0x5e82, "tpidr_el0" },
		{ 0x5e83, "tpidrro_el0" },
		{ 0x5a20, "fpcr" },
		{ 0x5a21, "fpsr" },
		{ 0x5a10, "nzcv" },
		{ 0x5801, "ctr_el0" },
		{ 0x5807, "dczid_el0" },
		{ 0x5f00, "cntfrq_el0" },
		{ 0x5f02, "cntvct_el0" },
		{ 0x4000, "midr_el1" },
		{ 0x5920, "rndr" },
		{ 0x5921, "rndrrs" },
		{ 0x4020, "id_aa64pfr0_el1" },
		{ 0x4030, "id_aa64isar0_el1" },
		{ 0x4031, "id_aa64isar1_el1" },
		{ 0x4038, "id_aa64mmfr0_el1" },
		{ 0x5ce8, "pmccntr_el0" },
		{ 0x4024, "id_aa64zfr0_el1" },
		{ 0x4005, "mpidr_el1" },
		{ 0x5f01, "cntpct_el0" },
		{ 0x5a11, "daif" },
	};
	unsigned code = 0x4000 | (t->word >> 5 & 0x3fff) | (t->word >> 19 & 1) << 14;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].code != (code & 0x7fff))
			continue;
		PRINT("%s", names[i].name);
		return;
	}
	PRINT("s%u_%u_c%u_c%u_%u", 2 + operand_bits(t, 19, 19), operand_bits(t, 18, 16),
	      operand_bits(t, 15, 12), operand_bits(t, 11, 8), operand_bits(t, 7, 5));
}

static void operand_simm8(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 17, 10));
}

static void operand_uimm8(struct a64_text *t)
{
	PRINT("%u", operand_bits(t, 17, 10));
}

static void operand_tag_offset(struct a64_text *t)
{
	PRINT("#0x%x", operand_bits(t, 21, 16) * 16);
}

static const struct a64_operand operands[] = {
	{ "label26", operand_label26 },
	{ "label19", operand_label19 },
	{ "label14", operand_label14 },
	{ "adr", operand_adr },
	{ "adrp", operand_adrp },
	{ "bit", operand_bit_number },
	{ "imm12", operand_imm12 },
	{ "bitmask", operand_bitmask },
	{ "orr_or_mov", operand_orr_or_mov },
	{ "move_wide", operand_move_wide },
	{ "bitfield", operand_bitfield },
	{ "extract", operand_extract },
	{ "shift", operand_shift },
	{ "extended", operand_extended },
	{ "csinc", operand_csinc },
	{ "csinv", operand_csinv },
	{ "csneg", operand_csneg },
	{ "pac", operand_pac },
	{ "pacz", operand_pacz },
	{ "hint", operand_hint },
	{ "barrier", operand_barrier },
	{ "barrier_nxs", operand_barrier_nxs },
	{ "barrier_number", operand_barrier_number },
	{ "ssbb", operand_ssbb },
	{ "pstate", operand_pstate },
	{ "sys", operand_sys },
	{ "sys_fields", operand_sys_fields },
	{ "system_register", operand_system_register },
	{ "simm8", operand_simm8 },
	{ "uimm8", operand_uimm8 },
	{ "tag_offset", operand_tag_offset },
};

const struct a64_operands a64_base_operands = { operands, ARRAY_LEN(operands) };
