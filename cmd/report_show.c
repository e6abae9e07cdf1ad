/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_show.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/pager.h"
#include "cmd/remedy.h"
#include "cmd/terminal.h"
#include "report/annotate/source_lines.h"
#include "report/annotate/source_user.h"
#include "report/text/columns.h"
#include "report/text/rows.h"
#include "report/text/text.h"
#include "report/tree/loop_facts.h"
#include "structure/fuse.h"

#define ROUNDS_NODES_MAX 200000 /* with more, intervals are based only on the number of samples */
#define CALLERS_DEPTH 8         /* callers shown by default */

static enum text_view report_show_view(const struct report_request *request)
{
	return request->view != REPORT_NO_VIEW ? (enum text_view)request->view : TEXT_SUMMARY;
}

bool report_has_loops(const struct report_request *request)
{
	enum text_view view = report_show_view(request);

	if (!request->loops)
		return false;
	return view == TEXT_FLAT ? request->group == GROUP_LOOP : view <= TEXT_LOOPS;
}

bool report_reads_sources(const struct report_request *request)
{
	return report_has_loops(request) && report_show_view(request) != TEXT_SUMMARY;
}

static bool is_for_people(const struct report_request *request)
{
	return request->format == FORMAT_TEXT || request->format == FORMAT_MARKDOWN;
}

static struct text_options text_options_of(const struct report_request *request)
{
	bool has_tasks = request->group > GROUP_LINE;
	struct text_options options = { .view = report_show_view(request),
					.group = has_tasks ? GROUP_FUNCTION : (enum group_by)request->group,
					.tasks = has_tasks ? (enum text_tasks)(request->group - GROUP_LINE)
							   : TASKS_NOT,
					.percent_limit = request->percent_limit,
					.limit = (size_t)request->limit,
					.max_depth = (size_t)request->max_depth,
					.folds_recursion = request->folds_recursion && is_for_people(request),
					.percent_of_parent = request->base == 1,
					.style = terminal_style((enum color_when)request->color) };

	if (options.percent_limit < 0)
		options.percent_limit = text_default_percent_limit(options.view);
	if (request->max_depth == REPORT_NO_DEPTH)
		options.max_depth = options.view == TEXT_CALLERS ? CALLERS_DEPTH : 0;
	if (request->filter.focus && options.view == TEXT_CALLERS && request->sort == 0) {
		options.sort = VIEW_BY_INCLUSIVE; /* for a single function, which may have no self cost */
		return options;
	}
	options.sort = request->sort == 0 ? request->children ? text_default_sort(options.view, options.group)
							      : VIEW_BY_SELF
		       : request->sort == 1 ? VIEW_BY_INCLUSIVE
					    : VIEW_BY_SELF;
	return options;
}

static int print_report(const struct text_input *input, const struct text_options *options,
			enum report_format format, struct later *pager)
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

/* The exit code after the report was printed. */
static int report_show_judge(const struct profile *profile, const struct report_request *request)
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
	const struct style style = { .utf8 = true };
	CLEANUP(text_done) struct text names = { 0 };

	for (size_t i = 0; i < profile->metrics.n; i++) {
		text_printf(&names, "%s", i ? ", " : "");
		style_safe(&names, &style, intern_text(&profile->strings, profile->metrics.at[i].name));
	}
	return cmd_usage("report", "this profile has no metric '%s'; it has %s", wanted,
			 names.len ? names.at : "none");
}

/* If only derived columns are requested, they are added to the usual ones; or common ratios, if the profile
 * has their events. The summary does not change, unless columns are requested for it. */
static void report_show_usual_columns(const struct profile *profile, const struct report_request *request,
				      struct columns *ret)
{
	static const char *const shown[] = { "total_percent", "self_percent" };
	struct diag diag = { 0 };

	if (!is_for_people(request))
		columns_add_default(ret, request->format == FORMAT_JSON, profile->n_ranks > 0);
	for (size_t i = 0; is_for_people(request) && i < sizeof(shown) / sizeof(shown[0]); i++)
		columns_add(ret, profile, shown[i], &diag);
	size_t n = columns_derive_usual(ret, profile);
	bool is_wanted = n && request->view != REPORT_NO_VIEW && request->group <= GROUP_LINE;
	if (!request->derived.values.n && (!is_wanted || !is_for_people(request)))
		vec_clear(&ret->of);
}

/* -1, or an exit code after an error message. */
static int choose_columns(const struct profile *profile, const struct report_request *request,
			  struct columns *ret)
{
	const struct option_list *names = &request->columns, *derived = &request->derived;
	struct diag diag = { 0 };

	if (!names->values.n)
		report_show_usual_columns(profile, request, ret);
	for (size_t i = 0; i < names->values.n; i++)
		if (columns_add(ret, profile, names->values.at[i], &diag) < 0)
			return cmd_usage("report", "%s: %s", diag.what, diag.why);
	for (size_t i = 0; i < derived->values.n; i++)
		if (columns_derive(ret, profile, derived->values.at[i], &diag) < 0)
			return cmd_usage("report", "%s: %s", diag.what, diag.why);
	return -1;
}

/* The distribution over threads, if a column shows it. -1, or an exit code after an error message. */
static int report_show_spread(const struct columns *columns, const struct text_input *input,
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

struct source_search report_sources(const struct report_request *request, const struct profile *profile,
				    const char *path)
{
	struct source_search sources = { (const char *const *)request->directories.values.at,
					 request->directories.values.n,
					 (const char *const *)request->rules.values.at,
					 request->rules.values.n, .has_user = false };

	source_user_limit(&sources, profile, path);
	return sources;
}

/* The input for the rows of a report. */
struct report_data {
	struct scope_tree tree;
	struct costs costs;
	struct loop_table loops;
	bool has_loops;
};

static void report_data_done(struct report_data *data)
{
	if (data->has_loops)
		loop_table_done(&data->loops);
	costs_done(&data->costs);
	scope_tree_done(&data->tree);
}

/* With the addresses of samples, more is known about loops; the rows do not have them. Threads: NULL = all.
 */
static int report_data_measure(struct report_data *data, const struct profile *profile,
			       const struct report_request *request, const bool *is_kept,
			       uint32_t *ret_metric)
{
	uint32_t metric = text_default_metric(profile, &data->tree, is_kept);

	if (report_show_view(request) == TEXT_WAITS && wait_metrics_of(profile).off_cpu)
		metric = wait_metrics_of(profile).off_cpu;
	int chosen = request->metric ? export_find_metric(profile, request->metric) : (int)metric;
	if (chosen < 0)
		return no_metric(profile, request->metric);
	*ret_metric = (uint32_t)chosen;
	data->has_loops = data->tree.has_addresses;
	if (data->has_loops)
		loop_table_init(&data->loops, profile, &data->tree, *ret_metric, is_kept);
	if (data->has_loops && request->lines)
		scope_tree_merge_addresses(&data->tree);
	else if (data->has_loops)
		scope_tree_drop_lines(&data->tree);
	costs_init(&data->costs, &data->tree, is_kept);
	return -1;
}

static int report_show_print(const char *path, const struct text_input *input, struct text_options options,
			     const struct report_request *request)
{
	struct source_search sources = report_sources(request, input->profile, path);
	CLEANUP(source_lines_done) struct source_lines lines = { .search = &sources };
	struct text_source source = source_lines_for(&lines);
	struct diag diag = { 0 };

	if (report_reads_sources(request))
		options.source = &source;
	int error = print_report(input, &options, (enum report_format)request->format, request->program);
	if (error == 0)
		return report_show_judge(input->profile, request);
	diag_set(&diag, error, "cannot write the report");
	return cmd_fail(&diag);
}

int report_show(const char *path, struct profile *profile, const struct report_request *request,
		const struct loop_counts *counts, const bool *is_kept)
{
	bool has_loops = report_has_loops(request);
	struct fuse_options fusing = { .no_inlines = !request->inlines,
				       .no_loops = !request->loops,
				       .joins = request->joins,
				       .durations = true,
				       .rounds = profile->cct.nodes.n <= ROUNDS_NODES_MAX,
				       .lines = request->lines || request->group == GROUP_LINE || has_loops,
				       .addresses = has_loops };
	struct text_options options = text_options_of(request);
	CLEANUP(report_data_done) struct report_data data = { 0 };
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
	options.ranks = ranks.n ? &ranks : NULL;
	profile_take_tree(profile, &fusing, &data.tree);
	if (report_filter_apply(&request->filter, profile, &data.tree, &diag) < 0)
		return cmd_usage("report", "%s: %s", diag.what, diag.why);
	code = report_data_measure(&data, profile, request, is_kept, &options.metric);
	if (code >= 0)
		return code;
	CLEANUP(freep) bool *is_focus = NULL;
	if (request->filter.focus &&
	    scope_tree_match(&data.tree, profile, request->filter.focus, &is_focus, &diag) == 0)
		options.callers_of = is_focus;
	if (filter && data.costs.n_metrics > 0 && costs_inclusive(&data.costs, 0, 0) == 0 &&
	    profile->quality.samples > 0)
		return report_filter_say_nothing_left(filter);
	remedy_find(profile, &data.tree, &data.costs, options.metric, path, &remedy);
	struct text_input input = { profile,
				    &data.tree,
				    &data.costs,
				    is_kept,
				    filter,
				    remedy.at,
				    data.has_loops ? &data.loops : NULL,
				    counts };
	CLEANUP(thread_spreads_done) struct thread_spreads spreads = { 0 };
	code = report_show_spread(&columns, &input, &options, &spreads);
	return code >= 0 ? code : report_show_print(path, &input, options, request);
}
