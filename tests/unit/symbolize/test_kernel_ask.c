/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kernel/kernel_ask.h"

#include "tests/test.h"

#define MAX_ASKED 512

static bool parse(const char *answer, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	size_t len;

	return kernel_answer_parse(answer, vaddr, ret_start, ret_end, &len) && len < strlen(answer);
}

TEST(kernel_answer_has_start_and_end_of_the_function)
{
	uint64_t start, end;
	size_t len;

	CHECK(kernel_answer_parse("do_sys+poll+0x12/0x80", 0xffff0012, &start, &end, &len));
	CHECK_EQ(start, 0xffff0000);
	CHECK_EQ(end, 0xffff0080);
	CHECK_EQ(len, 11);
}

TEST(kernel_answer_of_any_other_form_is_refused)
{
	static const char *const others[] = { "",
					      "+",
					      "+0x0/0x8",
					      "f",
					      "f+",
					      "f+0x0",
					      "f+0x0/",
					      "f+0x0/0x",
					      "f+0/8",
					      "f+0x8/0x8",
					      "f+0x9/0x8",
					      "f+0x0/0x8 [module]",
					      "$x+0x0/0x8",
					      "f+0x1001/0x2000",
					      "f+0x0/0xffffffffffffffff",
					      "0xffff800080010010" };
	uint64_t start, end;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		CHECK(!parse(others[i], 0x1000, &start, &end));
}

/* The addresses of every n-th kernel function, and addresses between them. */
static size_t pick(const struct kallsyms *all, uint64_t *ret)
{
	size_t step = all->symbols.n / MAX_ASKED + 1, n = 0;

	for (size_t i = 0; i + 1 < all->symbols.n && n < MAX_ASKED; i += step) {
		const struct kernel_symbol *symbol = &all->symbols.at[i];
		if (symbol->name[0] && !strchr(symbol->name, '['))
			ret[n++] = symbol->start + (symbol[1].start - symbol->start) / 2;
	}
	return n;
}

TEST(kernel_answers_agree_with_kallsyms)
{
	struct kallsyms all, some;
	uint64_t vaddrs[MAX_ASKED], end, wanted_end;

	if (kallsyms_open("/proc/kallsyms", &all) < 0)
		SKIP("kernel addresses are hidden");
	size_t n = pick(&all, vaddrs);
	bool is_answered = kernel_ask(vaddrs, n, &some);
	for (size_t i = 0; is_answered && i < n; i++) {
		const struct kernel_symbol *wanted = kallsyms_find(&all, vaddrs[i], &wanted_end);
		const struct kernel_symbol *symbol = kallsyms_find(&some, vaddrs[i], &end);
		CHECK_EQ(symbol != NULL, wanted != NULL);
		if (!symbol || !wanted)
			continue;
		CHECK_EQ(symbol->start, wanted->start);
		CHECK_EQ(end, wanted_end);
		CHECK_STR(symbol->name, wanted->name);
	}
	kallsyms_done(&all);
	kallsyms_done(&some);
	if (!is_answered)
		SKIP("the kernel cannot be asked for names: there is no BPF here, or no permission for it");
}

TEST(kernel_has_no_names_for_user_addresses)
{
	const uint64_t vaddrs[] = { 0x1000, 0x400000 };
	struct kallsyms none;
	uint64_t end;

	if (!kernel_ask(vaddrs, 2, &none))
		SKIP("the kernel cannot be asked for names: there is no BPF here, or no permission for it");
	CHECK_EQ(none.symbols.n, 0);
	CHECK(kallsyms_find(&none, 0x400000, &end) == NULL);
	kallsyms_done(&none);
}
