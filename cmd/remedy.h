/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy: suggests how to get missing symbols: a package, a debuginfod server, a setting.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "report/tree/costs.h"

/* One sentence, or nothing if little of the cost is in code without names. file: the profile, as typed. */
void remedy_find(const struct profile *profile, const struct scope_tree *tree, const struct costs *costs,
		 uint32_t metric, const char *file, struct text *ret);
