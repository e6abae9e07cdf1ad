/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/compress.h"
#include "tests/test.h"

static struct bytes sample_text(void)
{
	static uint8_t text[200000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)((uint8_t) "cpprof"[i % 6] + (i / 4096) % 3);
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

TEST(gzip_stream_round_trips_and_leaves_its_target_open)
{
	char *packed = NULL;
	size_t len = 0;
	struct buffer plain;
	FILE *to = open_memstream(&packed, &len), *stream = compress_stream(to, COMPRESS_GZIP);

	for (size_t i = 0; i < sample_text().len; i += 777)
		fwrite(sample_text().at + i, 1, sample_text().len - i < 777 ? sample_text().len - i : 777,
		       stream);
	CHECK_EQ(fclose(stream), 0);
	CHECK_EQ(fputs("", to) < 0, 0);
	fclose(to);
	CHECK(len < 20000);
	CHECK_EQ(decompress_zlib((struct bytes){ (uint8_t *)packed, len }, 1 << 20, &plain), 0);
	CHECK(bytes_equal((struct bytes){ plain.at, plain.len }, sample_text()));
	free(packed);
	free(plain.at);
}

/* Two concatenated gzip members, as made by `cat a.gz b.gz`; and the same truncated. */
TEST(a_packed_stream_unpacks_member_by_member)
{
	struct buffer packed;
	char *all = NULL;
	size_t len = 0, got;
	FILE *to = open_memstream(&all, &len);
	static char plain[1 << 20];

	CHECK_EQ(compress_gzip(sample_text(), &packed), 0);
	fwrite(packed.at, 1, packed.len, to);
	fwrite(packed.at, 1, packed.len, to);
	fclose(to);
	for (int cut = 0; cut <= 3; cut += 3) {
		FILE *from = fmemopen(all, len - (size_t)cut, "r"), *stream = decompress_stream(from);
		got = fread(plain, 1, sizeof(plain), stream);
		CHECK_EQ(ferror(stream) != 0, cut != 0);
		CHECK(cut || got == 2 * sample_text().len);
		CHECK(bytes_equal((struct bytes){ (uint8_t *)plain, sample_text().len }, sample_text()));
		fclose(stream);
		fclose(from);
	}
	free(packed.at);
	free(all);
}

TEST(a_stream_that_cannot_be_written_says_so)
{
	FILE *full = fopen("/dev/full", "w"), *stream;

	if (!full)
		SKIP("no /dev/full");
	setvbuf(full, NULL, _IONBF, 0);
	stream = compress_stream(full, COMPRESS_DEFLATE);
	fwrite(sample_text().at, 1, sample_text().len, stream);
	CHECK(fclose(stream) != 0);
	stream = base64_stream(full);
	fputs("text", stream);
	CHECK(fclose(stream) != 0);
	fclose(full);
}

static void check_base64(const char *plain, const char *want)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len), *stream = base64_stream(to);

	fputs(plain, stream);
	CHECK_EQ(fclose(stream), 0);
	fclose(to);
	CHECK_STR(text, want);
	free(text);
}

TEST(base64_pads_the_last_group)
{
	check_base64("", "");
	check_base64("M", "TQ==");
	check_base64("Ma", "TWE=");
	check_base64("Man", "TWFu");
	check_base64("Man is", "TWFuIGlz");
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
