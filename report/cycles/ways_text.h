/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways_text: counted execution paths through a function, printed below its source.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "report/cycles/counts.h"
#include "report/style.h"

struct ways_show {
	const struct profile *profile;
	const struct function_map *map;
	const struct cycles_counts *counts;
	const char *counts_path;
	bool all; /* including rare ones */
	struct style style;
};

void ways_text(const struct ways_show *show, struct text *ret);
