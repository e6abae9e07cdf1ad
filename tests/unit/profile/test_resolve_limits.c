/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_limits.h"
#include "tests/test.h"

#define MB (1u << 20)

TEST(patience_is_longer_for_large_files)
{
	struct patience patience = { 0 };
	uint64_t small = patience_cpu_s(&patience, 1, 10000), large = patience_cpu_s(&patience, 1, 100 * MB);

	CHECK(small >= 10);
	CHECK(large >= 2 * small);
	CHECK(patience_cpu_s(&patience, 1, UINT64_MAX) >= large);
	CHECK_EQ(patience_cpu_s(&patience, 0, 0), patience_cpu_s(&patience, 1, UINT64_MAX));
	patience_done(&patience);
}

/* However many files somebody makes, all of them together take no more than two at first. */
TEST(patience_is_lost_with_one_user_not_with_others)
{
	struct patience patience = { 0 };
	uint64_t first = patience_cpu_s(&patience, 1001, MB), all = 0;

	for (int i = 0; i < 20; i++) {
		all += patience_cpu_s(&patience, 1001, MB);
		patience_lose(&patience, 1001);
	}
	CHECK(all <= 2 * first + 20);
	for (int i = 0; i < 100; i++)
		patience_lose(&patience, 1001);
	CHECK_EQ(patience_cpu_s(&patience, 1001, MB), 1);
	CHECK_EQ(patience_cpu_s(&patience, 1002, MB), first);
	patience_done(&patience);
}
