/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kallsyms.h"

#include "tests/test.h"

static void parse(const char *text, struct kallsyms *ret)
{
	kallsyms_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, ret);
}

static const char *name_at(const struct kallsyms *kallsyms, uint64_t vaddr)
{
	uint64_t end;
	const struct kernel_symbol *symbol = kallsyms_find(kallsyms, vaddr, &end);

	return symbol ? symbol->name : "";
}

TEST(kallsyms_names_functions_up_to_the_next)
{
	struct kallsyms k;

	parse("ffff0000 T start\nffff0100 t helper\nffff0080 D data\nffff0200 W weak\t[mod]\n", &k);
	CHECK_STR(name_at(&k, 0xffff0000), "start");
	CHECK_STR(name_at(&k, 0xffff00ff), "start");
	CHECK_STR(name_at(&k, 0xffff0100), "helper");
	CHECK_STR(name_at(&k, 0xffff0210), "weak [mod]");
	CHECK_STR(name_at(&k, 0xfffeffff), "");
	kallsyms_done(&k);
}

TEST(kallsyms_prefers_names_with_fewer_underscores)
{
	struct kallsyms k;

	parse("1000 T __pi_memcpy\n1000 T memcpy\n1000 T __memcpy\n", &k);
	CHECK_STR(name_at(&k, 0x1000), "memcpy");
	CHECK_EQ(k.symbols.n, 1);
	kallsyms_done(&k);
}

TEST(kallsyms_with_hidden_addresses_has_no_names)
{
	struct kallsyms k;

	parse("0000000000000000 T start\n0000000000000000 t helper\n", &k);
	CHECK_EQ(k.symbols.n, 0);
	kallsyms_done(&k);
}

TEST(kallsyms_leaves_out_lines_that_make_no_sense)
{
	struct kallsyms k;

	parse("\n1000\n1000 T\n1000 T \nxyz T f\n1000Tf\n2000 t $x\n3000 T ok", &k);
	CHECK_EQ(k.symbols.n, 1);
	CHECK_STR(name_at(&k, 0x3000), "ok");
	kallsyms_done(&k);
}

TEST(kallsyms_knows_nothing_far_behind_the_last_function)
{
	struct kallsyms k;

	parse("1000 T last\n", &k);
	CHECK_STR(name_at(&k, 0x1000 + (1 << 20) - 1), "last");
	CHECK_STR(name_at(&k, 0x1000 + (1 << 20)), "");
	kallsyms_done(&k);
}
