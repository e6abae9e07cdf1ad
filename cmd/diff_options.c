/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_tree.h"
#include "cmd/cmd.h"
#include "report/diff/diff_report.h"

#define GO_ON (-1)

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

static const struct diff_request defaults = { .view = DIFF_NO_VIEW,
					      .group = DIFF_NO_GROUP,
					      .percent_limit = -1,
					      .inlines = true,
					      .loops = true,
					      .pager = true };

/* ---- rules and normalization ------------------------------------------------------------------------ */

static int diff_options_read_rules(struct diff_request *request)
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

static int diff_options_read_normalize(struct diff_request *request)
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

static int diff_options_check(const struct diff_request *request)
{
	if (request->opens && !request->html)
		return cmd_usage("diff", "--open needs --html OUT.html");
	if (request->html && (request->format || request->view != DIFF_NO_VIEW))
		return cmd_usage("diff", "--html contains all views; -f and --view apply to text");
	if (request->group > 0 && request->view != DIFF_NO_VIEW && request->view != DIFF_VIEW_FLAT &&
	    request->view != DIFF_VIEW_SUMMARY)
		return cmd_usage("diff", "--group-by applies to --view flat only");
	return GO_ON;
}

/* --group-by implies the flat view, also if it names the default. */
static void diff_options_choose_view(struct diff_request *request)
{
	if (request->group == DIFF_NO_GROUP)
		request->group = 0;
	else if (request->view == DIFF_NO_VIEW)
		request->view = DIFF_VIEW_FLAT;
}

static int diff_options_complete(struct diff_request *request)
{
	int code = diff_options_check(request);

	diff_options_choose_view(request);
	if (code < 0)
		code = diff_options_read_normalize(request);
	if (code < 0)
		code = diff_options_read_rules(request);
	request->renamed = (struct renames){ request->renames.values.at, request->renames.values.n };
	return code;
}

/* ---- files --------------------------------------------------------------------------------------- */

/* The names of all files, with -- between before and after. Two files need no -- between them. */
static int diff_options_split(struct diff_request *request, char **names, size_t n)
{
	size_t dashes = 0;

	while (dashes < n && strcmp(names[dashes], "--") != 0)
		dashes++;
	for (size_t i = 0; i < n; i++)
		if (i != dashes)
			vec_push(&request->files, names[i]);
	request->n_a = dashes < n || n != 2 ? (uint32_t)dashes : 1;
	request->n_b = (uint32_t)request->files.n - request->n_a;
	if (request->n_a && request->n_b)
		return GO_ON;
	return dashes == n && n > 2
		       ? cmd_usage("diff",
				   "with more than two files, put -- between the files of before and after")
		       : cmd_usage("diff", "give two profiles: before and after");
}

/* "25h..24h" of a database. */
static int diff_options_range(struct diff_request *request, const char *range)
{
	const char *dots = range ? strstr(range, "..") : NULL, *ignored;
	struct database_choice choice = request->database;
	char *name = NULL;

	if (!dots)
		return cmd_usage("diff", "give two time ranges: --a 25h..24h --b 1h..now");
	CLEANUP(freep) char *since = alloc_text_n(range, (size_t)(dots - range));
	choice.since = since;
	choice.until = dots + 2;
	int code = database_choose(&choice, "diff", false, &ignored, &name);
	if (name)
		vec_push(&request->names, name);
	return code;
}

static int diff_options_take_ranges(struct diff_request *request, const struct command_line *line)
{
	if (line->n_operands)
		return cmd_usage("diff", "give files or --database DIR, not both");
	if (!request->database.directory)
		return cmd_usage("diff", "--a and --b are time ranges of a database: give --database DIR");
	int code = diff_options_range(request, request->a);
	if (code < 0)
		code = diff_options_range(request, request->b);
	return code < 0 ? diff_options_split(request, request->names.at, request->names.n) : code;
}

/* A list has its -- on a line of its own. */
static int diff_options_take_list(struct diff_request *request)
{
	struct diag diag = { 0 };

	if (file_list_read(&request->names, request->files_from, &diag) < 0)
		return cmd_fail(&diag);
	if (request->names.n == 0)
		return cmd_usage("diff", "the list of files '%s' is empty", request->files_from);
	return diff_options_split(request, request->names.at, request->names.n);
}

/* From the command line or from a list. after: the operands that follow --. */
static int diff_options_take_files(struct diff_request *request, const struct command_line *line,
				   char **after, int n_after)
{
	static char separator[] = "--";
	VEC(char *) names = { 0 };

	if (request->files_from && (line->n_operands || n_after))
		return cmd_usage("diff", "give files, or a list of them with --files-from, not both");
	if (request->files_from)
		return diff_options_take_list(request);
	for (int i = 0; i < n_after; i++)
		if (after[i][0] == '-' && after[i][1] && access(after[i], F_OK) != 0)
			return cmd_usage("diff", "there is no file '%s'; options must come before --",
					 after[i]);
	for (int i = 0; i < line->n_operands; i++)
		vec_push(&names, line->operands[i]);
	if (n_after)
		vec_push(&names, separator);
	for (int i = 0; i < n_after; i++)
		vec_push(&names, after[i]);
	int code = diff_options_split(request, names.at, names.n);
	vec_done(&names);
	return code;
}

/* ---- the command line ---------------------------------------------------------------------------- */

int diff_options_parse(struct diff_request *request, int argc, char **argv)
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

	*request = defaults;
	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	int code = options_parse(&line, dashes, argv);
	if (code >= 0)
		return code;
	int first = dashes < argc ? dashes + 1 : argc;
	code = request->database.directory || request->a || request->b
		       ? diff_options_take_ranges(request, &line)
		       : diff_options_take_files(request, &line, argv + first, argc - first);
	return code < 0 ? diff_options_complete(request) : code;
}

void diff_options_done(struct diff_request *request)
{
	vec_done(&request->files);
	file_names_done(&request->names);
	fail_rules_done(&request->rules);
	option_list_done(&request->fail_on);
	option_list_done(&request->renames);
}
