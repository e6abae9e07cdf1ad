/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_text: shared by a64_format.c and the operand files while one line is formatted.
 */
#pragma once

#include "base/text.h"
#include "binary/isa/a64/a64.h"

struct a64_text {
	struct text text;
	uint32_t word;
	uint64_t vaddr;
	bool is_unknown; /* an operand could not be formatted: print the word instead */
};

void a64_print(struct a64_text *t, const char *template);
/* class: x, w, r, b, h, s, d, q, f or v, as in a template. */
void a64_print_reg(struct a64_text *t, char class, unsigned reg, bool is_sp);
const char *a64_condition(unsigned condition);

struct a64_operand {
	const char *name;
	void (*print)(struct a64_text *t);
};
struct a64_operands {
	const struct a64_operand *at;
	size_t n;
};
extern const struct a64_operands a64_base_operands, a64_memory_operands, a64_vector_operands,
	a64_shape_operands;
