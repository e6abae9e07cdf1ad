/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/source_map.h"

#include "tests/test.h"

static void check_mapped(const struct source_map *rules, size_t n, const char *from, const char *to)
{
	struct intern strings;
	function_maps maps = { 0 };
	struct function_map map = { 0 };

	intern_init(&strings);
	map.decl_file = intern_add(&strings, from);
	vec_push(&map.lines, (struct line_row){ .file = map.decl_file });
	vec_push(&map.inlines,
		 (struct inline_call){ .decl_file = map.decl_file, .call_file = map.decl_file });
	vec_push(&maps, map);
	source_map_apply(rules, n, &strings, &maps, 0);
	CHECK_STR(intern_text(&strings, maps.at[0].decl_file), to);
	CHECK_STR(intern_text(&strings, maps.at[0].lines.at[0].file), to);
	CHECK_STR(intern_text(&strings, maps.at[0].inlines.at[0].decl_file), to);
	CHECK_STR(intern_text(&strings, maps.at[0].inlines.at[0].call_file), to);
	function_maps_done(&maps);
	intern_done(&strings);
}

TEST(source_map_replaces_whole_components)
{
	const struct source_map rules[] = { { "/build/src", "/usr/src" } };

	check_mapped(rules, 1, "/build/src/a.c", "/usr/src/a.c");
	check_mapped(rules, 1, "/build/src2/a.c", "/build/src2/a.c");
	check_mapped(rules, 1, "/build/src", "/usr/src");
	check_mapped(rules, 1, "a.c", "a.c");
}

TEST(source_map_uses_the_first_matching_rule)
{
	const struct source_map rules[] = { { "/build/a/", "/x" }, { "/build", "/y" } };

	check_mapped(rules, 2, "/build/a/f.c", "/x/f.c");
	check_mapped(rules, 2, "/build/b/f.c", "/y/b/f.c");
}
