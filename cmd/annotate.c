/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate: one function's source and instructions with what each costs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/terminal.h"
#include "report/annotate_text.h"

static int complain(const char *path, const char *name)
{
	fprintf(stderr, "cpprof: no sampled function of '%s' is called '%s'\n", path, name);
	fprintf(stderr, "        try: cpprof report --view flat %s\n", path);
	return EXIT_FAULT;
}

/* A name that is only inlined has no code of its own, but lines. */
static int find(const struct profile *profile, const char *name, struct annotation *ret)
{
	size_t n;
	const struct function_map *map = annotate_find(profile, name, &n);

	if (map && n > 1)
		fprintf(stderr, "cpprof: %zu functions fit '%s'; this is the costliest\n", n, name);
	if (!map || !annotate_is_exact(profile, map, name)) {
		if (annotate_inlined(profile, name, ret) == 0)
			return 0;
		annotation_done(ret);
	}
	if (!map)
		return -ENOENT;
	annotate(profile, map, ret);
	return 0;
}

static int show(const struct profile *profile, const char *path, const char *name, struct annotate_text_options *options)
{
	struct annotation annotation;
	struct text text = { 0 };

	if (find(profile, name, &annotation) < 0)
		return complain(path, name);
	annotate_text(profile, &annotation, options, &text);
	fwrite(text.at, 1, text.len, stdout);
	text_done(&text);
	annotation_done(&annotation);
	return EXIT_OK;
}

/* The one asked for, or every event's, the first in front. */
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

int cmd_annotate(int argc, char **argv)
{
	struct annotate_text_options options = { 0 };
	struct option_list directories = { 0 }, rules = { 0 };
	const char *metric = NULL;
	const struct option_spec specs[] = {
		{ 0, "asm", OPTION_FLAG, &options.insns, NULL, "the instructions too" },
		{ 0, "all", OPTION_FLAG, &options.all, NULL, "every line, not only those near a cost" },
		{ 0, "metric", OPTION_TEXT, &metric, "NAME", "only this metric (default: every event, side by side)" },
		{ 0, "source-dir", OPTION_TEXTS, &directories, "DIR", "where source files may be; repeatable" },
		{ 0, "source-map", OPTION_TEXTS, &rules, "OLD=NEW", "source paths that start with OLD start with NEW here; repeatable" },
		{ 0 },
	};
	struct command_line line = {
		.command = "annotate",
		.usage = "[options] [FILE] FUNCTION",
		.about = "Shows the source lines of a sampled function with what each costs: by itself, and in what it calls. Loops are\n"
			 "marked in the margin; inlined code counts for the line of its call. A function that was inlined everywhere\n"
			 "is shown with all its copies together.",
		.examples = "  cpprof annotate main\n  cpprof annotate --asm app.data 'solve(Grid&)'\n",
		.specs = specs,
	};
	struct profile *profile = NULL;
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands < 1 || line.n_operands > 2)
		return cmd_usage("annotate", "name a function, and before it the profile if it is not %s", OUTPUT_DEFAULT);
	const char *path = line.n_operands == 2 ? line.operands[0] : OUTPUT_DEFAULT;
	struct source_search sources = { (const char *const *)directories.values.at, directories.values.n,
					 (const char *const *)rules.values.at, rules.values.n };
	options.sources = &sources;
	options.style = terminal_style(COLOR_AUTO);
	if (profile_read(path, &profile, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		int index = export_find_metric(profile, metric);
		CLEANUP(freep) uint32_t *metrics = choose_metrics(profile, index < 0 ? 0 : (uint32_t)index, !metric, &options.n_metrics);
		options.metrics = metrics;
		code = index < 0 ? cmd_usage("annotate", "'%s' has no metric '%s'", path, metric)
				 : show(profile, path, line.operands[line.n_operands - 1], &options);
	}
	profile_free(profile);
	option_list_done(&directories);
	option_list_done(&rules);
	return code;
}
