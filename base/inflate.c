/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inflate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/inflate_table.h"

#define MAX_MATCH 258
#define COPY_STEP 16 /* bytes copied at a time; the last copy may write more than needed */
#define IN_MARGIN 32 /* bytes of input that one iteration of the fast loop may read */
#define OUT_MARGIN (MAX_MATCH + 2 * COPY_STEP + 8) /* ... and of output that it may write */
#define SUM_RUN 5552                               /* bytes whose sums do not overflow */

enum place { AT_HEAD, AT_BLOCK, IN_STORED, IN_CODES, AT_SUM, AT_END, BROKEN };

/* Bits are taken from the low end. Above n there may be bits of the following bytes, which a refill adds
 * again. */
struct bits {
	uint64_t bits;
	uint64_t n;
};

struct inflater {
	const uint8_t *in, *in_end;
	struct bits b;
	enum place place;
	bool is_last;    /* block */
	size_t n_stored; /* bytes that remain of a stored block */
	uint8_t *room;
	size_t n, size;
	struct code_table literals, distances;
};

bool inflate_is_possible(size_t packed, size_t unpacked)
{
	return unpacked / 8 / MAX_MATCH <= packed;
}

struct inflater *inflater_new(struct bytes stream, uint8_t *room, size_t size)
{
	struct inflater *z = alloc_zero(1, sizeof(*z));

	z->in = stream.at;
	z->in_end = stream.at + stream.len;
	z->room = room;
	z->size = size;
	return z;
}

void inflater_free(struct inflater *z)
{
	free(z);
}

/* ---- bits, one byte at a time --------------------------------------------------------------- */

static void inflate_refill(struct inflater *z)
{
	for (; z->b.n < 56 && z->in < z->in_end; z->b.n += 8)
		z->b.bits |= (uint64_t)*z->in++ << z->b.n;
}

/* At most 16 bits. Past the end of the stream they mean nothing, and the stream is marked as broken. */
static uint32_t inflate_take(struct inflater *z, unsigned n)
{
	inflate_refill(z);
	uint32_t value = (uint32_t)(z->b.bits & ((1u << n) - 1));
	if (n > z->b.n) {
		z->place = BROKEN;
		return 0;
	}
	z->b.bits >>= n;
	z->b.n -= n;
	return value;
}

/* Back to a byte boundary: whole bytes that were read ahead are given back. */
static void align(struct inflater *z)
{
	z->in -= z->b.n / 8;
	z->b = (struct bits){ 0, 0 };
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void inflate_read_head(struct inflater *z)
{
	uint32_t method = inflate_take(z, 8), flags = inflate_take(z, 8);

	if (z->place != BROKEN)
		z->place = (method & 15) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0 &&
					   !(flags & 32)
				   ? AT_BLOCK
				   : BROKEN;
}

static void begin_stored(struct inflater *z)
{
	align(z);
	uint32_t len = inflate_take(z, 16), check = inflate_take(z, 16);
	align(z);
	z->n_stored = len;
	if (z->place != BROKEN)
		z->place = (len ^ check) == 0xffff ? IN_STORED : BROKEN;
}

static void begin_fixed(struct inflater *z)
{
	uint8_t lengths[N_LITERALS + N_DISTANCES];

	memset(lengths, 8, N_LITERALS);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + N_LITERALS, 5, N_DISTANCES);
	code_table_literals(&z->literals, lengths, N_LITERALS);
	code_table_distances(&z->distances, lengths + N_LITERALS, N_DISTANCES);
	z->place = IN_CODES;
}

/* The code lengths, themselves coded: 16 repeats the last one, 17 and 18 are runs of zeroes. False if there
 * are too many. */
static bool read_lengths(struct inflater *z, struct code_table *codes, uint8_t *lengths, unsigned n)
{
	for (unsigned at = 0; at < n && z->place != BROKEN;) {
		inflate_refill(z);
		uint32_t entry = codes->entries[z->b.bits & ((1u << LENGTH_BITS) - 1)];
		unsigned symbol = entry_value(entry), times = 1;
		if ((entry & ENTRY_SPECIAL) || (symbol == 16 && at == 0))
			return false;
		inflate_take(z, entry_bits(entry));
		uint8_t length = symbol < 16 ? (uint8_t)symbol : symbol == 16 ? lengths[at - 1] : 0;
		if (symbol >= 16)
			times = symbol == 16   ? 3 + inflate_take(z, 2)
				: symbol == 17 ? 3 + inflate_take(z, 3)
					       : 11 + inflate_take(z, 7);
		if (times > n - at)
			return false;
		memset(lengths + at, length, times);
		at += times;
	}
	return z->place != BROKEN;
}

static void begin_dynamic(struct inflater *z)
{
	static const uint8_t order[N_LENGTHS] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
						  11, 4,  12, 3, 13, 2, 14, 1, 15 };
	unsigned n_literals = 257 + inflate_take(z, 5), n_distances = 1 + inflate_take(z, 5),
		 n_lengths = 4 + inflate_take(z, 4);
	uint8_t lengths[N_LITERALS + N_DISTANCES] = { 0 };

	for (unsigned i = 0; i < n_lengths; i++)
		lengths[order[i]] = (uint8_t)inflate_take(z, 3);
	bool is_good = code_table_lengths(&z->distances, lengths, N_LENGTHS); /* unused so far */
	memset(lengths, 0, sizeof(lengths));
	is_good = is_good && n_literals <= N_LITERALS - 2 && n_distances <= N_DISTANCES - 2 &&
		  read_lengths(z, &z->distances, lengths, n_literals + n_distances) && lengths[256] &&
		  code_table_literals(&z->literals, lengths, n_literals) &&
		  code_table_distances(&z->distances, lengths + n_literals, n_distances);
	z->place = is_good ? IN_CODES : BROKEN;
}

static void begin_block(struct inflater *z)
{
	z->is_last = inflate_take(z, 1);

	unsigned type = inflate_take(z, 2);
	if (z->place == BROKEN)
		return;
	if (type == 0)
		begin_stored(z);
	else if (type == 1)
		begin_fixed(z);
	else if (type == 2)
		begin_dynamic(z);
	else
		z->place = BROKEN;
}

static void end_block(struct inflater *z)
{
	z->place = z->is_last ? AT_SUM : AT_BLOCK;
}

static void copy_stored(struct inflater *z)
{
	size_t n = z->n_stored;

	if (n > (size_t)(z->in_end - z->in) || n > z->size - z->n) {
		z->place = BROKEN;
		return;
	}
	if (n)
		memcpy(z->room + z->n, z->in, n);
	z->in += n;
	z->n += n;
	end_block(z);
}

/* A sum of the bytes and a sum of those sums, sixteen bytes at a time, so that a compiler can vectorize it.
 */
static uint32_t adler(const uint8_t *at, size_t n)
{
	uint32_t low = 1, high = 0;

	while (n) {
		size_t some = n < SUM_RUN ? n : SUM_RUN;
		for (n -= some; some >= 16; some -= 16, at += 16) {
			uint32_t sum = 0, weighted = 0;
			for (uint32_t i = 0; i < 16; i++) {
				sum += at[i];
				weighted += (16 - i) * at[i];
			}
			high += 16 * low + weighted;
			low += sum;
		}
		for (; some; some--)
			high += low += *at++;
		low %= 65521;
		high %= 65521;
	}
	return high << 16 | low;
}

static void check_sum(struct inflater *z)
{
	uint32_t sum = 0;

	align(z);
	for (int i = 0; i < 4; i++)
		sum = sum << 8 | inflate_take(z, 8);
	if (z->place != BROKEN)
		z->place = z->n == z->size && sum == adler(z->room, z->n) ? AT_END : BROKEN;
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* The entry that a link leads to; drops the bits that led there. */
static inline uint32_t inflate_follow(const uint32_t *entries, uint32_t link, unsigned root, struct bits *b)
{
	b->bits >>= root;
	b->n -= root;
	return entries[entry_value(link) + (b->bits & ((1u << entry_code_bits(link)) - 1))];
}

static inline uint32_t look_up(const uint32_t *entries, unsigned root, struct bits *b)
{
	uint32_t entry = entries[b->bits & ((1u << root) - 1)];

	return __builtin_expect(entry & ENTRY_LINK, 0) ? inflate_follow(entries, entry, root, b) : entry;
}

/* Drops a code with its extra bits. Returns its value with the extra bits added: a length or a distance. */
static inline uint32_t drop_code(struct bits *b, uint32_t entry)
{
	uint64_t bits = b->bits;

	b->bits >>= entry_bits(entry);
	b->n -= entry_bits(entry);
	return entry_value(entry) +
	       (uint32_t)((bits & ((1ull << entry_bits(entry)) - 1)) >> entry_code_bits(entry));
}

/* May write two steps more than the match needs. */
static inline void copy_match(uint8_t *to, size_t distance, size_t len)
{
	const uint8_t *from = to - distance, *end = to + len;

	if (distance >= COPY_STEP) {
		memcpy(to, from, COPY_STEP); /* most are short */
		memcpy(to + COPY_STEP, from + COPY_STEP, COPY_STEP);
		for (to += 2 * COPY_STEP, from += 2 * COPY_STEP; to < end; to += COPY_STEP, from += COPY_STEP)
			memcpy(to, from, COPY_STEP);
	} else if (distance == 1) {
		memset(to, *from, len);
	} else if (distance >= 8) {
		for (; to < end; to += 8, from += 8)
			memcpy(to, from, 8);
	} else {
		while (to < end)
			*to++ = *from++;
	}
}

/* Decodes one code with all checks: the input or the output ends nearby. */
static void inflate_step(struct inflater *z)
{
	inflate_refill(z);
	struct bits b = { z->b.bits, z->b.n + 64 }; /* 64 more: if fewer than 64 remain, bits were missing */
	uint32_t entry = look_up(z->literals.entries, LITERAL_BITS, &b), code = 0, distance = 0;
	uint32_t len = drop_code(&b, entry);

	if (!(entry & (ENTRY_LITERAL | ENTRY_SPECIAL))) {
		code = look_up(z->distances.entries, DISTANCE_BITS, &b);
		distance = drop_code(&b, code);
	}
	len = entry & ENTRY_LITERAL ? 1 : entry & ENTRY_END ? 0 : len;
	bool is_wrong = ((entry | code) & ENTRY_SPECIAL) && !(entry & ENTRY_END);
	if (is_wrong || b.n < 64 || distance > z->n || len > z->size - z->n) {
		z->place = BROKEN;
		return;
	}
	for (uint32_t i = 0; i < len; i++)
		z->room[z->n + i] =
			entry & ENTRY_LITERAL ? (uint8_t)entry_value(entry) : z->room[z->n + i - distance];
	z->b = (struct bits){ b.bits, b.n - 64 };
	z->n += len;
	if (entry & ENTRY_END)
		end_block(z);
}

static inline void refill_fast(struct bits *b, const uint8_t **in)
{
	uint64_t next;

	memcpy(&next, *in, sizeof(next));
	b->bits |= next << b->n;
	*in += (63 - b->n) / 8;
	b->n |= 56;
}

/*
 * Decodes as long as there is plenty of input and output. A refill gives at least 56 bits: two literals and a
 * length with its extra bits need 50; the distance gets a refill of its own. The next entry is looked up
 * before a copy is made, so that the two overlap.
 */
static void run_fast(struct inflater *z, size_t wanted)
{
	const uint32_t *const literals = z->literals.entries, *const distances = z->distances.entries;
	const uint8_t *const in_end = z->in_end - IN_MARGIN, *in = z->in;
	uint8_t *const room = z->room, *const end =
					       room + (wanted < z->size - OUT_MARGIN ? wanted
										     : z->size - OUT_MARGIN);
	const unsigned first = (1u << LITERAL_BITS) - 1;
	struct bits b = z->b;
	uint8_t *to = room + z->n;

	refill_fast(&b, &in);
	uint32_t entry = literals[b.bits & first];
	while (to < end && in < in_end) {
		for (int i = 0; i < 2 && (entry & ENTRY_LITERAL); i++) {
			*to++ = (uint8_t)entry_value(entry);
			drop_code(&b, entry);
			entry = literals[b.bits & first];
		}
		if (__builtin_expect(entry & ENTRY_LINK, 0))
			entry = inflate_follow(literals, entry, LITERAL_BITS, &b);
		uint32_t len = drop_code(&b, entry);
		refill_fast(&b, &in);
		if (entry & ENTRY_LITERAL) {
			*to++ = (uint8_t)entry_value(entry);
			entry = literals[b.bits & first];
			continue;
		}
		if (entry & ENTRY_SPECIAL) {
			z->place = BROKEN;
			if (entry & ENTRY_END)
				end_block(z);
			break;
		}
		uint32_t code = look_up(distances, DISTANCE_BITS, &b);
		uint32_t distance = drop_code(&b, code);
		if ((code & ENTRY_SPECIAL) || distance > (size_t)(to - room)) {
			z->place = BROKEN;
			break;
		}
		refill_fast(&b, &in);
		entry = literals[b.bits & first];
		copy_match(to, distance, len);
		to += len;
	}
	z->in = in;
	z->b = b;
	z->n = (size_t)(to - room);
}

static void run_codes(struct inflater *z, size_t wanted)
{
	if (z->in_end - z->in > IN_MARGIN && z->size > OUT_MARGIN && z->n < z->size - OUT_MARGIN)
		run_fast(z, wanted);
	else
		inflate_step(z);
}

size_t inflater_run(struct inflater *z, size_t wanted)
{
	/* The checksum follows the last byte: it is checked when that byte is requested. */
	while (z->place != AT_END && z->place != BROKEN && (z->n < wanted || z->n == z->size)) {
		switch (z->place) {
		case AT_HEAD:
			inflate_read_head(z);
			break;
		case AT_BLOCK:
			begin_block(z);
			break;
		case IN_STORED:
			copy_stored(z);
			break;
		case IN_CODES:
			run_codes(z, wanted);
			break;
		case AT_SUM:
			check_sum(z);
			break;
		case AT_END:
		case BROKEN:
			break;
		}
	}
	return z->place == BROKEN ? 0 : z->n;
}
