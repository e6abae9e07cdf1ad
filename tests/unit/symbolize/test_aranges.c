/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf/aranges.h"

#include "base/writer.h"
#include "tests/test.h"

/* A set of pairs of eight-byte words, with the two terminating zeroes. */
static void put_set(struct writer *w, uint64_t unit, const uint64_t *pairs, size_t n)
{
	write_u32(w, (uint32_t)(12 + 16 * (n + 1)));
	write_u16(w, 2);
	write_u32(w, (uint32_t)unit);
	write_u8(w, 8);
	write_u8(w, 0);
	write_u32(w, 0); /* padding to a multiple of the pair size */
	for (size_t i = 0; i < 2 * n; i++)
		write_u64(w, pairs[i]);
	write_u64(w, 0);
	write_u64(w, 0);
}

TEST(aranges_list_what_each_unit_covers)
{
	struct writer w = { 0 };
	struct arange range = { 0 };

	put_set(&w, 0x40, (const uint64_t[]){ 0x1000, 0x10, 0x2000, 0x20 }, 2);
	put_set(&w, 0x80, NULL, 0);
	put_set(&w, 0xc0, (const uint64_t[]){ 0x3000, 1 }, 1);
	struct aranges aranges = aranges_open(writer_bytes(&w));
	CHECK(aranges_next(&aranges, &range));
	CHECK(range.start == 0x1000 && range.end == 0x1010 && range.unit == 0x40);
	CHECK(aranges_next(&aranges, &range));
	CHECK(range.start == 0x2000 && range.end == 0x2020 && range.unit == 0x40);
	CHECK(aranges_next(&aranges, &range));
	CHECK(range.start == 0x3000 && range.end == 0x3001 && range.unit == 0xc0);
	CHECK(!aranges_next(&aranges, &range));
	writer_done(&w);
}

/* A set that is longer than the section, of an unknown version, or truncated, is ignored without affecting
 * the others. */
TEST(aranges_skip_damaged_sets)
{
	struct writer w = { 0 };
	struct arange range = { 0 };

	put_set(&w, 0x40, (const uint64_t[]){ 0x1000, 0x10 }, 1);
	w.at[4] = 9; /* version */
	put_set(&w, 0x80, (const uint64_t[]){ 0x2000, 0x10 }, 1);
	struct aranges aranges = aranges_open(writer_bytes(&w));
	CHECK(aranges_next(&aranges, &range));
	CHECK_EQ(range.unit, 0x80);
	CHECK(!aranges_next(&aranges, &range));

	for (size_t len = 0; len < w.len; len++) { /* terminates wherever the input is truncated */
		aranges = aranges_open(bytes_slice(writer_bytes(&w), 0, len));
		for (unsigned n = 0; aranges_next(&aranges, &range); n++)
			CHECK(n < 2);
	}
	writer_done(&w);
}
