/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kernel/kallsyms.h"

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

	parse("ffff0000 T start\nffff0100 t helper\nffff0200 W weak\t[mod]\n", &k);
	CHECK_STR(name_at(&k, 0xffff0000), "start");
	CHECK_STR(name_at(&k, 0xffff00ff), "start");
	CHECK_STR(name_at(&k, 0xffff0100), "helper");
	CHECK_STR(name_at(&k, 0xffff0210), "weak [mod]");
	CHECK_STR(name_at(&k, 0xfffeffff), "");
	kallsyms_done(&k);
}

TEST(kallsyms_ends_functions_where_data_begins)
{
	struct kallsyms k;

	parse("0100 D before\n1000 T start\n1080 D data\n10a0 b more\n1100 t helper\n1100 R alias\n1200 D "
	      "_etext\n1200 T last\n",
	      &k);
	CHECK_STR(name_at(&k, 0x100), "");
	CHECK_STR(name_at(&k, 0x107f), "start");
	CHECK_STR(name_at(&k, 0x1080), "");
	CHECK_STR(name_at(&k, 0x10ff), "");
	CHECK_STR(name_at(&k, 0x1100), "helper");
	CHECK_STR(name_at(&k, 0x1200), "last");
	CHECK_EQ(k.symbols.n, 4);
	kallsyms_done(&k);
}

TEST(kallsyms_uses_the_first_of_several_names)
{
	struct kallsyms k;

	parse("1000 T __memcpy\n1000 t __pi_memcpy\n1000 W memcpy\n", &k);
	CHECK_STR(name_at(&k, 0x1000), "__memcpy");
	CHECK_EQ(k.symbols.n, 1);
	kallsyms_done(&k);
}

/* Modules are below the kernel on one machine and above it on another; BPF programs are in any order. */
TEST(kallsyms_sorts_what_was_loaded_later)
{
	struct kallsyms k;

	parse("5000 T first\n6000 T second\n6000 T __alias\n7000 t third\n3000 t late\t[mod]\n1000 t "
	      "bpf_prog\t[bpf]\n"
	      "6000 t a\t[mod]\n6800 t between\t[mod]\n",
	      &k);
	CHECK_EQ(k.symbols.n, 6);
	for (size_t i = 1; i < k.symbols.n; i++)
		CHECK(k.symbols.at[i - 1].start < k.symbols.at[i].start);
	CHECK_STR(name_at(&k, 0x1001), "bpf_prog [bpf]");
	CHECK_STR(name_at(&k, 0x3fff), "late [mod]");
	CHECK_STR(name_at(&k, 0x6001), "second");
	CHECK_STR(name_at(&k, 0x6801), "between [mod]");
	CHECK_STR(name_at(&k, 0x7000), "third");
	kallsyms_done(&k);
}

TEST(kallsyms_with_hidden_addresses_has_no_names)
{
	struct kallsyms k;

	parse("0000000000000000 T start\n0000000000000000 t helper\n", &k);
	CHECK_EQ(k.symbols.n, 0);
	kallsyms_done(&k);
}

TEST(kallsyms_ignores_invalid_lines)
{
	struct kallsyms k;

	parse("\n1000\n1000 T\n1000 T \nxyz T f\n1000Tf\n2000 t $x\n3000 T ok", &k);
	CHECK_EQ(k.symbols.n, 1);
	CHECK_STR(name_at(&k, 0x3000), "ok");
	kallsyms_done(&k);
}

TEST(kallsyms_has_no_name_far_after_the_last_function)
{
	struct kallsyms k;

	parse("1000 T last\n", &k);
	CHECK_STR(name_at(&k, 0x1000 + (1 << 20) - 1), "last");
	CHECK_STR(name_at(&k, 0x1000 + (1 << 20)), "");
	kallsyms_done(&k);
}
