/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols: adaptive entropy coding of symbols with up to 16 values (rANS: asymmetric numeral systems). A
 * model estimates from what it has seen how likely each value is; a value takes -log2 of its probability.
 * Compared with base/coder.h, which codes single bits, one step takes several bits and about the same time.
 * The same calls write and read:
 *
 *     struct symbols symbols = symbols_writer();       or symbols_reader(bytes)
 *     value = symbols_code(&symbols, &model, value);   a reader ignores the value
 *     symbols_finish(&symbols, &bytes);                a writer only
 *
 * What is written is kept until the end: it is coded backwards, so that it can be read forwards.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "base/writer.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SYMBOLS_N 16     /* values of a symbol */
#define SYMBOLS_LOG 15   /* probabilities are of 2^15 */
#define SYMBOLS_LEAST 4  /* the least one */
#define SYMBOLS_PLAIN 15 /* bits without a model, at once */
#define SYMBOLS_FLOOR (UINT64_C(1) << 31)
#define SYMBOLS_SEEN_MAX 127 /* symbols after which a model's rate of adaptation stays the same */

/* Sums of the probabilities of smaller values. */
struct symbols_model {
	uint16_t below[SYMBOLS_N + 1] __attribute__((aligned(16)));
	uint16_t seen;
};

/* Two values: the probability of 1. */
struct symbols_flag {
	uint16_t one, seen;
};

/* Numbers of any size: their number of bits, and the highest ones behind the first. */
#define SYMBOLS_LENGTHS 16 /* the last one: this long or longer */
#define SYMBOLS_TOP_BITS 4
struct symbols_number {
	struct symbols_model length, top[SYMBOLS_LENGTHS];
};

/* What a writer will code: an interval of 2^log. */
struct symbols_step {
	uint16_t start, size, log;
};

struct symbols {
	bool is_reader;
	uint64_t state;
	const uint8_t *next, *end; /* reader: the input that is left */
	uint32_t n_beyond;         /* words read beyond the end, as 0 */
	VEC(struct symbols_step) steps;
};

void symbols_model_init(struct symbols_model *model, unsigned n_values);
void symbols_number_init(struct symbols_number *number);
#define SYMBOLS_FLAG ((struct symbols_flag){ 1 << (SYMBOLS_LOG - 1), 0 })

struct symbols symbols_writer(void);
struct symbols symbols_reader(struct bytes bytes);
/* Appends what was written, and frees it. */
void symbols_finish(struct symbols *symbols, struct writer *ret);
/* For a reader: all bytes were used, and no more were needed. */
bool symbols_are_at_end(const struct symbols *symbols);

/* What follows is inlined into the loop that reads, so that the state stays in registers. */
#define SYMBOLS_INLINE __attribute__((always_inline)) static inline
/* By symbols seen: the share by which a model approaches the newest one, as a power of 1/2. */
extern const uint8_t symbols_rate[SYMBOLS_SEEN_MAX + 1];

/* The largest value whose sum is not above the slot. */
SYMBOLS_INLINE unsigned symbols_find(const struct symbols_model *model, unsigned slot)
{
#if defined(__aarch64__)
	uint16x8_t wanted = vdupq_n_u16((uint16_t)slot);
	uint16x8_t low = vcleq_u16(vld1q_u16(model->below), wanted);
	uint16x8_t high = vcleq_u16(vld1q_u16(model->below + 8), wanted);
	return (uint16_t)-vaddvq_u16(vaddq_u16(low, high)) - 1u;
#elif defined(__SSE2__)
	__m128i wanted = _mm_set1_epi16((short)slot); /* all sums but the last are less than 2^15 */
	__m128i low = _mm_cmpgt_epi16(_mm_loadu_si128((const __m128i *)model->below), wanted);
	__m128i high = _mm_cmpgt_epi16(_mm_loadu_si128((const __m128i *)(model->below + 8)), wanted);
	unsigned above = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high));
	return (unsigned)__builtin_ctz(above | 1u << SYMBOLS_N) - 1;
#else
	unsigned n = 0;
	for (unsigned i = 1; i < SYMBOLS_N; i++)
		n += model->below[i] <= slot;
	return n;
#endif
}

/* All sums approach what they would be if only this value occurred. */
SYMBOLS_INLINE void symbols_learn(struct symbols_model *model, unsigned value)
{
	typedef int16_t half __attribute__((vector_size(16)));
	const half numbers[2] = { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 8, 9, 10, 11, 12, 13, 14, 15 } };
	const int16_t rest = (int16_t)((1 << SYMBOLS_LOG) - SYMBOLS_N * SYMBOLS_LEAST);
	int16_t rate = symbols_rate[model->seen];

	for (unsigned i = 0; i < 2; i++) {
		half below;
		memcpy(&below, model->below + 8 * i, sizeof(below));
		half goal = numbers[i] * SYMBOLS_LEAST + ((numbers[i] > (int16_t)value) & rest);
		below += (goal - below) >> rate;
		memcpy(model->below + 8 * i, &below, sizeof(below));
	}
	model->seen = (uint16_t)(model->seen + (model->seen < SYMBOLS_SEEN_MAX));
}

SYMBOLS_INLINE void symbols_refill(struct symbols *symbols)
{
	if (symbols->state >= SYMBOLS_FLOOR)
		return;
	uint32_t word = 0;
	if (symbols->end - symbols->next >= (ptrdiff_t)sizeof(word)) {
		memcpy(&word, symbols->next, sizeof(word));
		symbols->next += sizeof(word);
	} else {
		symbols->n_beyond++;
	}
	symbols->state = symbols->state << 32 | word;
}

/* Codes the interval in which the slot is. */
SYMBOLS_INLINE void symbols_take(struct symbols *symbols, unsigned slot, unsigned start, unsigned size)
{
	if (symbols->is_reader) {
		symbols->state = size * (symbols->state >> SYMBOLS_LOG) + slot - start;
		symbols_refill(symbols);
	} else {
		vec_push(&symbols->steps,
			 ((struct symbols_step){ (uint16_t)start, (uint16_t)size, SYMBOLS_LOG }));
	}
}

SYMBOLS_INLINE unsigned symbols_code(struct symbols *symbols, struct symbols_model *model, unsigned value)
{
	unsigned slot = (unsigned)symbols->state & ((1u << SYMBOLS_LOG) - 1);

	if (symbols->is_reader)
		value = symbols_find(model, slot);
	unsigned start = model->below[value], size = model->below[value + 1] - start;
	symbols_take(symbols, slot, start, size);
	symbols_learn(model, value);
	return value;
}

/* A 1 is the lower part of the interval. */
SYMBOLS_INLINE unsigned symbols_flag(struct symbols *symbols, struct symbols_flag *flag, unsigned value)
{
	unsigned slot = (unsigned)symbols->state & ((1u << SYMBOLS_LOG) - 1), one = flag->one;

	if (symbols->is_reader)
		value = slot < one;
	unsigned start = value ? 0 : one, size = value ? one : (1u << SYMBOLS_LOG) - one;
	symbols_take(symbols, slot, start, size);
	int goal = value ? (1 << SYMBOLS_LOG) - 2 * SYMBOLS_LEAST : 2 * SYMBOLS_LEAST;
	flag->one = (uint16_t)((int)one + ((goal - (int)one) >> symbols_rate[flag->seen]));
	flag->seen = (uint16_t)(flag->seen + (flag->seen < SYMBOLS_SEEN_MAX));
	return value;
}

/* Bits without a model, at most 64. */
SYMBOLS_INLINE uint64_t symbols_plain(struct symbols *symbols, unsigned n, uint64_t bits)
{
	uint64_t value = 0;

	while (n > 0) {
		unsigned k = n < SYMBOLS_PLAIN ? n : SYMBOLS_PLAIN;
		uint64_t mask = (UINT64_C(1) << k) - 1;
		n -= k;
		uint64_t part = bits >> n & mask;
		if (symbols->is_reader) {
			part = symbols->state & mask;
			symbols->state >>= k;
			symbols_refill(symbols);
		} else {
			vec_push(&symbols->steps, ((struct symbols_step){ (uint16_t)part, 1, (uint16_t)k }));
		}
		value = value << k | part;
	}
	return value;
}

/* The number of bits of a number; at most SYMBOLS_LENGTHS - 1, which stands for all others as well. */
SYMBOLS_INLINE unsigned symbols_length(struct symbols *symbols, struct symbols_model *model, uint64_t value)
{
	unsigned length = value ? 64 - (unsigned)__builtin_clzll(value) : 0, most = SYMBOLS_LENGTHS - 1;

	return symbols_code(symbols, model, length < most ? length : most);
}

/* How many bits follow the first one. */
SYMBOLS_INLINE unsigned symbols_left(struct symbols *symbols, unsigned length, uint64_t value)
{
	if (length < SYMBOLS_LENGTHS - 1)
		return length - 1;
	return (unsigned)symbols_plain(symbols, 6, value ? 63 - (unsigned)__builtin_clzll(value) : 0);
}

/* The bits themselves. */
SYMBOLS_INLINE uint64_t symbols_rest(struct symbols *symbols, struct symbols_number *number, unsigned length,
				     uint64_t value)
{
	if (length < 2)
		return length;
	unsigned left = symbols_left(symbols, length, value);
	unsigned top = left < SYMBOLS_TOP_BITS ? left : SYMBOLS_TOP_BITS;
	left -= top;
	uint64_t got =
		symbols_code(symbols, &number->top[length], (unsigned)(value >> left) & ((1u << top) - 1));
	got |= UINT64_C(1) << top;
	return left ? got << left | symbols_plain(symbols, left, value) : got;
}

/* A number of which only the length has a model. */
SYMBOLS_INLINE uint64_t symbols_spread(struct symbols *symbols, struct symbols_model *model, uint64_t value)
{
	unsigned length = symbols_length(symbols, model, value);

	if (length < 2)
		return length;
	unsigned left = symbols_left(symbols, length, value);
	return UINT64_C(1) << left | symbols_plain(symbols, left, value);
}

SYMBOLS_INLINE uint64_t symbols_number(struct symbols *symbols, struct symbols_number *number, uint64_t value)
{
	return symbols_rest(symbols, number, symbols_length(symbols, &number->length, value), value);
}

SYMBOLS_INLINE uint64_t symbols_fold(int64_t value)
{
	return (uint64_t)value << 1 ^ -(uint64_t)(value < 0);
}

SYMBOLS_INLINE int64_t symbols_unfold(uint64_t folded)
{
	return (int64_t)(folded >> 1 ^ -(folded & 1));
}

SYMBOLS_INLINE int64_t symbols_signed(struct symbols *symbols, struct symbols_number *number, int64_t value)
{
	return symbols_unfold(symbols_number(symbols, number, symbols_fold(value)));
}
