/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy: suggests how to get missing symbols: a package, a debuginfod server, a setting.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "report/tree/costs.h"

/* Which files Debian packages consist of; read by remedy_find. */
#define REMEDY_PACKAGES "/var/lib/dpkg/info"

/* One sentence, or nothing if little of the cost is in code without names. file: the profile, as typed. */
void remedy_find(const struct profile *profile, const struct scope_tree *tree, const struct costs *costs,
		 uint32_t metric, const char *file, struct text *ret);
