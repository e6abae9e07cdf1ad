/* SPDX-License-Identifier: Apache-2.0 */
#include "report/quote.h"

#include "tests/test.h"

static void check_markdown(const char *name, const char *want)
{
	struct text text = { 0 };

	quote_markdown(&text, name);
	CHECK_STR(text.at, want);
	text_done(&text);
}

TEST(backticks_in_a_name_do_not_end_the_code)
{
	check_markdown("f", "`f`");
	check_markdown("a`b", "`` a`b ``");
	check_markdown("``![i](x)``", "``` ``![i](x)`` ```");
	check_markdown("a`b```c``d", "```` a`b```c``d ````");
}

TEST(bars_in_a_name_do_not_end_the_cell)
{
	check_markdown("a|b", "`a\\|b`");
	check_markdown("a\\|b", "`a\\\\\\|b`"); /* a doubled backslash, and an escaped bar */
	check_markdown("\\\\||", "`\\\\\\\\\\|\\|`");
	check_markdown("a\\b\\", "`a\\b\\`");
}
