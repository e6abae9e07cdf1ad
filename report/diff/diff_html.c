/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/diff_html.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

#define RUNS_MAX 32
#define RUN_VALUES_MAX 3000000 /* of all runs: they make up most of the page */

static uint32_t html_name(struct profile *names, const char *text)
{
	return intern_add(&names->strings, text);
}

/* The frames and calls of the joint tree, with the same numbers. */
static void html_copy_tree(const struct scope_tree *from, struct scope_tree *ret)
{
	vec_reserve(&ret->scopes, from->scopes.n);
	vec_reserve(&ret->frames, from->frames.n);
	vec_reserve(&ret->calls, from->calls.n);
	memcpy(ret->scopes.at, from->scopes.at, from->scopes.n * sizeof(*from->scopes.at));
	memcpy(ret->frames.at, from->frames.at, from->frames.n * sizeof(*from->frames.at));
	memcpy(ret->calls.at, from->calls.at, from->calls.n * sizeof(*from->calls.at));
	ret->scopes.n = from->scopes.n;
	ret->frames.n = from->frames.n;
	ret->calls.n = from->calls.n;
}

static uint32_t html_n_run_metrics(const struct diff *diff)
{
	uint32_t n = diff->n_a + diff->n_b;

	return diff->from_runs ? n : 2 * n;
}

bool diff_html_has_runs(const struct diff *diff)
{
	return diff->n_a + diff->n_b <= RUNS_MAX && (uint64_t)diff->joint.tree.values.n <= RUN_VALUES_MAX;
}

static void html_put(struct scope_tree *tree, uint32_t scope, uint32_t metric, double value)
{
	if (value >= 0.5)
		vec_push(&tree->values, (struct scope_value){ scope, 0, metric, (uint64_t)llround(value) });
}

static double html_value(const struct diff *diff, uint32_t scope, uint32_t metric)
{
	uint32_t n = diff->n_a + diff->n_b;

	return (double)costs_self(&diff->costs, scope, metric) * (metric < n ? diff->factor[metric] : 1);
}

static void html_values(const struct diff *diff, struct scope_tree *ret)
{
	uint32_t n = diff->n_a + diff->n_b;
	uint32_t n_run_metrics = diff_html_has_runs(diff) ? html_n_run_metrics(diff) : 0;

	for (uint32_t scope = 0; scope < ret->scopes.n; scope++) {
		double sums[DIFF_HTML_AFTER + 1] = { 0 };
		for (uint32_t run = 0; run < n; run++) {
			bool is_before = run < diff->n_a;
			double value = html_value(diff, scope, run);
			sums[is_before ? DIFF_HTML_BEFORE : DIFF_HTML_AFTER] +=
				value / (is_before ? diff->n_a : diff->n_b);
			sums[0] += (double)costs_self(&diff->costs, scope, n + run);
		}
		for (uint32_t metric = 0; metric <= DIFF_HTML_AFTER; metric++)
			html_put(ret, scope, metric, sums[metric]);
		for (uint32_t metric = 0; metric < n_run_metrics; metric++)
			html_put(ret, scope, DIFF_HTML_RUNS + metric, html_value(diff, scope, metric));
	}
	ret->n_metrics = DIFF_HTML_RUNS + n_run_metrics;
}

static void html_name_runs(struct profile *names, const struct diff *diff, uint32_t unit)
{
	uint32_t n = diff->n_a + diff->n_b;

	for (uint32_t metric = 0; diff_html_has_runs(diff) && metric < html_n_run_metrics(diff); metric++) {
		bool is_cost = metric < n, is_before = metric % n < diff->n_a;
		CLEANUP(freep)
		char *name = alloc_printf("%s%s run %u", is_cost ? "" : "samples of ",
					  is_before ? "before" : "after",
					  1 + metric % n - (is_before ? 0 : diff->n_a));
		vec_push(&names->metrics,
			 (struct profile_metric){ html_name(names, name),
						  is_cost ? unit : html_name(names, "count"), UINT32_MAX });
	}
}

static void html_run(struct diff_report *report, struct profile *names)
{
	CLEANUP(text_done) struct text target = { 0 }, total = { 0 };
	const struct diff *diff = report->diff;

	text_printf(&target, "%s%s → %s%s", report->files[0], diff->n_a > 1 ? "…" : "",
		    report->files[diff->n_a], diff->n_b > 1 ? "…" : "");
	names->run.target = html_name(names, target.at);
	names->run.command_line = html_name(names, "cpprof diff");
	diff_report_total(report, &total);
	vec_push(&names->notes, html_name(names, total.at));
	vec_push(&names->notes, html_name(names, diff_report_source(report)));
	for (size_t i = 0; i < report->n_notes; i++)
		vec_push(&names->notes, html_name(names, report->notes[i]));
}

struct profile *diff_html_profile(struct diff_report *report, const struct profile_quality *quality,
				  struct scope_tree *ret)
{
	struct profile *names = report->diff->joint.names;
	uint32_t unit = html_name(names, report->unit);

	html_copy_tree(&report->diff->joint.tree, ret);
	html_values(report->diff, ret);
	vec_push(&names->metrics, (struct profile_metric){ html_name(names, "samples"),
							   html_name(names, "count"), UINT32_MAX });
	vec_push(&names->metrics, (struct profile_metric){ html_name(names, "before"), unit, 0 });
	vec_push(&names->metrics, (struct profile_metric){ html_name(names, "after"), unit, 0 });
	html_name_runs(names, report->diff, unit);
	vec_push(&names->threads, (struct profile_thread){ .comm = html_name(names, "all") });
	vec_push(&names->processes, (struct profile_process){ .comm = html_name(names, "all") });
	names->quality = *quality;
	names->run.is_resolved = true;
	html_run(report, names);
	return names;
}
