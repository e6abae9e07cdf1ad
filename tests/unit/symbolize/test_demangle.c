/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/demangle.h"

#include "tests/test.h"

static void check_name(const char *linkage, const char *readable)
{
	struct text text = { 0 };

	CHECK(demangle(linkage, &text));
	CHECK_STR(text.at, readable);
	text_done(&text);
}

TEST(demangle_reads_cpp)
{
	check_name("_ZNK6shapes6circle4areaEv", "shapes::circle::area() const");
	check_name("_ZNSt6vectorIiSaIiEE9push_backEOi",
		   "std::vector<int, std::allocator<int> >::push_back(int&&)");
}

TEST(demangle_reads_both_kinds_of_rust)
{
	check_name("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_name("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place");
}

TEST(demangle_reads_d)
{
	check_name("_D3std5stdio12__ModuleInfoZ", "ModuleInfo for std.stdio");
	check_name("_D8demangle4testFaZv", "demangle.test(char)");
}

TEST(demangle_reads_procedures_of_fortran_modules)
{
	check_name("__solver_MOD_step", "solver::step");
	check_name("__solver_2d_MOD_step._omp_fn.1", "solver_2d::step._omp_fn.1");
}

TEST(demangle_leaves_other_names_alone)
{
	struct text text = { 0 };

	CHECK(!demangle("__MOD_step", &text));
	CHECK(!demangle("__solver_MOD_", &text));
	CHECK(!demangle("__SOLVER_MOD_step", &text));
	CHECK(!demangle("solver_MOD_step", &text));
	CHECK(!demangle("main", &text));
	CHECK(!demangle("_Zebra", &text));
	CHECK(!demangle("", &text));
	CHECK(!demangle("_", &text));
	CHECK_EQ(text.len, 0);
	text_done(&text);
}

TEST(demangle_appends_or_leaves_the_text_unchanged)
{
	struct text text = { 0 };

	text_add(&text, "in ", 3);
	CHECK(demangle("_Z3foov", &text));
	CHECK_STR(text.at, "in foo()");
	CHECK(!demangle("_Z3", &text));
	CHECK_STR(text.at, "in foo()");
	text_done(&text);
}

/* f(a<int>, a<that, that>, a<that, that>, ...): each parameter is twice as long as the one before. */
static void write_doubling_name(struct text *name, int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	text_printf(name, "_Z1f1aIiE");
	for (int i = 0; i < n; i++)
		text_printf(name, "S_IS%c_S%c_E", digits[i], digits[i]);
}

TEST(demangle_gives_up_on_a_name_that_expands_without_limit)
{
	struct text name = { 0 }, text = { 0 };

	write_doubling_name(&name, 3);
	check_name(name.at, "f(a<int>, a<a<int>, a<int> >, a<a<a<int>, a<int> >, a<a<int>, a<int> > >, "
			    "a<a<a<a<int>, a<int> >, a<a<int>, a<int> > >, a<a<a<int>, a<int> >, a<a<int>, "
			    "a<int> > > >)");
	text_clear(&name);
	write_doubling_name(&name, 36);
	CHECK(!demangle(name.at, &text));
	CHECK_EQ(text.len, 0);
	text_done(&name);
	text_done(&text);
}

/* A reference to the number-th part of a name: S_, S0_, S1_, ... S9_, SA_, ... */
static void write_reference(struct text *name, int number)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	text_printf(name, "S");
	if (number > 36)
		text_printf(name, "%c", digits[(number - 1) / 36]);
	if (number > 0)
		text_printf(name, "%c", digits[(number - 1) % 36]);
	text_printf(name, "_");
}

/* f(int (*...)(int*)..., ...): each function returns the one before and has it as parameter, so there are
 * twice as many ways down to the first one; then all that is expanded as a pack, which it does not contain.
 */
static void write_pack_name(struct text *name, int n)
{
	text_printf(name, "_Z1fDp");
	for (int i = 0; i < n; i++)
		text_printf(name, "Fv");
	text_printf(name, "Pi");
	for (int i = 0; i < n; i++) {
		write_reference(name, i);
		text_printf(name, "E");
	}
}

TEST(demangle_gives_up_on_a_pack_that_is_not_found_in_reasonable_time)
{
	struct text name = { 0 }, text = { 0 };

	write_pack_name(&name, 3);
	CHECK(demangle(name.at, &text));
	text_clear(&name);
	text_clear(&text);
	write_pack_name(&name, 100);
	CHECK(!demangle(name.at, &text));
	CHECK_EQ(text.len, 0);
	check_name("_Z3addIJidcEEvDpT_", "void add<int, double, char>(int, double, char)");
	check_name("_Z1gIJidEEDTspfp_EDpT_", "decltype ({parm#1}...) g<int, double>(int, double)");
	text_done(&name);
	text_done(&text);
}

/* As of expression templates. */
TEST(demangle_reads_names_of_thousands_of_characters)
{
	struct text name = { 0 }, text = { 0 }, wanted = { 0 };
	const int n = 900;

	text_printf(&name, "_Z1f");
	text_printf(&wanted, "f(");
	for (int i = 0; i < n; i++) {
		text_printf(&name, "3Sum");
		text_printf(&name, "IiiE");
		text_printf(&wanted, "%sSum<int, int>", i ? ", " : "");
	}
	text_printf(&wanted, ")");
	CHECK(name.len > 7000);
	CHECK(demangle(name.at, &text));
	CHECK_STR(text.at, wanted.at);
	for (int i = 0; i < n; i++)
		text_printf(&name, "3SumIiiE");
	text_clear(&text);
	CHECK(!demangle(name.at, &text));
	text_done(&name);
	text_done(&text);
	text_done(&wanted);
}

/* Arrays of arrays, each key being the array inside it: every reference doubles the text. */
TEST(demangle_leaves_d_names_alone_that_expand_without_limit)
{
	struct text name = { 0 }, readable = { 0 };
	const int n = 18;

	text_printf(&name, "_D1a");
	for (int i = 0; i < n; i++)
		text_printf(&name, "H");
	size_t inner = name.len;
	text_printf(&name, "C9ninechars");
	for (int i = 0; i < n; i++) {
		size_t back = name.len - (i == 0 ? inner : inner - (size_t)i);
		text_printf(&name, "Q");
		if (back >= 26)
			text_printf(&name, "%c", 'A' + (int)(back / 26));
		text_printf(&name, "%c", 'a' + (int)(back % 26));
	}
	CHECK(!demangle(name.at, &readable));
	text_done(&name);
	text_done(&readable);
}

/* Any number of references that do not nest is accepted. */
TEST(demangle_reads_d_names_of_many_references)
{
	struct text name = { 0 }, readable = { 0 };

	text_printf(&name, "_D1a1fFS3one3two");
	for (size_t i = 0, at = strlen("_D1a1fF"); i < 60; i++) {
		size_t back = name.len - at;
		text_printf(&name, "Q");
		if (back >= 26)
			text_printf(&name, "%c", 'A' + (int)(back / 26));
		text_printf(&name, "%c", 'a' + (int)(back % 26));
	}
	text_printf(&name, "Zv");
	CHECK(demangle(name.at, &readable));
	CHECK(strncmp(readable.at, "a.f(one.two, one.two, one.two", 29) == 0);
	text_done(&name);
	text_done(&readable);
}
