/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>

#include "collector/order.h"

static void add(struct order *order, uint64_t time, uint64_t value)
{
	order_add(order, time, (struct bytes){ (const uint8_t *)&value, sizeof(value) });
}

/* The value of the next record, or 0. */
static uint64_t next(struct order *order)
{
	struct bytes record;
	uint64_t time, value = 0;

	if (order_next(order, &time, &record))
		memcpy(&value, record.at, sizeof(value));
	return value;
}

TEST(order_holds_records_back_for_one_whole_round)
{
	struct order *order = order_new();

	order_round_begin(order, 100);
	add(order, 90, 1);
	add(order, 150, 3);
	order_round_end(order);
	CHECK_EQ(next(order), 0); /* another ring may still hold an older record */

	order_round_begin(order, 200);
	add(order, 95, 2);
	order_round_end(order);
	CHECK_EQ(next(order), 1);
	CHECK_EQ(next(order), 2);
	CHECK_EQ(next(order), 0); /* 150 is later than the start of the previous round */

	order_round_begin(order, 300);
	order_round_end(order);
	CHECK_EQ(next(order), 3);
	CHECK_EQ(order_late(order), 0);
	order_free(order);
}

TEST(order_hands_out_records_older_than_the_writers_delay)
{
	struct order *order = order_new();

	order_trust(order, 30);
	order_round_begin(order, 100);
	add(order, 80, 2);
	add(order, 70, 1);
	order_round_end(order);
	CHECK_EQ(next(order), 1);
	CHECK_EQ(next(order), 0); /* an older record may still arrive */

	order_round_begin(order, 105); /* 80 is due after a whole round, although only 25 old */
	order_round_end(order);
	CHECK_EQ(next(order), 2);
	order_free(order);
}

TEST(order_peek_shows_the_next_record_that_is_due)
{
	struct order *order = order_new();
	struct bytes record = { 0 };

	CHECK(!order_peek(order, &record));
	order_trust(order, 30);
	order_round_begin(order, 100);
	add(order, 80, 2);
	add(order, 70, 1);
	order_round_end(order);
	CHECK(order_peek(order, &record));
	CHECK_EQ(record.len, 8);
	CHECK_EQ(*record.at, 1);
	CHECK_EQ(next(order), 1); /* peeking removes nothing */
	CHECK(!order_peek(order, &record));
	order_finish(order);
	CHECK(order_peek(order, &record));
	CHECK_EQ(*record.at, 2);
	order_free(order);
}

TEST(order_copies_lent_records_when_they_are_recalled)
{
	struct order *order = order_new();
	uint64_t lent[2] = { 7, 9 };
	size_t loan = 0;

	order_lend(order, 20, (struct bytes){ (const uint8_t *)&lent[1], 8 }, &loan);
	order_lend(order, 10, (struct bytes){ (const uint8_t *)&lent[0], 8 }, &loan);
	order_finish(order);
	CHECK_EQ(next(order), 7);
	order_copy_lent(order);
	CHECK_EQ(loan, 1); /* the record handed out is still in use */
	order_let_go(order);
	CHECK_EQ(loan, 0);
	lent[1] = 0;
	CHECK_EQ(next(order), 9);
	CHECK_EQ(next(order), 0);
	CHECK_EQ(order_held(order), 0);
	order_free(order);
}

TEST(order_keeps_equal_times_in_the_order_read)
{
	struct order *order = order_new();

	for (uint64_t i = 1; i <= 100; i++)
		add(order, 7, i);
	order_finish(order);
	for (uint64_t i = 1; i <= 100; i++)
		CHECK_EQ(next(order), i);
	CHECK_EQ(next(order), 0);
	order_free(order);
}

TEST(order_counts_late_records_and_hands_them_out)
{
	struct order *order = order_new();

	order_round_begin(order, 100);
	add(order, 50, 1);
	order_round_end(order);
	order_round_begin(order, 200);
	order_round_end(order);
	CHECK_EQ(next(order), 1);
	add(order, 40, 2);
	CHECK_EQ(next(order), 2);
	CHECK_EQ(order_late(order), 1);
	order_free(order);
}

TEST(order_sorts_records_of_many_rings)
{
	struct order *order = order_new();
	uint64_t last = 0, n = 0, time;
	struct bytes record;

	srand(1);
	for (uint64_t ring = 0; ring < 8; ring++)
		for (uint64_t i = 0, t = 0; i < 500; i++) {
			t += (uint64_t)rand() % 50;
			add(order, t, i + 1);
		}
	order_finish(order);
	while (order_next(order, &time, &record)) {
		CHECK(time >= last);
		last = time;
		n++;
	}
	CHECK_EQ(n, 4000);
	CHECK_EQ(order_held(order), 0);
	order_free(order);
}

TEST(order_keeps_bytes_while_blocks_are_reused)
{
	struct order *order = order_new();
	static uint8_t big[60000];

	for (uint32_t i = 0; i < 400; i++) { /* 24 MB in total, two rounds of it held at a time */
		struct bytes record;
		uint64_t time;

		memset(big, (int)(i & 0xff), sizeof(big));
		order_round_begin(order, i + 1);
		order_add(order, i + 1, (struct bytes){ big, sizeof(big) - i });
		order_round_end(order);
		if (i == 0)
			continue;
		CHECK(order_next(order, &time, &record));
		CHECK_EQ(time, i);
		CHECK_EQ(record.len, sizeof(big) - (i - 1));
		CHECK_EQ(record.at[0], (i - 1) & 0xff);
		CHECK_EQ(record.at[record.len - 1], (i - 1) & 0xff);
		CHECK(order_held(order) <= 2 * sizeof(big));
	}
	order_free(order);
}

TEST(order_counts_lent_records_until_they_are_released)
{
	struct order *order = order_new();
	uint64_t records[] = { 11, 22 }, time;
	size_t loan = 0;
	struct bytes record;

	for (int i = 0; i < 2; i++)
		order_lend(order, (uint64_t)(2 - i), (struct bytes){ (const uint8_t *)&records[i], 8 },
			   &loan);
	add(order, 3, 33);
	CHECK_EQ(loan, 2);
	CHECK_EQ(order_held(order), 24);
	order_finish(order);

	CHECK(order_next(order, &time, &record));
	CHECK(record.at == (const uint8_t *)&records[1]); /* not copied, and in time order */
	CHECK_EQ(loan, 2);                                /* still in use */
	CHECK_EQ(next(order), 11);
	CHECK_EQ(loan, 1);
	CHECK_EQ(next(order), 33);
	CHECK_EQ(loan, 0);
	order_free(order);
}

TEST(order_releases_lent_records_when_it_is_freed)
{
	struct order *order = order_new();
	uint64_t record = 1;
	size_t loan = 0;

	order_lend(order, 1, (struct bytes){ (const uint8_t *)&record, 8 }, &loan);
	order_free(order);
	CHECK_EQ(loan, 0);
}
