/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "tests/test.h"

static struct reader over(const uint8_t *at, size_t len)
{
	return reader_of((struct bytes){ at, len });
}

TEST(reader_reads_little_endian_integers)
{
	const uint8_t in[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct reader r = over(in, sizeof(in));

	CHECK_EQ(read_u8(&r), 1);
	CHECK_EQ(read_u16(&r), 0x0302);
	CHECK_EQ(read_u32(&r), 0x07060504);
	CHECK_EQ(read_u64(&r), 0x0f0e0d0c0b0a0908);
	CHECK(!r.failed);
}

TEST(reader_past_the_end_gives_zero_and_fails)
{
	const uint8_t in[] = { 1, 2, 3 };
	struct reader r = over(in, sizeof(in));

	CHECK_EQ(read_u32(&r), 0);
	CHECK(r.failed);
	CHECK_EQ(reader_left(&r), 0);
}

TEST(reader_of_nothing_fails_without_touching_memory)
{
	struct reader r = reader_of((struct bytes){ 0 });

	CHECK_STR(read_cstr(&r), "");
	CHECK_EQ(read_uleb(&r), 0);
	CHECK(r.failed);
}

TEST(reader_decodes_leb128)
{
	const uint8_t in[] = { 0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f, 0x3f };
	struct reader r = over(in, sizeof(in));

	CHECK_EQ(read_uleb(&r), 624485);
	CHECK_EQ(read_sleb(&r), -1);
	CHECK_EQ(read_sleb(&r), -128);
	CHECK_EQ(read_sleb(&r), 63);
}

TEST(reader_survives_an_endless_leb128)
{
	uint8_t in[64];
	memset(in, 0xff, sizeof(in));
	struct reader r = over(in, sizeof(in));

	read_uleb(&r);
	CHECK(r.failed);
}

TEST(reader_string_without_end_fails)
{
	const uint8_t in[] = { 'a', 'b' };
	struct reader r = over(in, sizeof(in));

	CHECK_STR(read_cstr(&r), "");
	CHECK(r.failed);
}

TEST(slice_is_cut_at_the_end)
{
	const uint8_t in[4] = { 0 };
	struct bytes all = { in, 4 };

	CHECK_EQ(bytes_slice(all, 2, 100).len, 2);
	CHECK_EQ(bytes_slice(all, 4, 1).len, 0);
	CHECK_EQ(bytes_slice(all, UINT64_MAX, UINT64_MAX).len, 0);
}
