/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_facts: measured facts about each loop besides its cost: its distribution over threads, its share in
 * vectorised code, and its most expensive line.
 */
#pragma once

#include "profile/profile.h"
#include "report/tree/group.h"
#include "report/tree/loop_code.h"

struct loop_facts {
	struct loop_code code;
	bool has_code;   /* that is known */
	uint64_t own;    /* spent in it, not in loops in it nor in what it calls; of that ... */
	uint64_t vector; /* ... in vectorised copies; where addresses are known */
	uint32_t hot_file,
		hot_line; /* of the lines in it, loops in it included, the most costly; 0 = not known */
	uint64_t hot_cost;
	uint32_t n_threads;        /* that could have shared it; 1 = there is nothing to share */
	uint64_t least, most, sum; /* of these threads, with what it calls */
};

struct loop_table {
	struct groups groups;     /* GROUP_LOOP */
	struct loop_facts *facts; /* by group */
};

/* Of one metric and the threads that are kept (NULL = all). For lines and addresses the tree must have them.
 */
void loop_table_init(struct loop_table *table, const struct profile *profile, const struct scope_tree *tree,
		     uint32_t metric, const bool *is_kept);
void loop_table_done(struct loop_table *table);
/* NULL if the scope is no loop. */
const struct loop_facts *loop_table_find(const struct loop_table *table, const struct scope_tree *tree,
					 uint32_t scope);
/* By how much the busiest thread is above the mean, in per cent. */
double loop_facts_imbalance(const struct loop_facts *facts);
