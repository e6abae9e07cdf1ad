/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coder: adaptive binary arithmetic coding. A model estimates from the bits it has seen how likely the next
 * one is to be 1; a bit takes -log2 of its probability. The same calls write and read, so that one function
 * describes a format for both:
 *
 *     struct coder coder = coder_writer(&bytes);     or coder_reader(bytes)
 *     value = coder_number(&coder, &models, value);  a reader ignores the argument
 *     coder_finish(&coder);                          a writer only
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"
#include "base/writer.h"

#define CODER_SEEN_MAX 30 /* bits after which a model's rate of adaptation stays the same */

struct coder_model {
	uint16_t one;  /* the probability of a 1, of 65536 */
	uint16_t seen; /* bits, at most CODER_SEEN_MAX */
};
#define CODER_MODEL ((struct coder_model){ 32768, 0 })

/* Numbers of any size: models of their number of bits, and of the highest ones. */
#define CODER_LENGTHS 65
#define CODER_TOP_BITS 3
struct coder_number {
	struct coder_model length[CODER_LENGTHS];
	struct coder_model top[CODER_LENGTHS][1 << CODER_TOP_BITS];
};

struct coder {
	struct writer *out;         /* NULL for a reader */
	const uint8_t *next, *last; /* reader: the input that is left */
	uint32_t low, high;         /* the current interval */
	uint32_t code;              /* reader: the input's position in it */
	uint32_t n_beyond;          /* bytes read beyond the end, as 0 */
};

struct coder coder_writer(struct writer *out);
struct coder coder_reader(struct bytes bytes);
/* Writes what is pending. */
void coder_finish(struct coder *coder);
/* For a reader: all bytes were used, and no more were needed. */
bool coder_is_at_end(const struct coder *coder);

void coder_models_init(struct coder_model *models, size_t n);
void coder_number_init(struct coder_number *number);

/*
 * What follows is inlined into the loop that reads: a file has millions of bits. If the coder is a variable
 * of that loop, it stays in registers.
 */
#define CODER_INLINE __attribute__((always_inline)) static inline
#define CODER_NARROW 65536
#define CODER_ONE_MIN 64 /* the improbable value of a bit takes at most ten bits */
/* 2^17 / (2 n + 3): the next estimate is the mean of all bits so far, beginning with one of 1/2. */
extern const uint16_t coder_share[CODER_SEEN_MAX + 1];

/* Adapts the model to a bit that was not coded. */
CODER_INLINE void coder_learn(struct coder_model *model, unsigned bit)
{
	int32_t one = model->one, goal = bit ? 65536 : 0;

	one += (int32_t)((int64_t)(goal - one) * coder_share[model->seen] >> 16);
	one = one < CODER_ONE_MIN ? CODER_ONE_MIN : one > 65536 - CODER_ONE_MIN ? 65536 - CODER_ONE_MIN : one;
	model->one = (uint16_t)one;
	model->seen = (uint16_t)(model->seen + (model->seen < CODER_SEEN_MAX));
}

CODER_INLINE void coder_take_byte(struct coder *coder)
{
	bool is_there = coder->next < coder->last;

	coder->code = coder->code << 8 | (is_there ? *coder->next : 0);
	coder->next += is_there;
	coder->n_beyond += !is_there;
}

/* Bytes that are equal in both ends of the interval are final. */
CODER_INLINE void coder_settle(struct coder *coder)
{
	while ((coder->low ^ coder->high) >> 24 == 0) {
		if (coder->out)
			write_u8(coder->out, (uint8_t)(coder->low >> 24));
		else
			coder_take_byte(coder);
		coder->low <<= 8;
		coder->high = coder->high << 8 | 255;
	}
}

/* A 1 is the lower part of the interval. */
CODER_INLINE unsigned coder_bit(struct coder *coder, struct coder_model *model, unsigned bit)
{
	uint32_t middle = coder->low + (uint32_t)((uint64_t)(coder->high - coder->low) * model->one >> 16);

	if (!coder->out)
		bit = coder->code <= middle;
	coder->high = bit ? middle : coder->high;
	coder->low = bit ? coder->low : middle + 1;
	coder_settle(coder);
	coder_learn(model, bit);
	return bit;
}

/* Bits without a model, at most 64: eight at a time, all values equally likely; fewer if the interval is
 * too small. */
CODER_INLINE uint64_t coder_bits(struct coder *coder, unsigned n, uint64_t bits)
{
	uint64_t value = 0;

	while (n > 0) {
		uint32_t width = coder->high - coder->low;
		unsigned k = width < CODER_NARROW ? 1 : n < 8 ? n : 8;
		n -= k;
		uint32_t step = (uint32_t)(((uint64_t)width + 1) >> k),
			 part = (uint32_t)(bits >> n) & ((1u << k) - 1);
		if (!coder->out) {
			part = (coder->code - coder->low) / step;
			part = part < 1u << k ? part : (1u << k) - 1;
		}
		value = value << k | part;
		coder->low += part * step;
		coder->high = part + 1 < 1u << k ? coder->low + step - 1 : coder->high;
		coder_settle(coder);
	}
	return value;
}

CODER_INLINE uint64_t coder_number(struct coder *coder, struct coder_number *number, uint64_t value)
{
	unsigned length = value ? 64 - (unsigned)__builtin_clzll(value) : 0, n = 0;

	while (n < CODER_LENGTHS - 1 && coder_bit(coder, &number->length[n], n < length))
		n++;
	if (n < 2)
		return n;
	uint64_t got = 1;
	unsigned left = n - 1;
	for (unsigned i = 0; i < CODER_TOP_BITS && left > 0; i++, left--)
		got = got << 1 | coder_bit(coder, &number->top[n][got], value >> (left - 1) & 1);
	return left ? got << left | coder_bits(coder, left, value) : got;
}

CODER_INLINE int64_t coder_signed(struct coder *coder, struct coder_number *number, int64_t value)
{
	uint64_t folded = coder_number(coder, number, (uint64_t)value << 1 ^ -(uint64_t)(value < 0));

	return (int64_t)(folded >> 1 ^ -(folded & 1));
}
