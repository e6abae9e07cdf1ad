/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names.h"
#include "tests/test.h"

#define VECTOR(type) "std::vector<" type ", std::allocator<" type "> >"

static void add_function(struct profile *p, const char *name)
{
	vec_push(&p->functions, (struct function_map){ .vaddr = 16 * p->functions.n,
						       .size = 16,
						       .name = intern_add(&p->strings, name) });
}

static void check_shown(struct names *names, const char *name, size_t columns, const char *want)
{
	struct text text = { 0 };

	names_shorten(names, name, columns, &text);
	CHECK_STR(text.at, want);
	text_done(&text);
}

TEST(names_keep_the_words_in_which_they_differ)
{
	struct profile *p = profile_new();
	const char *less = "Ranker<" VECTOR("int") ", std::less<int> >::rank(" VECTOR("int") " const&)";
	const char *greater = "Ranker<" VECTOR("int") ", std::greater<int> >::rank(" VECTOR("int") " const&)";
	const char *longs = "Ranker<" VECTOR("long") ", std::less<long> >::rank(" VECTOR("long") " const&)";

	add_function(p, less);
	add_function(p, greater);
	add_function(p, longs);
	add_function(p, "lonely<" VECTOR("int") ">(int, int, int, int, int)");
	struct names *names = names_new(p);
	check_shown(names, less, 60, "Ranker<...int... std::less...>::rank(...)");
	check_shown(names, greater, 60, "Ranker<...int... std::greater...>::rank(...)");
	check_shown(names, longs, 60, "Ranker<...long...>::rank(...)");
	check_shown(names, "lonely<" VECTOR("int") ">(int, int, int, int, int)", 20, "lonely<...>(...)");
	check_shown(names, less, 200, less);
	struct text narrow = { 0 };
	names_fit(names, less, 36, &narrow);
	CHECK_STR(narrow.at, "Ranker<...int... std::less...>::rank");
	text_done(&narrow);
	names_free(names);
	profile_free(p);
}

TEST(names_without_room_for_their_difference_are_numbered)
{
	struct profile *p = profile_new();
	const char *a = "function_with_a_name<a_first_argument_that_is_long_itself>(int)";
	const char *b = "function_with_a_name<another_argument_that_is_long_itself>(int)";

	add_function(p, a);
	add_function(p, b);
	struct names *names = names_new(p);
	check_shown(names, a, 30, "function_with_a_name<...>(int) #1");
	check_shown(names, b, 30, "function_with_a_name<...>(int) #2");
	names_free(names);
	profile_free(p);
}

TEST(names_that_are_too_long_lose_their_middle)
{
	struct text text = { 0 };

	names_fit(NULL, "a_name_without_any_bracket_that_is_too_long_one", 26, &text);
	CHECK_STR(text.at, "a_name_with...too_long_one");
	CHECK_EQ(text.len, 26);
	text_clear(&text);
	names_fit(NULL, "ääääääääääääääääääääääääääääää", 25, &text); /* 60 bytes: no half characters */
	CHECK_STR(text.at, "äääää...äääää");
	text_done(&text);
}

TEST(names_with_unbalanced_brackets_do_no_harm)
{
	struct profile *p = profile_new();

	add_function(p, "a<b<c(((((((((((((((((((((((((((((((((((((((((((((((");
	add_function(p, "a>b>c>(((((((((((((((((((((((((((((((((((((((((((((((");
	add_function(p, "operator<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<");
	struct names *names = names_new(p);
	for (size_t i = 0; i < p->functions.n; i++) {
		struct text text = { 0 };
		names_shorten(names, intern_text(&p->strings, p->functions.at[i].name), 10, &text);
		CHECK(text.len > 0);
		text_done(&text);
	}
	names_free(names);
	profile_free(p);
}
