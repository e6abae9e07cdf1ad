/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/log_scale.h"
#include "tests/test.h"

struct record {
	uint64_t key;
	uint32_t number; /* index before sorting */
	uint8_t rank;
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 16;
}

static struct record *records_of(size_t n, uint64_t mask, uint64_t seed)
{
	struct record *records = alloc_zero(n, sizeof(*records));

	for (size_t i = 0; i < n; i++)
		records[i] = (struct record){ next_random(&seed) * 0x10001 & mask, (uint32_t)i,
					      (uint8_t)next_random(&seed) };
	return records;
}

static int by_rank(const void *left, const void *right)
{
	return ((const struct record *)left)->rank - ((const struct record *)right)->rank;
}

TEST(sort_by_u64_is_stable)
{
	static const uint64_t masks[] = { 0, 1, 0xff, 0xffffff, 0xff00000000ff0000, UINT64_MAX };
	static const size_t counts[] = { 0, 1, 2, 3, 257, 5000 };

	for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
		for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
			size_t n = counts[c];
			struct record *records = records_of(n, masks[m], m + 1);
			uint64_t sum = 0;
			sort_by_u64(records, n, sizeof(*records));
			for (size_t i = 0; i < n; i++)
				sum += records[i].number;
			CHECK_EQ(sum, n ? n * (n - 1) / 2 : 0);
			for (size_t i = 1; i < n; i++)
				CHECK(records[i - 1].key < records[i].key ||
				      (records[i - 1].key == records[i].key &&
				       records[i - 1].number < records[i].number));
			free(records);
		}
	}
}

TEST(sort_by_u64_moves_whole_records)
{
	struct record *records = records_of(1000, UINT64_MAX, 7), *same = records_of(1000, UINT64_MAX, 7);

	sort_by_u64(records, 1000, sizeof(*records));
	for (size_t i = 0; i < 1000; i++)
		CHECK(memcmp(&records[i], &same[records[i].number], sizeof(*records)) == 0);
	free(records);
	free(same);
}

TEST(sort_by_u64_then_orders_equal_keys_by_the_comparison)
{
	struct record *records = records_of(5000, 0x3ff, 3); /* most keys occur several times, some once */

	sort_by_u64_then(records, 5000, sizeof(*records), by_rank);
	for (size_t i = 1; i < 5000; i++)
		CHECK(records[i - 1].key < records[i].key ||
		      (records[i - 1].key == records[i].key && records[i - 1].rank <= records[i].rank));
	free(records);
}

TEST(log_scale_has_a_narrow_class_for_every_number)
{
	uint64_t seed = 7;

	CHECK_EQ(log_scale_class(UINT64_MAX), LOG_SCALE_N - 1);
	for (uint32_t class = 0; class < LOG_SCALE_N; class ++) {
		uint64_t start = log_scale_start(class);
		CHECK_EQ(log_scale_class(start), class);
		CHECK(class == 0 || log_scale_class(start - 1) == class - 1);
		CHECK_EQ(log_scale_class(log_scale_middle(class)), class);
	}
	for (int i = 0; i < 10000; i++) {
		uint64_t number = (next_random(&seed) * 0x10001) >> (next_random(&seed) % 64);
		uint64_t middle = log_scale_middle(log_scale_class(number));
		uint64_t off = middle > number ? middle - number : number - middle;
		CHECK(off <= number / 32 + 1);
	}
}
