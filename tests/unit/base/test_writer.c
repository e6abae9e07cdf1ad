/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checksum.h"
#include "base/writer.h"
#include "tests/test.h"

TEST(writer_and_reader_agree_on_every_width)
{
	static const uint64_t values[] = { 0,         1,      0x7f,       0x80,
					   0x3fff,    0x4000, UINT32_MAX, (uint64_t)INT64_MAX,
					   UINT64_MAX };
	struct writer w = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		write_u8(&w, (uint8_t)values[i]);
		write_u16(&w, (uint16_t)values[i]);
		write_u32(&w, (uint32_t)values[i]);
		write_u64(&w, values[i]);
		write_uleb(&w, values[i]);
		write_sleb(&w, (int64_t)values[i]);
		write_sleb(&w, -(int64_t)(values[i] / 2));
	}
	struct reader r = reader_of(writer_bytes(&w));
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		CHECK_EQ(read_u8(&r), (uint8_t)values[i]);
		CHECK_EQ(read_u16(&r), (uint16_t)values[i]);
		CHECK_EQ(read_u32(&r), (uint32_t)values[i]);
		CHECK_EQ(read_u64(&r), values[i]);
		CHECK_EQ(read_uleb(&r), values[i]);
		CHECK_EQ(read_sleb(&r), (int64_t)values[i]);
		CHECK_EQ(read_sleb(&r), -(int64_t)(values[i] / 2));
	}
	CHECK(!r.failed);
	CHECK_EQ(reader_left(&r), 0);
	writer_done(&w);
}

TEST(writer_space_is_zeroed_even_if_the_buffer_is_reused)
{
	struct writer w = { 0 };

	write_u64(&w, UINT64_MAX);
	writer_clear(&w);
	uint8_t *space = write_space(&w, 8);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(space[i], 0);
	writer_done(&w);
}

TEST(crc32c_gives_the_published_check_values)
{
	static const uint8_t digits[] = "123456789";
	struct bytes all = { digits, 9 };

	CHECK_EQ(crc32c(0, all), 0xe3069283);
	CHECK_EQ(crc32c(crc32c(0, bytes_slice(all, 0, 4)), bytes_from(all, 4)), 0xe3069283);
	CHECK_EQ(crc32c(0, (struct bytes){ 0 }), 0);
}

TEST(crc32c_of_many_bytes_equals_that_of_single_bytes)
{
	static uint8_t many[10007];
	struct bytes all = { many, sizeof(many) };
	uint32_t crc = 0;

	for (size_t i = 0; i < sizeof(many); i++) {
		many[i] = (uint8_t)(i * i >> 3);
		crc = crc32c(crc, bytes_slice(all, i, 1));
	}
	CHECK_EQ(crc32c(0, all), crc);
	CHECK_EQ(crc32c(crc32c(0, bytes_slice(all, 0, 5001)), bytes_from(all, 5001)), crc);
}
