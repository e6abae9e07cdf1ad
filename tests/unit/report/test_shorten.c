/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shorten.h"

#include "tests/test.h"

static void check_short(const char *name, size_t columns, const char *expected)
{
	struct text text = { 0 };

	name_shorten(name, columns, &text);
	CHECK_STR(text.at ? text.at : "", expected);
	text_done(&text);
}

TEST(shorten_leaves_a_name_that_fits)
{
	check_short("f<int>(long)", 12, "f<int>(long)");
	check_short("", 0, "");
}

TEST(shorten_drops_inner_template_arguments_first)
{
	const char *name = "a<b<c<d<int> > > >::f(e<int>)";

	check_short(name, 28, "a<b<c<...> > >::f(e<int>)");
	check_short(name, 24, "a<b<...> >::f(e<int>)");
	check_short(name, 18, "a<...>::f(e<...>)");
	check_short(name, 15, "a<...>::f(...)");
	check_short(name, 2, "a<...>::f(...)"); /* cannot be shortened further */
}

TEST(shorten_keeps_what_follows_the_parameters)
{
	check_short("n::s<int, long>::get(unsigned long, char) const", 10, "n::s<...>::get(...) const");
	check_short("n::s<int, long>::get() const [.cold]", 10, "n::s<...>::get() const [.cold]");
	check_short("(anonymous namespace)::work(int, int, int)", 10, "(anonymous namespace)::work(...)");
}

TEST(shorten_distinguishes_operators_and_brackets)
{
	check_short("std::ostream& operator<< <int>(std::ostream&, vec<int> const&)", 10,
		    "std::ostream& operator<< <...>(...)");
	check_short("p<int>::operator->() const", 10, "p<...>::operator->() const");
	check_short("bool operator< <int, long>(int, long)", 10, "bool operator< <...>(...)");
	check_short("v<int> operator-<int>(v<int>, v<int>)", 10, "v<...> operator-<...>(...)");
	check_short("c<int>::operator()(int, long) const", 10, "c<...>::operator()(...) const");
	check_short("s<&t::operator<=>, 3>::cooperator<int>(x)", 10, "s<...>::cooperator<...>(...)");
}

TEST(shorten_replaces_basic_string_by_string)
{
	check_short(
		"f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
		40, "f(std::string const&)");
}

TEST(shorten_leaves_a_name_with_unbalanced_brackets)
{
	check_short("a>b>c>", 2, "a>b>c>");
	check_short("a<b<c", 2, "a<b<c");
	check_short("f(a(b", 2, "f(a(b");
	check_short("x->y->z", 2, "x->y->z");
}
