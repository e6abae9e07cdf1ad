/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export: converts a profile to other formats, for dashboards and other tools; and schema, which prints the
 * JSON Schema of the json format.
 */
#include "cmd/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/embed.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/database.h"
#include "cmd/options.h"
#include "report/annotate/source_user.h"
#include "report/export/format_table.h"

EMBED(cpprof_schema, "docs/schema.json");

int cmd_schema(int argc, char **argv)
{
	struct command_line line = {
		.command = "schema",
		.usage = "",
		.about = "Prints the JSON Schema of `cpprof export --format json`.",
	};
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	if (line.n_operands)
		return cmd_usage("schema", "unexpected '%s'", line.operands[0]);
	fwrite(cpprof_schema, 1, (size_t)(cpprof_schema_end - cpprof_schema), stdout);
	return EXIT_OK; /* main checks whether standard output could be written */
}

/* Not every format can contain such a note. */
int export_to(const struct exporter *exporter, struct profile *profile, const struct export_choice *choice,
	      const char *path, struct diag *diag)
{
	CLEANUP(text_done) struct text folded = { 0 };
	int error = export_file(exporter, profile, choice, path, &folded, diag);

	if (error == 0 && folded.len && choice->options.detail != DETAIL_SUMMARY)
		fprintf(stderr, "cpprof: %s\n", folded.at);
	if (error == 0 && profile->quality.shortened_frames)
		fprintf(stderr, "cpprof: %llu frames are without all of their inlined calls and loops\n",
			(unsigned long long)profile->quality.shortened_frames);
	return error;
}

/* ---- the command ---------------------------------------------------------------------------------- */

static const struct exporter *export_cmd_choose(const char *format, const char *path)
{
	return format ? exporter_named(format) : exporter_for_file(path ? path : "");
}

static int complain_of_format(const char *format)
{
	CLEANUP(text_done) struct text names = { 0 };

	format_names(&names);
	if (format)
		return cmd_usage("export", "there is no format '%s'; the formats are %s", format, names.at);
	return cmd_usage("export", "give a format with --format: %s", names.at);
}

static int list_formats(void)
{
	CLEANUP(text_done) struct text table = { 0 };

	format_table(&table);
	return fputs(table.at, stdout) >= 0 ? EXIT_OK : EXIT_FAULT;
}

static int run_export(const char *file, const struct exporter *exporter, struct export_choice *choice,
		      const char *metric, const char *path)
{
	struct profile *profile = NULL;
	struct source_search sources = { 0 };
	struct diag diag = { 0 };

	confine(&(struct confine_options){
		.inputs = &file, .n_inputs = 1, .reads_all = exporter == &exporter_html, .output = path });
	if (database_read(file, &profile, &diag) < 0)
		return cmd_fail(&diag);
	int index = export_find_metric(profile, metric);
	int error = 0;
	if (index < 0) {
		error = diag_set(&diag, -EINVAL, "cannot export '%s'", file);
		diag_why(&diag, "it has no metric '%s'", metric);
	} else {
		source_user_limit(&sources, profile, file);
		choice->options.sources = &sources;
		choice->options.metric = (uint32_t)index;
		error = export_to(exporter, profile, choice, path, &diag);
	}
	profile_free(profile);
	return error < 0 ? cmd_fail(&diag) : EXIT_OK;
}

/* As typed. */
struct export_request {
	const char *file, *format, *path, *metric;
	uint64_t max_nodes, limit;
	int loops, names, detail, weight;
	bool inlines, no_loops, list;
	struct option_list labels, derived;
	struct export_choice choice;
	struct database_choice database;
};

/* A valid label name of Prometheus before the '='; names of OpenTelemetry may also contain dots. */
static bool export_is_label(const char *text, const struct exporter *exporter)
{
	size_t len = strcspn(text, "="), n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_' ||
	       (text[n] == '.' && exporter == &exporter_otlp))
		n++;
	return n > 0 && n == len && !isdigit((unsigned char)text[0]);
}

const char *export_bad_label(const struct option_list *labels, const struct exporter *exporter)
{
	for (size_t i = 0; i < labels->values.n; i++)
		if (!export_is_label(labels->values.at[i], exporter))
			return labels->values.at[i];
	return NULL;
}

static int check_and_export(struct export_request *r)
{
	const struct exporter *exporter = export_cmd_choose(r->format, r->path);
	struct export_choice *choice = &r->choice;

	if (!exporter)
		return complain_of_format(r->format);
	if (r->weight == 1 && r->metric)
		return cmd_usage("export", "--weight samples and --metric cannot be used together");
	if (export_bad_label(&r->labels, exporter))
		return cmd_usage("export", EXPORT_LABEL_WRONG, export_bad_label(&r->labels, exporter));
	if (r->detail && exporter != &exporter_json && exporter != &exporter_ndjson)
		return cmd_usage("export", "--detail applies to json and ndjson, not to %s", exporter->name);
	if (r->derived.values.n && !(exporter->carries & CARRIES_FORMULAS))
		return cmd_usage("export", "--derive applies to json, ndjson, rows, top and html, not to %s",
				 exporter->name);
	if (exporter->is_binary && (!r->path || strcmp(r->path, "-") == 0) && isatty(STDOUT_FILENO))
		return cmd_usage("export", "%s is binary and is not written to a terminal; give -o FILE",
				 exporter->name);
	choice->no_inlines = !r->inlines;
	choice->no_loops = r->loops == 2 || (r->loops == 0 && !exporter->loops_by_default) || r->no_loops;
	choice->options.detail = (enum export_detail)r->detail;
	choice->options.max_nodes = r->max_nodes < UINT32_MAX ? (uint32_t)r->max_nodes : UINT32_MAX;
	choice->options.limit = r->limit < UINT32_MAX ? (uint32_t)r->limit : UINT32_MAX;
	choice->options.pyroscope_names = r->names == 1;
	choice->options.labels = r->labels.values.at;
	choice->options.n_labels = r->labels.values.n;
	choice->options.derived = r->derived.values.at;
	choice->options.n_derived = r->derived.values.n;
	return run_export(r->file, exporter, choice, r->weight == 1 ? "samples" : r->metric, r->path);
}

static const char export_examples[] =
	"  cpprof export -o profile.json.gz\n"
	"  cpprof export -f ndjson --wide | jq 'select(.kind == \"loop\")'\n"
	"  cpprof export app.data -o app.pb.gz && pprof -top app.pb.gz\n"
	"  cpprof export -o app.speedscope.json\n"
	"  cpprof export -o app.prom --label service=app   for Prometheus\n"
	"  cpprof export -f folded --weight samples\n"
	"  cpprof export -f top --derive 'ipc = instructions / cycles'\n"
	"  cpprof export --database /var/lib/cpprof --since 1d -f ndjson --wide\n";

static int export_cmd_run(struct export_request *r, const struct command_line *line)
{
	CLEANUP(freep) char *stretch = NULL;

	if (r->list)
		return list_formats();
	if (line->n_operands > 1)
		return cmd_usage("export", "give only one profile");
	r->file = line->n_operands ? line->operands[0] : PROFILE_DEFAULT;
	int code = database_choose(&r->database, "export", line->n_operands > 0, &r->file, &stretch);
	return code < 0 ? check_and_export(r) : code;
}

int cmd_export(int argc, char **argv)
{
	struct export_request r = { .inlines = true, .choice = { .options = { .totals = true } } };
	CLEANUP(text_done) struct text format_help = { 0 };

	format_names(&format_help);
	text_printf(&format_help, ";\n"
				  "default: chosen by the name of OUT");
	const struct option_spec specs[] = {
		{ 'f', "format", OPTION_TEXT, &r.format, "NAME", format_help.at },
		{ 'o', "output", OPTION_TEXT, &r.path, "OUT",
		  "output file (default, or -: standard output); .gz compresses" },
		MODE_SPEC(r.choice.mode),
		DATABASE_SPECS(r.database),
		DATABASE_PROCESS_SPEC(r.database),
		{ 0, "list-formats", OPTION_FLAG, &r.list, NULL,
		  "print a table of the formats and what each contains" },
		{ 0, "metric", OPTION_TEXT, &r.metric, "NAME",
		  "metric to write, for formats that contain only one" },
		{ 0, "derive", OPTION_TEXTS, &r.derived, "NAME=EXPR",
		  "json, ndjson, rows, top, html: add a formula over metrics; repeatable" },
		{ 0, "loops", OPTION_CHOICE, &r.loops, "default|frames|off",
		  "whether loops are written as separate frames" },
		{ 0, "no-loops", OPTION_FLAG, &r.no_loops, NULL, NULL },
		{ 0, "inlines", OPTION_FLAG, &r.inlines, NULL,
		  "write inlined calls as separate frames (default)" },
		{ 0, "detail", OPTION_CHOICE, &r.detail, "time|threads|lines|cct|summary",
		  "json, ndjson: how much to write. time: everything; each next level omits one more part:\n"
		  "the timeline, values by thread, costs of lines, the tree" },
		{ 0, "totals", OPTION_FLAG, &r.choice.options.totals, NULL, "json: add inclusive values" },
		{ 0, "wide", OPTION_FLAG, &r.choice.options.wide, NULL,
		  "ndjson: one line per node, with names instead of references" },
		{ 0, "max-nodes", OPTION_NUMBER, &r.max_nodes, "N",
		  "keep the N most expensive contexts, fold the rest into `<other>`" },
		{ 0, "limit", OPTION_NUMBER, &r.limit, "N",
		  "top, openmetrics: write at most N rows of each kind" },
		{ 0, "label", OPTION_RULES, &r.labels, "NAME=VALUE",
		  "openmetrics: label to add to every series; otlp: resource attribute; repeatable" },
		{ 0, "weight", OPTION_CHOICE, &r.weight, "cost|samples",
		  "for formats that contain only one metric: write cost or numbers of samples" },
		{ 0, "pprof-names", OPTION_CHOICE, &r.names, "cpprof|pyroscope",
		  "which names to use for metric types" },
		{ 0, "folded-annotate", OPTION_FLAG, &r.choice.options.annotate, NULL,
		  "folded: mark kernel and inlined frames" },
		{ 0 },
	};
	struct command_line line = {
		.command = "export",
		.usage = "[FILE] --format NAME [-o OUT]",
		.about = "Converts a profile to another format, for other tools. The default profile is "
			 "cpprof.data.",
		.examples = export_examples,
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = export_cmd_run(&r, &line);
	option_list_done(&r.labels);
	option_list_done(&r.derived);
	return code;
}
