/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/compress.h"
#include "tests/test.h"

static struct bytes sample_text(void)
{
	static uint8_t text[200000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)("cpprof"[i % 6] + (i / 4096) % 3);
	return (struct bytes){ text, sizeof(text) };
}

TEST(gzip_round_trips)
{
	struct buffer packed, plain;

	CHECK_EQ(compress_gzip(sample_text(), &packed), 0);
	CHECK(packed.len < 20000);
	CHECK_EQ(decompress_zlib((struct bytes){ packed.at, packed.len }, 1 << 20, &plain), 0);
	CHECK(bytes_equal((struct bytes){ plain.at, plain.len }, sample_text()));
	free(packed.at);
	free(plain.at);
}

TEST(zstd_round_trips_in_pieces)
{
	struct buffer packed, plain = { 0 };
	struct zstd_stream *stream = zstd_stream_new();

	CHECK_EQ(compress_zstd(sample_text(), 3, &packed), 0);
	struct bytes all = { packed.at, packed.len };
	CHECK_EQ(zstd_stream_unpack(stream, bytes_slice(all, 0, 10), 1 << 20, &plain), 0);
	CHECK_EQ(zstd_stream_unpack(stream, bytes_from(all, 10), 1 << 20, &plain), 0);
	CHECK(bytes_equal((struct bytes){ plain.at, plain.len }, sample_text()));
	zstd_stream_free(stream);
	free(packed.at);
	free(plain.at);
}

TEST(decompression_stops_at_its_limit)
{
	struct buffer packed, plain;

	CHECK_EQ(compress_gzip(sample_text(), &packed), 0);
	CHECK_EQ(decompress_zlib((struct bytes){ packed.at, packed.len }, 1000, &plain), -EFBIG);
	free(packed.at);
}

TEST(damaged_input_is_refused)
{
	const uint8_t noise[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct bytes in = { noise, sizeof(noise) };
	struct buffer out;

	CHECK_EQ(decompress_zlib(in, 1000, &out), -EBADMSG);
	CHECK_EQ(decompress_xz(in, 1000, &out), -EBADMSG);
	CHECK_EQ(decompress_zstd(in, 1000, &out), -EBADMSG);
}

TEST(truncated_gzip_is_refused)
{
	struct buffer packed, plain;

	CHECK_EQ(compress_gzip(sample_text(), &packed), 0);
	CHECK_EQ(decompress_zlib((struct bytes){ packed.at, packed.len / 2 }, 1 << 20, &plain), -EBADMSG);
	free(packed.at);
}
