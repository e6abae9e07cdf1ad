/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived: formulas for exports: those given by the user, and common ratios if a profile has their events.
 */
#pragma once

#include "report/formula.h"
#include "report/tree/document.h"

struct derived {
	VEC(struct formula) of;
	VEC(const char *) texts; /* borrowed */
};

/* asked: n formulas of the user; may be NULL. -EINVAL with a diag. */
int derived_make(struct derived *derived, const struct profile *profile, char *const *asked, size_t n,
		 struct diag *diag);
void derived_done(struct derived *derived);
/* For the costs of one thing, by metric. Not finite if there is no value. */
double derived_value(const struct derived *derived, size_t formula, const struct document *document,
		     const uint64_t *self, const uint64_t *total);

/* The same, node by node. */
struct derived_nodes {
	const struct derived *derived;
	struct document_cursor *cursor; /* borrowed */
	uint64_t *self, *total;
};
void derived_nodes_init(struct derived_nodes *nodes, const struct derived *derived,
			struct document_cursor *cursor);
void derived_nodes_done(struct derived_nodes *nodes);
double derived_node(struct derived_nodes *nodes, size_t formula, size_t node);
