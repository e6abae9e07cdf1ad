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

#define CODER_SEEN_MAX 30 /* bits after which a model adapts no more slowly */

struct coder_model {
	uint16_t one;  /* the probability of a 1, of 65536 */
	uint16_t seen; /* bits, at most CODER_SEEN_MAX */
};
#define CODER_MODEL ((struct coder_model){ 32768, 0 })

/* Numbers of any size: how many bits they have, and the first ones of these. */
#define CODER_LENGTHS 65
#define CODER_TOP_BITS 3
struct coder_number {
	struct coder_model length[CODER_LENGTHS];
	struct coder_model top[CODER_LENGTHS][1 << CODER_TOP_BITS];
};

struct coder {
	struct writer *out; /* NULL: it reads */
	struct reader in;
	uint32_t low, high; /* the interval of all that may follow */
	uint32_t code;      /* where in it the rest of the input is */
	unsigned n_beyond;  /* bytes that were taken from beyond the end, which are 0 */
};

struct coder coder_writer(struct writer *out);
struct coder coder_reader(struct bytes bytes);
/* Writes what is still to be written. */
void coder_finish(struct coder *coder);
/* Of a reader: it has used every byte, and needed no more. */
bool coder_is_at_end(const struct coder *coder);

void coder_models_init(struct coder_model *models, size_t n);
void coder_number_init(struct coder_number *number);

/* The bit was like that, though it was not coded. */
void coder_learn(struct coder_model *model, unsigned bit);
unsigned coder_bit(struct coder *coder, struct coder_model *model, unsigned bit);
/* Bits that nothing is known about, at most 64. */
uint64_t coder_bits(struct coder *coder, unsigned n, uint64_t bits);
uint64_t coder_number(struct coder *coder, struct coder_number *number, uint64_t value);
int64_t coder_signed(struct coder *coder, struct coder_number *number, int64_t value);
