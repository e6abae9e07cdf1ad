/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_facts: measured facts about each loop besides its cost: its distribution over threads, its share in
 * vectorised code, and its most expensive line.
 */
#pragma once

#include "profile/profile.h"
#include "report/tree/group.h"
#include "report/tree/loop_code.h"
#include "report/tree/loop_sharing.h"

struct loop_facts {
	struct loop_code code;
	bool has_code;               /* `code` is known */
	uint64_t own;                /* its own cost, without inner loops and callees; of that ... */
	uint64_t vector;             /* ... in vectorised copies, if addresses are known */
	uint32_t hot_file, hot_line; /* the most expensive line in it, inner loops included; 0 = not known */
	uint64_t hot_cost;
	struct loop_share share; /* including callees */
};

struct loop_table {
	struct groups groups;     /* GROUP_LOOP */
	struct loop_facts *facts; /* by group */
};

/* For one metric and the selected threads (NULL = all). Lines and addresses are used if the tree has them. */
void loop_table_init(struct loop_table *table, const struct profile *profile, const struct scope_tree *tree,
		     uint32_t metric, const bool *is_kept);
void loop_table_done(struct loop_table *table);
/* NULL if the scope is not a loop. */
const struct loop_facts *loop_table_find(const struct loop_table *table, const struct scope_tree *tree,
					 uint32_t scope);
/* By how much the busiest thread is above the mean, in percent. */
double loop_facts_imbalance(const struct loop_facts *facts);
