/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_html: converts a diff for the HTML report: a profile with the metrics before and after.
 */
#pragma once

#include "report/diff/diff_report.h"

#define DIFF_HTML_BEFORE 1
#define DIFF_HTML_AFTER 2
#define DIFF_HTML_RUNS \
	3 /* the cost of each run, those of before first; then, for single runs, their samples */

/* Are there metrics for single runs, from which the page computes intervals? Not if there are very many runs.
 */
bool diff_html_has_runs(const struct diff *diff);

/*
 * The joint profile, with the information about runs filled in; it belongs to the diff. ret: its tree with
 * the values of both sides, means of their runs; scope_tree_done it.
 */
struct profile *diff_html_profile(struct diff_report *report, const struct profile_quality *quality,
				  struct scope_tree *ret);
