/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats: how much runs, threads, processes or ranks differ from each other.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/file_list.h"
#include "cmd/options.h"
#include "cmd/pager.h"
#include "cmd/run_set.h"
#include "cmd/terminal.h"
#include "recording/output.h"
#include "report/diff/stats.h"
#include "report/label.h"

#define GO_ON (-1)
#define UNITS_MAX 100000

static const char about[] =
	"Shows how much the cost of each function, loop or call path varies between runs, threads, processes "
	"or ranks: sum, mean, standard deviation, minimum, maximum, and the range relative to the sum, (max "
	"- min) / sum, by which rows are sorted.";

static const char examples[] =
	"  cpprof stats run-*.data                         what varies from run to run\n"
	"  cpprof stats --group-by path run-*.data         the same by calling context\n"
	"  cpprof stats --by thread cpprof.data            is the work evenly distributed?\n"
	"  cpprof stats --by rank --group-by loop rank-*.data\n"
	"  cpprof stats --html stats.html run-*.data       with a dot plot in each row\n";

enum stats_by { BY_RUN, BY_THREAD, BY_PROCESS, BY_RANK };
enum stats_format { STATS_TEXT, STATS_MARKDOWN, STATS_JSON, STATS_CSV };

struct stats_request {
	int by, group, format, color;
	double percent_limit;
	struct quality_bar min_quality;
	uint64_t limit;
	const char *metric, *html;
	bool pager;
	struct later *program; /* the pager, which waits until there is something to show */
	mode_t mode;
	char **files;
	int n_files;
};

/* ---- units ---------------------------------------------------------------------------------------- */

typedef VEC(char *) unit_names;

static void unit_names_done(unit_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	vec_done(names);
}

/* The last number in a file's name: rank-12.data is rank 12. */
static char *stats_rank_name(const char *path)
{
	const char *file = label_file(path), *at = file + strlen(file), *end;

	while (at > file && !isdigit((unsigned char)at[-1]))
		at--;
	for (end = at; at > file && isdigit((unsigned char)at[-1]);)
		at--;
	return at < end ? alloc_printf("rank %.*s", (int)(end - at), at) : alloc_text(path);
}

/* If there are several files, each is a rank; in one file, each process is. */
static int stats_kind_of_unit(const struct stats_request *request)
{
	return request->by == BY_RANK ? (request->n_files > 1 ? BY_RUN : BY_PROCESS) : request->by;
}

/* By thread of the profile: its unit. */
static uint32_t *stats_units(const struct stats_request *request, const struct profile *profile,
			     const char *path, unit_names *names)
{
	uint32_t *unit = alloc_zero(profile->threads.n + 1, sizeof(*unit));
	uint32_t first = (uint32_t)names->n;
	int by = stats_kind_of_unit(request);
	const char *in = request->n_files > 1 ? path : "", *colon = *in ? ": " : "";

	for (size_t i = 0; i < profile->threads.n; i++)
		unit[i] = first + (by == BY_RUN      ? 0
				   : by == BY_THREAD ? (uint32_t)i
						     : profile->threads.at[i].process);
	if (by == BY_RUN)
		vec_push(names, request->by == BY_RANK ? stats_rank_name(path) : alloc_text(path));
	for (size_t i = 0; by == BY_THREAD && i < profile->threads.n; i++)
		vec_push(names, alloc_printf("%s%s%s (%d)", in, colon,
					     intern_text(&profile->strings, profile->threads.at[i].comm),
					     (int)profile->threads.at[i].tid));
	for (size_t i = 0; by == BY_PROCESS && i < profile->processes.n; i++)
		vec_push(names, alloc_printf("%s%s%s (%d)", in, colon,
					     intern_text(&profile->strings, profile->processes.at[i].comm),
					     (int)profile->processes.at[i].pid));
	return unit;
}

/* ---- reading -------------------------------------------------------------------------------------- */

static int stats_cmd_join(const struct stats_request *request, struct run_set *set, struct joint *joint,
			  unit_names *names)
{
	for (int i = 0; i < request->n_files; i++) {
		CLEANUP(profile_freep) struct profile *profile = NULL;
		uint32_t metric;
		int code = run_set_read(set, request->files[i], &profile, &metric);
		if (code >= 0)
			return code;
		CLEANUP(freep) uint32_t *unit = stats_units(request, profile, request->files[i], names);
		if (names->n > UNITS_MAX) {
			fprintf(stderr, "cpprof: more than %d %s are too many to compare\n", UNITS_MAX,
				request->by == BY_THREAD ? "threads" : "runs");
			return EXIT_FAULT;
		}
		joint->n_units = UNITS_MAX; /* samples are not needed: their numbers are beyond all units */
		joint_add(joint, &(struct joint_part){ profile, metric, unit, false });
		run_set_note_tree(set, request->files[i], profile);
	}
	joint->n_units = (uint32_t)names->n;
	joint_finish(joint);
	return GO_ON;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static int stats_write_html(const struct stats_request *request, const struct stats_report *report,
			    struct diag *diag)
{
	CLEANUP(freep) char *target = NULL;
	int error = output_follow(request->html, &target, diag);

	if (error)
		return error;
	if (strcmp(target, "-") == 0) {
		stats_html(report, stdout);
		return 0;
	}
	CLEANUP(fresh_file_done) struct fresh_file file;
	error = fresh_file_open(&file, target, request->mode);
	FILE *to = error ? NULL : fresh_file_stream(&file);
	if (!to)
		return diag_set(diag, error ? error : -errno, "cannot write '%s'", target);
	stats_html(report, to);
	errno = 0;
	bool failed = ferror(to) != 0;
	failed |= fclose(to) != 0;
	error = failed ? (errno ? -errno : -EIO) : fresh_file_keep(&file);
	if (error)
		return diag_set(diag, error, "cannot write '%s'", target);
	fprintf(stderr, "cpprof: wrote %s; open it in a browser\n", request->html);
	return 0;
}

static int stats_cmd_print(const struct stats_request *request, const struct stats_report *report)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct diag diag = { 0 };
	int error = 0;

	if (request->html)
		return stats_write_html(request, report, &diag) < 0 ? cmd_fail(&diag) : EXIT_OK;
	if (request->format == STATS_JSON)
		error = stats_json(report, stdout);
	else if (request->format == STATS_CSV)
		stats_csv(report, &text);
	else if (request->format == STATS_MARKDOWN)
		stats_markdown(report, &text);
	else
		stats_text(report, &text);
	if (error == 0 && text.len && request->program->input)
		error = pager_print_later(&text, request->program);
	else if (error == 0 && text.len && fwrite(text.at, 1, text.len, stdout) != text.len)
		error = errno ? -errno : -EIO;
	if (error == 0)
		return EXIT_OK;
	diag_set(&diag, error, "cannot write the report");
	return cmd_fail(&diag);
}

static int stats_cmd_run(const struct stats_request *request)
{
	static const char *const words[] = { "runs", "threads", "processes", "ranks" };
	CLEANUP(run_set_done)
	struct run_set set = { .command = "stats",
			       .metric = request->metric,
			       .min_quality = request->min_quality };
	CLEANUP(joint_done) struct joint joint;
	CLEANUP(unit_names_done) unit_names names = { 0 };

	joint_init(&joint, &(struct joint_options){ .no_samples = true }, 0);
	int code = stats_cmd_join(request, &set, &joint, &names);
	if (code >= 0)
		return code;
	if (names.n < 2)
		return cmd_usage("stats", "nothing to compare: there is only one of the %s",
				 words[request->by]);
	bool is_for_people =
		request->format == STATS_TEXT || request->format == STATS_MARKDOWN || request->html;
	double percent = request->percent_limit >= 0 ? request->percent_limit : is_for_people ? 0.5 : 0;
	struct stats stats;
	stats_init(
		&stats, &joint,
		&(struct stats_options){ (enum stats_rows)request->group, percent, (size_t)request->limit });
	code = stats_cmd_print(
		request, &(struct stats_report){ .stats = &stats,
						 .metric = set.metric_name,
						 .unit = set.unit,
						 .units = words[request->by],
						 .names = names.at,
						 .notes = set.notes.at,
						 .n_notes = set.notes.n,
						 .style = terminal_style((enum color_when)request->color) });
	stats_done(&stats);
	return code;
}

/* ---- the command ---------------------------------------------------------------------------------- */

int cmd_stats(int argc, char **argv)
{
	struct stats_request r = { .percent_limit = -1, .pager = true, .program = &(struct later){ 0 } };
	CLEANUP(file_names_done) file_names files = { 0 };
	struct diag diag = { 0 };
	const char *list = NULL;
	const struct option_spec specs[] = {
		{ 0, "by", OPTION_CHOICE, &r.by, "run|thread|process|rank",
		  "what to compare: files (run), or threads, processes or ranks in them; a rank is a file, "
		  "or a process in a merged profile" },
		{ 0, "group-by", OPTION_CHOICE, &r.group, "function|loop|module|path", "rows" },
		FILES_FROM_SPEC(list, "compare"),
		{ 0, "metric", OPTION_TEXT, &r.metric, "NAME",
		  "metric to compare (default: the first event)" },
		{ 0, "percent-limit", OPTION_PERCENT, &r.percent_limit, "N",
		  "hide what is below N % of the sum (default 0.5 for text, md and html)" },
		{ 0, "limit", OPTION_NUMBER, &r.limit, "N",
		  "show at most N rows, those with the widest range" },
		MIN_QUALITY_SPEC(r.min_quality),
		{ 'f', "format", OPTION_CHOICE, &r.format, "text|md|json|csv", "output format" },
		{ 0, "html", OPTION_TEXT, &r.html, "OUT.html",
		  "write an HTML page with a dot plot in each row instead" },
		MODE_SPEC(r.mode),
		{ 0, "pager", OPTION_FLAG, &r.pager, NULL, "use a pager on a terminal (default)" },
		{ 0, "color", OPTION_CHOICE, &r.color, "auto|always|never", "colours" },
		{ 0 },
	};
	struct command_line line = { .command = "stats",
				     .usage = "[options] FILE...",
				     .about = about,
				     .examples = examples,
				     .specs = specs };
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	for (int i = 0; i < line.n_operands; i++)
		vec_push(&files, alloc_text(line.operands[i]));
	if (list && file_list_read(&files, list, &diag) < 0)
		return cmd_fail(&diag);
	if (files.n == 0)
		return list ? cmd_usage("stats", "the list of files '%s' is empty", list)
			    : cmd_usage("stats", "give the profiles to compare");
	if (r.html && r.format)
		return cmd_usage("stats", "--html and -f cannot be used together");
	r.files = files.at;
	r.n_files = (int)files.n;
	if (r.pager && !r.html && r.format == STATS_TEXT)
		pager_prepare(r.program);
	confine(&(struct confine_options){
		.inputs = (const char *const *)files.at, .n_inputs = files.n, .output = r.html });
	code = stats_cmd_run(&r);
	later_end(r.program);
	return code;
}
