/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands_shape: how a vector is cut into lanes, which lane, and lists of vectors; the operands
 * of vector loads and stores, and of the few SVE instructions that libraries are written with.
 */
#include "binary/isa/a64/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

static unsigned bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

static const char *shape(unsigned size, unsigned q)
{
	static const char *const names[] = { "8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d" };

	return size < 4 ? names[size * 2 + q] : "1q";
}

static void shape_T(struct a64_text *t)
{
	PRINT("%s", shape(bits(t, 23, 22), bits(t, 30, 30)));
}

static void shape_Tb(struct a64_text *t)
{
	PRINT("%s", shape(0, bits(t, 30, 30)));
}

static void shape_Th(struct a64_text *t)
{
	PRINT("%s", shape(1, bits(t, 30, 30)));
}

static void shape_Ts(struct a64_text *t)
{
	PRINT("%s", shape(2, bits(t, 30, 30)));
}

static void shape_Tf(struct a64_text *t)
{
	t->is_unknown |= bits(t, 22, 22) && !bits(t, 30, 30);
	PRINT("%s", shape(2 + bits(t, 22, 22), bits(t, 30, 30)));
}

static void shape_Tw(struct a64_text *t)
{
	PRINT("%s", shape(bits(t, 23, 22) + 1, 1));
}

/* Pairs of lanes added: half as many, twice as wide. */
static void shape_Tp(struct a64_text *t)
{
	t->is_unknown |= bits(t, 23, 22) == 3;
	PRINT("%s", shape(bits(t, 23, 22) + 1, bits(t, 30, 30)));
}

/* Floating point by element: half precision has size 0. */
static void shape_Te(struct a64_text *t)
{
	unsigned size = bits(t, 23, 22);

	PRINT("%s", shape(size ? size : 1, bits(t, 30, 30)));
}

/* The highest bit set in immh is the size of a lane; the rest, with immb, how far it is shifted. */
static unsigned shift_size(struct a64_text *t)
{
	unsigned immh = bits(t, 22, 19);

	t->is_unknown |= immh == 0;
	return 31 - (unsigned)__builtin_clz(immh | 1);
}

static void shift_T(struct a64_text *t)
{
	PRINT("%s", shape(shift_size(t), bits(t, 30, 30)));
}

static void shift_Tw(struct a64_text *t)
{
	PRINT("%s", shape(shift_size(t) + 1, 1));
}

static void right_amount(struct a64_text *t)
{
	PRINT("%u", (16u << shift_size(t)) - bits(t, 22, 16));
}

static void left_amount(struct a64_text *t)
{
	PRINT("%u", bits(t, 22, 16) - (8u << shift_size(t)));
}

static void print_scalar(struct a64_text *t, unsigned size, unsigned low)
{
	if (size > 3)
		t->is_unknown = true;
	else
		PRINT("%c%u", "bhsd"[size], t -> word >> low & 31);
}

static void zd(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22), 0);
}

static void zn(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22), 5);
}

static void zm(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22), 16);
}

static void zwd(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22) + 1, 0);
}

static void zwn(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22) + 1, 5);
}

static void zfd(struct a64_text *t)
{
	print_scalar(t, 2 + bits(t, 22, 22), 0);
}

static void zfn(struct a64_text *t)
{
	print_scalar(t, 2 + bits(t, 22, 22), 5);
}

static void zfm(struct a64_text *t)
{
	print_scalar(t, 2 + bits(t, 22, 22), 16);
}

static void zed(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22) ? bits(t, 23, 22) : 1, 0);
}

static void zen(struct a64_text *t)
{
	print_scalar(t, bits(t, 23, 22) ? bits(t, 23, 22) : 1, 5);
}

static void shift_zd(struct a64_text *t)
{
	print_scalar(t, shift_size(t), 0);
}

static void shift_zn(struct a64_text *t)
{
	print_scalar(t, shift_size(t), 5);
}

static void shift_zwn(struct a64_text *t)
{
	print_scalar(t, shift_size(t) + 1, 5);
}

static void across_fd(struct a64_text *t)
{
	print_scalar(t, 1 + bits(t, 29, 29), 0);
}

static void across_T(struct a64_text *t)
{
	t->is_unknown |= bits(t, 29, 29) && !bits(t, 30, 30);
	PRINT("%s", shape(1 + bits(t, 29, 29), bits(t, 30, 30)));
}

static void pair_T(struct a64_text *t)
{
	PRINT("%s", bits(t, 22, 22) ? "2d" : "2s");
}

static void q_suffix(struct a64_text *t)
{
	PRINT("%s", bits(t, 30, 30) ? "2" : "");
}

/* The lowest bit set in imm5 is the size of a lane, those above it its number. */
static unsigned lane_size(struct a64_text *t)
{
	unsigned imm5 = bits(t, 20, 16);

	if (!(imm5 & 15))
		t->is_unknown = true;
	return (unsigned)__builtin_ctz(imm5 | 8);
}

static void lanes(struct a64_text *t)
{
	unsigned size = lane_size(t);

	t->is_unknown |= size == 3 && !bits(t, 30, 30);
	PRINT("%s", shape(size, bits(t, 30, 30)));
}

static void lane_d(struct a64_text *t)
{
	unsigned size = lane_size(t);

	PRINT("%c[%u]", "bhsd"[size], bits(t, 20, 16) >> (size + 1));
}

static void lane_n(struct a64_text *t)
{
	unsigned size = lane_size(t);

	PRINT("%c[%u]", "bhsd"[size], bits(t, 14, 11) >> size);
}

static void lane_r(struct a64_text *t)
{
	a64_print_reg(t, lane_size(t) == 3 ? 'x' : 'w', bits(t, 9, 5), false);
}

static void lane_scalar(struct a64_text *t)
{
	print_scalar(t, lane_size(t), 0);
}

static void by_q_d(struct a64_text *t)
{
	a64_print_reg(t, bits(t, 30, 30) ? 'x' : 'w', bits(t, 4, 0), false);
}

static void umov(struct a64_text *t)
{
	PRINT("%s", lane_size(t) >= 2 ? "mov" : "umov");
}

/* {v0.16b}, {v0.16b, v1.16b}, {v0.16b-v3.16b} */
static void print_list(struct a64_text *t, unsigned first, unsigned n, const char *lane)
{
	unsigned last = (first + n - 1) & 31;

	if (n > 2 && last > first) {
		PRINT("{v%u.%s-v%u.%s}", first, lane, last, lane);
		return;
	}
	PRINT("{");
	for (unsigned i = 0; i < n; i++)
		PRINT("%sv%u.%s", i ? ", " : "", (first + i) & 31, lane);
	PRINT("}");
}

static void tbl_list(struct a64_text *t)
{
	print_list(t, bits(t, 9, 5), 1 + bits(t, 14, 13), "16b");
}

static unsigned structure_of(const struct a64_text *t)
{
	unsigned op = bits(t, 15, 12);

	return op == 0 ? 4 : op == 4 ? 3 : op == 8 ? 2 : 1;
}

static void vector_ld(struct a64_text *t)
{
	PRINT("ld%u", structure_of(t));
}

static void vector_st(struct a64_text *t)
{
	PRINT("st%u", structure_of(t));
}

static void vector_list(struct a64_text *t)
{
	unsigned size = bits(t, 11, 10), q = bits(t, 30, 30);

	t->is_unknown |= size == 3 && !q && structure_of(t) > 1;
	print_list(t, bits(t, 4, 0), a64_vector_count(t->word), shape(size, q));
}

static void print_post(struct a64_text *t, unsigned bytes)
{
	if (bits(t, 20, 16) == 31)
		PRINT("#%u", bytes);
	else
		PRINT("x%u", bits(t, 20, 16));
}

static void vector_post(struct a64_text *t)
{
	print_post(t, a64_vector_count(t->word) * (bits(t, 30, 30) ? 16 : 8));
}

static unsigned lane_count(const struct a64_text *t)
{
	return 1 + bits(t, 21, 21) + 2 * bits(t, 13, 13);
}

static void lane_ld(struct a64_text *t)
{
	PRINT("ld%u%s", lane_count(t), bits(t, 15, 14) == 3 ? "r" : "");
}

static void lane_st(struct a64_text *t)
{
	PRINT("st%u", lane_count(t));
}

/* Lane size of a single structure: 0 to 3. */
static unsigned single_size(const struct a64_text *t)
{
	unsigned scale = bits(t, 15, 14);

	return scale == 3 ? bits(t, 11, 10) : scale == 2 && bits(t, 10, 10) ? 3 : scale;
}

static void lane_list(struct a64_text *t)
{
	static const char *const names[] = { "b", "h", "s", "d" };
	unsigned size = single_size(t), number = bits(t, 30, 30) << 3 | bits(t, 12, 10);

	if (bits(t, 15, 14) == 3) {
		print_list(t, bits(t, 4, 0), lane_count(t), shape(size, bits(t, 30, 30)));
		return;
	}
	print_list(t, bits(t, 4, 0), lane_count(t), names[size]);
	PRINT("[%u]", number >> size);
}

static void lane_post(struct a64_text *t)
{
	print_post(t, lane_count(t) << single_size(t));
}

static void sve_size(struct a64_text *t)
{
	PRINT("%c", "bhwd"[bits(t, 23, 22)]);
}

static void sve_T(struct a64_text *t)
{
	PRINT("%c", "bhsd"[bits(t, 23, 22)]);
}

static void inc_dec(struct a64_text *t)
{
	PRINT("%s", bits(t, 10, 10) ? "dec" : "inc");
}

static void sve_pattern(struct a64_text *t)
{
	bool has_multiplier = bits(t, 31, 24) == 4 && bits(t, 19, 16);

	if (bits(t, 9, 5) != 31 || has_multiplier)
		t->is_unknown = true;
}

static void pd(struct a64_text *t)
{
	PRINT("p%u", bits(t, 3, 0));
}

static void pg(struct a64_text *t)
{
	PRINT("p%u", bits(t, 12, 10));
}

static void while_n(struct a64_text *t)
{
	a64_print_reg(t, bits(t, 12, 12) ? 'x' : 'w', bits(t, 9, 5), false);
}

static void while_m(struct a64_text *t)
{
	a64_print_reg(t, bits(t, 12, 12) ? 'x' : 'w', bits(t, 20, 16), false);
}

static void sve_list_b(struct a64_text *t)
{
	PRINT("{z%u.b}", bits(t, 4, 0));
}

static void mul_vl(struct a64_text *t)
{
	if (bits(t, 19, 16))
		PRINT(", #%lld, mul vl", (long long)a64_signed_bits(t->word, 19, 16));
}

static void simm6(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 10, 5));
}

static const struct a64_operand operands[] = {
	{ "T", shape_T },
	{ "Tb", shape_Tb },
	{ "Th", shape_Th },
	{ "Ts", shape_Ts },
	{ "Tf", shape_Tf },
	{ "Tw", shape_Tw },
	{ "Tp", shape_Tp },
	{ "Te", shape_Te },
	{ "shift_T", shift_T },
	{ "shift_Tn", shift_T },
	{ "shift_Tw", shift_Tw },
	{ "right_amount", right_amount },
	{ "left_amount", left_amount },
	{ "zd", zd },
	{ "zn", zn },
	{ "zm", zm },
	{ "zwd", zwd },
	{ "zwn", zwn },
	{ "zfd", zfd },
	{ "zfn", zfn },
	{ "zfm", zfm },
	{ "zed", zed },
	{ "zen", zen },
	{ "shift_zd", shift_zd },
	{ "shift_zn", shift_zn },
	{ "shift_zwn", shift_zwn },
	{ "across_fd", across_fd },
	{ "across_T", across_T },
	{ "pair_T", pair_T },
	{ "q", q_suffix },
	{ "lanes", lanes },
	{ "lane_d", lane_d },
	{ "lane_n", lane_n },
	{ "lane_r", lane_r },
	{ "lane_scalar", lane_scalar },
	{ "by_q_d", by_q_d },
	{ "umov", umov },
	{ "tbl_list", tbl_list },
	{ "vector_ld", vector_ld },
	{ "vector_st", vector_st },
	{ "vector_list", vector_list },
	{ "vector_post", vector_post },
	{ "lane_ld", lane_ld },
	{ "lane_st", lane_st },
	{ "lane_list", lane_list },
	{ "lane_post", lane_post },
	{ "sve_size", sve_size },
	{ "sve_T", sve_T },
	{ "inc_dec", inc_dec },
	{ "sve_pattern", sve_pattern },
	{ "pd", pd },
	{ "pg", pg },
	{ "while_n", while_n },
	{ "while_m", while_m },
	{ "sve_list_b", sve_list_b },
	{ "mul_vl", mul_vl },
	{ "simm6.5", simm6 },
};
const struct a64_operands a64_shape_operands = { operands, ARRAY_LEN(operands) };
