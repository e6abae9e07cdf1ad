/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: the long names of a profile, shortened so that no two of them look the same.
 *
 * A name alone is shortened by report/shorten.h. Instances of one template then become one text, so of these
 * the words are kept in which they differ:
 *
 *     sum<std::vector<int, std::allocator<int> > >(std::vector<int, std::allocator<int> > const&)
 *     sum<std::vector<long, std::allocator<long> > >(std::vector<long, std::allocator<long> > const&)
 *     sum<...int...>(...)
 *     sum<...long...>(...)
 *
 * Only for display: nothing that a program reads is shortened.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"

struct names;
/* Looks at the profile only when a name is too long. */
struct names *names_new(const struct profile *profile);
void names_free(struct names *names);

/* Adds the name, shortened as little as it takes to fit into so many columns; longer if it cannot be shorter
 * without looking like another. names may be NULL: then like name_shorten. */
void names_shorten(struct names *names, const char *name, size_t columns, struct text *ret);
/* The same, but never longer: what is still too long loses its middle. */
void names_fit(struct names *names, const char *name, size_t columns, struct text *ret);
