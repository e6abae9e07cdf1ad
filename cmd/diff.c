/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff: what changed between the runs before and after.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/browser.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/diff_options.h"
#include "cmd/export.h"
#include "cmd/pager.h"
#include "cmd/run_set.h"
#include "cmd/terminal.h"
#include "report/diff/diff_html.h"
#include "report/diff/diff_report.h"

#define GO_ON (-1)
#define SUMMARY_ROWS 20

/* ---- reading --------------------------------------------------------------------------------------- */

/* The runs after come first: code that is in both is shown as in the newer build. */
static int diff_cmd_join(const struct diff_request *request, struct run_set *set, struct joint *joint,
			 uint64_t *durations)
{
	uint32_t n = request->n_a + request->n_b;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t run = (i + request->n_a) % n, metric;
		CLEANUP(profile_freep) struct profile *profile = NULL;
		int code = run_set_read(set, request->files.at[run], &profile, &metric);
		if (code >= 0)
			return code;
		CLEANUP(freep) uint32_t *unit = alloc_zero(profile->threads.n + 1, sizeof(*unit));
		for (size_t k = 0; k <= profile->threads.n; k++)
			unit[k] = run;
		durations[run] = profile->run.duration_ns;
		joint_add(joint, &(struct joint_part){ profile, metric, unit, run < request->n_a });
		run_set_note_tree(set, request->files.at[run], profile);
	}
	joint_finish(joint);
	return GO_ON;
}

/* Nothing in common is most likely a mistake. */
static void diff_cmd_note_strangers(struct run_set *set, const struct diff *diff)
{
	double common = 0;

	for (uint32_t i = 0; i < diff->joint.tree.scopes.n; i++) {
		uint64_t a = 0, b = 0;
		for (uint32_t run = 0; run < diff->n_a; run++)
			a += costs_inclusive(&diff->costs, i, run);
		for (uint32_t run = 0; run < diff->n_b; run++)
			b += costs_inclusive(&diff->costs, i, diff->n_a + run);
		if (a && b && scope_kind(&diff->joint.tree, i) >= SCOPE_FUNCTION &&
		    diff->joint.tree.scopes.at[i].parent == 0)
			common += (double)(a < b ? a : b);
	}
	if (common == 0)
		vec_push(&set->notes,
			 alloc_text("Note: before and after have no outermost function in common. Are they "
				    "the same program? If the function was renamed, use --rename OLD=NEW."));
}

/* ---- writing --------------------------------------------------------------------------------------- */

static int diff_cmd_print(const struct diff_request *request, const struct diff_report *report)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct diag diag = { 0 };
	int error = 0;

	if (request->format == DIFF_JSON)
		error = diff_json(report, stdout);
	else if (request->format == DIFF_CSV)
		diff_csv(report, &text);
	else if (request->format == DIFF_MARKDOWN)
		diff_markdown(report, &text);
	else
		diff_text(report, &text);
	if (error == 0 && text.len && request->program->input)
		error = pager_print_later(&text, request->program);
	else if (error == 0 && text.len && fwrite(text.at, 1, text.len, stdout) != text.len)
		error = errno ? -errno : -EIO;
	if (error == 0)
		return GO_ON;
	diag_set(&diag, error, "cannot write the report");
	return cmd_fail(&diag);
}

static int diff_cmd_write_html(const struct diff_request *request, struct diff_report *report,
			       const struct run_set *set)
{
	struct diag diag = { 0 };
	struct export_choice choice = {
		.options = { .metric = DIFF_HTML_AFTER, .diff = report->diff, .sources = &set->sources },
		.mode = request->mode
	};
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(text_done) struct text folded = { 0 };

	struct profile *names = diff_html_profile(report, &set->quality, &tree);
	struct export_input input = { names, &tree };
	if (export_tree(&exporter_html, &input, &choice, request->html, &folded, &diag) < 0)
		return cmd_fail(&diag);
	if (folded.len)
		cmd_say(folded.at);
	if (strcmp(request->html, "-") != 0)
		fprintf(stderr, "cpprof: wrote %s; open it in a browser\n", request->html);
	if (request->opens)
		browser_open_later(request->html, request->program);
	return GO_ON;
}

static struct diff_report diff_cmd_report(const struct diff_request *request, const struct run_set *set,
					  const struct diff *diff, const rule_verdicts *verdicts)
{
	int view = request->view != DIFF_NO_VIEW ? request->view : DIFF_VIEW_SUMMARY;
	bool is_for_people = request->format == DIFF_TEXT || request->format == DIFF_MARKDOWN;
	static const enum group_by groups[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE, GROUP_LOOP,
						GROUP_LINE };
	static const char *const by[] = { [NORMALIZE_TOTAL] = "total", [NORMALIZE_TIME] = "time" };
	struct diff_report report = { .diff = diff,
				      .metric = set->metric_name,
				      .unit = set->unit,
				      .files = request->files.at,
				      .notes = set->notes.at,
				      .n_notes = set->notes.n,
				      .verdicts = verdicts,
				      .view = (enum diff_view)view,
				      .by = groups[request->group],
				      .cut = { request->percent_limit, (size_t)request->limit },
				      .style = terminal_style((enum color_when)request->color) };

	if (request->normalization.by)
		report.normalized = request->normalization.scope ? request->normalization.scope
								 : by[request->normalization.by];
	if (report.cut.percent < 0)
		report.cut.percent = !is_for_people ? 0 : view == DIFF_VIEW_TREE ? 0.5 : 0.1;
	if (!report.cut.limit && is_for_people && view == DIFF_VIEW_SUMMARY)
		report.cut.limit = SUMMARY_ROWS;
	return report;
}

/* A rule that matches nothing would never fail: it is a mistake. */
static int diff_cmd_judge(const struct diff_request *request, const struct diff_report *report)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < report->verdicts->n; i++) {
		const struct rule_verdict *verdict = &report->verdicts->at[i];
		if (verdict->n_matches == 0)
			return cmd_usage("diff", "rule '%s' matches nothing", verdict->rule->text);
		if (!verdict->n_failed)
			continue;
		code = EXIT_REGRESSION;
		if (request->format == DIFF_TEXT && !request->html)
			continue;
		CLEANUP(text_done) struct text line = { 0 };
		rule_verdict_say(verdict, report->unit, &line);
		cmd_say(line.at);
	}
	return code;
}

static int diff_cmd_compare(const struct diff_request *request, struct run_set *set, struct joint *joint,
			    struct diff_normalization *normalization)
{
	struct diag diag = { 0 };
	CLEANUP(diff_done) struct diff diff = { 0 };
	CLEANUP(rule_verdicts_done) rule_verdicts verdicts = { 0 };

	if (diff_init(&diff, joint, request->n_a, request->n_b, normalization, &diag) < 0) {
		cmd_fail(&diag);
		return EXIT_USAGE;
	}
	diff_cmd_note_strangers(set, &diff);
	fail_rules_judge(&request->rules, &diff, &verdicts);
	struct diff_report report = diff_cmd_report(request, set, &diff, &verdicts);
	int code =
		request->html ? diff_cmd_write_html(request, &report, set) : diff_cmd_print(request, &report);
	return code >= 0 ? code : diff_cmd_judge(request, &report);
}

static int diff_cmd_run(const struct diff_request *request)
{
	CLEANUP(run_set_done)
	struct run_set set = { .command = "diff",
			       .metric = request->metric,
			       .min_quality = request->min_quality };
	CLEANUP(joint_done) struct joint joint;
	uint32_t n = request->n_a + request->n_b;
	CLEANUP(freep) uint64_t *durations = alloc_zero(n + 1, sizeof(*durations));
	struct diff_normalization normalization = request->normalization;
	bool needs_lines = request->group == 4 || request->html || fail_rules_need_lines(&request->rules);

	joint_init(&joint,
		   &(struct joint_options){ .no_loops = !request->loops,
					    .no_inlines = !request->inlines,
					    .lines = needs_lines,
					    .call_sites = request->call_sites || request->html,
					    .renames = request->renamed.n ? &request->renamed : NULL },
		   n);
	int code = diff_cmd_join(request, &set, &joint, durations);
	if (code >= 0)
		return code;
	normalization.duration_ns = durations;
	return diff_cmd_compare(request, &set, &joint, &normalization);
}

/* ---- the command ----------------------------------------------------------------------------------- */

/* Programs that will be needed are started first, and wait. */
static void diff_cmd_confine(const struct diff_request *request)
{
	if (request->html && request->opens)
		browser_prepare(request->html, request->program);
	else if (!request->html && request->pager && request->format == DIFF_TEXT)
		pager_prepare(request->program);
	confine(&(struct confine_options){ .inputs = (const char *const *)request->files.at,
					   .n_inputs = request->files.n,
					   .reads_all = request->html,
					   .output = request->html });
}

int cmd_diff(int argc, char **argv)
{
	struct later program = { 0 };
	struct diff_request request;
	int code = diff_options_parse(&request, argc, argv);

	request.program = &program;
	if (code < 0) {
		diff_cmd_confine(&request);
		code = diff_cmd_run(&request);
		later_end(&program);
	}
	diff_options_done(&request);
	return code;
}
