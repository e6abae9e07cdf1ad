/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/coder.h"
#include "tests/support/random.h"
#include "tests/test.h"

#define WRITER CLEANUP(writer_done)
#define N 20000

/* Nearly certain bits between the numbers narrow the interval to almost nothing. */
static void code_mixture(struct coder *coder, uint64_t seed, size_t n)
{
	struct coder_number number, other;
	struct coder_model rare = CODER_MODEL;

	coder_number_init(&number);
	coder_number_init(&other);
	for (size_t i = 0; i < n; i++) {
		uint64_t value = any_number(&seed);
		unsigned width = (unsigned)(next_random(&seed) % 65), bit = next_random(&seed) % 500 == 0;
		uint64_t bits = width ? value >> (64 - width) : 0;
		CHECK_EQ(coder_number(coder, &number, coder->out ? value : 0), value);
		CHECK_EQ(coder_bit(coder, &rare, coder->out ? bit : 0), bit);
		CHECK_EQ(coder_bits(coder, width, coder->out ? bits : 0), bits);
		CHECK_EQ(coder_signed(coder, &other, coder->out ? (int64_t)value : 0), (int64_t)value);
	}
}

TEST(decoding_restores_the_input_and_consumes_every_byte)
{
	for (uint64_t seed = 1; seed < 8; seed++) {
		WRITER struct writer bytes = { 0 };
		struct coder writer = coder_writer(&bytes);
		code_mixture(&writer, seed, N / 10);
		coder_finish(&writer);
		struct coder reader = coder_reader(writer_bytes(&bytes));
		code_mixture(&reader, seed, N / 10);
		CHECK(coder_is_at_end(&reader));
	}
}

/* An interval with fewer parts than there are values is reached in a few of a million. */
TEST(narrow_intervals_are_coded_without_loss)
{
	for (int is_reading = 0; is_reading < 2; is_reading++) {
		static struct writer bytes;
		struct coder coder = is_reading ? coder_reader(writer_bytes(&bytes)) : coder_writer(&bytes);
		struct coder_model model = CODER_MODEL;
		uint64_t seed = 5;
		for (size_t i = 0; i < 100 * N; i++) {
			unsigned bit = next_random(&seed) % 3 == 0;
			uint64_t bits = next_random(&seed) & 255;
			CHECK_EQ(coder_bit(&coder, &model, is_reading ? 0 : bit), bit);
			CHECK_EQ(coder_bits(&coder, 8, is_reading ? 0 : bits), bits);
		}
		if (!is_reading)
			coder_finish(&coder);
		else
			writer_done(&bytes);
	}
}

TEST(likely_symbols_take_few_bits)
{
	WRITER struct writer bytes = { 0 };
	struct coder coder = coder_writer(&bytes);
	struct coder_model model = CODER_MODEL;
	uint64_t seed = 3;

	for (size_t i = 0; i < N; i++)
		coder_bit(&coder, &model, next_random(&seed) % 64 == 0);
	coder_finish(&coder);
	CHECK(bytes.len < N / 8 / 7); /* the entropy is 0.116 bits per symbol */
}

TEST(input_that_ends_too_early_or_too_late_is_detected)
{
	WRITER struct writer bytes = { 0 };
	struct coder writer = coder_writer(&bytes);
	struct coder_number number;

	coder_number_init(&number);
	for (uint64_t i = 0; i < 100; i++)
		coder_number(&writer, &number, i);
	coder_finish(&writer);
	write_u8(&bytes, 0);
	for (size_t len = 0; len <= bytes.len; len++) {
		struct coder reader = coder_reader((struct bytes){ bytes.at, len });
		coder_number_init(&number);
		for (uint64_t i = 0; i < 100; i++)
			coder_number(&reader, &number, 0);
		CHECK_EQ(coder_is_at_end(&reader), len == bytes.len - 1);
	}
}
