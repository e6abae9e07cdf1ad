/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

#define MAX_DEPTH 3 /* levels of template arguments that are kept: two, one, none */

/* The length of "operator" with a sign that is not a bracket: operator<<, operator->, operator(). Otherwise
 * 0. */
static size_t operator_at(const char *name, size_t at)
{
	static const char word[] = "operator";
	static const char *const signs[] = { "()", "<=>", "<<=", ">>=", "->*", "<<",
					     ">>", "<=",  ">=",  "->",  "<",   ">" };
	size_t len = sizeof(word) - 1;

	if (strncmp(name + at, word, len) != 0 ||
	    (at && (isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_')))
		return 0;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strncmp(name + at + len, signs[i], strlen(signs[i])) == 0)
			return len + strlen(signs[i]);
	return 0;
}

static bool closes(const char *name, size_t at)
{
	return name[at] == '>' && (at == 0 || name[at - 1] != '-');
}

/* Template arguments deeper than `keep` become "...". False if the brackets do not match. */
static bool drop_templates(const char *name, unsigned keep, struct text *ret)
{
	unsigned depth = 0;

	for (size_t at = 0; name[at]; at++) {
		size_t sign = operator_at(name, at);
		if (sign) {
			if (depth <= keep)
				text_add(ret, name + at, sign);
			at += sign - 1;
			continue;
		}
		if (closes(name, at) && depth-- == 0)
			return false;
		if (depth <= keep)
			text_add(ret, name + at, 1);
		if (name[at] == '<' && depth++ == keep)
			text_printf(ret, "...");
	}
	return depth == 0;
}

/* Is this the bracket of a function's parameters, not that of "(anonymous namespace)"? */
static bool opens_parameters(const char *name, size_t at)
{
	return name[at] == '(' && name[at + 1] != ')' && strncmp(name + at, "(anonymous", 10) != 0;
}

static bool drop_parameters(const char *name, struct text *ret)
{
	unsigned depth = 0;

	for (size_t at = 0; name[at]; at++) {
		size_t sign = depth ? 0 : operator_at(name, at);
		if (sign) {
			text_add(ret, name + at, sign);
			at += sign - 1;
			continue;
		}
		if (depth && name[at] == ')')
			depth--;
		if (depth == 0)
			text_add(ret, name + at, 1);
		if (depth ? name[at] == '(' : opens_parameters(name, at)) {
			if (depth++ == 0)
				text_printf(ret, "...");
		}
	}
	return depth == 0;
}

/* Replaces the standard string and stream types by their usual names. */
static void use_nicknames(const char *name, struct text *ret)
{
	static const struct {
		const char *name, *nickname;
	} known[] = {
		{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		  "std::string" },
		{ "std::basic_string_view<char, std::char_traits<char> >", "std::string_view" },
		{ "std::basic_ostream<char, std::char_traits<char> >", "std::ostream" },
		{ "std::basic_istream<char, std::char_traits<char> >", "std::istream" },
	};

	while (*name) {
		size_t i = 0;
		while (i < sizeof(known) / sizeof(*known) &&
		       strncmp(name, known[i].name, strlen(known[i].name)) != 0)
			i++;
		if (i < sizeof(known) / sizeof(*known)) {
			text_printf(ret, "%s", known[i].nickname);
			name += strlen(known[i].name);
		} else {
			text_add(ret, name++, 1);
		}
	}
}

void name_shorten(const char *name, size_t columns, struct text *ret)
{
	CLEANUP(text_done) struct text best = { 0 };

	if (strlen(name) <= columns) {
		text_add(ret, name, strlen(name));
		return;
	}
	use_nicknames(name, &best);
	for (unsigned keep = MAX_DEPTH; best.len > columns && keep-- > 0;) {
		CLEANUP(text_done) struct text tried = { 0 };
		if (!drop_templates(best.at, keep, &tried))
			break;
		text_clear(&best);
		text_add(&best, tried.at, tried.len);
	}
	if (best.len > columns) {
		CLEANUP(text_done) struct text tried = { 0 };
		bool is_good = drop_parameters(best.at, &tried);
		if (is_good) {
			text_clear(&best);
			text_add(&best, tried.at, tried.len);
		}
	}
	text_add(ret, best.at, best.len);
}

/* ---- the shortest form, and what it leaves out ---------------------------------------------------- */

struct taker {
	const char *name;
	struct name_parts *to;
	unsigned depth;
	size_t start; /* of the slot that is open */
};

static void taker_open(struct taker *t, size_t at)
{
	if (t->depth++ == 0)
		t->start = at + 1;
}

static void taker_close(struct taker *t, size_t at)
{
	if (--t->depth == 0)
		vec_push(&t->to->slots,
			 (struct name_slot){ t->name + t->start, at - t->start, t->to->text.len });
}

/* False if the brackets do not match. */
static bool taker_run(struct taker *t)
{
	for (size_t at = 0; t->name[at]; at++) {
		char c = t->name[at];
		size_t sign = operator_at(t->name, at);
		if (sign) {
			if (t->depth == 0)
				text_add(&t->to->text, t->name + at, sign);
			at += sign - 1;
			continue;
		}
		bool is_end = closes(t->name, at);
		if (is_end && t->depth == 0)
			return false;
		if (is_end || (c == ')' && t->depth))
			taker_close(t, at);
		if (t->depth == 0)
			text_add(&t->to->text, &c, 1);
		if (c == '<' || (c == '(' && (t->depth || opens_parameters(t->name, at))))
			taker_open(t, at);
	}
	return t->depth == 0;
}

void name_take_apart(const char *name, struct name_parts *ret)
{
	*ret = (struct name_parts){ 0 };
	use_nicknames(name, &ret->name);
	struct taker taker = { .name = ret->name.at, .to = ret };
	if (!ret->name.len || taker_run(&taker))
		return;
	vec_clear(&ret->slots);
	text_clear(&ret->text);
	text_add(&ret->text, ret->name.at, ret->name.len);
}

void name_parts_done(struct name_parts *parts)
{
	text_done(&parts->name);
	text_done(&parts->text);
	vec_done(&parts->slots);
}
