/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "collector/perf_ring.h"

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

TEST(ring_gives_every_record_whole_at_every_place_of_the_wrap)
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

TEST(ring_drops_what_follows_a_size_that_makes_no_sense)
{
	static struct fake fake;
	struct bytes record;

	fake_init(&fake);
	put_record(&fake, 0, 1); /* would loop for ever */
	put_record(&fake, 16, 2);
	CHECK(!ring_view_next(&fake.view, &record));
	CHECK(fake.view.is_damaged);
	CHECK_EQ(fake.view.at, fake.view.head);

	fake_init(&fake);
	put_record(&fake, 16, 1);
	fake.view.head -= 8; /* claims more than was written */
	CHECK(!ring_view_next(&fake.view, &record));
	CHECK(fake.view.is_damaged);
}
