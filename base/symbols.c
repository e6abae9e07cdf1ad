/* SPDX-License-Identifier: Apache-2.0 */
#include "base/symbols.h"

const uint8_t symbols_rate[SYMBOLS_SEEN_MAX + 1] = {
	3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
	5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
	6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
	6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
};

/* All of the first n_values are equally likely, the others nearly impossible. */
void symbols_model_init(struct symbols_model *model, unsigned n_values)
{
	unsigned rest = (1u << SYMBOLS_LOG) - SYMBOLS_N * SYMBOLS_LEAST;

	for (unsigned i = 0; i <= SYMBOLS_N; i++)
		model->below[i] =
			(uint16_t)(i * SYMBOLS_LEAST + rest * (i < n_values ? i : n_values) / n_values);
	model->seen = 0;
}

void symbols_number_init(struct symbols_number *number)
{
	symbols_model_init(&number->length, SYMBOLS_N);
	for (unsigned i = 0; i < SYMBOLS_LENGTHS; i++) {
		unsigned n_bits = i < 2 ? 0 : i - 1 < SYMBOLS_TOP_BITS ? i - 1 : SYMBOLS_TOP_BITS;
		symbols_model_init(&number->top[i], 1u << n_bits);
	}
}

struct symbols symbols_writer(void)
{
	return (struct symbols){ .state = SYMBOLS_FLOOR };
}

struct symbols symbols_reader(struct bytes bytes)
{
	struct symbols symbols = { .is_reader = true };

	if (bytes.len < sizeof(symbols.state)) { /* there may be nothing to point to */
		symbols.n_beyond = 1;
		return symbols;
	}
	memcpy(&symbols.state, bytes.at, sizeof(symbols.state));
	symbols.next = bytes.at + sizeof(symbols.state);
	symbols.end = bytes.at + bytes.len;
	return symbols;
}

bool symbols_are_at_end(const struct symbols *symbols)
{
	return !symbols->n_beyond && symbols->next == symbols->end && symbols->state == SYMBOLS_FLOOR;
}

void symbols_finish(struct symbols *symbols, struct writer *ret)
{
	VEC(uint32_t) words = { 0 };
	uint64_t state = SYMBOLS_FLOOR;

	for (size_t i = symbols->steps.n; i-- > 0;) {
		struct symbols_step step = symbols->steps.at[i];
		if (state >= ((SYMBOLS_FLOOR >> step.log) << 32) * step.size) {
			vec_push(&words, (uint32_t)state);
			state >>= 32;
		}
		state = (state / step.size << step.log) + state % step.size + step.start;
	}
	write_u64(ret, state);
	while (words.n)
		write_u32(ret, words.at[--words.n]);
	vec_done(&words);
	vec_done(&symbols->steps);
}
