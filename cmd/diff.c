/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff: what changed between runs before and runs after.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_tree.h"
#include "cmd/browser.h"
#include "cmd/cmd.h"
#include "cmd/database.h"
#include "cmd/export.h"
#include "cmd/file_list.h"
#include "cmd/options.h"
#include "cmd/pager.h"
#include "cmd/run_set.h"
#include "cmd/terminal.h"
#include "report/diff/diff_html.h"
#include "report/diff/diff_report.h"

#define GO_ON (-1)
#define NO_VIEW (-1)
#define SUMMARY_ROWS 20

static const char about[] = "Compares one or more runs (before) with others (after), by function, loop, "
			    "line, module and calling context,\n"
			    "and shows which changes exceed noise. Code is matched by name and structure, "
			    "not by address, so the builds may differ.\n"
			    "With two or more runs on each side, confidence intervals come from the "
			    "variation between runs. Exits with 7 if --fail-on applies.";

static const char examples[] =
	"  cpprof diff before.data after.data                     what changed\n"
	"  cpprof diff before-*.data -- after-*.data              the same, with several runs on each side\n"
	"  cpprof diff --view tree A.data B.data                  by calling context\n"
	"  cpprof diff --group-by loop A.data B.data              by loop\n"
	"  cpprof diff --fail-on 'total>2%' --fail-on 'function:parse_.*>5%' before-*.data -- after-*.data\n"
	"  cpprof diff --rename old_name=new_name A.data B.data   a function or module that was renamed\n"
	"  cpprof diff --files-from runs.txt                      file names from a list\n"
	"  cpprof diff -f md before-*.data -- after-*.data        a table for a pull request\n"
	"  cpprof diff --html diff.html A.data B.data             a differential flame graph\n"
	"  cpprof diff --database /var/lib/cpprof --a 25h..24h --b 1h..now   today compared with yesterday\n";

enum diff_format { DIFF_TEXT, DIFF_MARKDOWN, DIFF_JSON, DIFF_CSV };

struct diff_request {
	int view, group, format, color;
	double percent_limit;
	struct quality_bar min_quality;
	uint64_t limit;
	const char *metric, *normalize, *html, *rules_file, *files_from;
	struct option_list fail_on, renames;
	bool inlines, loops, call_sites, pager, opens;
	mode_t mode;
	struct database_choice database;
	const char *a, *b; /* stretches of it */
	/* Made of these: */
	char **files;
	uint32_t n_a, n_b;
	fail_rules rules;
	struct diff_normalization normalization;
	struct renames renamed;
};

/* ---- what was asked for ------------------------------------------------------------------------- */

static int diff_cmd_read_rules(struct diff_request *request)
{
	struct diag diag = { 0 };
	uint8_t bytes[JSON_TREE_SIZE + 1];

	for (size_t i = 0; i < request->fail_on.values.n; i++)
		if (fail_rules_add(&request->rules, request->fail_on.values.at[i], NULL, &diag) < 0) {
			cmd_fail(&diag);
			return EXIT_USAGE;
		}
	if (!request->rules_file)
		return GO_ON;
	CLEANUP(fclosep) FILE *file = fopen(request->rules_file, "re");
	if (!file) {
		diag_set(&diag, -errno, "cannot read '%s'", request->rules_file);
		return cmd_fail(&diag);
	}
	size_t len = fread(bytes, 1, sizeof(bytes), file);
	if (ferror(file)) {
		diag_set(&diag, errno ? -errno : -EIO, "cannot read '%s'", request->rules_file);
		return cmd_fail(&diag);
	}
	if (fail_rules_read(&request->rules, (struct bytes){ bytes, len }, request->rules_file, &diag) < 0) {
		cmd_fail(&diag);
		return diag.error == -ENOSYS ? EXIT_FAULT : EXIT_USAGE;
	}
	return GO_ON;
}

static int diff_cmd_read_normalize(struct diff_request *request)
{
	static const char *const words[] = { "none", "total", "time" };
	const char *text = request->normalize;

	if (!text)
		return GO_ON;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(text, words[i]) == 0) {
			request->normalization.by = (enum diff_normalize)i;
			return GO_ON;
		}
	if (strncmp(text, "scope:", 6) != 0 || !text[6])
		return cmd_usage("diff", "--normalize takes none, total, time or scope:FUNCTION, not '%s'",
				 text);
	request->normalization.by = NORMALIZE_SCOPE;
	request->normalization.scope = text + 6;
	return GO_ON;
}

static int diff_cmd_check(const struct diff_request *request)
{
	if (request->opens && !request->html)
		return cmd_usage("diff", "--open needs --html OUT.html");
	if (request->html && (request->format || request->view != NO_VIEW))
		return cmd_usage("diff", "--html contains all views; -f and --view apply to text");
	if (request->group && request->view != NO_VIEW && request->view != DIFF_VIEW_FLAT &&
	    request->view != DIFF_VIEW_SUMMARY)
		return cmd_usage("diff", "--group-by applies to --view flat only");
	return GO_ON;
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* After comes first: what is in both is shown as it is now. */
static int diff_cmd_join(const struct diff_request *request, struct run_set *set, struct joint *joint,
			 uint64_t *durations)
{
	uint32_t n = request->n_a + request->n_b;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t run = (i + request->n_a) % n, metric;
		CLEANUP(profile_freep) struct profile *profile = NULL;
		int code = run_set_read(set, request->files[run], &profile, &metric);
		if (code >= 0)
			return code;
		CLEANUP(freep) uint32_t *unit = alloc_zero(profile->threads.n + 1, sizeof(*unit));
		for (size_t k = 0; k <= profile->threads.n; k++)
			unit[k] = run;
		durations[run] = profile->run.duration_ns;
		joint_add(joint, &(struct joint_part){ profile, metric, unit, run < request->n_a });
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
	if (error == 0 && text.len && request->format == DIFF_TEXT && request->pager)
		error = pager_print(&text);
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
	struct export_choice choice = { .options = { .metric = DIFF_HTML_AFTER, .diff = report->diff },
					.mode = request->mode };
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
		browser_open(request->html);
	return GO_ON;
}

static struct diff_report diff_cmd_report(const struct diff_request *request, const struct run_set *set,
					  const struct diff *diff, const rule_verdicts *verdicts)
{
	int view = request->view != NO_VIEW ? request->view
		   : request->group         ? DIFF_VIEW_FLAT
					    : DIFF_VIEW_SUMMARY;
	bool is_for_people = request->format == DIFF_TEXT || request->format == DIFF_MARKDOWN;
	static const enum group_by groups[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE, GROUP_LOOP,
						GROUP_LINE };
	static const char *const by[] = { [NORMALIZE_TOTAL] = "total", [NORMALIZE_TIME] = "time" };
	struct diff_report report = { .diff = diff,
				      .metric = set->metric_name,
				      .unit = set->unit,
				      .files = request->files,
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

/* A rule that fits nothing would never fail: a mistake. */
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

static int diff_cmd_run(struct diff_request *request)
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

static int diff_cmd_start(struct diff_request *request)
{
	int code = diff_cmd_check(request);

	if (code < 0)
		code = diff_cmd_read_normalize(request);
	if (code < 0)
		code = diff_cmd_read_rules(request);
	request->renamed = (struct renames){ request->renames.values.at, request->renames.values.n };
	return code < 0 ? diff_cmd_run(request) : code;
}

/* Two files need no -- between them. */
static int diff_cmd_take(struct diff_request *request, char **names, size_t n)
{
	VEC(char *) files = { 0 };
	size_t dashes = 0;

	while (dashes < n && strcmp(names[dashes], "--") != 0)
		dashes++;
	for (size_t i = 0; i < n; i++)
		if (i != dashes)
			vec_push(&files, names[i]);
	request->files = files.at;
	request->n_a = dashes < n || n != 2 ? (uint32_t)dashes : 1;
	request->n_b = (uint32_t)files.n - request->n_a;
	int code =
		request->n_a && request->n_b ? diff_cmd_start(request)
		: dashes == n && n > 2
			? cmd_usage("diff",
				    "with more than two files, put -- between the files of before and after")
			: cmd_usage("diff", "give two profiles: before and after");
	vec_done(&files);
	return code;
}

/* "25h..24h" of a database. */
static int diff_cmd_stretch(const struct diff_request *request, const char *range, char **ret)
{
	const char *dots = range ? strstr(range, "..") : NULL, *ignored;
	struct database_choice choice = request->database;

	if (!dots)
		return cmd_usage("diff", "give two time ranges: --a 25h..24h --b 1h..now");
	CLEANUP(freep) char *since = alloc_text_n(range, (size_t)(dots - range));
	choice.since = since;
	choice.until = dots + 2;
	return database_choose(&choice, "diff", false, &ignored, ret);
}

static int diff_cmd_take_stretches(struct diff_request *request, const struct command_line *line)
{
	CLEANUP(freep) char *a = NULL;
	CLEANUP(freep) char *b = NULL;

	if (line->n_operands)
		return cmd_usage("diff", "give files or --database DIR, not both");
	if (!request->database.directory)
		return cmd_usage("diff", "--a and --b are stretches of a database: give --database DIR");
	int code = diff_cmd_stretch(request, request->a, &a);
	if (code < 0)
		code = diff_cmd_stretch(request, request->b, &b);
	if (code >= 0)
		return code;
	char *files[] = { a, b };
	request->files = files;
	request->n_a = request->n_b = 1;
	return diff_cmd_start(request);
}

/* A list has its -- on a line of its own. */
static int diff_cmd_take_list(struct diff_request *request)
{
	CLEANUP(file_names_done) file_names names = { 0 };
	struct diag diag = { 0 };

	if (file_list_read(&names, request->files_from, &diag) < 0)
		return cmd_fail(&diag);
	if (names.n == 0)
		return cmd_usage("diff", "the list of files '%s' is empty", request->files_from);
	return diff_cmd_take(request, names.at, names.n);
}

/* Typed, or in a list. */
static int diff_cmd_choose(struct diff_request *request, const struct command_line *line, char **after,
			   int n_after)
{
	static char separator[] = "--";
	VEC(char *) names = { 0 };

	if (request->files_from && (line->n_operands || n_after))
		return cmd_usage("diff", "give files, or a list of them with --files-from, not both");
	if (request->files_from)
		return diff_cmd_take_list(request);
	for (int i = 0; i < line->n_operands; i++)
		vec_push(&names, line->operands[i]);
	if (n_after)
		vec_push(&names, separator);
	for (int i = 0; i < n_after; i++)
		vec_push(&names, after[i]);
	int code = diff_cmd_take(request, names.at, names.n);
	vec_done(&names);
	return code;
}

static int diff_cmd_parse(struct diff_request *request, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ 0, "view", OPTION_CHOICE, &request->view, "summary|tree|flat|hot", "what to show" },
		{ 0, "group-by", OPTION_CHOICE, &request->group, "function|module|file|loop|line",
		  "what each row of the flat view stands for; implies --view flat" },
		{ 0, "fail-on", OPTION_TEXTS, &request->fail_on, "RULE",
		  "exit with 7 if this grew by more than a limit, with 95 % confidence: total>2%, "
		  "function:REGEX>5%, loop:REGEX>10%, module:REGEX>20ms, line:REGEX>5%; repeatable" },
		{ 0, "rules", OPTION_TEXT, &request->rules_file, "FILE",
		  "read more rules from a JSON file: {\"rules\": [\"total>2%\"]}" },
		{ 0, "rename", OPTION_RULES, &request->renames, "OLD=NEW",
		  "match the function or module OLD with NEW; repeatable" },
		{ 0, "normalize", OPTION_TEXT, &request->normalize, "none|total|time|scope:FUNCTION",
		  "compare shares of the total, cost per second, or cost relative to a function" },
		{ 0, "files-from", OPTION_TEXT, &request->files_from, "FILE",
		  "read the names of the files from FILE, one per line, with a line -- between before and "
		  "after; - is standard input" },
		{ 0, "metric", OPTION_TEXT, &request->metric, "NAME",
		  "metric to compare (default: the first event); activations: distinct calls that were "
		  "observed" },
		{ 0, "percent-limit", OPTION_PERCENT, &request->percent_limit, "N",
		  "hide what changed by less than N % (default 0.5 in trees, else 0.1)" },
		{ 0, "limit", OPTION_NUMBER, &request->limit, "N", "show at most N rows" },
		{ 0, "inlines", OPTION_FLAG, &request->inlines, NULL, "show inlined calls (default)" },
		{ 0, "loops", OPTION_FLAG, &request->loops, NULL, "show loops (default)" },
		{ 0, "call-sites", OPTION_FLAG, &request->call_sites, NULL,
		  "distinguish calls of one function by their source lines" },
		MIN_QUALITY_SPEC(request->min_quality),
		{ 0, "database", OPTION_TEXT, &request->database.directory, "DIR",
		  "compare two time ranges of a database written by `cpprof daemon`" },
		{ 0, "a", OPTION_TEXT, &request->a, "SINCE..UNTIL", "before: ages (25h..24h), dates, now" },
		{ 0, "b", OPTION_TEXT, &request->b, "SINCE..UNTIL", "after" },
		DATABASE_PROCESS_SPEC(request->database),
		{ 'f', "format", OPTION_CHOICE, &request->format, "text|md|json|csv", "output format" },
		{ 0, "html", OPTION_TEXT, &request->html, "OUT.html", "write an HTML report instead" },
		MODE_SPEC(request->mode),
		{ 0, "open", OPTION_FLAG, &request->opens, NULL, "with --html: open it in a browser" },
		{ 0, "pager", OPTION_FLAG, &request->pager, NULL, "use a pager on a terminal (default)" },
		{ 0, "color", OPTION_CHOICE, &request->color, "auto|always|never", "colours" },
		{ 0 },
	};
	struct command_line line = { .command = "diff",
				     .usage = "[options] BEFORE AFTER | BEFORE... -- AFTER...",
				     .about = about,
				     .examples = examples,
				     .specs = specs };
	int dashes = 1;

	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	int code = options_parse(&line, dashes, argv);
	if (code >= 0)
		return code;
	if (request->database.directory || request->a || request->b)
		return diff_cmd_take_stretches(request, &line);
	int first = dashes < argc ? dashes + 1 : argc;
	return diff_cmd_choose(request, &line, argv + first, argc - first);
}

int cmd_diff(int argc, char **argv)
{
	struct diff_request request = {
		.view = NO_VIEW, .percent_limit = -1, .inlines = true, .loops = true, .pager = true
	};
	int code = diff_cmd_parse(&request, argc, argv);

	fail_rules_done(&request.rules);
	option_list_done(&request.fail_on);
	option_list_done(&request.renames);
	return code;
}
