/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "collector/live/perf_ring.h"

#define SIZE 256

struct fake {
	uint8_t data[SIZE], scratch[65536];
	struct ring_view view;
};

static void fake_init(struct fake *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->view = (struct ring_view){ .data = fake->data, .size = SIZE, .scratch = fake->scratch };
}

static void put(struct fake *fake, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fake->data[fake->view.head++ % SIZE] = ((const uint8_t *)bytes)[i];
}

/* A record of `size` bytes, header included, whose body is filled with `fill`. */
static void put_record(struct fake *fake, uint16_t size, uint8_t fill)
{
	uint8_t record[SIZE];
	uint32_t type = 9;
	uint16_t misc = 0;

	memset(record, fill, sizeof(record));
	memcpy(record, &type, 4);
	memcpy(record + 4, &misc, 2);
	memcpy(record + 6, &size, 2);
	put(fake, record, size < 8 ? 8 : size);
}

TEST(ring_gives_whole_records_at_every_position_of_the_wrap)
{
	static struct fake fake;
	struct bytes record;

	fake_init(&fake);
	for (unsigned i = 0; i < 1000; i++) {
		uint16_t size = (uint16_t)(8 + 8 * (i % 9));
		put_record(&fake, size, (uint8_t)i);
		CHECK(ring_view_next(&fake.view, &record));
		CHECK_EQ(record.len, size);
		for (size_t j = 8; j < record.len; j++)
			CHECK_EQ(record.at[j], i & 0xff);
		CHECK(!ring_view_next(&fake.view, &record));
	}
	CHECK(!fake.view.is_damaged);
}

TEST(ring_reads_several_records_at_once)
{
	static struct fake fake;
	struct bytes record;

	fake_init(&fake);
	put_record(&fake, 16, 1);
	put_record(&fake, 8, 2);
	put_record(&fake, 24, 3);
	CHECK(ring_view_next(&fake.view, &record) && record.len == 16);
	CHECK(ring_view_next(&fake.view, &record) && record.len == 8);
	CHECK(ring_view_next(&fake.view, &record) && record.len == 24);
	CHECK(!ring_view_next(&fake.view, &record));
}

TEST(ring_drops_everything_after_an_invalid_size)
{
	static struct fake fake;
	struct bytes record;

	fake_init(&fake);
	put_record(&fake, 0, 1); /* size 0: would never advance */
	put_record(&fake, 16, 2);
	CHECK(!ring_view_next(&fake.view, &record));
	CHECK(fake.view.is_damaged);
	CHECK_EQ(fake.view.at, fake.view.head);

	fake_init(&fake);
	put_record(&fake, 16, 1);
	fake.view.head -= 8; /* the record is longer than what was written */
	CHECK(!ring_view_next(&fake.view, &record));
	CHECK(fake.view.is_damaged);
}

/* A ring as mapped by the kernel: its control page, then the data. */
struct lender {
	struct perf_event_mmap_page page;
	struct fake fake;
	struct perf_ring ring;
	struct ring_round rounds[RING_ROUNDS];
};

static void lender_init(struct lender *lender)
{
	memset(lender, 0, sizeof(*lender));
	fake_init(&lender->fake);
	lender->ring.map = &lender->page;
	lender->ring.view = lender->fake.view;
	lender->ring.rounds = lender->rounds;
}

static void lender_put(struct lender *lender, uint8_t fill)
{
	put_record(&lender->fake, 16, fill);
	lender->page.data_head = lender->fake.view.head;
}

/* Reads one round; returns the loan of its last record, taking it if there is one. */
static size_t *lender_read(struct lender *lender)
{
	struct bytes record;
	size_t *loan = NULL;

	perf_ring_begin(&lender->ring);
	while (perf_ring_next(&lender->ring, &record)) {
		loan = perf_ring_loan(&lender->ring, record);
		if (loan)
			++*loan;
	}
	perf_ring_end(&lender->ring);
	return loan;
}

TEST(ring_does_not_free_lent_records)
{
	static struct lender lender;

	lender_init(&lender);
	lender_put(&lender, 1);
	size_t *first = lender_read(&lender);
	lender_put(&lender, 2);
	size_t *second = lender_read(&lender);
	CHECK(first && second && first != second);
	CHECK_EQ(lender.page.data_tail, 0);

	--*second; /* released out of order: the tail does not move yet */
	lender_read(&lender);
	CHECK_EQ(lender.page.data_tail, 0);
	--*first;
	lender_read(&lender);
	CHECK_EQ(lender.page.data_tail, 32);
}

TEST(ring_frees_rounds_in_order)
{
	static struct lender lender;

	lender_init(&lender);
	lender_put(&lender, 1);
	size_t *first = lender_read(&lender);
	lender_put(&lender, 2);
	lender_read(&lender);
	--*first;
	perf_ring_give_back(&lender.ring);
	CHECK_EQ(lender.page.data_tail, 16);
	lender_read(&lender);
	CHECK_EQ(lender.page.data_tail, 16);
}

TEST(ring_frees_a_long_round_in_pieces)
{
	static struct lender lender;
	struct bytes record;
	size_t *loans[4];

	lender_init(&lender);
	for (int i = 0; i < 4; i++)
		lender_put(&lender, 1);
	perf_ring_begin(&lender.ring);
	for (int i = 0; i < 4 && perf_ring_next(&lender.ring, &record); i++)
		++*(loans[i] = perf_ring_loan(&lender.ring, record));
	perf_ring_end(&lender.ring);
	--*loans[0];
	--*loans[1];
	perf_ring_give_back(&lender.ring);
	CHECK_EQ(lender.page.data_tail, 32);
	CHECK_EQ(perf_ring_room(&lender.ring), SIZE - 32);
	for (int i = 0; i < 14; i++)
		lender_put(&lender, 2);
	CHECK_EQ(perf_ring_room(&lender.ring), 0);
}

TEST(ring_lends_nothing_when_three_quarters_full_or_across_the_wrap)
{
	static struct lender lender;

	lender_init(&lender);
	for (int i = 0; i < 12; i++)
		lender_put(&lender, 1);
	CHECK(lender_read(&lender) != NULL); /* ends at byte 192 of 256 */
	lender_put(&lender, 2);
	CHECK(lender_read(&lender) == NULL);

	lender_init(&lender);
	lender.ring.view.at = lender.ring.tail = lender.fake.view.head = SIZE - 8;
	lender.ring.rounds[0].end = SIZE - 8;
	lender_put(&lender, 3); /* wraps around the end of the ring */
	CHECK(lender_read(&lender) == NULL);
	CHECK_EQ(lender.page.data_tail, SIZE + 8);
}

TEST(ring_lends_in_a_limited_number_of_rounds)
{
	static struct lender lender;
	size_t *loan = NULL;
	unsigned n = 0;

	lender_init(&lender);
	lender.ring.view.size = lender.fake.view.size; /* records of 16 bytes */
	for (; n < 2 * RING_ROUNDS; n++) {
		lender.ring.tail = lender.ring.view.at; /* never full, as if the ring were large */
		lender_put(&lender, 1);
		loan = lender_read(&lender);
		if (!loan)
			break;
	}
	CHECK_EQ(n, RING_ROUNDS - 1);
}
