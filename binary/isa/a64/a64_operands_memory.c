/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands_memory: the named operands of loads and stores.
 */
#include "binary/isa/a64/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

static unsigned operand_bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

/* ldr, ldrsw, strb.. from a stem such as "r", "ur", "tr". */
static void operand_print_transfer(struct a64_text *t, const char *load, const char *store)
{
	static const char *const suffixes[4] = { "b", "h", "w", "" };
	unsigned size = operand_bits(t, 31, 30), opc = operand_bits(t, 23, 22);

	if (operand_bits(t, 26, 26)) {
		PRINT("%s", opc & 1 ? load : store);
		return;
	}
	PRINT("%s%s%s", opc ? load : store, opc >= 2 ? "s" : "", opc >= 2 || size < 2 ? suffixes[size] : "");
}

static void operand_ldr(struct a64_text *t)
{
	operand_print_transfer(t, "ldr", "str");
}

static void operand_ldur(struct a64_text *t)
{
	operand_print_transfer(t, "ldur", "stur");
}

static void operand_ldtr(struct a64_text *t)
{
	operand_print_transfer(t, "ldtr", "sttr");
}

static void operand_ldapur(struct a64_text *t)
{
	operand_print_transfer(t, "ldapur", "stlur");
}

/* The register that is loaded or stored. */
static void operand_mt(struct a64_text *t)
{
	unsigned size = operand_bits(t, 31, 30), opc = operand_bits(t, 23, 22), reg = operand_bits(t, 4, 0);

	if (operand_bits(t, 26, 26))
		a64_print_reg(t, "bhsdq"[size | (opc >> 1 << 2)], reg, false);
	else
		a64_print_reg(t, size == 3 || opc == 2 ? 'x' : 'w', reg, false);
}

static void operand_print_offset(struct a64_text *t, long long offset)
{
	if (offset)
		PRINT(", #%lld", offset);
}

static void operand_scaled(struct a64_text *t)
{
	operand_print_offset(t, (long long)operand_bits(t, 21, 10) * a64_memory_width(t->word));
}

static void operand_simm9(struct a64_text *t)
{
	operand_print_offset(t, a64_signed_bits(t->word, 20, 12));
}

static void operand_index9(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 20, 12));
}

static void operand_register_offset(struct a64_text *t)
{
	static const char *const extensions[] = { "?", "?", "uxtw", "lsl", "?", "?", "sxtw", "sxtx" };
	unsigned option = operand_bits(t, 15, 13), is_scaled = operand_bits(t, 12, 12);
	unsigned amount = (unsigned)__builtin_ctz(a64_memory_width(t->word));

	if (!(option & 2)) {
		t->is_unknown = true;
		return;
	}
	PRINT(", ");
	a64_print_reg(t, option & 1 ? 'x' : 'w', operand_bits(t, 20, 16), false);
	if (option == 3 && !is_scaled)
		return;
	PRINT(", %s", extensions[option]);
	if (is_scaled)
		PRINT(" #%u", amount);
}

static void operand_prefetch(struct a64_text *t)
{
	static const char *const types[] = { "pld", "pli", "pst" };
	unsigned op = operand_bits(t, 4, 0);

	if (op >> 3 == 3 || (op >> 1 & 3) == 3)
		PRINT("#0x%02x", op);
	else
		PRINT("%sl%u%s", types[op >> 3], 1 + (op >> 1 & 3), op & 1 ? "strm" : "keep");
}

static void operand_literal_t(struct a64_text *t)
{
	a64_print_reg(t, operand_bits(t, 30, 30) ? 'x' : 'w', operand_bits(t, 4, 0), false);
}

static void operand_size_suffix(struct a64_text *t)
{
	static const char *const suffixes[] = { "b", "h", "", "" };

	PRINT("%s", suffixes[operand_bits(t, 31, 30)]);
}

static void operand_print_sized(struct a64_text *t, unsigned low)
{
	a64_print_reg(t, operand_bits(t, 31, 30) == 3 ? 'x' : 'w', t->word >> low & 31, false);
}

static void operand_sized_t(struct a64_text *t)
{
	operand_print_sized(t, 0);
}

static void operand_sized_t2(struct a64_text *t)
{
	operand_print_sized(t, 10);
}

static void operand_sized_m(struct a64_text *t)
{
	operand_print_sized(t, 16);
}

static void operand_print_casp_pair(struct a64_text *t, unsigned reg)
{
	char class = operand_bits(t, 30, 30) ? 'x' : 'w';

	a64_print_reg(t, class, reg, false);
	PRINT(", ");
	a64_print_reg(t, class, (reg + 1) & 31, false);
}

static void operand_pair_m(struct a64_text *t)
{
	operand_print_casp_pair(t, operand_bits(t, 20, 16));
}

static void operand_pair_t(struct a64_text *t)
{
	operand_print_casp_pair(t, operand_bits(t, 4, 0));
}

static void operand_acquire(struct a64_text *t)
{
	PRINT("%s%s", operand_bits(t, 23, 23) ? "a" : "", operand_bits(t, 22, 22) ? "l" : "");
}

static void operand_acquire_cas(struct a64_text *t)
{
	PRINT("%s%s", operand_bits(t, 22, 22) ? "a" : "", operand_bits(t, 15, 15) ? "l" : "");
}

static void operand_atomic(struct a64_text *t)
{
	static const char *const names[] = { "add", "clr", "eor", "set", "smax", "smin", "umax", "umin" };

	PRINT("%s", names[operand_bits(t, 14, 12)]);
}

static void operand_print_pair_address(struct a64_text *t, unsigned mode, long long offset)
{
	a64_print(t, "[{xn:sp}");
	if (mode == 1)
		PRINT("], #%lld", offset);
	else if (mode == 3)
		PRINT(", #%lld]!", offset);
	else
		operand_print_offset(t, offset);
	if (mode == 0 || mode == 2)
		PRINT("]");
}

static void operand_pair(struct a64_text *t)
{
	unsigned opc = operand_bits(t, 31, 30), mode = operand_bits(t, 24, 23);
	bool is_vector = operand_bits(t, 26, 26), is_load = operand_bits(t, 22, 22),
	     is_tagged = !is_vector && opc == 1 && !is_load;
	unsigned width = is_vector ? 4u << opc : opc == 2 ? 8 : is_tagged ? 16 : 4;
	char class = is_vector ? "sdq?"[opc] : opc ? 'x' : 'w';

	if (is_tagged)
		PRINT("stgp ");
	else
		PRINT("%s%s%s ", is_load ? "ld" : "st", mode ? "p" : "np",
		      opc == 1 && !is_vector ? "sw" : "");
	a64_print_reg(t, class, operand_bits(t, 4, 0), false);
	PRINT(", ");
	a64_print_reg(t, class, operand_bits(t, 14, 10), false);
	PRINT(", ");
	operand_print_pair_address(t, mode, a64_signed_bits(t->word, 21, 15) * width);
}

static void operand_ldra(struct a64_text *t)
{
	long long imm = (a64_signed_bits(t->word, 22, 22) * 512 + operand_bits(t, 20, 12)) * 8;

	PRINT("%s ", operand_bits(t, 23, 23) ? "ldrab" : "ldraa");
	a64_print(t, "{xd}, [{xn:sp}");
	if (operand_bits(t, 11, 11))
		PRINT(", #%lld]!", imm);
	else
		operand_print_offset(t, imm), PRINT("]");
}

static void operand_stg(struct a64_text *t)
{
	static const char *const names[] = { "stg", "stzg", "st2g", "stz2g" };

	PRINT("%s", names[operand_bits(t, 23, 22)]);
}

static void operand_tag9(struct a64_text *t)
{
	operand_print_offset(t, a64_signed_bits(t->word, 20, 12) * 16);
}

static void operand_tag_index(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 20, 12) * 16);
}

/* Three registers that are updated together: copy and set, in three steps, forwards only or in either
 * direction. */
static void operand_memory_copy(struct a64_text *t)
{
	static const char *const steps[] = { "p", "m", "e" };

	t->is_unknown |= operand_bits(t, 15, 12) != 0; /* the variants by privilege and caching */
	PRINT("cpy%s%s ", operand_bits(t, 26, 26) ? "" : "f", steps[operand_bits(t, 23, 22) % 3]);
	a64_print(t, "[{xd}]!, [{xm}]!, {xn}!");
}

static void operand_memory_set(struct a64_text *t)
{
	static const char *const steps[] = { "p", "m", "e", "?" };

	t->is_unknown |= operand_bits(t, 13, 12) != 0 || operand_bits(t, 15, 14) == 3;
	PRINT("set%s%s ", operand_bits(t, 26, 26) ? "g" : "", steps[operand_bits(t, 15, 14)]);
	a64_print(t, "[{xd}]!, {xn}!, {xm}");
}

static const struct a64_operand operands[] = {
	{ "ldr", operand_ldr },
	{ "ldur", operand_ldur },
	{ "ldtr", operand_ldtr },
	{ "ldapur", operand_ldapur },
	{ "mt", operand_mt },
	{ "scaled", operand_scaled },
	{ "simm9", operand_simm9 },
	{ "index9", operand_index9 },
	{ "register_offset", operand_register_offset },
	{ "prefetch", operand_prefetch },
	{ "literal_t", operand_literal_t },
	{ "size", operand_size_suffix },
	{ "sized_t", operand_sized_t },
	{ "sized_t2", operand_sized_t2 },
	{ "sized_m", operand_sized_m },
	{ "pair_m", operand_pair_m },
	{ "pair_t", operand_pair_t },
	{ "acquire", operand_acquire },
	{ "acquire_cas", operand_acquire_cas },
	{ "atomic", operand_atomic },
	{ "pair", operand_pair },
	{ "ldra", operand_ldra },
	{ "stg", operand_stg },
	{ "memory_copy", operand_memory_copy },
	{ "memory_set", operand_memory_set },
	{ "tag9", operand_tag9 },
	{ "tag_index", operand_tag_index },
};
const struct a64_operands a64_memory_operands = { operands, ARRAY_LEN(operands) };
