/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: the long names of a profile, shortened so that no two of them look the same.
 *
 * A single name is shortened by report/shorten.h. Instances of one template would then look the same, so the
 * words in which they differ are kept:
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
/* Reads the profile only when a name is too long. */
struct names *names_new(const struct profile *profile);
void names_free(struct names *names);

/* Adds the name, shortened only as far as necessary to fit into that many columns; longer if it would
 * otherwise look like another name. names may be NULL: then like name_shorten. */
void names_shorten(struct names *names, const char *name, size_t columns, struct text *ret);
/* The same, but never longer: the middle of a name that is still too long is removed. */
void names_fit(struct names *names, const char *name, size_t columns, struct text *ret);
