/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inner_starts: where functions start inside others, by the evidence collected so far.
 *
 * The places are not kept in a list: each new piece of evidence would change it, and unwind entries overlap
 * in hostile files. The bitmaps of the evidence are searched instead, 64 addresses at a time. Only what takes
 * a decode is remembered, in another bitmap: an address that is taken, but whose code creates no frame.
 */
#include "base/search.h"
#include "binary/functions/function_private.h"

#define MAX_OPENING 4 /* instructions with which a function sets up its frame */
#define BIT_NONE UINT64_MAX

/* Does the code begin by allocating stack? The continuation of an interpreter does not. */
static bool inner_makes_frame(const struct functions *functions, uint64_t vaddr)
{
	const struct isa *isa = functions->isa;
	struct insn insn;

	for (unsigned n = 0; n < MAX_OPENING; n++, vaddr += insn.len) {
		if (isa->decode(image_code(functions->image, vaddr), vaddr, &insn) < 0 || insn.len == 0 ||
		    insn.flow != FLOW_NEXT)
			return false;
		for (unsigned i = 0; i < insn.n_effects && i < INSN_MAX_EFFECTS; i++) {
			const struct effect *e = &insn.effect[i];
			if (e->kind == EFFECT_SET && e->reg == isa->sp && e->base == isa->sp &&
			    e->index == REG_NONE && e->imm < 0)
				return true;
		}
	}
	return false;
}

/* Does a function start at this bit of inner_bits? If not, it will not be among them again. */
static bool inner_is_start(struct functions *functions, const struct text_range *range, uint64_t bit)
{
	uint64_t mask = 1ull << (bit % 64);

	if ((range->called[bit / 64] & mask) || inner_makes_frame(functions, text_vaddr(range, bit)))
		return true;
	range->frameless[bit / 64] |= mask;
	return false;
}

/* The bits from `first` to `last` that are in this word, and where a function may start. */
static uint64_t inner_bits(const struct text_range *range, uint64_t word, uint64_t first, uint64_t last)
{
	uint64_t bits = range->called[word] | (range->taken[word] & ~range->frameless[word]);

	if (word == first / 64)
		bits &= UINT64_MAX << (first % 64);
	if (word == last / 64)
		bits &= UINT64_MAX >> (63 - last % 64);
	return bits;
}

static uint64_t inner_last_bit(struct functions *functions, const struct text_range *range, uint64_t first,
			       uint64_t last)
{
	for (uint64_t word = last / 64 + 1; word-- > first / 64;)
		for (uint64_t bits = inner_bits(range, word, first, last), n; bits; bits &= ~(1ull << n)) {
			n = 63 - (uint64_t)__builtin_clzll(bits);
			if (inner_is_start(functions, range, word * 64 + n))
				return word * 64 + n;
		}
	return BIT_NONE;
}

static uint64_t inner_first_bit(struct functions *functions, const struct text_range *range, uint64_t first,
				uint64_t last)
{
	for (uint64_t word = first / 64; word <= last / 64; word++)
		for (uint64_t bits = inner_bits(range, word, first, last), n; bits; bits &= bits - 1) {
			n = (uint64_t)__builtin_ctzll(bits);
			if (inner_is_start(functions, range, word * 64 + n))
				return word * 64 + n;
		}
	return BIT_NONE;
}

/* The bits for what is both in [start, end) and in the range. False if there are none. */
static bool inner_clip(const struct text_range *range, uint64_t start, uint64_t end, uint64_t *ret_first,
		       uint64_t *ret_last)
{
	start = start > range->start ? start : range->start;
	end = end < range->end ? end : range->end;
	if (!range->called || start >= end)
		return false;
	*ret_first = text_bit(range, start) + text_is_between(range, start);
	*ret_last = text_bit(range, end - 1);
	return *ret_first <= *ret_last;
}

uint64_t functions_last_inner(struct functions *functions, uint64_t start, uint64_t end)
{
	const struct functions_private *p = functions->private;
	uint64_t first, last, bit;
	size_t n = search_first(i, p->text.n, p->text.at[i].start >= end);

	while (n-- > 0 && p->text.at[n].end > start) {
		const struct text_range *range = &p->text.at[n];
		if (inner_clip(range, start, end, &first, &last) &&
		    (bit = inner_last_bit(functions, range, first, last)) != BIT_NONE)
			return text_vaddr(range, bit);
	}
	return UINT64_MAX;
}

uint64_t functions_first_inner(struct functions *functions, uint64_t start, uint64_t end)
{
	const struct functions_private *p = functions->private;
	uint64_t first, last, bit;
	size_t n = search_first(i, p->text.n, p->text.at[i].end > start);

	for (; n < p->text.n && p->text.at[n].start < end; n++) {
		const struct text_range *range = &p->text.at[n];
		if (inner_clip(range, start, end, &first, &last) &&
		    (bit = inner_first_bit(functions, range, first, last)) != BIT_NONE)
			return text_vaddr(range, bit);
	}
	return UINT64_MAX;
}
