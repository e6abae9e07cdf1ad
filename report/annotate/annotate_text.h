/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_text: an annotated function as text: its source with costs at the left and loops in the margin,
 * then its instructions, if requested.
 */
#pragma once

#include "report/annotate/annotate.h"
#include "report/annotate/source_text.h"
#include "report/style.h"

struct annotate_text_options {
	const uint32_t *metrics; /* the first one decides which lines are shown; of others only the self cost
				    is shown */
	size_t n_metrics;        /* at least 1 */
	bool insns;              /* also show instructions */
	bool all;                /* every line and instruction, not only those near a cost */
	const struct source_search *sources;
	struct style style;
};

void annotate_text(const struct profile *profile, const struct annotation *annotation,
		   const struct annotate_text_options *options, struct text *ret);
