/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_operands_vector: the named operands of floating point and SIMD instructions.
 */
#include "binary/a64_text.h"

#define PRINT(...) text_printf(&t->text, __VA_ARGS__)

static unsigned bits(const struct a64_text *t, unsigned high, unsigned low)
{
	return a64_bits(t->word, high, low);
}

static void q(struct a64_text *t)
{
	PRINT("%s", bits(t, 30, 30) ? "2" : "");
}

const struct a64_operand a64_vector_operands[] = {
	{ "q", q },
};
const size_t a64_n_vector_operands = ARRAY_LEN(a64_vector_operands);
