/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_range: which lines of its source are shown with a function. What it costs to find them depends on
 * how many they are: the numbers in a profile may be far apart.
 */
#pragma once

#include "report/annotate/annotate.h"

struct source_range {
	uint64_t first, last; /* of the function: line numbers */
	VEC(uint32_t) shown;  /* those in between that are shown, in order */
};

/*
 * Lines near one that has costs of that metric, and the declaration. all: every line, but of a source that is
 * not known (it has n_source lines) not more than a million of those without costs.
 */
void source_range_find(const struct annotation *annotation, uint32_t metric, bool all, size_t n_source,
		       struct source_range *ret);
void source_range_done(struct source_range *range);
