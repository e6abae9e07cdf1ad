/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and contexts that are matched between two builds.
 */
#include "base/bytes.h"
#include "report/diff/modules.h"
#include "report/diff/order.h"
#include "report/diff/positions.h"
#include "report/diff/sites.h"
#include "report/diff/stem.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

static const char *cut(const char *name, size_t len)
{
	static char text[256];

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	return text;
}

TEST(parts_and_clones_have_the_stem_of_their_function)
{
	static const char *const names[][2] = {
		{ "parse", "parse" },
		{ "parse.cold", "parse" },
		{ "parse.cold.7", "parse" },
		{ "parse.part.0", "parse" },
		{ "parse.isra.0.constprop.1", "parse" },
		{ "parse.constprop.0.isra.0.cold", "parse" },
		{ "parse.llvm.1234567", "parse" },
		{ "parse(int) [clone .cold]", "parse(int)" },
		{ "main.main.func1", "main.main.func1" },
		{ "a.b", "a.b" },
		{ ".cold", ".cold" },
		{ "", "" },
		{ "core::fmt::write::h0123456789abcdef", "core::fmt::write" },
		{ "core::fmt::write::hello", "core::fmt::write::hello" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK_STR(cut(names[i][0], stem_function(names[i][0])), names[i][1]);
}

TEST(arguments_are_in_the_last_parentheses)
{
	static const char *const names[][2] = {
		{ "parse(int, char const*)", "parse" },
		{ "ns::f<int>::operator()(int) const", "ns::f<int>::operator()" },
		{ "f(void (*)(int))", "f" },
		{ "plain", "plain" },
		{ "(anonymous)", "(anonymous)" },
		{ "odd)", "odd)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK_STR(cut(names[i][0], stem_arguments(names[i][0])), names[i][1]);
}

TEST(versions_are_removed_from_module_names)
{
	static const char *const names[][2] = {
		{ "libz.so.1.2.13", "libz" },
		{ "libz.so", "libz" },
		{ "libc-2.31.so", "libc" },
		{ "python3.11", "python" },
		{ "prog", "prog" },
		{ "x264", "x" },
		{ "lib64", "lib" },
		{ "7z", "7z" },
		{ "libsolve.social", "libsolve.social" },
		{ "123", "123" },
		{ "tool_v1.", "tool_v1." },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK_STR(cut(names[i][0], stem_module(names[i][0])), names[i][1]);
}

/* ---- order ---------------------------------------------------------------------------------------- */

static void check_order(const struct order_place *known, size_t n, const struct order_place *ours, size_t m,
			const uint32_t *want)
{
	uint32_t got[16];

	order_match(known, n, ours, m, got);
	for (size_t i = 0; i < m; i++)
		CHECK_EQ(got[i], want[i]);
}

TEST(entries_at_the_same_position_match)
{
	const struct order_place known[] = { { 30, ORDER_NONE }, { 10, ORDER_NONE }, { 20, ORDER_NONE } };
	const struct order_place ours[] = { { 20, ORDER_NONE }, { 30, ORDER_NONE } };

	check_order(known, 3, ours, 2, (const uint32_t[]){ 2, 0 });
}

TEST(the_same_number_of_entries_matches_in_order)
{
	const struct order_place known[] = { { 10, ORDER_NONE }, { 20, ORDER_NONE }, { 30, ORDER_NONE } };
	const struct order_place ours[] = { { 31, ORDER_NONE }, { 11, ORDER_NONE }, { 30, ORDER_NONE } };

	check_order(known, 3, ours, 3, (const uint32_t[]){ 2, 0, 1 });
}

TEST(an_inserted_entry_does_not_change_the_other_matches)
{
	const struct order_place known[] = { { 10, 40 }, { 30, 20 } };
	const struct order_place ours[] = { { 10, 45 }, { 20, 35 }, { 35, 20 } };

	check_order(known, 2, ours, 3, (const uint32_t[]){ 0, ORDER_NONE, 1 });
}

TEST(a_loop_that_begins_a_few_lines_later_matches)
{
	const struct order_place known[] = { { 85, 8450 }, { 400, 8135 } };
	const struct order_place ours[] = { { 88, 8447 } };

	check_order(known, 2, ours, 1, (const uint32_t[]){ 0 });
}

TEST(empty_lists_have_no_matches)
{
	const struct order_place one[] = { { 1, ORDER_NONE } };

	check_order(NULL, 0, one, 1, (const uint32_t[]){ ORDER_NONE });
	check_order(one, 1, NULL, 0, NULL);
}

TEST(calls_keep_their_number_from_build_to_build)
{
	struct sites *sites = sites_new();
	const struct site before[] = { { 1, 2, 0, { 10, ORDER_NONE } }, { 1, 2, 0, { 20, ORDER_NONE } } };
	const struct site after[] = { { 1, 2, 1, { 22, ORDER_NONE } }, { 1, 2, 1, { 12, ORDER_NONE } } };
	const struct site later[] = { { 1, 2, 1, { 22, ORDER_NONE } }, { 1, 3, 1, { 22, ORDER_NONE } } };
	uint32_t a[2], b[2], c[2];

	sites_add(sites, before, 2, a);
	sites_add(sites, after, 2, b);
	sites_add(sites, later, 2, c);
	CHECK(a[0] != a[1]);
	CHECK_EQ(b[0], a[1]);
	CHECK_EQ(b[1], a[0]);
	CHECK_EQ(c[0], a[1]);
	CHECK_EQ(c[1], 1);
	sites_free(sites);
}

/* ---- functions without names ---------------------------------------------------------------------- */

TEST(functions_of_the_same_size_in_the_same_order_match)
{
	const uint64_t left[] = { 16, 64, 32, 128 }, right[] = { 16, 48, 64, 128 };
	uint32_t pairs[4];

	positions_align(left, 4, right, 4, pairs);
	CHECK_EQ(pairs[0], 0);
	CHECK_EQ(pairs[1], 2);
	CHECK_EQ(pairs[2], UINT32_MAX);
	CHECK_EQ(pairs[3], 3);
}

TEST(a_function_that_grew_is_matched_by_its_neighbours)
{
	const uint64_t left[] = { 16, 64, 128 }, right[] = { 16, 80, 128 };
	uint32_t pairs[3];

	positions_align(left, 3, right, 3, pairs);
	CHECK_EQ(pairs[1], 1);
}

/* ---- modules -------------------------------------------------------------------------------------- */

static struct profile *profile_with_images(const char *const *paths, const uint8_t *ids, size_t n)
{
	struct profile *profile = profile_new();

	for (size_t i = 0; i < n; i++) {
		struct profile_image image = { .path = intern_add(&profile->strings, paths[i]) };
		image.build_id = (struct build_id){ .len = ids[i] ? 1 : 0, .bytes = { ids[i] } };
		vec_push(&profile->images, image);
	}
	return profile;
}

TEST(modules_are_found_by_build_id_then_path_then_name_then_stem)
{
	OWNED struct profile *names = profile_new();
	OWNED struct profile *before =
		profile_with_images((const char *const[]){ "/a/prog", "/lib/libz.so.1.2", "/x/plug.so",
							   "/y/plug.so", "/only/here" },
				    (const uint8_t[]){ 1, 2, 3, 4, 5 }, 5);
	OWNED struct profile *after =
		profile_with_images((const char *const[]){ "/y/plug.so", "/b/prog", "/moved/x.so",
							   "/lib/libz.so.1.3", "/z/plug.so" },
				    (const uint8_t[]){ 14, 11, 3, 12, 15 }, 5);
	struct module_place a[5], b[5];
	struct modules modules;

	modules_init(&modules, names);
	modules_add(&modules, before, NULL, a);
	modules_add(&modules, after, NULL, b);
	CHECK_EQ(b[0].module, a[3].module); /* by path */
	CHECK_EQ(b[1].module, a[0].module); /* by name */
	CHECK_EQ(b[2].module, a[2].module); /* by build-id, although the path differs */
	CHECK_EQ(b[3].module, a[1].module); /* by name without the version */
	CHECK_EQ(b[4].module, 5);           /* all others with its name are already matched */
	CHECK_EQ(b[2].build, a[2].build);
	CHECK(b[0].build != a[3].build);
	modules_done(&modules);
}

TEST(renamed_modules_are_found)
{
	char *const rules[] = { (char[]){ "old=new" } };
	const struct renames renames = { rules, 1 };
	OWNED struct profile *names = profile_new();
	OWNED struct profile *after =
		profile_with_images((const char *const[]){ "/p/new" }, (const uint8_t[]){ 1 }, 1);
	OWNED struct profile *before =
		profile_with_images((const char *const[]){ "/p/old" }, (const uint8_t[]){ 2 }, 1);
	struct module_place a, b;
	struct modules modules;

	modules_init(&modules, names);
	modules_add(&modules, after, NULL, &b);
	modules_add(&modules, before, &renames, &a);
	CHECK_EQ(a.module, b.module);
	modules_done(&modules);
}
