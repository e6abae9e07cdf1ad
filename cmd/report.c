/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: shows a profile as text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/browser.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/export.h"
#include "cmd/pager.h"
#include "cmd/remedy.h"
#include "cmd/report_show.h"
#include "report/cycles/count_loops.h"
#include "report/merge_threads.h"
#include "report/text/text.h"

static const char about[] =
	"Shows a profile: the hot functions, loops and call paths, with 95 % confidence intervals.\n"
	"Without FILE, cpprof.data in the current directory is read; - is standard input.";

static const char examples[] =
	"  cpprof report                                  summary: hot functions and the hot path\n"
	"  cpprof report --view tree --percent-limit 2    calling contexts of at least 2 %\n"
	"  cpprof report --view callers --limit 30        callers of the hot functions\n"
	"  cpprof report --view callers --focus '^malloc$' callers of one function\n"
	"  cpprof report --view loops                     the hot loops and what may slow them down\n"
	"  cpprof report --view loops --counts counts.json   with their iteration counts\n"
	"  cpprof report --view waits                     where threads wait, for what, how long\n"
	"  cpprof report --view calls                     after cpprof trace: call durations\n"
	"  cpprof report --view allocations               after trace --alloc: allocations by call path\n"
	"  cpprof report --view flat --group-by module    cost by module\n"
	"  cpprof report --view tree --no-join            OpenMP threads as separate trees\n"
	"  cpprof report --columns total_percent,activations,per_activation    few or many calls?\n"
	"  cpprof report --module libc.so.6 --process 4711  only samples in that code of that process\n"
	"  cpprof report --view tree --derive 'ipc=instructions/cycles'\n"
	"  cpprof report --group-by function --columns total,min,mean,max,imbalance   among threads\n"
	"  cpprof report --group-by thread --merge-threads '^(.*)-[0-9]+$'   pools of threads as one\n"
	"  cpprof report --format md >comment.md          a table for a pull request\n"
	"  cpprof report --database /var/lib/cpprof --since 3h --until 1h --process nginx\n"
	"  cpprof report --min-quality 95                 exit with 6 if fewer stacks are complete\n";

static int report_cmd_read_and_show(const char *path, const struct report_request *request)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	struct diag diag = { 0 };

	if (database_read(path, &profile, &diag) < 0)
		return cmd_fail(&diag);

	if (request->merged && threads_merge(profile, request->merged, &diag) < 0)
		return cmd_usage("report", "--merge-threads: %s: %s", diag.what, diag.why);
	CLEANUP(freep) bool *is_kept = NULL;
	if (report_filter_threads(&request->filter, profile, &is_kept, &diag) < 0)
		return cmd_usage("report", "%s; %s", diag.what, diag.why);
	CLEANUP(loop_counts_done) struct loop_counts counts = { 0 };
	if (request->counts && (loop_counts_read(request->counts, profile, &counts, &diag) < 0 ||
				loop_counts_check(request->counts, &counts, profile, &diag) < 0))
		return cmd_fail(&diag);
	return report_show(path, profile, request, &counts, is_kept);
}

static int report_cmd_write_html(const char *file, const struct report_request *request)
{
	struct source_search sources;
	struct profile *profile = NULL;
	CLEANUP(loop_counts_done) struct loop_counts counts = { 0 };
	struct diag diag = { 0 };
	struct export_choice choice = { .options = { .sources = &sources,
						     .counts = &counts,
						     .derived = request->derived.values.at,
						     .n_derived = request->derived.values.n },
					.no_join = !request->joins,
					.mode = request->mode };

	if (database_read(file, &profile, &diag) < 0)
		return cmd_fail(&diag);
	sources = report_sources(request, profile, file);
	int index = export_find_metric(profile, request->metric), code = EXIT_OK;
	choice.options.metric = index < 0 ? 0 : (uint32_t)index;
	if (request->counts && (loop_counts_read(request->counts, profile, &counts, &diag) < 0 ||
				loop_counts_check(request->counts, &counts, profile, &diag) < 0))
		code = cmd_fail(&diag);
	else if (index < 0)
		code = cmd_usage("report", "'%s' has no metric '%s'", file, request->metric);
	else if (export_to(&exporter_html, profile, &choice, request->html, &diag) < 0)
		code = cmd_fail(&diag);
	profile_free(profile);
	if (code == EXIT_OK && strcmp(request->html, "-") != 0)
		fprintf(stderr, "cpprof: wrote %s; open it in a browser\n", request->html);
	if (code == EXIT_OK && request->opens)
		browser_open_later(request->html, request->program);
	return code;
}

/* Negative: continue. */
static int check_request(const struct command_line *line, const struct report_request *request)
{
	if (line->n_operands + (request->input != NULL) > 1)
		return cmd_usage("report", "give only one profile");
	if (request->opens && !request->html)
		return cmd_usage("report", "--open needs --html OUT.html");
	if (request->group && request->view != REPORT_NO_VIEW && request->view != TEXT_FLAT)
		return cmd_usage("report", "--group-by applies to --view flat only");
	if (request->view >= TEXT_WAITS && request->format == FORMAT_CSV)
		return cmd_usage("report",
				 "--view waits, calls and allocations support the formats text, md and json");
	if (request->html && request->merged)
		return cmd_usage("report", "--merge-threads applies to text, not to the HTML report");
	if ((request->columns.values.n || request->derived.values.n) &&
	    (request->view == TEXT_QUALITY || request->view >= TEXT_WAITS || request->group > GROUP_LINE))
		return cmd_usage("report", "--columns and --derive do not apply to this view");
	return -1;
}

/* Programs that will be needed are started first, and wait. */
static void report_cmd_confine(const char *file, const struct report_request *request)
{
	if (request->html && request->opens)
		browser_prepare(request->html, request->program);
	else if (!request->html && request->pager)
		pager_prepare(request->program);
	const char *const inputs[] = { file, REMEDY_PACKAGES, request->counts };
	confine(&(struct confine_options){ .inputs = inputs,
					   .n_inputs = request->counts ? 3 : 2,
					   .reads_all = request->html || report_reads_sources(request),
					   .output = request->html });
}

/* --group-by implies the flat view, also if it names the default. */
static void report_cmd_choose_view(struct report_request *request)
{
	if (request->group == REPORT_NO_GROUP)
		request->group = GROUP_FUNCTION;
	else if (request->view == REPORT_NO_VIEW)
		request->view = TEXT_FLAT;
}

static int check_and_run(const struct command_line *line, struct report_request *request)
{
	const char *file = line->n_operands ? line->operands[0]
			   : request->input ? request->input
					    : PROFILE_DEFAULT;
	CLEANUP(freep) char *stretch = NULL;

	report_cmd_choose_view(request);
	int code = check_request(line, request);
	if (code < 0)
		code = database_choose(&request->database, "report", line->n_operands || request->input,
				       &file, &stretch);
	if (code >= 0)
		return code;
	report_cmd_confine(file, request);
	code = request->html ? report_cmd_write_html(file, request) : report_cmd_read_and_show(file, request);
	later_end(request->program);
	return code;
}

/* Which rows trees have. */
#define REPORT_ROW_SPECS(request)                                                                   \
	{ 0, "inlines", OPTION_FLAG, &(request)->inlines, NULL, "show inlined calls (default)" },   \
		{ 0, "loops", OPTION_FLAG, &(request)->loops, NULL, "show loops (default)" },       \
		{ 0,                                                                                \
		  "join",                                                                           \
		  OPTION_FLAG,                                                                      \
		  &(request)->joins,                                                                \
		  NULL,                                                                             \
		  "show the cost of OpenMP worker threads below the parallel region in the source " \
		  "(default)" },                                                                    \
	{                                                                                           \
		0, "fold-recursion", OPTION_FLAG, &(request)->folds_recursion, NULL,                \
			"text and md: show recursion as one row where it does not branch (default)" \
	}

static int parse_and_run(struct report_request *request, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ 0, "view", OPTION_CHOICE, &request->view,
		  "summary|tree|callers|flat|hot|loops|quality|waits|calls|allocations", "what to show" },
		{ 0, "group-by", OPTION_CHOICE, &request->group,
		  "function|module|file|loop|line|thread|process",
		  "what each row of the flat view stands for; implies --view flat" },
		{ 0, "sort", OPTION_CHOICE, &request->sort, "auto|total|self", "sort rows by this" },
		{ 0, "percent-limit", OPTION_PERCENT, &request->percent_limit, "N",
		  "hide what is below N % (default 1 in trees, else 0.5)" },
		{ 0, "limit", OPTION_NUMBER, &request->limit, "N",
		  "show at most N rows of each table or tree, the most expensive ones" },
		{ 0, "max-depth", OPTION_NUMBER, &request->max_depth, "N",
		  "show at most N levels of a tree; 0 = all (default: 8 callers)" },
		{ 0, "percent-base", OPTION_CHOICE, &request->base, "root|parent",
		  "what percentages in trees refer to" },
		{ 0, "columns", OPTION_LIST, &request->columns, "NAME,...",
		  "columns to show, in this order: self_percent, self_ci95, module, ...;\n"
		  "for another metric: self:METRIC, total:METRIC" },
		{ 0, "derive", OPTION_TEXTS, &request->derived, "NAME=EXPR",
		  "add a computed column: ipc=instructions/cycles; + - * / ( ), numbers, metrics,\n"
		  "self(METRIC), all(METRIC); repeatable" },
		{ 0, "merge-threads", OPTION_TEXT, &request->merged, "REGEX",
		  "merge threads whose names match; if REGEX has a group in parentheses, merge those that "
		  "agree in it" },
		{ 0, "metric", OPTION_TEXT, &request->metric, "NAME",
		  "metric to show (default: the first event)" },
		DATABASE_SPECS(request->database),
		REPORT_FILTER_SPECS(request->filter),
		REPORT_ROW_SPECS(request),
		{ 0, "lines", OPTION_FLAG, &request->lines, NULL, "show the source lines below each scope" },
		MIN_QUALITY_SPEC(request->min_quality),
		{ 'f', "format", OPTION_CHOICE, &request->format, "text|md|json|csv", "output format" },
		{ 0, "html", OPTION_TEXT, &request->html, "OUT.html",
		  "write the whole report as one HTML file instead" },
		MODE_SPEC(request->mode),
		{ 0, "open", OPTION_FLAG, &request->opens, NULL, "with --html: open it in a browser" },
		{ 0, "source-dir", OPTION_TEXTS, &request->directories, "DIR",
		  "also look for source files in this directory; repeatable" },
		{ 0, "source-map", OPTION_RULES, &request->rules, "OLD=NEW",
		  "replace OLD at the start of source paths with NEW" },
		{ 0, "counts", OPTION_TEXT, &request->counts, "FILE",
		  "show iteration counts of loops, from the output of `cpprof paths --format json`" },
		{ 0, "pager", OPTION_FLAG, &request->pager, NULL, "use a pager on a terminal (default)" },
		{ 0, "color", OPTION_CHOICE, &request->color, "auto|always|never", "colours" },
		HABIT_REPORT_SPECS(request->habits, request->input),
		{ 0, "children", OPTION_FLAG, &request->children, NULL, NULL },
		{ 0 },
	};
	struct command_line line = { .command = "report",
				     .usage = "[options] [FILE]",
				     .about = about,
				     .examples = examples,
				     .specs = specs };
	int code = options_parse(&line, argc, argv);
	return code < 0 ? check_and_run(&line, request) : code;
}

int cmd_report(int argc, char **argv)
{
	struct report_request request = { .view = REPORT_NO_VIEW,
					  .group = REPORT_NO_GROUP,
					  .percent_limit = -1,
					  .max_depth = REPORT_NO_DEPTH,
					  .inlines = true,
					  .loops = true,
					  .joins = true,
					  .folds_recursion = true,
					  .pager = true,
					  .children = true,
					  .program = &(struct later){ 0 } };
	int code = parse_and_run(&request, argc, argv);

	option_list_done(&request.directories);
	option_list_done(&request.rules);
	report_filter_done(&request.filter);
	option_list_done(&request.columns);
	option_list_done(&request.derived);
	return code;
}
