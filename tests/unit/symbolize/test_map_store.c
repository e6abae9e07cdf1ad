/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/map_store.h"

#include "symbolize/map_entry.h"

#include "tests/test.h"

struct fixture {
	struct intern strings;
	function_maps maps;
};

static void add_map(struct fixture *f, uint64_t vaddr, uint64_t size, const char *name)
{
	struct function_map map = { .vaddr = vaddr,
				    .size = size,
				    .parent_vaddr = vaddr,
				    .name = intern_add(&f->strings, name),
				    .decl_file = intern_add(&f->strings, "a.c"),
				    .decl_line = 7,
				    .source = MAP_FROM_DWARF };

	vec_push(&map.lines, (struct line_row){ 0, map.decl_file, 8, 1, 1, 0 });
	vec_push(&map.lines, (struct line_row){ 4, intern_add(&f->strings, "b.h"), 9, 2, 0, 0 });
	vec_push(&map.inlines, (struct inline_call){ INLINE_NONE, intern_add(&f->strings, "in"), 0, 0, 3,
						     map.decl_file, 8, 2 });
	vec_push(&map.ranges, (struct inline_range){ 4, 8, 0 });
	vec_push(&f->maps, map);
}

static void start(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	intern_init(&f->strings);
}

static void finish(struct fixture *f)
{
	function_maps_done(&f->maps);
	intern_done(&f->strings);
}

static struct map_list list_of(const struct fixture *f)
{
	return (struct map_list){ f->maps.at, f->maps.n, &f->strings };
}

TEST(map_store_returns_the_requested_maps)
{
	struct fixture in, out;
	struct writer w = { 0 };
	const uint64_t vaddrs[] = { 0x105, 0x250, 0x30f };

	start(&in);
	start(&out);
	add_map(&in, 0x100, 16, "f");
	add_map(&in, 0x200, 16, "g");
	add_map(&in, 0x300, 16, "h");
	map_store_pack(list_of(&in), (struct map_list){ 0 }, &w);
	intern_add(&out.strings, "other strings");
	CHECK(map_store_unpack(writer_bytes(&w), 5, vaddrs, ARRAY_LEN(vaddrs), &out.strings, &out.maps));
	CHECK_EQ(out.maps.n, 2);
	const struct function_map *h = &out.maps.at[1];
	CHECK_STR(intern_text(&out.strings, h->name), "h");
	CHECK_EQ(h->image, 5);
	CHECK_EQ(h->linkage, 0);
	CHECK_EQ(h->lines.n, 2);
	CHECK_STR(intern_text(&out.strings, h->lines.at[1].file), "b.h");
	CHECK_EQ(h->lines.at[1].line, 9);
	CHECK_STR(intern_text(&out.strings, h->inlines.at[0].name), "in");
	CHECK_EQ(h->ranges.at[0].end, 8);
	writer_done(&w);
	finish(&in);
	finish(&out);
}

TEST(map_store_merges_and_prefers_existing_maps)
{
	struct fixture old, new, out;
	struct writer w = { 0 };

	start(&old);
	start(&new);
	start(&out);
	add_map(&old, 0x100, 16, "f");
	add_map(&old, 0x300, 16, "h");
	add_map(&new, 0x080, 16, "e");
	add_map(&new, 0x108, 16, "not f");
	add_map(&new, 0x200, 16, "g");
	add_map(&new, 0x400, 16, "i");
	map_store_pack(list_of(&old), list_of(&new), &w);
	CHECK(map_store_unpack_all(writer_bytes(&w), 0, &out.strings, &out.maps));
	CHECK_EQ(out.maps.n, 5);
	const char *const names[] = { "e", "f", "g", "h", "i" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK_STR(intern_text(&out.strings, out.maps.at[i].name), names[i]);
	writer_done(&w);
	finish(&old);
	finish(&new);
	finish(&out);
}

TEST(map_store_ignores_a_truncated_entry)
{
	struct fixture in, out;
	struct writer w = { 0 };

	start(&in);
	add_map(&in, 0x100, 16, "f");
	map_store_pack(list_of(&in), (struct map_list){ 0 }, &w);
	for (size_t len = 0; len < w.len; len++) {
		start(&out);
		CHECK(!map_store_unpack_all((struct bytes){ w.at, len }, 0, &out.strings, &out.maps));
		CHECK_EQ(out.maps.n, 0);
		finish(&out);
	}
	writer_done(&w);
	finish(&in);
}

TEST(map_store_keys_differ_by_identity_and_demangling)
{
	struct store_key a = map_store_key(1, true), b = map_store_key(2, true), c = map_store_key(1, false);

	CHECK(a.id[0] != b.id[0] || a.id[1] != b.id[1]);
	CHECK(a.id[0] != c.id[0] || a.id[1] != c.id[1]);
}

TEST(map_entry_is_queried_in_place)
{
	struct fixture in;
	struct writer w = { 0 };
	struct map_entry entry;
	struct function_map view;
	struct location chain[4];

	start(&in);
	add_map(&in, 0x100, 16, "f");
	add_map(&in, 0x200, 16, "g");
	map_store_pack(list_of(&in), (struct map_list){ 0 }, &w);
	CHECK(map_entry_open(writer_bytes(&w), &entry));
	CHECK(!map_entry_find(&entry, 0xff));
	CHECK(!map_entry_find(&entry, 0x110));
	const struct stored_map *g = map_entry_find(&entry, 0x205);
	CHECK(g && map_entry_view(&entry, g, &view));
	CHECK_EQ(function_map_locate(&view, 5, chain, ARRAY_LEN(chain)), 2);
	CHECK_STR(map_entry_text(&entry, chain[0].function), "in");
	CHECK_STR(map_entry_text(&entry, chain[0].file), "b.h");
	CHECK_STR(map_entry_text(&entry, chain[1].function), "g");
	CHECK_EQ(chain[1].line, 8);
	CHECK_STR(map_entry_text(&entry, entry.header.n_strings), "");
	writer_done(&w);
	finish(&in);
}

/* A number of the one stored map, changed. */
static bool views_with(size_t offset, uint32_t value)
{
	struct fixture in;
	struct writer w = { 0 };
	struct map_entry entry;
	struct function_map view;

	start(&in);
	add_map(&in, 0x100, 16, "f");
	map_store_pack(list_of(&in), (struct map_list){ 0 }, &w);
	memcpy(w.at + sizeof(struct stored_header) + offset, &value, sizeof(value));
	bool is_there =
		map_entry_open(writer_bytes(&w), &entry) && map_entry_view(&entry, &entry.maps[0], &view);
	writer_done(&w);
	finish(&in);
	return is_there;
}

TEST(map_entry_gives_no_view_of_data_outside_the_entry)
{
	CHECK(views_with(offsetof(struct stored_map, n_lines), 2));
	CHECK(!views_with(offsetof(struct stored_map, n_lines), 3));
	CHECK(!views_with(offsetof(struct stored_map, first_line), 1));
	CHECK(!views_with(offsetof(struct stored_map, first_line), UINT32_MAX));
	CHECK(!views_with(offsetof(struct stored_map, n_inlines), UINT32_MAX));
	CHECK(!views_with(offsetof(struct stored_map, first_range), 1));
}

TEST(map_entry_refuses_unterminated_text)
{
	struct fixture in;
	struct writer w = { 0 };
	struct map_entry entry;

	start(&in);
	add_map(&in, 0x100, 16, "f");
	map_store_pack(list_of(&in), (struct map_list){ 0 }, &w);
	w.at[w.len - 1] = 'x';
	CHECK(!map_entry_open(writer_bytes(&w), &entry));
	writer_done(&w);
	finish(&in);
}
