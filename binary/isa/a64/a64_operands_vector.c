/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands_vector: the mnemonics of floating point and SIMD classes, and operands that need computation
 * (immediates, elements). Shapes and lanes are in a64_operands_shape.c.
 */
#include "binary/isa/a64/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

static unsigned operand_bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

static void operand_print_name(struct a64_text *t, const char *name)
{
	if (name)
		PRINT("%s", name);
	else
		t->is_unknown = true;
}

static void operand_rounding(struct a64_text *t)
{
	PRINT("%c", "npmz"[operand_bits(t, 20, 19)]);
}

static void operand_fraction(struct a64_text *t)
{
	PRINT("%u", 64 - operand_bits(t, 15, 10));
}

static void operand_fp_two(struct a64_text *t)
{
	static const char *const names[16] = { "fmul", "fdiv",   "fadd",   "fsub", "fmax",
					       "fmin", "fmaxnm", "fminnm", "fnmul" };

	operand_print_name(t, names[operand_bits(t, 15, 12)]);
}

static void operand_fp_one(struct a64_text *t)
{
	static const char *const names[64] = {
		[0] = "fmov",    [1] = "fabs",      [2] = "fneg",      [3] = "fsqrt",     [8] = "frintn",
		[9] = "frintp",  [10] = "frintm",   [11] = "frintz",   [12] = "frinta",   [14] = "frintx",
		[15] = "frinti", [16] = "frint32z", [17] = "frint32x", [18] = "frint64z", [19] = "frint64x",
	};

	operand_print_name(t, names[operand_bits(t, 20, 15)]);
}

/* sign, three bits of exponent, four of mantissa. */
static void operand_print_fp8(struct a64_text *t, unsigned imm8)
{
	static const double powers[] = { 2, 4, 8, 16, 0.125, 0.25, 0.5, 1 };
	double value = powers[imm8 >> 4 & 7] * (1 + (imm8 & 15) / 16.0);

	PRINT("#%.18e", imm8 >> 7 ? -value : value);
}

static void operand_fp_imm8(struct a64_text *t)
{
	operand_print_fp8(t, operand_bits(t, 20, 13));
}

static unsigned operand_imm8_of(const struct a64_text *t)
{
	return operand_bits(t, 18, 16) << 5 | operand_bits(t, 9, 5);
}

static void operand_fp_imm8_vector(struct a64_text *t)
{
	operand_print_fp8(t, operand_imm8_of(t));
}

static void operand_three(struct a64_text *t)
{
	static const char *const names[2][32] = {
		{ "shadd", "sqadd", "srhadd", NULL,     "shsub", "sqsub", "cmgt",    "cmge",
		  "sshl",  "sqshl", "srshl",  "sqrshl", "smax",  "smin",  "sabd",    "saba",
		  "add",   "cmtst", "mla",    "mul",    "smaxp", "sminp", "sqdmulh", "addp" },
		{ "uhadd", "uqadd", "urhadd", NULL,     "uhsub", "uqsub", "cmhi",     "cmhs",
		  "ushl",  "uqshl", "urshl",  "uqrshl", "umax",  "umin",  "uabd",     "uaba",
		  "sub",   "cmeq",  "mls",    "pmul",   "umaxp", "uminp", "sqrdmulh", NULL },
	};

	operand_print_name(t, names[operand_bits(t, 29, 29)][operand_bits(t, 15, 11)]);
}

static void operand_fp_three(struct a64_text *t)
{
	static const char *const names[2][2][8] = {
		{ { "fmaxnm", "fmla", "fadd", "fmulx", "fcmeq", NULL, "fmax", "frecps" },
		  { "fminnm", "fmls", "fsub", NULL, NULL, NULL, "fmin", "frsqrts" } },
		{ { "fmaxnmp", NULL, "faddp", "fmul", "fcmge", "facge", "fmaxp", "fdiv" },
		  { "fminnmp", NULL, "fabd", NULL, "fcmgt", "facgt", "fminp", NULL } },
	};

	operand_print_name(t,
			   names[operand_bits(t, 29, 29)][operand_bits(t, 23, 23)][operand_bits(t, 13, 11)]);
}

static void operand_logic(struct a64_text *t)
{
	static const char *const names[] = { "and", "bic", "orr", "orn", "eor", "bsl", "bit", "bif" };
	unsigned op = operand_bits(t, 29, 29) << 2 | operand_bits(t, 23, 22);

	if (op == 2 && operand_bits(t, 9, 5) == operand_bits(t, 20, 16)) {
		a64_print(t, "mov {vd}.{Tb}, {vn}.{Tb}");
		return;
	}
	PRINT("%s ", names[op]);
	a64_print(t, "{vd}.{Tb}, {vn}.{Tb}, {vm}.{Tb}");
}

static void operand_dot(struct a64_text *t)
{
	PRINT("%cdot", operand_bits(t, 29, 29) ? 'u' : 's');
}

static void operand_rotate90(struct a64_text *t)
{
	PRINT("%u", operand_bits(t, 12, 11) * 90);
}

static void operand_rotate180(struct a64_text *t)
{
	PRINT("%u", operand_bits(t, 12, 12) ? 270 : 90);
}

static void operand_two(struct a64_text *t)
{
	static const char *const names[2][16] = {
		{ "rev64", "rev16", "saddlp", "suqadd", "cls", "cnt", "sadalp", "sqabs", "cmgt", "cmeq",
		  "cmlt", "abs" },
		{ "rev32", NULL, "uaddlp", "usqadd", "clz", NULL, "uadalp", "sqneg", "cmge", "cmle", NULL,
		  "neg" },
	};

	operand_print_name(
		t, operand_bits(t, 16, 16) ? NULL : names[operand_bits(t, 29, 29)][operand_bits(t, 15, 12)]);
}

static void operand_fp_misc(struct a64_text *t)
{
	/* clang-format off */
	static const char *const names[2][2][32] = {
		{ { [24] = "frintn", "frintm", "fcvtns", "fcvtms", "fcvtas", "scvtf", "frint32z", "frint64z" },
		  { [12] = "fcmgt", "fcmeq", "fcmlt", "fabs",
		    [24] = "frintp", "frintz", "fcvtps", "fcvtzs", "urecpe", "frecpe", NULL, "frecpx" } },
		{ { [24] = "frinta", "frintx", "fcvtnu", "fcvtmu", "fcvtau", "ucvtf", "frint32x", "frint64x" },
		  { [12] = "fcmge", "fcmle", NULL, "fneg",
		    [24] = NULL, "frinti", "fcvtpu", "fcvtzu", "ursqrte", "frsqrte", NULL, "fsqrt" } },
	};
	/* clang-format on */

	operand_print_name(t,
			   names[operand_bits(t, 29, 29)][operand_bits(t, 23, 23)][operand_bits(t, 16, 12)]);
}

static void operand_fp_zero(struct a64_text *t)
{
	unsigned op = operand_bits(t, 16, 12);

	if (op >= 12 && op <= 14)
		PRINT(", #0.0");
}

static void operand_print_two_class(struct a64_text *t, const char *integer, const char *fp)
{
	unsigned op = operand_bits(t, 16, 12);

	a64_print(t, op < 12 ? integer : fp);
	if (op >= 8 && op <= 10)
		PRINT(", #0");
}

static void operand_two_class(struct a64_text *t)
{
	operand_print_two_class(t, "{two} {vd}.{T}, {vn}.{T}", "{fp_misc} {vd}.{Tf}, {vn}.{Tf}{fp_zero}");
}

static void operand_scalar_two_class(struct a64_text *t)
{
	operand_print_two_class(t, "{two} {zd}, {zn}", "{fp_misc} {zfd}, {zfn}{fp_zero}");
}

static void operand_shll(struct a64_text *t)
{
	PRINT("%u", 8u << operand_bits(t, 23, 22));
}

static void operand_across(struct a64_text *t)
{
	unsigned op = operand_bits(t, 16, 12);

	PRINT("%c%s", operand_bits(t, 29, 29) ? 'u' : 's', op == 3 ? "addlv" : op == 10 ? "maxv" : "minv");
}

static void operand_fp_across(struct a64_text *t)
{
	PRINT("%s%sv", operand_bits(t, 23, 23) ? "fmin" : "fmax", operand_bits(t, 16, 12) == 12 ? "nm" : "");
}

static void operand_fp_pair(struct a64_text *t)
{
	PRINT("%s%sp", operand_bits(t, 23, 23) ? "fmin" : "fmax", operand_bits(t, 16, 12) == 12 ? "nm" : "");
}

static void operand_long_name(struct a64_text *t)
{
	static const char *const names[2][16] = {
		{ "saddl", "saddw", "ssubl", "ssubw", "addhn", "sabal", "subhn", "sabdl", "smlal", "sqdmlal",
		  "smlsl", "sqdmlsl", "smull", "sqdmull", "pmull" },
		{ "uaddl", "uaddw", "usubl", "usubw", "raddhn", "uabal", "rsubhn", "uabdl", "umlal", NULL,
		  "umlsl", NULL, "umull" },
	};

	operand_print_name(t, names[operand_bits(t, 29, 29)][operand_bits(t, 15, 12)]);
}

static void operand_permute(struct a64_text *t)
{
	static const char *const names[] = { NULL, "uzp1", "trn1", "zip1", NULL, "uzp2", "trn2", "zip2" };

	operand_print_name(t, names[operand_bits(t, 14, 12)]);
}

static void operand_tbl(struct a64_text *t)
{
	PRINT("%s", operand_bits(t, 12, 12) ? "tbx" : "tbl");
}

static void operand_print_shifted_immediate(struct a64_text *t, unsigned cmode, bool is_inverse)
{
	bool is_half = cmode >> 2 == 2, is_filling = cmode >> 1 == 6, is_logic = (cmode & 1) && !is_filling;
	unsigned amount = is_filling ? 8u << (cmode & 1) : 8 * (cmode >> 1 & (is_half ? 1 : 3));

	PRINT("%s ", is_logic ? (is_inverse ? "bic" : "orr") : is_inverse ? "mvni" : "movi");
	a64_print(t, is_half ? "{vd}.{Th}, " : "{vd}.{Ts}, ");
	PRINT("#0x%x", operand_imm8_of(t));
	if (amount)
		PRINT(", %s #%u", is_filling ? "msl" : "lsl", amount);
}

/* Each bit of the eight becomes a byte. */
static uint64_t operand_bytes_of_bits(unsigned imm8)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8; i++)
		value |= imm8 >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
	return value;
}

static void operand_modified_immediate(struct a64_text *t)
{
	unsigned cmode = operand_bits(t, 15, 12), op = operand_bits(t, 29, 29), q = operand_bits(t, 30, 30);

	if (cmode < 14) {
		operand_print_shifted_immediate(t, cmode, op);
	} else if (cmode == 14 && !op) {
		a64_print(t, "movi {vd}.{Tb}, ");
		PRINT("#0x%x", operand_imm8_of(t));
	} else if (cmode == 14) {
		a64_print(t, q ? "movi {vd}.2d, " : "movi {dd}, ");
		PRINT("#0x%llx", (unsigned long long)operand_bytes_of_bits(operand_imm8_of(t)));
	} else {
		t->is_unknown = op && !q;
		a64_print(t, op ? "fmov {vd}.2d, {fp_imm8_vector}" : "fmov {vd}.{Ts}, {fp_imm8_vector}");
	}
}

static void operand_shift_right(struct a64_text *t)
{
	static const char *const names[2][32] = {
		{ [0] = "sshr",
		  [2] = "ssra",
		  [4] = "srshr",
		  [6] = "srsra",
		  [16] = "shrn",
		  [17] = "rshrn",
		  [18] = "sqshrn",
		  [19] = "sqrshrn",
		  [28] = "scvtf",
		  [31] = "fcvtzs" },
		{ [0] = "ushr",
		  [2] = "usra",
		  [4] = "urshr",
		  [6] = "ursra",
		  [8] = "sri",
		  [16] = "sqshrun",
		  [17] = "sqrshrun",
		  [18] = "uqshrn",
		  [19] = "uqrshrn",
		  [28] = "ucvtf",
		  [31] = "fcvtzu" },
	};

	operand_print_name(t, names[operand_bits(t, 29, 29)][operand_bits(t, 15, 11)]);
}

static void operand_shift_left(struct a64_text *t)
{
	static const char *const names[2][2] = { { "shl", "sqshl" }, { "sli", "uqshl" } };

	operand_print_name(
		t, operand_bits(t, 11, 11) ? NULL : names[operand_bits(t, 29, 29)][operand_bits(t, 13, 13)]);
}

static void operand_shift_long(struct a64_text *t)
{
	unsigned immhb = operand_bits(t, 22, 16);
	bool is_plain = (immhb & (immhb - 1)) == 0; /* shift by 0: a mere extension */

	PRINT("%c%s", operand_bits(t, 29, 29) ? 'u' : 's', is_plain ? "xtl" : "shll");
	a64_print(t, "{q} {vd}.{shift_Tw}, {vn}.{shift_Tn}");
	if (is_plain)
		return;
	PRINT(", #");
	a64_print(t, "{left_amount}");
}

/* The form of the operands of an instruction by element. */
enum element_form { SAME, LONG, FP, DOT };
/* clang-format off */
static const struct {
	const char *name;
	enum element_form form;
} elements[2][16] = {
	{ [1] = { "fmla", FP }, [2] = { "smlal", LONG }, [3] = { "sqdmlal", LONG }, [5] = { "fmls", FP },
	  [6] = { "smlsl", LONG }, [7] = { "sqdmlsl", LONG }, [8] = { "mul", SAME }, [9] = { "fmul", FP },
	  [10] = { "smull", LONG }, [11] = { "sqdmull", LONG }, [12] = { "sqdmulh", SAME },
	  [13] = { "sqrdmulh", SAME }, [14] = { "sdot", DOT } },
	{ [0] = { "mla", SAME }, [2] = { "umlal", LONG }, [4] = { "mls", SAME }, [6] = { "umlsl", LONG },
	  [9] = { "fmulx", FP }, [10] = { "umull", LONG }, [13] = { "sqrdmlah", SAME }, [14] = { "udot", DOT },
	  [15] = { "sqrdmlsh", SAME } },
};
/* clang-format on */

/* Vm.T[index]: the index uses the bits that the register number does not. */
static void operand_print_element(struct a64_text *t, enum element_form form)
{
	unsigned size = operand_bits(t, 23, 22), h = operand_bits(t, 11, 11), l = operand_bits(t, 21, 21),
		 m = operand_bits(t, 20, 20);

	if (form == DOT)
		PRINT("v%u.4b[%u]", operand_bits(t, 20, 16), h << 1 | l);
	else if ((form == FP && size == 0) || (form != FP && size == 1))
		PRINT("v%u.h[%u]", operand_bits(t, 19, 16), h << 2 | l << 1 | m);
	else if (size == 2)
		PRINT("v%u.s[%u]", operand_bits(t, 20, 16), h << 1 | l);
	else if (form == FP && size == 3 && !l)
		PRINT("v%u.d[%u]", operand_bits(t, 20, 16), h);
	else
		t->is_unknown = true;
}

static void operand_print_by_element(struct a64_text *t, const char *const templates[4])
{
	unsigned u = operand_bits(t, 29, 29), op = operand_bits(t, 15, 12);

	operand_print_name(t, elements[u][op].name);
	a64_print(t, templates[elements[u][op].form]);
	operand_print_element(t, elements[u][op].form);
}

static void operand_by_element(struct a64_text *t)
{
	static const char *const templates[] = { " {vd}.{T}, {vn}.{T}, ", "{q} {vd}.{Tw}, {vn}.{T}, ",
						 " {vd}.{Te}, {vn}.{Te}, ", " {vd}.{Ts}, {vn}.{Tb}, " };

	operand_print_by_element(t, templates);
}

static void operand_scalar_by_element(struct a64_text *t)
{
	static const char *const templates[] = { " {zd}, {zn}, ", " {zwd}, {zn}, ", " {zed}, {zen}, ",
						 "{?}" };

	operand_print_by_element(t, templates);
}

static const struct a64_operand operands[] = {
	{ "rounding", operand_rounding },
	{ "fraction", operand_fraction },
	{ "fp_two", operand_fp_two },
	{ "fp_one", operand_fp_one },
	{ "fp_imm8", operand_fp_imm8 },
	{ "fp_imm8_vector", operand_fp_imm8_vector },
	{ "three", operand_three },
	{ "fp_three", operand_fp_three },
	{ "logic", operand_logic },
	{ "dot", operand_dot },
	{ "rotate90", operand_rotate90 },
	{ "rotate180", operand_rotate180 },
	{ "two", operand_two },
	{ "fp_misc", operand_fp_misc },
	{ "fp_zero", operand_fp_zero },
	{ "two_class", operand_two_class },
	{ "scalar_two_class", operand_scalar_two_class },
	{ "shll", operand_shll },
	{ "across", operand_across },
	{ "fp_across", operand_fp_across },
	{ "fp_pair", operand_fp_pair },
	{ "long", operand_long_name },
	{ "permute", operand_permute },
	{ "tbl", operand_tbl },
	{ "modified_immediate", operand_modified_immediate },
	{ "shift_right", operand_shift_right },
	{ "shift_left", operand_shift_left },
	{ "shift_long", operand_shift_long },
	{ "by_element", operand_by_element },
	{ "scalar_by_element", operand_scalar_by_element },
};
const struct a64_operands a64_vector_operands = { operands, ARRAY_LEN(operands) };
