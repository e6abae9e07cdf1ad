/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_format: one line of disassembly from a row's template.
 *
 * A template is text with operands in braces. Two letters are a register: x, w or r (by bit 31) for a general
 * one, b, h, s, d, q for a scalar of that size, f (by the type field), v for a vector; then the field: d, n,
 * a or m. `:sp` after it means that 31 is sp. `imm16.5` is the 16-bit field that starts at bit 5, in hex if
 * followed by x; `cond.12` a condition. Everything else is looked up among the named operands of the
 * a64_operands*.c files. Instructions that cannot be formatted are printed as `.inst 0x01234567`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/isa/a64/a64_text.h"

void a64_print_reg(struct a64_text *t, char class, unsigned reg, bool is_sp)
{
	if (class == 'r')
		class = t->word >> 31 ? 'x' : 'w';
	if (class == 'f') {
		class = "sd?h"[a64_bits(t->word, 23, 22)];
		t->is_unknown |= class == '?';
	}
	if (reg != 31 || (class != 'x' && class != 'w'))
		text_printf(&t->text, "%c%u", class, reg);
	else if (is_sp)
		text_printf(&t->text, "%s", class == 'x' ? "sp" : "wsp");
	else
		text_printf(&t->text, "%czr", class);
}

static unsigned a64_field_low(char field)
{
	return field == 'd' ? 0 : field == 'n' ? 5 : field == 'a' ? 10 : 16;
}

static bool a64_print_register(struct a64_text *t, const char *name, size_t len)
{
	if (len != 2 && !(len == 5 && memcmp(name + 2, ":sp", 3) == 0))
		return false;
	if (!strchr("xwrbhsdqfv", name[0]) || !strchr("dnam", name[1]))
		return false;
	a64_print_reg(t, name[0], t->word >> a64_field_low(name[1]) & 31, len == 5);
	return true;
}

static bool a64_print_field(struct a64_text *t, const char *name, size_t len)
{
	unsigned bits, low;
	char form = 0;

	if (len > 5 && memcmp(name, "cond.", 5) == 0) {
		text_printf(&t->text, "%s",
			    a64_condition(a64_bits(t->word, 31, 0) >> strtoul(name + 5, NULL, 10) & 15));
		return true;
	}
	if (sscanf(name, "imm%u.%u%c", &bits, &low, &form) < 2 || bits == 0 || bits > 31 || low + bits > 32)
		return false;
	unsigned value = t->word >> low & ((1u << bits) - 1);
	text_printf(&t->text, form == 'x' || bits == 16 ? "0x%x" : "%u", value);
	return true;
}

static bool a64_print_named(struct a64_text *t, const char *name, size_t len)
{
	static const struct a64_operands *const tables[] = { &a64_base_operands, &a64_memory_operands,
							     &a64_vector_operands, &a64_shape_operands };

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (size_t k = 0; k < tables[i]->n; k++) {
			const struct a64_operand *operand = &tables[i]->at[k];

			if (strncmp(operand->name, name, len) != 0 || operand->name[len])
				continue;
			operand->print(t);
			return true;
		}
	}
	return false;
}

static void a64_print_operand(struct a64_text *t, const char *name, size_t len)
{
	if (!a64_print_register(t, name, len) && !a64_print_named(t, name, len) &&
	    !a64_print_field(t, name, len))
		t->is_unknown = true;
}

void a64_print(struct a64_text *t, const char *template)
{
	while (*template) {
		size_t plain = strcspn(template, "{");

		text_add(&t->text, template, plain);
		template += plain;
		if (!*template)
			return;
		size_t len = strcspn(template, "}") - 1;
		a64_print_operand(t, template + 1, len);
		template += len + 2;
	}
}

size_t a64_format(uint32_t word, uint64_t vaddr, char *text, size_t size)
{
	struct a64_text t = { .word = word, .vaddr = vaddr };
	const struct a64_row *row = a64_find(word);

	if (row && row->text)
		a64_print(&t, row->text);
	if (!row || !row->text || t.is_unknown) {
		text_clear(&t.text);
		text_printf(&t.text, ".inst 0x%08x", word);
	}
	size_t len = t.text.len;
	if (size) {
		len = len < size ? len : size - 1;
		memcpy(text, t.text.at, len);
		text[len] = 0;
	}
	text_done(&t.text);
	return len;
}
