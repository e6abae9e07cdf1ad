/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands_shape: how a vector is divided into lanes, which lane, and lists of vectors; the operands of
 * vector loads and stores, and of the few SVE instructions that libraries use.
 */
#include "binary/isa/a64/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

static unsigned operand_bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

static const char *operand_shape(unsigned size, unsigned q)
{
	static const char *const names[] = { "8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d" };

	return size < 4 ? names[size * 2 + q] : "1q";
}

static void operand_shape_T(struct a64_text *t)
{
	PRINT("%s", operand_shape(operand_bits(t, 23, 22), operand_bits(t, 30, 30)));
}

static void operand_shape_Tb(struct a64_text *t)
{
	PRINT("%s", operand_shape(0, operand_bits(t, 30, 30)));
}

static void operand_shape_Th(struct a64_text *t)
{
	PRINT("%s", operand_shape(1, operand_bits(t, 30, 30)));
}

static void operand_shape_Ts(struct a64_text *t)
{
	PRINT("%s", operand_shape(2, operand_bits(t, 30, 30)));
}

static void operand_shape_Tf(struct a64_text *t)
{
	t->is_unknown |= operand_bits(t, 22, 22) && !operand_bits(t, 30, 30);
	PRINT("%s", operand_shape(2 + operand_bits(t, 22, 22), operand_bits(t, 30, 30)));
}

static void operand_shape_Tw(struct a64_text *t)
{
	PRINT("%s", operand_shape(operand_bits(t, 23, 22) + 1, 1));
}

/* Pairs of lanes added: half as many, twice as wide. */
static void operand_shape_Tp(struct a64_text *t)
{
	t->is_unknown |= operand_bits(t, 23, 22) == 3;
	PRINT("%s", operand_shape(operand_bits(t, 23, 22) + 1, operand_bits(t, 30, 30)));
}

/* Floating point by element: half precision has size 0. */
static void operand_shape_Te(struct a64_text *t)
{
	unsigned size = operand_bits(t, 23, 22);

	PRINT("%s", operand_shape(size ? size : 1, operand_bits(t, 30, 30)));
}

/* The highest bit set in immh is the size of a lane; the rest, with immb, is the shift amount. */
static unsigned operand_shift_size(struct a64_text *t)
{
	unsigned immh = operand_bits(t, 22, 19);

	t->is_unknown |= immh == 0;
	return 31 - (unsigned)__builtin_clz(immh | 1);
}

static void operand_shift_T(struct a64_text *t)
{
	PRINT("%s", operand_shape(operand_shift_size(t), operand_bits(t, 30, 30)));
}

static void operand_shift_Tw(struct a64_text *t)
{
	PRINT("%s", operand_shape(operand_shift_size(t) + 1, 1));
}

static void operand_right_amount(struct a64_text *t)
{
	PRINT("%u", (16u << operand_shift_size(t)) - operand_bits(t, 22, 16));
}

static void operand_left_amount(struct a64_text *t)
{
	PRINT("%u", operand_bits(t, 22, 16) - (8u << operand_shift_size(t)));
}

static void operand_print_scalar(struct a64_text *t, unsigned size, unsigned low)
{
	if (size > 3)
		t->is_unknown = true;
	else
		PRINT("%c%u", "bhsd"[size], t -> word >> low & 31);
}

static void operand_zd(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22), 0);
}

static void operand_zn(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22), 5);
}

static void operand_zm(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22), 16);
}

static void operand_zwd(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22) + 1, 0);
}

static void operand_zwn(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22) + 1, 5);
}

static void operand_zfd(struct a64_text *t)
{
	operand_print_scalar(t, 2 + operand_bits(t, 22, 22), 0);
}

static void operand_zfn(struct a64_text *t)
{
	operand_print_scalar(t, 2 + operand_bits(t, 22, 22), 5);
}

static void operand_zfm(struct a64_text *t)
{
	operand_print_scalar(t, 2 + operand_bits(t, 22, 22), 16);
}

static void operand_zed(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22) ? operand_bits(t, 23, 22) : 1, 0);
}

static void operand_zen(struct a64_text *t)
{
	operand_print_scalar(t, operand_bits(t, 23, 22) ? operand_bits(t, 23, 22) : 1, 5);
}

static void operand_shift_zd(struct a64_text *t)
{
	operand_print_scalar(t, operand_shift_size(t), 0);
}

static void operand_shift_zn(struct a64_text *t)
{
	operand_print_scalar(t, operand_shift_size(t), 5);
}

static void operand_shift_zwn(struct a64_text *t)
{
	operand_print_scalar(t, operand_shift_size(t) + 1, 5);
}

static void operand_across_fd(struct a64_text *t)
{
	operand_print_scalar(t, 1 + operand_bits(t, 29, 29), 0);
}

static void operand_across_T(struct a64_text *t)
{
	t->is_unknown |= operand_bits(t, 29, 29) && !operand_bits(t, 30, 30);
	PRINT("%s", operand_shape(1 + operand_bits(t, 29, 29), operand_bits(t, 30, 30)));
}

static void operand_pair_T(struct a64_text *t)
{
	PRINT("%s", operand_bits(t, 22, 22) ? "2d" : "2s");
}

static void operand_q_suffix(struct a64_text *t)
{
	PRINT("%s", operand_bits(t, 30, 30) ? "2" : "");
}

/* The lowest bit set in imm5 is the size of a lane, those above it its number. */
static unsigned operand_lane_size(struct a64_text *t)
{
	unsigned imm5 = operand_bits(t, 20, 16);

	if (!(imm5 & 15))
		t->is_unknown = true;
	return (unsigned)__builtin_ctz(imm5 | 8);
}

static void operand_lanes(struct a64_text *t)
{
	unsigned size = operand_lane_size(t);

	t->is_unknown |= size == 3 && !operand_bits(t, 30, 30);
	PRINT("%s", operand_shape(size, operand_bits(t, 30, 30)));
}

static void operand_lane_d(struct a64_text *t)
{
	unsigned size = operand_lane_size(t);

	PRINT("%c[%u]", "bhsd"[size], operand_bits(t, 20, 16) >> (size + 1));
}

static void operand_lane_n(struct a64_text *t)
{
	unsigned size = operand_lane_size(t);

	PRINT("%c[%u]", "bhsd"[size], operand_bits(t, 14, 11) >> size);
}

static void operand_lane_r(struct a64_text *t)
{
	a64_print_reg(t, operand_lane_size(t) == 3 ? 'x' : 'w', operand_bits(t, 9, 5), false);
}

static void operand_lane_scalar(struct a64_text *t)
{
	operand_print_scalar(t, operand_lane_size(t), 0);
}

static void operand_by_q_d(struct a64_text *t)
{
	a64_print_reg(t, operand_bits(t, 30, 30) ? 'x' : 'w', operand_bits(t, 4, 0), false);
}

static void operand_umov(struct a64_text *t)
{
	PRINT("%s", operand_lane_size(t) >= 2 ? "mov" : "umov");
}

/* {v0.16b}, {v0.16b, v1.16b}, {v0.16b-v3.16b} */
static void operand_print_list(struct a64_text *t, unsigned first, unsigned n, const char *lane)
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

static void operand_tbl_list(struct a64_text *t)
{
	operand_print_list(t, operand_bits(t, 9, 5), 1 + operand_bits(t, 14, 13), "16b");
}

static unsigned operand_structure_of(const struct a64_text *t)
{
	unsigned op = operand_bits(t, 15, 12);

	return op == 0 ? 4 : op == 4 ? 3 : op == 8 ? 2 : 1;
}

static void operand_vector_ld(struct a64_text *t)
{
	PRINT("ld%u", operand_structure_of(t));
}

static void operand_vector_st(struct a64_text *t)
{
	PRINT("st%u", operand_structure_of(t));
}

static void operand_vector_list(struct a64_text *t)
{
	unsigned size = operand_bits(t, 11, 10), q = operand_bits(t, 30, 30);

	t->is_unknown |= size == 3 && !q && operand_structure_of(t) > 1;
	operand_print_list(t, operand_bits(t, 4, 0), a64_vector_count(t->word), operand_shape(size, q));
}

static void operand_print_post(struct a64_text *t, unsigned bytes)
{
	if (operand_bits(t, 20, 16) == 31)
		PRINT("#%u", bytes);
	else
		PRINT("x%u", operand_bits(t, 20, 16));
}

static void operand_vector_post(struct a64_text *t)
{
	operand_print_post(t, a64_vector_count(t->word) * (operand_bits(t, 30, 30) ? 16 : 8));
}

static unsigned operand_lane_count(const struct a64_text *t)
{
	return 1 + operand_bits(t, 21, 21) + 2 * operand_bits(t, 13, 13);
}

static void operand_lane_ld(struct a64_text *t)
{
	PRINT("ld%u%s", operand_lane_count(t), operand_bits(t, 15, 14) == 3 ? "r" : "");
}

static void operand_lane_st(struct a64_text *t)
{
	PRINT("st%u", operand_lane_count(t));
}

/* Lane size of a single structure: 0 to 3. */
static unsigned operand_single_size(const struct a64_text *t)
{
	unsigned scale = operand_bits(t, 15, 14);

	return scale == 3 ? operand_bits(t, 11, 10) : scale == 2 && operand_bits(t, 10, 10) ? 3 : scale;
}

static void operand_lane_list(struct a64_text *t)
{
	static const char *const names[] = { "b", "h", "s", "d" };
	unsigned size = operand_single_size(t),
		 number = operand_bits(t, 30, 30) << 3 | operand_bits(t, 12, 10);

	if (operand_bits(t, 15, 14) == 3) {
		operand_print_list(t, operand_bits(t, 4, 0), operand_lane_count(t),
				   operand_shape(size, operand_bits(t, 30, 30)));
		return;
	}
	operand_print_list(t, operand_bits(t, 4, 0), operand_lane_count(t), names[size]);
	PRINT("[%u]", number >> size);
}

static void operand_lane_post(struct a64_text *t)
{
	operand_print_post(t, operand_lane_count(t) << operand_single_size(t));
}

static void operand_sve_size(struct a64_text *t)
{
	PRINT("%c", "bhwd"[operand_bits(t, 23, 22)]);
}

static void operand_sve_T(struct a64_text *t)
{
	PRINT("%c", "bhsd"[operand_bits(t, 23, 22)]);
}

static void operand_inc_dec(struct a64_text *t)
{
	PRINT("%s", operand_bits(t, 10, 10) ? "dec" : "inc");
}

static void operand_sve_pattern(struct a64_text *t)
{
	bool has_multiplier = operand_bits(t, 31, 24) == 4 && operand_bits(t, 19, 16);

	if (operand_bits(t, 9, 5) != 31 || has_multiplier)
		t->is_unknown = true;
}

static void operand_pd(struct a64_text *t)
{
	PRINT("p%u", operand_bits(t, 3, 0));
}

static void operand_pg(struct a64_text *t)
{
	PRINT("p%u", operand_bits(t, 12, 10));
}

static void operand_while_n(struct a64_text *t)
{
	a64_print_reg(t, operand_bits(t, 12, 12) ? 'x' : 'w', operand_bits(t, 9, 5), false);
}

static void operand_while_m(struct a64_text *t)
{
	a64_print_reg(t, operand_bits(t, 12, 12) ? 'x' : 'w', operand_bits(t, 20, 16), false);
}

static void operand_sve_list_b(struct a64_text *t)
{
	PRINT("{z%u.b}", operand_bits(t, 4, 0));
}

static void operand_mul_vl(struct a64_text *t)
{
	if (operand_bits(t, 19, 16))
		PRINT(", #%lld, mul vl", (long long)a64_signed_bits(t->word, 19, 16));
}

static void operand_simm6(struct a64_text *t)
{
	PRINT("%lld", (long long)a64_signed_bits(t->word, 10, 5));
}

static const struct a64_operand operands[] = {
	{ "T", operand_shape_T },
	{ "Tb", operand_shape_Tb },
	{ "Th", operand_shape_Th },
	{ "Ts", operand_shape_Ts },
	{ "Tf", operand_shape_Tf },
	{ "Tw", operand_shape_Tw },
	{ "Tp", operand_shape_Tp },
	{ "Te", operand_shape_Te },
	{ "shift_T", operand_shift_T },
	{ "shift_Tn", operand_shift_T },
	{ "shift_Tw", operand_shift_Tw },
	{ "right_amount", operand_right_amount },
	{ "left_amount", operand_left_amount },
	{ "zd", operand_zd },
	{ "zn", operand_zn },
	{ "zm", operand_zm },
	{ "zwd", operand_zwd },
	{ "zwn", operand_zwn },
	{ "zfd", operand_zfd },
	{ "zfn", operand_zfn },
	{ "zfm", operand_zfm },
	{ "zed", operand_zed },
	{ "zen", operand_zen },
	{ "shift_zd", operand_shift_zd },
	{ "shift_zn", operand_shift_zn },
	{ "shift_zwn", operand_shift_zwn },
	{ "across_fd", operand_across_fd },
	{ "across_T", operand_across_T },
	{ "pair_T", operand_pair_T },
	{ "q", operand_q_suffix },
	{ "lanes", operand_lanes },
	{ "lane_d", operand_lane_d },
	{ "lane_n", operand_lane_n },
	{ "lane_r", operand_lane_r },
	{ "lane_scalar", operand_lane_scalar },
	{ "by_q_d", operand_by_q_d },
	{ "umov", operand_umov },
	{ "tbl_list", operand_tbl_list },
	{ "vector_ld", operand_vector_ld },
	{ "vector_st", operand_vector_st },
	{ "vector_list", operand_vector_list },
	{ "vector_post", operand_vector_post },
	{ "lane_ld", operand_lane_ld },
	{ "lane_st", operand_lane_st },
	{ "lane_list", operand_lane_list },
	{ "lane_post", operand_lane_post },
	{ "sve_size", operand_sve_size },
	{ "sve_T", operand_sve_T },
	{ "inc_dec", operand_inc_dec },
	{ "sve_pattern", operand_sve_pattern },
	{ "pd", operand_pd },
	{ "pg", operand_pg },
	{ "while_n", operand_while_n },
	{ "while_m", operand_while_m },
	{ "sve_list_b", operand_sve_list_b },
	{ "mul_vl", operand_mul_vl },
	{ "simm6.5", operand_simm6 },
};
const struct a64_operands a64_shape_operands = { operands, ARRAY_LEN(operands) };
