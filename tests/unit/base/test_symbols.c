/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/symbols.h"
#include "tests/support/random.h"
#include "tests/test.h"

#define WRITER CLEANUP(writer_done)
#define N 20000

static void code_mixture(struct symbols *symbols, uint64_t seed, size_t n)
{
	struct symbols_number number, other;
	struct symbols_model model, few;
	struct symbols_flag rare = SYMBOLS_FLAG;
	bool writes = !symbols->is_reader;

	symbols_number_init(&number);
	symbols_number_init(&other);
	symbols_model_init(&model, SYMBOLS_N);
	symbols_model_init(&few, 3);
	for (size_t i = 0; i < n; i++) {
		uint64_t value = any_number(&seed);
		unsigned width = (unsigned)(next_random(&seed) % 65), flag = next_random(&seed) % 500 == 0;
		unsigned symbol = (unsigned)(next_random(&seed) & next_random(&seed)) % SYMBOLS_N;
		uint64_t bits = width ? value >> (64 - width) : 0;
		CHECK_EQ(symbols_number(symbols, &number, writes ? value : 0), value);
		CHECK_EQ(symbols_flag(symbols, &rare, writes ? flag : 0), flag);
		CHECK_EQ(symbols_plain(symbols, width, writes ? bits : 0), bits);
		CHECK_EQ(symbols_signed(symbols, &other, writes ? (int64_t)value : 0), (int64_t)value);
		CHECK_EQ(symbols_code(symbols, &model, writes ? symbol : 0), symbol);
		CHECK_EQ(symbols_code(symbols, &few, writes ? symbol : 0), symbol); /* even if not expected */
		CHECK_EQ(symbols_spread(symbols, &model, writes ? value : 0), value);
	}
}

TEST(symbols_come_back_and_take_every_byte)
{
	for (uint64_t seed = 1; seed < 8; seed++) {
		WRITER struct writer bytes = { 0 };
		struct symbols writer = symbols_writer();
		code_mixture(&writer, seed, N / 10);
		symbols_finish(&writer, &bytes);
		struct symbols reader = symbols_reader(writer_bytes(&bytes));
		code_mixture(&reader, seed, N / 10);
		CHECK(symbols_are_at_end(&reader));
	}
}

/* However often one value occurs, every other one stays possible, and the sums stay in order. */
TEST(every_symbol_stays_possible)
{
	struct symbols symbols = symbols_writer();

	for (unsigned usual = 0; usual < SYMBOLS_N; usual++) {
		struct symbols_model model;
		symbols_model_init(&model, 1);
		for (size_t i = 0; i < N; i++) {
			symbols_code(&symbols, &model, i % 1000 < 990 ? usual : (unsigned)(i % SYMBOLS_N));
			CHECK_EQ(model.below[0], 0);
			CHECK_EQ(model.below[SYMBOLS_N], 1 << SYMBOLS_LOG);
			for (unsigned k = 0; k < SYMBOLS_N; k++)
				CHECK(model.below[k] < model.below[k + 1]);
		}
	}
	vec_done(&symbols.steps);
}

TEST(likely_symbols_take_few_bits)
{
	WRITER struct writer bytes = { 0 };
	struct symbols symbols = symbols_writer();
	struct symbols_model model;
	struct symbols_flag flag = SYMBOLS_FLAG;
	uint64_t seed = 3;

	symbols_model_init(&model, SYMBOLS_N);
	for (size_t i = 0; i < N; i++) {
		symbols_code(&symbols, &model, next_random(&seed) % 64 == 0 ? 9 : 3);
		symbols_flag(&symbols, &flag, next_random(&seed) % 64 == 0);
	}
	symbols_finish(&symbols, &bytes);
	CHECK(bytes.len < 2 * N / 8 / 7); /* the least would be 0.116 bits each */
}

TEST(symbols_that_end_early_or_late_are_noticed)
{
	WRITER struct writer bytes = { 0 };
	struct symbols writer = symbols_writer();
	struct symbols_number number;

	symbols_number_init(&number);
	for (uint64_t i = 0; i < 100; i++)
		symbols_number(&writer, &number, i);
	symbols_finish(&writer, &bytes);
	write_u8(&bytes, 0);
	for (size_t len = 0; len <= bytes.len; len++) {
		struct symbols reader = symbols_reader((struct bytes){ bytes.at, len });
		symbols_number_init(&number);
		for (uint64_t i = 0; i < 100; i++)
			symbols_number(&reader, &number, 0);
		CHECK_EQ(symbols_are_at_end(&reader), len == bytes.len - 1);
	}
}
