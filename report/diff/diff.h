/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff: changes between two sets of runs, scope by scope, with confidence intervals.
 *
 * A value is the mean over the runs of a side. With at least two runs on each side, the interval of a
 * difference is computed from the variation between runs (Welch); otherwise from the number of samples alone,
 * which does not include the variation between runs. No run is assumed to be more precise than one sample:
 * the variance is at least the squared cost of one sample, even if all runs have the same count.
 */
#pragma once

#include "base/text.h"
#include "report/diff/joint.h"
#include "report/diff/statistics.h"
#include "report/tree/costs.h"
#include "report/tree/view.h"

#define DIFF_CONFIDENCE 0.95
#define DIFF_FALSE_SHARE 0.05 /* expected share of marked rows that differ only by chance, at most */
#define DIFF_TESTED \
	0.001 /* rows below this share of the total are not tested: they could not be significant */

enum diff_normalize { NORMALIZE_NONE, NORMALIZE_TOTAL, NORMALIZE_TIME, NORMALIZE_SCOPE };

/* One quantity on both sides. */
struct change {
	double a, b, delta;
	double low, high; /* 95 % interval of delta */
	double p;         /* probability by chance, in either direction */
	struct welch welch;
};

struct diff {
	struct joint joint;
	struct costs costs; /* metric u: cost of run u; metric n + u: its samples; the runs of A come first */
	uint32_t n_a, n_b;
	double *factor; /* by run: the factor for its values */
	double *weight; /* by run: the mean cost of a sample, multiplied by that factor */
	bool from_runs; /* intervals come from the variation between runs */
	struct change total;
};

struct diff_row {
	uint32_t scope;  /* of the joint tree; DIFF_REST = everything that is in no other row */
	uint32_t parent; /* row; UINT32_MAX at the top */
	uint32_t depth;
	struct change self, total;
	bool is_tested, is_significant;
};
#define DIFF_REST UINT32_MAX

struct diff_table {
	bool is_tree;
	enum group_by by;
	bool by_total;             /* rows are sorted and tested by total; otherwise by self */
	VEC(struct diff_row) rows; /* of a tree in preorder; otherwise the largest change first */
	size_t n_tested, n_significant;
	/* Rows that were left out: their number, and their sum (self). */
	size_t n_left_out;
	double left_a, left_b;
};

/*
 * Takes the joint tree of n_a runs before and n_b after. duration_ns: by run. -ENOENT with a diag if the
 * scope to normalize by has no cost in a run.
 */
struct diff_normalization {
	enum diff_normalize by;
	const char *scope;           /* NORMALIZE_SCOPE: the name of a function */
	const uint64_t *duration_ns; /* NORMALIZE_TIME: by run */
};
int diff_init(struct diff *diff, struct joint *joint, uint32_t n_a, uint32_t n_b,
	      const struct diff_normalization *normalization, struct diag *diag);
void diff_done(struct diff *diff);

/* For values by run and then samples by run, as in the costs. The values of A are multiplied by `scale`. */
struct change diff_change(const struct diff *diff, const uint64_t *values, double scale);
/* In percent of A's total; 0 if that is 0. */
double diff_percent(const struct diff *diff, double value);

struct diff_cut {
	double percent; /* rows with a smaller change, in percent of the larger total, are left out */
	size_t limit;   /* maximum number of rows; 0 = all */
};
/* A row for every function, loop, module or line. */
void diff_flat(const struct diff *diff, enum group_by by, const struct diff_cut *cut, struct diff_table *ret);
/* The contexts below which something changed. */
void diff_tree(const struct diff *diff, const struct diff_cut *cut, struct diff_table *ret);
void diff_table_done(struct diff_table *table);

/* The scopes from the root down, each with the largest change and at least half of that of the previous one.
 */
void diff_hot_path(const struct diff *diff, view_path *ret);

/* The label of a row. */
void diff_label(const struct diff *diff, const struct diff_table *table, const struct diff_row *row,
		struct text *ret);
/* "new", "gone" or "". */
const char *diff_state(const struct diff_row *row);
static inline const struct change *diff_key(const struct diff_table *table, const struct diff_row *row)
{
	return table->by_total ? &row->total : &row->self;
}
