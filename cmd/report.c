/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: a profile as text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/browser.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/database.h"
#include "cmd/export.h"
#include "cmd/habits.h"
#include "cmd/options.h"
#include "cmd/pager.h"
#include "cmd/remedy.h"
#include "cmd/report_filter.h"
#include "cmd/source_lines.h"
#include "cmd/terminal.h"
#include "report/annotate/source_text.h"
#include "report/annotate/source_user.h"
#include "report/cycles/count_loops.h"
#include "report/merge_threads.h"
#include "report/quality.h"
#include "report/text/columns.h"
#include "report/text/rows.h"
#include "report/text/text.h"
#include "report/tree/loop_facts.h"
#include "structure/fuse.h"

#define NO_VIEW (-1) /* not asked for: the flat view if its rows were chosen, else the summary */
#define NO_DEPTH UINT64_MAX
#define ROUNDS_NODES_MAX 200000 /* of the tree: with more, intervals go by the number of samples alone */
#define CALLERS_DEPTH 8         /* callers shown unless more are asked for */

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON, FORMAT_CSV };

struct report_request {
	int view, sort, group, base, color, format;
	double percent_limit;
	struct quality_bar min_quality;
	uint64_t limit, max_depth;
	const char *metric, *html, *counts;
	struct report_filter filter;
	struct option_list columns, derived, directories, rules;
	const char *merged; /* threads by name, as one */
	bool inlines, loops, lines, joins, pager, children, opens;
	struct habits habits;
	const char *input; /* the profile, as perf takes it */
	struct database_choice database;
	mode_t mode;
	struct later *program; /* the pager or the browser that it ends with */
};

static const char about[] =
	"Shows what a profile holds: what dominates, on which path, and how certain that is.\n"
	"Without FILE, cpprof.data in the current directory is read; - is standard input.";

static const char examples[] =
	"  cpprof report                                  what dominates\n"
	"  cpprof report --view tree --percent-limit 2    calling contexts of at least 2 %\n"
	"  cpprof report --view callers --limit 30        who calls the hot functions\n"
	"  cpprof report --view callers --focus '^malloc$' who calls this one\n"
	"  cpprof report --view loops                     the loops, and why they may be slow\n"
	"  cpprof report --view loops --counts counts.json   and how often they go round, by cpprof paths\n"
	"  cpprof report --view waits                     where threads wait, for what, how long\n"
	"  cpprof report --view calls                     of a trace: how long calls took, by path\n"
	"  cpprof report --view allocations               of trace --alloc: who allocates\n"
	"  cpprof report --view flat --group-by module    where it is spent, by module\n"
	"  cpprof report --view tree --no-join            OpenMP threads as they are\n"
	"  cpprof report --columns total_percent,activations,per_activation    few calls, or many\n"
	"  cpprof report --module libc.so.6 --process 4711  only samples in that code of that process\n"
	"  cpprof report --view tree --derive 'ipc=instructions/cycles'\n"
	"  cpprof report --group-by function --columns total,min,mean,max,imbalance   among threads\n"
	"  cpprof report --group-by thread --merge-threads '^(.*)-[0-9]+$'   pools of threads as one\n"
	"  cpprof report --format md >comment.md          a table for a pull request\n"
	"  cpprof report --database /var/lib/cpprof --since 3h --until 1h --process nginx\n"
	"  cpprof report --min-quality 95                 exit 6 if under 95 % of the stacks are complete\n";

static struct text_options text_options_of(const struct report_request *request)
{
	bool has_tasks = request->group > GROUP_LINE;
	int view = request->view != NO_VIEW ? request->view : request->group ? TEXT_FLAT : TEXT_SUMMARY;
	struct text_options options = { .view = (enum text_view)view,
					.group = has_tasks ? GROUP_FUNCTION : (enum group_by)request->group,
					.tasks = has_tasks ? (enum text_tasks)(request->group - GROUP_LINE)
							   : TASKS_NOT,
					.percent_limit = request->percent_limit,
					.limit = (size_t)request->limit,
					.max_depth = (size_t)request->max_depth,
					.percent_of_parent = request->base == 1,
					.style = terminal_style((enum color_when)request->color) };

	if (options.percent_limit < 0)
		options.percent_limit = text_default_percent_limit(options.view);
	if (request->max_depth == NO_DEPTH)
		options.max_depth = options.view == TEXT_CALLERS ? CALLERS_DEPTH : 0;
	if (request->filter.focus && options.view == TEXT_CALLERS && request->sort == 0) {
		options.sort = VIEW_BY_INCLUSIVE; /* of the one function: it may do nothing itself */
		return options;
	}
	options.sort = request->sort == 0 ? request->children ? text_default_sort(options.view, options.group)
							      : VIEW_BY_SELF
		       : request->sort == 1 ? VIEW_BY_INCLUSIVE
					    : VIEW_BY_SELF;
	return options;
}

static int print_report(const struct text_input *input, const struct text_options *options,
			enum format format, struct later *pager)
{
	CLEANUP(text_done) struct text text = { 0 };

	switch (format) {
	case FORMAT_JSON:
		return report_json(input, options, stdout);
	case FORMAT_CSV:
		report_csv(input, options, &text);
		break;
	case FORMAT_MARKDOWN:
		report_markdown(input, options, &text);
		break;
	case FORMAT_TEXT:
		report_text(input, options, &text);
		break;
	}
	if (pager->input)
		return pager_print_later(&text, pager);
	errno = 0;
	return fwrite(text.at, 1, text.len, stdout) == text.len && fflush(stdout) == 0 ? 0
	       : errno                                                                 ? -errno
										       : -EIO;
}

/* The exit code, once the report is printed. */
static int report_cmd_judge(const struct profile *profile, const struct report_request *request)
{
	CLEANUP(text_done) struct text why = { 0 };

	if (profile->quality.samples == 0) {
		fprintf(stderr, "cpprof: the profile has no samples: %s\n", quality_no_samples(profile));
		return EXIT_NO_SAMPLES;
	}
	if (!quality_meets(profile, &request->min_quality, &why)) {
		fprintf(stderr, "cpprof: %s\n", why.at);
		return EXIT_UNTRUSTWORTHY;
	}
	return EXIT_OK;
}

static int no_metric(const struct profile *profile, const char *wanted)
{
	CLEANUP(text_done) struct text names = { 0 };

	for (size_t i = 0; i < profile->metrics.n; i++)
		text_printf(&names, "%s%s", i ? ", " : "",
			    intern_text(&profile->strings, profile->metrics.at[i].name));
	return cmd_usage("report", "this profile has no metric '%s'; it has %s", wanted,
			 names.len ? names.at : "none");
}

/* Where only derived columns are asked for, beside the usual ones; or ratios that everybody wants, if the
 * profile has their events. The summary is as it is, unless it is asked for others. */
static void report_cmd_usual_columns(const struct profile *profile, const struct report_request *request,
				     struct columns *ret)
{
	static const char *const shown[] = { "total_percent", "self_percent" };
	bool is_for_people = request->format == FORMAT_TEXT || request->format == FORMAT_MARKDOWN;
	struct diag diag = { 0 };

	if (!is_for_people)
		columns_add_default(ret, request->format == FORMAT_JSON, profile->n_ranks > 0);
	for (size_t i = 0; is_for_people && i < sizeof(shown) / sizeof(shown[0]); i++)
		columns_add(ret, profile, shown[i], &diag);
	size_t n = columns_derive_usual(ret, profile);
	bool is_wanted = n && (request->view != NO_VIEW || request->group) && request->group <= GROUP_LINE;
	if (!request->derived.values.n && (!is_wanted || !is_for_people))
		vec_clear(&ret->of);
}

/* -1, or the exit code of a complaint. */
static int choose_columns(const struct profile *profile, const struct report_request *request,
			  struct columns *ret)
{
	const struct option_list *names = &request->columns, *derived = &request->derived;
	struct diag diag = { 0 };

	if (!names->values.n)
		report_cmd_usual_columns(profile, request, ret);
	for (size_t i = 0; i < names->values.n; i++)
		if (columns_add(ret, profile, names->values.at[i], &diag) < 0)
			return cmd_usage("report", "%s: %s", diag.what, diag.why);
	for (size_t i = 0; i < derived->values.n; i++)
		if (columns_derive(ret, profile, derived->values.at[i], &diag) < 0)
			return cmd_usage("report", "%s: %s", diag.what, diag.why);
	return -1;
}

/* How threads share rows, if a column says so. -1, or the exit code of a complaint. */
static int report_cmd_spread(const struct columns *columns, const struct text_input *input,
			     struct text_options *options, struct thread_spreads *spreads)
{
	bool is_flat = options->view == TEXT_FLAT, is_loops = options->view == TEXT_LOOPS;
	enum group_by by = is_loops ? GROUP_LOOP : options->group;

	if (!columns_need_threads(columns) || input->profile->n_ranks)
		return -1;
	if (!is_flat && !is_loops && options->view != TEXT_TREE && options->view != TEXT_HOT)
		return cmd_usage(
			"report",
			"min, mean, max and imbalance are columns of --view tree, flat, hot and loops");
	thread_spreads_init(spreads, input->tree, options->metric, input->threads,
			    is_flat || is_loops ? &by : NULL);
	options->spreads = spreads;
	return -1;
}

static struct source_search report_cmd_sources(const struct report_request *request,
					       const struct profile *profile, const char *path)
{
	struct source_search sources = { (const char *const *)request->directories.values.at,
					 request->directories.values.n,
					 (const char *const *)request->rules.values.at,
					 request->rules.values.n, .has_user = false };

	sources.has_user = source_user_find(profile, path, &sources.user);
	return sources;
}

static int print_loops(const char *path, struct text_input *input, struct text_options *options,
		       const struct report_request *request)
{
	struct source_search sources = report_cmd_sources(request, input->profile, path);
	CLEANUP(source_lines_done) struct source_lines lines = { .search = &sources };
	CLEANUP(loop_table_done) struct loop_table loops;
	struct text_source source = source_lines_for(&lines);

	loop_table_init(&loops, input->profile, input->tree, options->metric, input->threads);
	input->loops = &loops;
	options->source = &source;
	return print_report(input, options, (enum format)request->format, request->program);
}

static int report_cmd_show(const char *path, struct profile *profile, const struct report_request *request,
			   const struct loop_counts *counts, const bool *is_kept)
{
	struct fuse_options fusing = { .no_inlines = !request->inlines,
				       .no_loops = !request->loops,
				       .joins = request->joins,
				       .durations = true,
				       .rounds = profile->cct.nodes.n <= ROUNDS_NODES_MAX,
				       .lines = request->lines || request->group == GROUP_LINE ||
						request->view == TEXT_LOOPS,
				       .addresses = request->view == TEXT_LOOPS };
	struct text_options options = text_options_of(request);
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(costs_done) struct costs costs = { 0 };
	CLEANUP(freep) char *filter = report_filter_describe(&request->filter);
	CLEANUP(columns_done) struct columns columns = { 0 };
	CLEANUP(text_done) struct text remedy = { 0 };
	struct diag diag = { 0 };

	int code = choose_columns(profile, request, &columns);
	if (code >= 0)
		return code;
	options.columns = columns.of.n ? &columns : NULL;
	fusing.activations = columns_want_calls(&columns);
	struct ranks ranks;
	ranks_extend(profile, &ranks);
	options.ranks = ranks.n_ranks ? &ranks : NULL;
	profile_take_tree(profile, &fusing, &tree);
	if (report_filter_apply(&request->filter, profile, &tree, &diag) < 0)
		return cmd_usage("report", "%s: %s", diag.what, diag.why);
	CLEANUP(freep) bool *is_focus = NULL;
	if (request->filter.focus &&
	    scope_tree_match(&tree, profile, request->filter.focus, &is_focus, &diag) == 0)
		options.callers_of = is_focus;
	costs_init(&costs, &tree, is_kept);
	options.metric = text_default_metric(profile, &costs);
	if (options.view == TEXT_WAITS && wait_metrics_of(profile).off_cpu)
		options.metric = wait_metrics_of(profile).off_cpu;
	int chosen = request->metric ? export_find_metric(profile, request->metric) : (int)options.metric;
	if (chosen < 0)
		return no_metric(profile, request->metric);
	options.metric = (uint32_t)chosen;
	if (filter && costs.n_metrics > 0 && costs_inclusive(&costs, 0, 0) == 0 &&
	    profile->quality.samples > 0)
		return report_filter_say_nothing_left(filter);
	remedy_find(profile, &tree, &costs, options.metric, path, &remedy);
	struct text_input report = { profile, &tree, &costs, is_kept, filter, remedy.at, NULL, counts };
	CLEANUP(thread_spreads_done) struct thread_spreads spreads = { 0 };
	code = report_cmd_spread(&columns, &report, &options, &spreads);
	if (code >= 0)
		return code;
	int error = request->view == TEXT_LOOPS
			    ? print_loops(path, &report, &options, request)
			    : print_report(&report, &options, (enum format)request->format, request->program);
	if (error < 0) {
		diag_set(&diag, error, "cannot write the report");
		return cmd_fail(&diag);
	}
	return report_cmd_judge(profile, request);
}

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
	if (request->counts && (loop_counts_read(request->counts, &counts, &diag) < 0 ||
				loop_counts_check(request->counts, &counts, profile, &diag) < 0))
		return cmd_fail(&diag);
	return report_cmd_show(path, profile, request, &counts, is_kept);
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

	if (request->counts && loop_counts_read(request->counts, &counts, &diag) < 0)
		return cmd_fail(&diag);
	if (database_read(file, &profile, &diag) < 0)
		return cmd_fail(&diag);
	sources = report_cmd_sources(request, profile, file);
	int index = export_find_metric(profile, request->metric), code = EXIT_OK;
	choice.options.metric = index < 0 ? 0 : (uint32_t)index;
	if (loop_counts_check(request->counts, &counts, profile, &diag) < 0)
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

/* Negative: go on. */
static int check_request(const struct command_line *line, const struct report_request *request)
{
	if (line->n_operands + (request->input != NULL) > 1)
		return cmd_usage("report", "one profile at a time");
	if (request->opens && !request->html)
		return cmd_usage("report", "--open needs --html OUT.html");
	if (request->group && request->view != NO_VIEW && request->view != TEXT_FLAT)
		return cmd_usage("report", "--group-by applies to --view flat only");
	if (request->view >= TEXT_WAITS && request->format == FORMAT_CSV)
		return cmd_usage("report",
				 "--view waits, calls and allocations support the formats text, md and json");
	if (request->html && request->merged)
		return cmd_usage("report", "--merge-threads is for text, not for the HTML report");
	if ((request->columns.values.n || request->derived.values.n) &&
	    (request->view == TEXT_QUALITY || request->view >= TEXT_WAITS || request->group > GROUP_LINE))
		return cmd_usage("report", "--columns and --derive do not apply to this view");
	return -1;
}

/* Programs that it will need are started first, to wait. */
static void report_cmd_confine(const char *file, const struct report_request *request)
{
	if (request->html && request->opens)
		browser_prepare(request->html, request->program);
	else if (!request->html && request->pager)
		pager_prepare(request->program);
	confine(&(struct confine_options){ .inputs = (const char *const[]){ file, request->counts },
					   .n_inputs = request->counts ? 2 : 1,
					   .reads_all = request->html || request->view == TEXT_LOOPS,
					   .output = request->html });
}

static int check_and_run(const struct command_line *line, const struct report_request *request)
{
	const char *file = line->n_operands ? line->operands[0]
			   : request->input ? request->input
					    : PROFILE_DEFAULT;
	CLEANUP(freep) char *stretch = NULL;
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

static int parse_and_run(struct report_request *request, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ 0, "view", OPTION_CHOICE, &request->view,
		  "summary|tree|callers|flat|hot|loops|quality|waits|calls|allocations", "what to show" },
		{ 0, "group-by", OPTION_CHOICE, &request->group,
		  "function|module|file|loop|line|thread|process",
		  "what a row of the flat view is; makes that view the default" },
		{ 0, "sort", OPTION_CHOICE, &request->sort, "auto|total|self", "sort rows by this" },
		{ 0, "percent-limit", OPTION_PERCENT, &request->percent_limit, "N",
		  "hide what is below N % (default 1 in trees, else 0.5)" },
		{ 0, "limit", OPTION_NUMBER, &request->limit, "N",
		  "show at most N rows of each table or tree, the most expensive ones" },
		{ 0, "max-depth", OPTION_NUMBER, &request->max_depth, "N",
		  "show so many levels of a tree; 0 = all (default: 8 callers)" },
		{ 0, "percent-base", OPTION_CHOICE, &request->base, "root|parent",
		  "what percentages in trees relate to" },
		{ 0, "columns", OPTION_LIST, &request->columns, "NAME,...",
		  "which columns, in which order: self_percent, self_ci95, module, ...;\nself and "
		  "total also of another metric: self:METRIC" },
		{ 0, "derive", OPTION_TEXTS, &request->derived, "NAME=EXPR",
		  "a column by formula: ipc=instructions/cycles; + - * / ( ), numbers, "
		  "metrics,\nself(METRIC), "
		  "all(METRIC); repeatable" },
		{ 0, "merge-threads", OPTION_TEXT, &request->merged, "REGEX",
		  "threads whose name fits are one; by what is in the first parentheses, if it has any" },
		{ 0, "metric", OPTION_TEXT, &request->metric, "NAME",
		  "the metric to show (default: the first event)" },
		DATABASE_SPECS(request->database),
		REPORT_FILTER_SPECS(request->filter),
		{ 0, "inlines", OPTION_FLAG, &request->inlines, NULL, "show inlined calls (default)" },
		{ 0, "loops", OPTION_FLAG, &request->loops, NULL, "show loops (default)" },
		{ 0, "join", OPTION_FLAG, &request->joins, NULL,
		  "show what threads spend in an OpenMP region where the region is written (default)" },
		{ 0, "lines", OPTION_FLAG, &request->lines, NULL, "show the source lines below each scope" },
		MIN_QUALITY_SPEC(request->min_quality),
		{ 'f', "format", OPTION_CHOICE, &request->format, "text|md|json|csv",
		  "output format: for people, pull requests or programs" },
		{ 0, "html", OPTION_TEXT, &request->html, "OUT.html",
		  "write the whole report as one HTML file instead" },
		MODE_SPEC(request->mode),
		{ 0, "open", OPTION_FLAG, &request->opens, NULL, "with --html: open it in a browser" },
		{ 0, "source-dir", OPTION_TEXTS, &request->directories, "DIR",
		  "--html, --view loops: also look for source files in this directory; repeatable" },
		{ 0, "source-map", OPTION_RULES, &request->rules, "OLD=NEW",
		  "--html, --view loops: replace OLD at the start of source paths with NEW" },
		{ 0, "counts", OPTION_TEXT, &request->counts, "FILE",
		  "show how often loops went round, as `cpprof paths --format json` has counted it" },
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
	struct report_request request = { .view = NO_VIEW,
					  .percent_limit = -1,
					  .max_depth = NO_DEPTH,
					  .inlines = true,
					  .loops = true,
					  .joins = true,
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
