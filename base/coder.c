/* SPDX-License-Identifier: Apache-2.0 */
#include "base/coder.h"

#define CODER_NARROW 65536
#define CODER_ONE_MIN 64 /* no bit is so certain that the other one takes more than ten bits */

struct coder coder_writer(struct writer *out)
{
	return (struct coder){ .out = out, .high = UINT32_MAX };
}

static void coder_take_byte(struct coder *coder)
{
	coder->n_beyond += reader_left(&coder->in) == 0;
	coder->code = coder->code << 8 | (reader_left(&coder->in) ? read_u8(&coder->in) : 0);
}

struct coder coder_reader(struct bytes bytes)
{
	struct coder coder = { .in = reader_of(bytes), .high = UINT32_MAX };

	for (int i = 0; i < 4; i++)
		coder_take_byte(&coder);
	return coder;
}

/* Readers are four bytes ahead of what is settled. */
void coder_finish(struct coder *coder)
{
	for (int i = 0; i < 4; i++, coder->low <<= 8)
		write_u8(coder->out, (uint8_t)(coder->low >> 24));
}

bool coder_is_at_end(const struct coder *coder)
{
	return !coder->n_beyond && reader_left(&coder->in) == 0;
}

void coder_models_init(struct coder_model *models, size_t n)
{
	for (size_t i = 0; i < n; i++)
		models[i] = CODER_MODEL;
}

void coder_number_init(struct coder_number *number)
{
	coder_models_init(number->length, CODER_LENGTHS);
	coder_models_init(number->top[0], CODER_LENGTHS << CODER_TOP_BITS);
}

void coder_learn(struct coder_model *model, unsigned bit)
{
	/* 2^17 / (2 n + 3): the next estimate is the mean of all bits so far, beginning with one of 1/2. */
	static const uint16_t share[CODER_SEEN_MAX + 1] = {
		43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698,
		5242,  4854,  4519,  4228,  3971,  3744,  3542, 3360, 3196, 3048, 2912,
		2788,  2674,  2570,  2473,  2383,  2299,  2221, 2148, 2080,
	};
	int32_t one = model->one, goal = bit ? 65536 : 0;

	one += (int32_t)((int64_t)(goal - one) * share[model->seen] >> 16);
	one = one < CODER_ONE_MIN ? CODER_ONE_MIN : one > 65536 - CODER_ONE_MIN ? 65536 - CODER_ONE_MIN : one;
	model->one = (uint16_t)one;
	if (model->seen < CODER_SEEN_MAX)
		model->seen++;
}

/* Bytes in which both ends agree are settled. */
static inline void coder_settle(struct coder *coder)
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

/* A 1 has the lower part of the interval. */
static inline unsigned coder_narrow(struct coder *coder, uint32_t one, unsigned bit)
{
	uint32_t middle = coder->low + (uint32_t)((uint64_t)(coder->high - coder->low) * one >> 16);

	if (!coder->out)
		bit = coder->code <= middle;
	if (bit)
		coder->high = middle;
	else
		coder->low = middle + 1;
	coder_settle(coder);
	return bit;
}

unsigned coder_bit(struct coder *coder, struct coder_model *model, unsigned bit)
{
	bit = coder_narrow(coder, model->one, bit);
	coder_learn(model, bit);
	return bit;
}

/* Eight at a time, all of them equally likely; unless the interval has not that many parts. */
uint64_t coder_bits(struct coder *coder, unsigned n, uint64_t bits)
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

uint64_t coder_number(struct coder *coder, struct coder_number *number, uint64_t value)
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

int64_t coder_signed(struct coder *coder, struct coder_number *number, int64_t value)
{
	uint64_t folded = coder_number(coder, number, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));

	return (int64_t)(folded >> 1 ^ -(folded & 1));
}
