/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate: one function's source and instructions with their costs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/annotate_cycles.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/database.h"
#include "cmd/export.h"
#include "cmd/habits.h"
#include "cmd/options.h"
#include "cmd/terminal.h"
#include "recording/output.h"
#include "report/annotate/annotate_find.h"
#include "report/annotate/annotate_text.h"
#include "report/annotate/source_user.h"
#include "report/cycles/ways_text.h"
#include "report/names.h"
#include "report/shorten.h"

#define MOST_TOLD 8 /* candidates listed in a message */

struct annotate_request {
	struct annotate_text_options options;
	struct annotate_cycles cycles;
	struct option_list directories, rules;
	const char *metric, *path, *function;
	bool inlined;
	struct habits habits;
	const char *input; /* the profile, given by -i as in perf */
};

static uint64_t annotate_cmd_sum(const struct profile *profile, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->cct.values.n; i++)
		sum += profile->cct.values.at[i].metric == metric ? profile->cct.values.at[i].value : 0;
	return sum;
}

/* " f(int) [app], 12.3%": the other functions that match a name, with their cost as in the report. */
static void list(const struct profile *profile, uint32_t metric, const annotate_choices *choices, size_t from)
{
	uint64_t all = annotate_cmd_sum(profile, metric);
	struct style style = terminal_style(COLOR_NEVER);
	struct names *names = names_new(profile);

	for (size_t i = from; i < choices->n && i < from + MOST_TOLD; i++) {
		const struct annotate_choice *choice = &choices->at[i];
		struct text line = { 0 }, shown = { 0 };
		names_shorten(names, intern_text(&profile->strings, choice->name), SHORTEN_COLUMNS, &shown);
		style_safe(&line, &style, shown.at ? shown.at : "");
		fprintf(stderr, "        %s%s, %.1f%%\n", line.at, choice->map ? "" : " (inlined)",
			all ? 100.0 * (double)choice->cost / (double)all : 0);
		text_done(&line);
		text_done(&shown);
	}
	names_free(names);
	if (choices->n > from + MOST_TOLD)
		fprintf(stderr, "        and %zu more\n", choices->n - from - MOST_TOLD);
}

static int complain(const struct profile *profile, const char *path, const char *name, uint32_t metric,
		    const annotate_choices *close)
{
	fprintf(stderr, "cpprof: '%s' has no samples in a function named '%s'\n", path, name);
	if (close->n)
		fprintf(stderr, "        did you mean:\n");
	list(profile, metric, close, 0);
	if (access(name, F_OK) == 0)
		fprintf(stderr, "        there is a file of that name; try: cpprof annotate %s FUNCTION\n",
			name);
	else
		fprintf(stderr, "        try: cpprof report --view flat %s\n", path);
	return EXIT_FAULT;
}

/* Keeps only inlined copies, if requested. */
static void keep_inlined(annotate_choices *choices)
{
	size_t n = 0;

	for (size_t i = 0; i < choices->n; i++)
		if (!choices->at[i].map)
			choices->at[n++] = choices->at[i];
	choices->n = n;
}

static void annotate_cmd_print(const struct profile *profile, const struct annotation *annotation,
			       const struct annotate_text_options *options)
{
	struct text text = { 0 };

	annotate_text(profile, annotation, options, &text);
	fwrite(text.at, 1, text.len, stdout);
	text_done(&text);
}

/* The counted execution paths, printed below the source. */
static int annotate_cmd_print_ways(const struct profile *profile, const struct annotation *annotation,
				   const struct annotate_request *request)
{
	struct cycles_counts counts = { 0 };
	struct diag diag = { 0 };
	struct ways_show show = { .profile = profile,
				  .map = annotation->map,
				  .counts = &counts,
				  .counts_path = request->cycles.counts,
				  .all = request->options.all,
				  .style = request->options.style };
	struct text text = { 0 };

	if (!request->cycles.counts)
		return EXIT_OK;
	const struct profile_image *image = &profile->images.at[annotation->map->image];
	int error =
		cycles_counts_read(request->cycles.counts, profile, annotation->map->vaddr, &counts, &diag);
	if (!error)
		error = cycles_counts_check(request->cycles.counts, counts.module, counts.build_id,
					    &image->build_id, &diag);
	if (error) {
		cycles_counts_done(&counts);
		return cmd_fail(&diag);
	}
	ways_text(&show, &text);
	fwrite(text.at, 1, text.len, stdout);
	text_done(&text);
	cycles_counts_done(&counts);
	return EXIT_OK;
}

static int annotate_cmd_show(const struct profile *profile, const struct annotate_request *request)
{
	const char *path = request->path, *name = request->function;
	struct annotation annotation;
	int code = EXIT_OK;
	annotate_choices choices;
	uint32_t metric = request->options.metrics[0];
	enum annotate_fit fit = annotate_find(profile, name, metric, &choices);

	if (request->inlined)
		keep_inlined(&choices);
	if (fit <= FIT_CLOSE || !choices.n) {
		code = complain(profile, path, name, metric, &choices);
		vec_done(&choices);
		return code;
	}
	if (choices.n > 1) {
		fprintf(stderr,
			"cpprof: %zu functions match '%s'; this is the most expensive one, the others are:\n",
			choices.n, name);
		list(profile, metric, &choices, 1);
	}
	if (choices.at[0].map)
		annotate(profile, choices.at[0].map, &annotation);
	else
		annotate_inlined(profile, intern_text(&profile->strings, choices.at[0].name), &annotation);
	if (request->cycles.asked) {
		code = annotate_cycles_show(profile, &annotation, &request->cycles);
	} else {
		annotate_cmd_print(profile, &annotation, &request->options);
		code = annotate_cmd_print_ways(profile, &annotation, request);
	}
	annotation_done(&annotation);
	vec_done(&choices);
	return code;
}

/* The requested one, or those of all events, the first one first. */
static uint32_t *choose_metrics(const struct profile *profile, uint32_t first, bool has_all, size_t *ret_n)
{
	uint32_t *metrics = alloc_zero(profile->metrics.n + 1, sizeof(*metrics));

	metrics[0] = first;
	*ret_n = 1;
	for (uint32_t i = 1; has_all && i < profile->metrics.n; i++)
		if (i != first)
			metrics[(*ret_n)++] = i;
	return metrics;
}

static int annotate_cmd_read_and_show(struct annotate_request *request)
{
	struct source_search sources = { (const char *const *)request->directories.values.at,
					 request->directories.values.n,
					 (const char *const *)request->rules.values.at,
					 request->rules.values.n, .has_user = false };
	struct annotate_text_options *options = &request->options;
	struct profile *profile = NULL;
	struct diag diag = { 0 };

	if (database_read(request->path, &profile, &diag) < 0)
		return cmd_fail(&diag);
	int index = export_find_metric(profile, request->metric);
	CLEANUP(freep)
	uint32_t *metrics = choose_metrics(profile, index < 0 ? 0 : (uint32_t)index, !request->metric,
					   &options->n_metrics);
	source_user_limit(&sources, profile, request->path);
	options->metrics = metrics;
	options->sources = &sources;
	options->style = request->cycles.style = terminal_style(COLOR_AUTO);
	request->cycles.all = options->all;
	request->cycles.metric =
		request->metric && index >= 0 ? (uint32_t)index : annotate_cycles_metric(profile);
	int code = index < 0
			   ? cmd_usage("annotate", "'%s' has no metric '%s'", request->path, request->metric)
			   : annotate_cmd_show(profile, request);
	profile_free(profile);
	return code;
}

static int take_operands(const struct command_line *line, struct annotate_request *request)
{
	if (line->n_operands < 1 || line->n_operands > 2 || !line->operands[line->n_operands - 1][0])
		return cmd_usage("annotate",
				 "give the name of a function, after the profile if that is not %s",
				 PROFILE_DEFAULT);
	if (line->n_operands == 1 && !request->input && access(PROFILE_DEFAULT, F_OK) != 0 &&
	    access(line->operands[0], F_OK) == 0)
		return cmd_usage("annotate", "give the name of a function after the profile '%s'",
				 line->operands[0]);
	request->path = line->n_operands == 2 ? line->operands[0]
			: request->input      ? request->input
					      : PROFILE_DEFAULT;
	request->function = line->operands[line->n_operands - 1];
	return -1;
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate_request request = { 0 };
	const struct option_spec specs[] = {
		{ 0, "asm", OPTION_FLAG, &request.options.insns, NULL, "show the instructions, too" },
		{ 0, "all", OPTION_FLAG, &request.options.all, NULL,
		  "show every line and instruction, not only those with samples and their neighbours;\n"
		  "with --cycles: also blocks with a small share and estimates of low confidence" },
		{ 0, "cycles", OPTION_FLAG, &request.cycles.asked, NULL,
		  "show loops and basic blocks instead: executions, cycles per execution, the best case\n"
		  "according to llvm-mca, and the cycles lost" },
		{ 0, "counts", OPTION_TEXT, &request.cycles.counts, "FILE",
		  "list execution paths below the source, from the output of\n"
		  "`cpprof paths --format json`; with --cycles: take executions from there" },
		{ 0, "cpu", OPTION_TEXT, &request.cycles.cpu, "NAME",
		  "with --cycles: LLVM's name of the processor (default: the recorded one)" },
		{ 0, "clock-rate", OPTION_POSITIVE, &request.cycles.clock_mhz, "MHZ",
		  "with --cycles: the clock rate (default: as measured during the recording)" },
		{ 0, "format", OPTION_CHOICE, &request.cycles.format, "text|json",
		  "with --cycles: output format" },
		{ 0, "inlined", OPTION_FLAG, &request.inlined, NULL,
		  "show its inlined copies even if it also has code of its own" },
		{ 0, "metric", OPTION_TEXT, &request.metric, "NAME",
		  "show only this metric (default: every event, side by side)" },
		{ 0, "source-dir", OPTION_TEXTS, &request.directories, "DIR",
		  "also look for source files in this directory; repeatable" },
		{ 0, "source-map", OPTION_RULES, &request.rules, "OLD=NEW",
		  "replace OLD at the start of source paths with NEW; repeatable" },
		HABIT_REPORT_SPECS(request.habits, request.input),
		{ 0 },
	};
	struct command_line line = {
		.command = "annotate",
		.usage = "[options] [FILE] FUNCTION",
		.about = "Shows the source lines of a sampled function with their costs: in its own code, "
			 "and in functions it calls. Loops are\n"
			 "marked in the margin; the cost of inlined code is added to the line of the inlined "
			 "call. For a function that was\n"
			 "inlined everywhere, all inlined copies are shown together, and instructions are "
			 "grouped by the function that contains\n"
			 "the copy. If several functions match, the most expensive one is shown and the "
			 "others are listed.",
		.examples =
			"  cpprof annotate main\n"
			"  cpprof annotate --asm app.data 'solve(Grid&)'\n"
			"  cpprof annotate --cycles app.data 'solve(Grid&)'    executed often, or stalled?\n"
			"  cpprof annotate --counts counts.json main    which execution paths did it take?\n",
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = take_operands(&line, &request);
	if (code < 0 && !request.cycles.asked) /* which runs llvm-mca */
		confine(&(struct confine_options){ .reads_all = true });
	if (code < 0)
		code = annotate_cmd_read_and_show(&request);
	option_list_done(&request.directories);
	option_list_done(&request.rules);
	return code;
}
