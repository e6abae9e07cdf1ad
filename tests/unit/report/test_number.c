/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "report/number.h"
#include "tests/test.h"

TEST(counts_are_grouped_in_threes)
{
	char text[NUMBER_MAX];

	CHECK_STR(number_count(0, text), "0");
	CHECK_STR(number_count(999, text), "999");
	CHECK_STR(number_count(1000, text), "1,000");
	CHECK_STR(number_count(123456, text), "123,456");
	CHECK_STR(number_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

TEST(times_choose_their_unit)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 999, "999 ns" },
		{ 1500, "1.50 us" },
		{ 999499, "999 us" },
		{ 999999, "1.00 ms" },
		{ 45000000, "45.0 ms" },
		{ 999600000, "1.00 s" },
		{ 1234000000, "1.23 s" },
		{ 60000000000, "60.0 s" },
		{ 125000000000, "2 min 5 s" },
		{ 7325000000000, "2 h 2 min" },
		{ UINT64_MAX, "5124095 h 34 min" },
	};
	char text[NUMBER_MAX];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(number_time(cases[i].ns, text), cases[i].text);
}

TEST(values_are_time_or_scaled_counts)
{
	char text[NUMBER_MAX];

	CHECK_STR(number_value(2000000, "ns", text), "2.00 ms");
	CHECK_STR(number_value(999999, "count", text), "999,999");
	CHECK_STR(number_value(1234567, "count", text), "1.23 M");
	CHECK_STR(number_value(999900000, "count", text), "1.00 G");
	CHECK_STR(number_value(UINT64_MAX, "count", text), "18.4 E");
	CHECK_STR(number_value(9216000, "bytes", text), "9.22 MB");
	CHECK_STR(number_value(512, "bytes", text), "0.51 kB");
}

TEST(percentages_never_round_to_0_or_100)
{
	char text[NUMBER_MAX];

	CHECK_STR(number_percent(0, text), "0%");
	CHECK_STR(number_percent(0.01, text), "<0.1%");
	CHECK_STR(number_percent(12.34, text), "12.3%");
	CHECK_STR(number_percent(99.99, text), ">99.9%");
	CHECK_STR(number_percent(100, text), "100%");
	CHECK(number_share(1, 4) == 25);
	CHECK(number_share(0, 0) == 0);
}

TEST(intervals_are_wilson_intervals)
{
	/* 10 of 100: 5.52 to 17.44, as tables of the score interval give it. */
	struct interval some = number_interval(10, 100);
	CHECK(some.low > 5.51 && some.low < 5.54);
	CHECK(some.high > 17.43 && some.high < 17.45);

	struct interval none = number_interval(0, 100);
	CHECK(none.low == 0);
	CHECK(none.high > 3.6 && none.high < 3.8);
	struct interval all = number_interval(100, 100);
	CHECK(all.high == 100);
	CHECK(all.low > 96.2 && all.low < 96.4);
	CHECK(number_interval(0, 0).high == 100);

	struct interval even = number_interval_of_cost(1000, 10000, 10, 100, 1);
	CHECK(even.low == some.low && even.high == some.high);
	struct interval uneven =
		number_interval_of_cost(7960, 10000, 2, 10, 1); /* a few samples with most of the cost */
	CHECK(uneven.low < 20 && uneven.high > 79.6);
}
