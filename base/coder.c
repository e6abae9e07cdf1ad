/* SPDX-License-Identifier: Apache-2.0 */
#include "base/coder.h"

const uint16_t coder_share[CODER_SEEN_MAX + 1] = {
	43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698, 5242, 4854, 4519, 4228, 3971,
	3744,  3542,  3360,  3196,  3048,  2912,  2788, 2674, 2570, 2473, 2383, 2299, 2221, 2148, 2080,
};

struct coder coder_writer(struct writer *out)
{
	return (struct coder){ .out = out, .high = UINT32_MAX };
}

struct coder coder_reader(struct bytes bytes)
{
	struct coder coder = { .next = bytes.at, .last = bytes.at + bytes.len, .high = UINT32_MAX };

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
	return !coder->n_beyond && coder->next == coder->last;
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
