/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten: names of templates for people to read. What a name is of stays, what it was made with goes:
 *
 *     std::_Rb_tree<int, std::pair<int const, long>, ...>::_M_erase(std::_Rb_tree_node<...>*)
 *     std::_Rb_tree<...>::_M_erase(...)
 *
 * Only for display: nothing that a program reads is shortened.
 */
#pragma once

#include <stddef.h>

#include "base/text.h"

#define SHORTEN_COLUMNS 100 /* if the width of the page is unknown */

/*
 * Adds the name, shortened as little as it takes to fit into so many columns, or as far as it can be: inner
 * template arguments first, then all of them, then those of the function. A name whose brackets do not match
 * stays as it is.
 */
void name_shorten(const char *name, size_t columns, struct text *ret);
