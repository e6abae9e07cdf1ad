/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands_memory: the named operands of loads and stores.
 */
#include "binary/isa/a64/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

static unsigned bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

/* ldr, ldrsw, strb.. from a stem such as "r", "ur", "tr". */
static void print_transfer(struct a64_text *t, const char *load, const char *store)
{
	static const char *const suffixes[4] = { "b", "h", "w", "" };
	unsigned size = bits(t, 31, 30), opc = bits(t, 23, 22);

	if (bits(t, 26, 26)) {
		PRINT("%s", opc & 1 ? load : store);
		return;
	}
	PRINT("%s%s%s", opc ? load : store, opc >= 2 ? "s" : "", opc >= 2 || size < 2 ? suffixes[size] : "");
}

static void ldr(struct a64_text *t)
{
	print_transfer(t, "ldr", "str");
}

static void ldur(struct a64_text *t)
{
	print_transfer(t, "ldur", "stur");
}

static void ldtr(struct a64_text *t)
{
	print_transfer(t, "ldtr", "sttr");
}

static void ldapur(struct a64_text *t)
{
	print_transfer(t, "ldapur", "stlur");
}

/* The register that is moved. */
static void mt(struct a64_text *t)
{
	unsigned size = bits(t, 31, 30), opc = bits(t, 23, 22), reg = bits(t, 4, 0);

	if (bits(t, 26, 26))
		a64_print_reg(t, "bhsdq"[size | (opc >> 1 << 2)], reg, false);
	else
		a64_print_reg(t, size == 3 || opc == 2 ? 'x' : 'w', reg, false);
}

static void print_offset(struct a64_text *t, long long offset)
{
	if (offset)
		PRINT(", #%lld", offset);
}

static void scaled(struct a64_text *t)
{
	print_offset(t, (long long)bits(t, 21, 10) * a64_memory_width(t->word));
}

static void simm9(struct a64_text *t)
{
	print_offset(t, a64_signed_bits(t->word, 20, 12));
}

static void index9(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 20, 12));
}

static void register_offset(struct a64_text *t)
{
	static const char *const extensions[] = { "?", "?", "uxtw", "lsl", "?", "?", "sxtw", "sxtx" };
	unsigned option = bits(t, 15, 13), is_scaled = bits(t, 12, 12);
	unsigned amount = (unsigned)__builtin_ctz(a64_memory_width(t->word));

	if (!(option & 2)) {
		t->is_unknown = true;
		return;
	}
	PRINT(", ");
	a64_print_reg(t, option & 1 ? 'x' : 'w', bits(t, 20, 16), false);
	if (option == 3 && !is_scaled)
		return;
	PRINT(", %s", extensions[option]);
	if (is_scaled)
		PRINT(" #%u", amount);
}

static void prefetch(struct a64_text *t)
{
	static const char *const types[] = { "pld", "pli", "pst" };
	unsigned op = bits(t, 4, 0);

	if (op >> 3 == 3 || (op >> 1 & 3) == 3)
		PRINT("#0x%02x", op);
	else
		PRINT("%sl%u%s", types[op >> 3], 1 + (op >> 1 & 3), op & 1 ? "strm" : "keep");
}

static void literal_t(struct a64_text *t)
{
	a64_print_reg(t, bits(t, 30, 30) ? 'x' : 'w', bits(t, 4, 0), false);
}

static void size_suffix(struct a64_text *t)
{
	static const char *const suffixes[] = { "b", "h", "", "" };

	PRINT("%s", suffixes[bits(t, 31, 30)]);
}

static void print_sized(struct a64_text *t, unsigned low)
{
	a64_print_reg(t, bits(t, 31, 30) == 3 ? 'x' : 'w', t->word >> low & 31, false);
}

static void sized_t(struct a64_text *t)
{
	print_sized(t, 0);
}

static void sized_t2(struct a64_text *t)
{
	print_sized(t, 10);
}

static void sized_m(struct a64_text *t)
{
	print_sized(t, 16);
}

static void print_casp_pair(struct a64_text *t, unsigned reg)
{
	char class = bits(t, 30, 30) ? 'x' : 'w';

	a64_print_reg(t, class, reg, false);
	PRINT(", ");
	a64_print_reg(t, class, (reg + 1) & 31, false);
}

static void pair_m(struct a64_text *t)
{
	print_casp_pair(t, bits(t, 20, 16));
}

static void pair_t(struct a64_text *t)
{
	print_casp_pair(t, bits(t, 4, 0));
}

static void acquire(struct a64_text *t)
{
	PRINT("%s%s", bits(t, 23, 23) ? "a" : "", bits(t, 22, 22) ? "l" : "");
}

static void acquire_cas(struct a64_text *t)
{
	PRINT("%s%s", bits(t, 22, 22) ? "a" : "", bits(t, 15, 15) ? "l" : "");
}

static void atomic(struct a64_text *t)
{
	static const char *const names[] = { "add", "clr", "eor", "set", "smax", "smin", "umax", "umin" };

	PRINT("%s", names[bits(t, 14, 12)]);
}

static void print_pair_address(struct a64_text *t, unsigned mode, long long offset)
{
	a64_print(t, "[{xn:sp}");
	if (mode == 1)
		PRINT("], #%lld", offset);
	else if (mode == 3)
		PRINT(", #%lld]!", offset);
	else
		print_offset(t, offset);
	if (mode == 0 || mode == 2)
		PRINT("]");
}

static void pair(struct a64_text *t)
{
	unsigned opc = bits(t, 31, 30), mode = bits(t, 24, 23);
	bool is_vector = bits(t, 26, 26), is_load = bits(t, 22, 22),
	     is_tagged = !is_vector && opc == 1 && !is_load;
	unsigned width = is_vector ? 4u << opc : opc == 2 ? 8 : is_tagged ? 16 : 4;
	char class = is_vector ? "sdq?"[opc] : opc ? 'x' : 'w';

	if (is_tagged)
		PRINT("stgp ");
	else
		PRINT("%s%s%s ", is_load ? "ld" : "st", mode ? "p" : "np",
		      opc == 1 && !is_vector ? "sw" : "");
	a64_print_reg(t, class, bits(t, 4, 0), false);
	PRINT(", ");
	a64_print_reg(t, class, bits(t, 14, 10), false);
	PRINT(", ");
	print_pair_address(t, mode, a64_signed_bits(t->word, 21, 15) * width);
}

static void ldra(struct a64_text *t)
{
	long long imm = (a64_signed_bits(t->word, 22, 22) * 512 + bits(t, 20, 12)) * 8;

	PRINT("%s ", bits(t, 23, 23) ? "ldrab" : "ldraa");
	a64_print(t, "{xd}, [{xn:sp}");
	if (bits(t, 11, 11))
		PRINT(", #%lld]!", imm);
	else
		print_offset(t, imm), PRINT("]");
}

static void stg(struct a64_text *t)
{
	static const char *const names[] = { "stg", "stzg", "st2g", "stz2g" };

	PRINT("%s", names[bits(t, 23, 22)]);
}

static void tag9(struct a64_text *t)
{
	print_offset(t, a64_signed_bits(t->word, 20, 12) * 16);
}

static void tag_index(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 20, 12) * 16);
}

/* Three registers that move on together: copy and set, in three steps, forwards only or either way. */
static void memory_copy(struct a64_text *t)
{
	static const char *const steps[] = { "p", "m", "e" };

	t->is_unknown |= bits(t, 15, 12) != 0; /* the variants by privilege and caching */
	PRINT("cpy%s%s ", bits(t, 26, 26) ? "" : "f", steps[bits(t, 23, 22) % 3]);
	a64_print(t, "[{xd}]!, [{xm}]!, {xn}!");
}

static void memory_set(struct a64_text *t)
{
	static const char *const steps[] = { "p", "m", "e", "?" };

	t->is_unknown |= bits(t, 13, 12) != 0 || bits(t, 15, 14) == 3;
	PRINT("set%s%s ", bits(t, 26, 26) ? "g" : "", steps[bits(t, 15, 14)]);
	a64_print(t, "[{xd}]!, {xn}!, {xm}");
}

static const struct a64_operand operands[] = {
	{ "ldr", ldr },
	{ "ldur", ldur },
	{ "ldtr", ldtr },
	{ "ldapur", ldapur },
	{ "mt", mt },
	{ "scaled", scaled },
	{ "simm9", simm9 },
	{ "index9", index9 },
	{ "register_offset", register_offset },
	{ "prefetch", prefetch },
	{ "literal_t", literal_t },
	{ "size", size_suffix },
	{ "sized_t", sized_t },
	{ "sized_t2", sized_t2 },
	{ "sized_m", sized_m },
	{ "pair_m", pair_m },
	{ "pair_t", pair_t },
	{ "acquire", acquire },
	{ "acquire_cas", acquire_cas },
	{ "atomic", atomic },
	{ "pair", pair },
	{ "ldra", ldra },
	{ "stg", stg },
	{ "memory_copy", memory_copy },
	{ "memory_set", memory_set },
	{ "tag9", tag9 },
	{ "tag_index", tag_index },
};
const struct a64_operands a64_memory_operands = { operands, ARRAY_LEN(operands) };
