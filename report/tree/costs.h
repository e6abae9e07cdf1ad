/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs: self and total cost of each scope, for selected threads.
 */
#pragma once

#include <stdbool.h>

#include "report/tree/totals.h"
#include "structure/scope.h"

struct costs {
	size_t n_metrics;
	uint64_t *self; /* [scope * n_metrics + metric] */
	struct totals totals;
};

/* is_kept: by thread index; NULL = all threads. */
void costs_init(struct costs *costs, const struct scope_tree *tree, const bool *is_kept);
void costs_done(struct costs *costs);

static inline uint64_t costs_self(const struct costs *costs, uint32_t scope, uint32_t metric)
{
	return costs->self[(size_t)scope * costs->n_metrics + metric];
}
static inline uint64_t costs_inclusive(const struct costs *costs, uint32_t scope, uint32_t metric)
{
	return totals_of(&costs->totals, scope, metric);
}
