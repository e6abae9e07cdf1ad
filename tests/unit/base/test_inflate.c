/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/compress.h"
#include "base/inflate.h"
#include "tests/test.h"

#define N (3u << 20)

/* Text that compresses well, then noise, then a run, then repetitions at all distances. */
static void fill(uint8_t *plain)
{
	uint32_t noise = 1;

	for (size_t i = 0; i < N; i++) {
		noise = noise * 1664525 + 1013904223;
		if (i < N / 4)
			plain[i] = (uint8_t)("cpprof reads sections "[i % 22] + (noise >> 28 == 3));
		else if (i < N / 2)
			plain[i] = (uint8_t)(noise >> 24);
		else if (i < N / 2 + 100000)
			plain[i] = 'a';
		else
			plain[i] = noise >> 24 ? plain[i - 1 - (i / 64) % 32000] : (uint8_t)(noise >> 16);
	}
}

static uint32_t adler(const uint8_t *at, size_t n)
{
	uint32_t low = 1, high = 0;

	for (size_t i = 0; i < n; i++) {
		low = (low + at[i]) % 65521;
		high = (high + low) % 65521;
	}
	return high << 16 | low;
}

/* A zlib stream: a header of two bytes, and a checksum at the end. */
static struct buffer packed(const uint8_t *plain, size_t n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	uint32_t sum = adler(plain, n);

	fputs("\x78\x9c", to);
	FILE *stream = compress_stream(to, COMPRESS_DEFLATE);
	fwrite(plain, 1, n, stream);
	CHECK_EQ(fclose(stream), 0);
	for (int shift = 24; shift >= 0; shift -= 8)
		fputc((int)(sum >> shift & 255), to);
	fclose(to);
	return (struct buffer){ (uint8_t *)text, len };
}

TEST(a_stream_is_unpacked_as_far_as_requested_and_then_continued)
{
	uint8_t *plain = malloc(N), *room = malloc(N);
	fill(plain);
	struct buffer z = packed(plain, N);
	struct inflater *inflater = inflater_new((struct bytes){ z.at, z.len }, room, N);

	for (size_t wanted = 1; wanted < N; wanted += wanted / 3 + 1) {
		size_t n = inflater_run(inflater, wanted);
		CHECK(n >= wanted && n <= N);
		CHECK(n < wanted + 70000); /* a stored block is always copied as a whole */
		CHECK(memcmp(room, plain, n) == 0);
	}
	CHECK_EQ(inflater_run(inflater, N), N);
	CHECK_EQ(inflater_run(inflater, 5), N);
	CHECK(memcmp(room, plain, N) == 0);
	inflater_free(inflater);
	free(z.at);
	free(plain);
	free(room);
}

TEST(streams_may_be_empty_or_one_byte_long)
{
	for (size_t n = 0; n < 2; n++) {
		uint8_t room[1] = { 7 };
		struct buffer z = packed((const uint8_t *)"x", n);
		struct inflater *inflater = inflater_new((struct bytes){ z.at, z.len }, room, n);
		CHECK_EQ(inflater_run(inflater, n), n);
		CHECK_EQ(room[0], n ? 'x' : 7);
		inflater_free(inflater);
		free(z.at);
	}
}

static size_t unpack(struct bytes stream, uint8_t *room, size_t size)
{
	struct inflater *inflater = inflater_new(stream, room, size);
	size_t n = inflater_run(inflater, size);

	inflater_free(inflater);
	return n;
}

TEST(a_stream_that_is_truncated_too_long_or_has_a_wrong_checksum_is_refused)
{
	enum { LEN = 20000 };
	uint8_t *plain = malloc(N), *room = malloc(LEN);
	fill(plain);
	struct buffer z = packed(plain, LEN);

	CHECK_EQ(unpack((struct bytes){ z.at, z.len }, room, LEN), LEN);
	CHECK_EQ(unpack((struct bytes){ z.at, z.len }, room, LEN - 1), 0);
	for (size_t len = 0; len < z.len; len += len + 10 < z.len ? 7 : 1)
		CHECK_EQ(unpack((struct bytes){ z.at, len }, room, LEN), 0);
	z.at[z.len - 1] ^= 1;
	CHECK_EQ(unpack((struct bytes){ z.at, z.len }, room, LEN), 0);
	free(z.at);
	free(plain);
	free(room);
}

/* A valid header and sizes before a body that unpacks to far more than it could. */
TEST(a_size_that_no_stream_can_unpack_to_is_refused)
{
	CHECK(inflate_is_possible(100, 100000));
	CHECK(inflate_is_possible(0, 1000));
	CHECK(!inflate_is_possible(100, 1 << 20));
	CHECK(!inflate_is_possible(100, SIZE_MAX));
}
