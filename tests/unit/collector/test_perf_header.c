/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "tests/unit/collector/open_build.h"

static void check_cpu_id(const char *text, const char *expected)
{
	struct file_build f = simple();

	file_string(&f, 9, text);
	put_sample(&f, 1, 5000);
	CHECK_EQ(open_build(&f), 0);
	if (expected)
		CHECK_STR(source->info.cpu_id, expected);
	else
		CHECK(!source->info.cpu_id);
	done();
}

TEST(a_processor_is_recognised_by_its_numbers)
{
	check_cpu_id("GenuineIntel,6,143,8", "GenuineIntel family 6 model 143");
	check_cpu_id("0x00000000413fd0c1", "implementer 0x41 part 0xd0c");
}

TEST(an_invalid_processor_id_is_ignored)
{
	static const char *const texts[] = { "",
					     ",6,143,8",
					     "GenuineIntel",
					     "GenuineIntel,6",
					     "GenuineIntel,,143",
					     "GenuineIntel,6,",
					     "GenuineIntel,six,143",
					     "sixteencharacter,6,143",
					     "0x",
					     "0xg" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		check_cpu_id(texts[i], NULL);
	check_cpu_id("X,99999999999999999999,1", "X family 18446744073709551615 model 1");
}
