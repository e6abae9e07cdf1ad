/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten: shortens names of templates for display. The names are kept, template arguments are removed:
 *
 *     std::_Rb_tree<int, std::pair<int const, long>, ...>::_M_erase(std::_Rb_tree_node<...>*)
 *     std::_Rb_tree<...>::_M_erase(...)
 *
 * Only for display: nothing that a program reads is shortened.
 */
#pragma once

#include <stddef.h>

#include "base/text.h"
#include "base/vec.h"

#define SHORTEN_COLUMNS 100 /* if the width of the page is unknown */

/*
 * Adds the name, shortened only as far as necessary to fit into that many columns, or as far as possible:
 * inner template arguments first, then all of them, then those of the function. A name with unbalanced
 * brackets is not changed.
 */
void name_shorten(const char *name, size_t columns, struct text *ret);

/* What the shortest form of a name omits at one place: template arguments or parameters. */
struct name_slot {
	const char *at;
	size_t len, place; /* place: its position in the text */
};

/* The shortest form, without the dots, and what was omitted. */
struct name_parts {
	struct text name, text;
	VEC(struct name_slot) slots;
};

/* A name with unbalanced brackets has no slots. name_parts_done it. */
void name_take_apart(const char *name, struct name_parts *ret);
void name_parts_done(struct name_parts *parts);
