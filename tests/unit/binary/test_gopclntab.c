/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/gopclntab.h"

#include <string.h>

#include "base/writer.h"
#include "tests/test.h"

/* A table as Go 1.18 writes it, with two functions f and main.g at 0x400 and 0x420 behind the text's start.
 */
static void write_1_18(struct writer *w, uint64_t text_start)
{
	const uint64_t names = 8 + 8 * 8, functions = names + 16;

	write_u32(w, 0xfffffff0);
	write_u16(w, 0);
	write_u8(w, 4);
	write_u8(w, 8);
	write_u64(w, 2); /* functions */
	write_u64(w, 1); /* files */
	write_u64(w, text_start);
	write_u64(w, names);
	write_u64(w, 0);
	write_u64(w, 0);
	write_u64(w, 0);
	write_u64(w, functions);
	write_bytes(w, (struct bytes){ (const uint8_t *)"\0f\0main.g\0\0\0\0\0\0\0", 16 });
	const uint32_t entries[] = { 0x400, 20, 0x420, 28, 0x450 };
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		write_u32(w, entries[i]);
	write_u32(w, 0x400);
	write_u32(w, 1);
	write_u32(w, 0x420);
	write_u32(w, 3);
}

static void write_1_2(struct writer *w)
{
	write_u32(w, 0xfffffffb);
	write_u16(w, 0);
	write_u8(w, 1);
	write_u8(w, 8);
	write_u64(w, 1);
	write_u64(w, 0x401000); /* entry, record, end */
	write_u64(w, 40);
	write_u64(w, 0x401040);
	write_u64(w, 0x401000); /* the record at 40 */
	write_u32(w, 52);
	write_bytes(w, (struct bytes){ (const uint8_t *)"old.f", 6 });
}

TEST(gopclntab_names_functions_of_go_1_18)
{
	struct writer w = { 0 };
	struct gopclntab table;
	struct go_function f;

	write_1_18(&w, 0x10000);
	CHECK(gopclntab_parse(writer_bytes(&w), 0x9000, &table));
	CHECK_EQ(table.n_functions, 2);
	CHECK(gopclntab_get(&table, 1, &f));
	CHECK_STR(f.name, "main.g");
	CHECK_EQ(f.start, 0x10420);
	CHECK_EQ(f.end, 0x10450);
	CHECK(!gopclntab_get(&table, 2, &f));
	writer_done(&w);
}

TEST(gopclntab_uses_the_text_start_that_a_loader_would_relocate)
{
	struct writer w = { 0 };
	struct gopclntab table;
	struct go_function f;

	write_1_18(&w, 0);
	CHECK(gopclntab_parse(writer_bytes(&w), 0x9000, &table));
	CHECK(gopclntab_get(&table, 0, &f));
	CHECK_STR(f.name, "f");
	CHECK_EQ(f.start, 0x9400);
	writer_done(&w);
}

TEST(gopclntab_names_functions_of_go_1_2)
{
	struct writer w = { 0 };
	struct gopclntab table;
	struct go_function f;

	write_1_2(&w);
	CHECK(gopclntab_parse(writer_bytes(&w), 0, &table));
	CHECK(gopclntab_get(&table, 0, &f));
	CHECK_STR(f.name, "old.f");
	CHECK_EQ(f.end, 0x401040);
	writer_done(&w);
}

TEST(gopclntab_truncated_anywhere_never_gives_more_functions)
{
	struct writer w = { 0 };

	write_1_18(&w, 0x10000);
	for (size_t len = 0; len < w.len; len++) {
		struct gopclntab table;
		struct go_function f;
		if (!gopclntab_parse((struct bytes){ w.at, len }, 0, &table))
			continue;
		for (uint64_t i = 0; i < 3; i++)
			if (gopclntab_get(&table, i, &f))
				CHECK(f.end > f.start);
	}
	writer_done(&w);
}

/* All functions may have the same name, which must not be read to its end for each of them. */
TEST(gopclntab_names_of_many_kilobytes_are_none)
{
	struct writer w = { 0 };
	struct gopclntab table;
	struct go_function f;

	write_1_2(&w);
	for (int i = 0; i < 1000; i++)
		write_u8(&w, 'f');
	w.at[52 + 5] = 'f'; /* instead of its end */
	write_u8(&w, 0);
	CHECK(gopclntab_parse(writer_bytes(&w), 0, &table));
	CHECK(gopclntab_get(&table, 0, &f));
	CHECK_EQ(strlen(f.name), 1006);
	w.len--;
	for (int i = 0; i < 8000; i++)
		write_u8(&w, 'f');
	write_u8(&w, 0);
	CHECK(gopclntab_parse(writer_bytes(&w), 0, &table));
	CHECK(!gopclntab_get(&table, 0, &f));
	writer_done(&w);
}

TEST(gopclntab_of_unknown_versions_is_not_read)
{
	struct writer w = { 0 };
	struct gopclntab table;

	write_1_18(&w, 0x10000);
	w.at[0] = 0x77;
	CHECK(!gopclntab_parse(writer_bytes(&w), 0, &table));
	writer_done(&w);
}

/* One function, whose record has its kind after `n` numbers. */
static enum go_kind kind_in(uint32_t magic, unsigned n, uint8_t number, uint8_t flags)
{
	const uint64_t names = 8 + 8 * 8, functions = names + 8;
	struct writer w = { 0 };
	struct gopclntab table;
	struct go_function f = { 0 };

	write_u32(&w, magic);
	write_u32(&w, 0x08040000);
	write_u64(&w, 1);
	write_u64(&w, 1);
	write_u64(&w, 0x10000);
	write_u64(&w, names);
	for (int i = 0; i < 3; i++)
		write_u64(&w, 0);
	write_u64(&w, functions);
	write_bytes(&w, (struct bytes){ (const uint8_t *)"f\0\0\0\0\0\0", 8 });
	const uint32_t entries[] = { 0x400, 12, 0x420 };
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		write_u32(&w, entries[i]);
	for (unsigned i = 0; i < n; i++)
		write_u32(&w, i ? 0 : 0x400);
	write_u8(&w, number);
	write_u8(&w, flags);
	CHECK(gopclntab_parse(writer_bytes(&w), 0, &table));
	CHECK(gopclntab_get(&table, 0, &f));
	writer_done(&w);
	return f.kind;
}

TEST(gopclntab_recognises_functions_in_assembly)
{
	CHECK_EQ(kind_in(0xfffffff0, 9, 0, 0), GO_KIND_COMPILED);
	CHECK_EQ(kind_in(0xfffffff0, 9, 0, 6), GO_KIND_ASSEMBLY);
	CHECK_EQ(kind_in(0xfffffff0, 9, 11, 4), GO_KIND_SPECIAL);
	CHECK_EQ(kind_in(0xfffffff1, 10, 0, 4), GO_KIND_ASSEMBLY);
	CHECK_EQ(kind_in(0xfffffff1, 10, 0, 3), GO_KIND_COMPILED);
	CHECK_EQ(kind_in(0xfffffff1, 9, 0, 4), GO_KIND_UNKNOWN); /* the record is truncated */
}
