/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/structure_store.h"

#include "base/alloc.h"
#include "tests/test.h"

struct packed {
	struct intern strings;
	struct structure_packer *packer;
	struct writer bytes;
};

static void start(struct packed *p)
{
	*p = (struct packed){ .packer = structure_packer_new() };
	intern_init(&p->strings);
}

static void finish(struct packed *p)
{
	structure_packer_free(p->packer);
	writer_done(&p->bytes);
	intern_done(&p->strings);
}

/* A function with one loop that contains an inlined call. */
static void pack(struct packed *p, uint64_t vaddr, const char *name)
{
	struct structure s = { .function = vaddr };
	uint32_t file = intern_add(&p->strings, "a.c"), id = intern_add(&p->strings, name);

	vec_push(&s.extents, (struct code_extent){ vaddr, vaddr + 64 });
	vec_push(&s.scopes, (struct static_scope){ .kind = SCOPE_FUNCTION,
						   .name = id,
						   .file = file,
						   .line = 3,
						   .end_line = 9,
						   .vaddr = vaddr });
	vec_push(&s.scopes, (struct static_scope){ .kind = SCOPE_LOOP,
						   .flags = SCOPE_VECTOR,
						   .name = id,
						   .file = file,
						   .line = 4,
						   .end_line = 8,
						   .vaddr = vaddr + 8 });
	vec_push(&s.scopes, (struct static_scope){ .parent = 1,
						   .kind = SCOPE_INLINE,
						   .name = intern_add(&p->strings, "in"),
						   .call_file = file,
						   .call_line = 5,
						   .vaddr = vaddr + 12 });
	vec_push(&s.ranges, (struct static_range){ vaddr + 8, 4, 1 });
	vec_push(&s.ranges, (struct static_range){ vaddr + 12, 8, 2 });
	vec_push(&s.pieces, (struct loop_piece){ 1, vaddr + 8, 2, SCOPE_VECTOR, vaddr + 8, 0x10, 3, 16 });
	vec_push(&s.statements, (struct statement){ vaddr, 8, 0, file, 3 });
	structure_pack(p->packer, &s, &p->strings);
	structure_done(&s);
}

TEST(structure_store_returns_what_was_packed)
{
	struct packed p;
	struct structure s = { 0 };

	start(&p);
	intern_add(&p.strings, "a string nobody uses");
	pack(&p, 0x100, "f");
	pack(&p, 0x200, "g");
	structure_packer_finish(p.packer, &p.bytes);
	struct structure_entry *entry = structure_entry_open(writer_bytes(&p.bytes));
	CHECK(entry != NULL);
	CHECK_EQ(structure_entry_count(entry), 2);
	structure_entry_get(entry, 0, &s);
	structure_entry_get(entry, 1, &s); /* overwrites the first */
	CHECK_EQ(s.function, 0x200);
	CHECK_EQ(s.extents.n, 1);
	CHECK_EQ(s.extents.at[0].end, 0x240);
	CHECK_EQ(s.scopes.n, 3);
	CHECK_STR(structure_entry_text(entry, s.scopes.at[0].name), "g");
	CHECK_STR(structure_entry_text(entry, s.scopes.at[0].file), "a.c");
	CHECK_EQ(s.scopes.at[1].flags, SCOPE_VECTOR);
	CHECK_EQ(s.scopes.at[1].end_line, 8);
	CHECK_EQ(s.scopes.at[2].parent, 1);
	CHECK_STR(structure_entry_text(entry, s.scopes.at[2].name), "in");
	CHECK_EQ(s.scopes.at[2].call_line, 5);
	CHECK_EQ(s.ranges.at[1].scope, 2);
	CHECK_EQ(s.pieces.at[0].header, 0x208);
	CHECK_EQ(s.pieces.at[0].start, 0x208);
	CHECK_EQ(s.pieces.at[0].len, 0x10);
	CHECK_EQ(s.pieces.at[0].n_calls, 3);
	CHECK_EQ(s.pieces.at[0].width, 16);
	CHECK_EQ(s.statements.at[0].line, 3);
	CHECK_STR(structure_entry_text(entry, UINT32_MAX), "");
	structure_done(&s);
	structure_entry_close(entry);
	finish(&p);
}

TEST(structure_store_refuses_a_truncated_entry)
{
	struct packed p;

	start(&p);
	pack(&p, 0x100, "f");
	structure_packer_finish(p.packer, &p.bytes);
	for (size_t len = 0; len < p.bytes.len; len++) {
		struct structure_entry *entry = structure_entry_open((struct bytes){ p.bytes.at, len });
		CHECK(entry == NULL);
	}
	finish(&p);
}

/* Whatever number is changed, an entry that opens can be read to its end. */
TEST(structure_store_survives_any_changed_byte)
{
	struct packed p;
	struct structure s = { 0 };
	size_t n_refused = 0;

	start(&p);
	pack(&p, 0x100, "f");
	structure_packer_finish(p.packer, &p.bytes);
	for (size_t at = 0; at < p.bytes.len; at++) {
		p.bytes.at[at] ^= 0xff;
		struct structure_entry *entry = structure_entry_open(writer_bytes(&p.bytes));
		n_refused += entry == NULL;
		for (size_t i = 0; entry && i < structure_entry_count(entry); i++) {
			structure_entry_get(entry, i, &s);
			for (size_t k = 0; k < s.scopes.n; k++)
				CHECK(k == 0 || s.scopes.at[k].parent < k);
			for (size_t k = 0; k < s.ranges.n; k++)
				CHECK(s.ranges.at[k].scope < s.scopes.n);
		}
		structure_entry_close(entry);
		p.bytes.at[at] ^= 0xff;
	}
	CHECK(n_refused > 32); /* at least all counts, parents and scope numbers */
	structure_done(&s);
	finish(&p);
}
