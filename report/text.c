/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text.h"

#include "base/cleanup.h"
#include "report/number.h"
#include "report/quality.h"
#include "report/text_rows.h"

#define CALLERS_DEPTH 64 /* callers followed at most: recursion is thousands deep */
#define HOT_CHILDREN 8   /* what the hot path splits into */
#define SUMMARY_FUNCTIONS 10
#define SUMMARY_THREADS 8

uint32_t text_default_metric(const struct profile *profile, const struct costs *costs)
{
	return profile->metrics.n > 1 && costs->n_metrics > 1 && costs_inclusive(costs, 0, 1) > 0 ? 1 : 0;
}

enum view_key text_default_sort(enum text_view view)
{
	return view == TEXT_FLAT || view == TEXT_CALLERS ? VIEW_BY_SELF : VIEW_BY_INCLUSIVE;
}

double text_default_percent_limit(enum text_view view)
{
	return view == TEXT_TREE || view == TEXT_CALLERS ? 1 : 0.5;
}

static struct view_cut cut_of(const struct text_report *report, enum view_key prune)
{
	return (struct view_cut){ .metric = report->metric,
				  .sort = report->options->sort,
				  .prune = prune,
				  .min = text_min_cost(report),
				  .limit = report->options->limit };
}

/* Rows at the top that cost something, and how many of them a cut has left. */
static size_t count_rows(const struct text_report *report, const struct view *view, enum view_key key)
{
	size_t n = 0;

	for (uint32_t row = 0; row < view->rows.n; row++)
		n += view_cost(view, row, key, report->metric) > 0;
	return n;
}

static void say_left_out(const struct text_report *report, size_t before, size_t after, const char *what)
{
	struct line line = line_start(report->to, &report->options->style);
	char number[NUMBER_MAX];

	if (after >= before)
		return;
	line_printf(&line, TINT_DIM, "%s more %s not shown (--percent-limit, --limit)",
		    number_count(before - after, number), what);
	line_end(&line);
}

static void put_tree(const struct text_report *report)
{
	CLEANUP(view_done) struct view view;
	struct view_cut cut = cut_of(report, VIEW_BY_INCLUSIVE);

	view_tree(report->tree, report->costs, &view);
	size_t before = count_rows(report, &view, VIEW_BY_INCLUSIVE);
	if (report->options->max_depth)
		view_flatten(&view, report->options->max_depth + 1); /* the root is not shown */
	view_arrange(&view, &cut);
	size_t after = view.rows.n;
	view_fold_loops(&view, report->tree, report->metric);
	text_tree(report, &view, "calling context");
	say_left_out(report, before, after, "contexts");
}

static void put_callers(const struct text_report *report)
{
	CLEANUP(view_done) struct view view;
	struct view_cut cut = cut_of(report, report->options->sort);

	size_t depth = report->options->max_depth;

	view_callers(report->tree, report->costs, &cut, depth && depth < CALLERS_DEPTH ? depth : CALLERS_DEPTH, &view);
	view_arrange(&view, &cut);
	text_tree(report, &view, "function, and who called it");
}

static void put_flat(const struct text_report *report)
{
	static const char *const names[] = { [GROUP_FUNCTION] = "function", [GROUP_MODULE] = "module",
					     [GROUP_FILE] = "file", [GROUP_LOOP] = "loop", [GROUP_LINE] = "line" };
	static const char *const plurals[] = { [GROUP_FUNCTION] = "functions", [GROUP_MODULE] = "modules",
					       [GROUP_FILE] = "files", [GROUP_LOOP] = "loops", [GROUP_LINE] = "lines" };
	CLEANUP(view_done) struct view view;
	struct view_cut cut = cut_of(report, report->options->sort);

	view_flat(report->tree, report->costs, report->options->group, &view);
	size_t before = count_rows(report, &view, report->options->sort);
	view_arrange(&view, &cut);
	text_table(report, &view, names[report->options->group]);
	say_left_out(report, before, view.rows.n, plurals[report->options->group]);
}

static void add_path_row(const struct text_report *report, struct view *view, uint32_t parent, uint32_t scope)
{
	uint32_t row = view_add_row(view, parent, scope);

	for (uint32_t metric = 0; metric < view->n_metrics; metric++) {
		view->self.at[row * view->n_metrics + metric] = costs_self(report->costs, scope, metric);
		view->inclusive.at[row * view->n_metrics + metric] = costs_inclusive(report->costs, scope, metric);
	}
}

/* The hot path as a tree of its own: its scopes below each other, then what its end splits into. */
static void put_hot(const struct text_report *report)
{
	CLEANUP(view_done) struct view view = { .n_metrics = report->costs->n_metrics };
	struct view_cut cut = cut_of(report, VIEW_BY_INCLUSIVE);
	view_path path = { 0 };

	/* Rows of the path cost most, so that the limit is on what comes after them. */
	view_hot_path(report->tree, report->costs, report->metric, &path);
	for (uint32_t i = 0; i < path.n; i++)
		add_path_row(report, &view, i ? i - 1 : VIEW_NONE, path.at[i]);
	for (uint32_t scope = 1; scope < report->tree->scopes.n; scope++)
		if (report->tree->scopes.at[scope].parent == path.at[path.n - 1])
			add_path_row(report, &view, (uint32_t)path.n - 1, scope);
	cut.limit = path.n + HOT_CHILDREN;
	view_arrange(&view, &cut);
	view_fold_loops(&view, report->tree, report->metric);
	text_tree(report, &view, "function");
	vec_done(&path);
}

/* The same report with other options, for a part of it. */
static struct text_report part_of(const struct text_report *report, struct text_options *options)
{
	struct text_report part = *report;

	part.options = options;
	return part;
}

static void put_summary(const struct text_report *report)
{
	struct text_options options = *report->options;
	struct text_report part = part_of(report, &options);

	options.view = TEXT_FLAT;
	options.group = GROUP_FUNCTION;
	options.sort = VIEW_BY_SELF;
	options.limit = SUMMARY_FUNCTIONS;
	text_heading(report, "hottest functions");
	put_flat(&part);

	options.view = TEXT_HOT;
	options.sort = VIEW_BY_INCLUSIVE;
	text_printf(report->to, "\n");
	text_heading(report, "hot path");
	put_hot(&part);
	if (report->profile->threads.n < 2 || report->threads)
		return;
	text_printf(report->to, "\n");
	text_heading(report, "threads");
	text_tasks(report, TASKS_BY_THREAD, SUMMARY_THREADS);
}

static void put_view(const struct text_report *report)
{
	switch (report->options->view) {
	case TEXT_SUMMARY:
		put_summary(report);
		return;
	case TEXT_TREE:
		put_tree(report);
		return;
	case TEXT_CALLERS:
		put_callers(report);
		return;
	case TEXT_FLAT:
		if (report->options->tasks)
			text_tasks(report, report->options->tasks, report->options->limit);
		else
			put_flat(report);
		return;
	case TEXT_HOT:
		put_hot(report);
		return;
	case TEXT_QUALITY:
		quality_table(report->profile, report->to);
		return;
	}
}

static void put_notes(const struct text_report *report)
{
	for (size_t i = 0; i < report->profile->notes.n; i++) {
		struct line line = line_start(report->to, &report->options->style);
		line_printf(&line, TINT_WARM, "note: ");
		line_name(&line, TINT_PLAIN, intern_text(&report->profile->strings, report->profile->notes.at[i]));
		line_end(&line);
	}
}

void report_text(const struct text_input *input, const struct text_options *options, struct text *ret)
{
	struct text_report report = { .profile = input->profile,
				      .tree = input->tree,
				      .costs = input->costs,
				      .threads = input->threads,
				      .options = options,
				      .metric = options->metric,
				      .to = ret };
	CLEANUP(text_done) struct text quality = { 0 };

	if (input->costs->n_metrics > 0) {
		report.total = costs_inclusive(input->costs, 0, options->metric);
		report.samples = costs_inclusive(input->costs, 0, 0);
	}
	if (report.samples > 0) {
		if (options->view != TEXT_QUALITY) {
			text_paragraph(&report, input->filter);
			text_printf(ret, "\n");
		}
		put_view(&report);
		text_printf(ret, "\n");
	}
	if (options->view != TEXT_QUALITY)
		put_notes(&report);
	quality_line(input->profile, &quality);
	style_paragraph(ret, &options->style, quality.at);
}
