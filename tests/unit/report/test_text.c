/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares text reports with golden files. To refresh them: CPPROF_REFRESH=1 test_report; review the
 * difference.
 */
#include <stdlib.h>

#include "report/text/rows.h"
#include "report/text/text.h"
#include "report/tree/loop_facts.h"
#include "structure/fuse.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

typedef void (*renderer)(const struct text_input *input, const struct text_options *options,
			 struct text *ret);

static void render_json(const struct text_input *input, const struct text_options *options, struct text *ret)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&bytes, &len);

	CHECK_EQ(report_json(input, options, file), 0);
	fclose(file);
	text_add(ret, bytes, len);
	free(bytes);
}

static void render_as(renderer put, const struct profile *profile, struct text_options options,
		      const bool *threads, const char *filter, struct text *ret)
{
	struct fuse_input fuse_input = profile_fuse_input(profile);
	bool has_lines = options.view == TEXT_FLAT && options.group == GROUP_LINE;
	struct fuse_options fuse_options = { .lines = true, .addresses = true };
	CLEANUP(scope_tree_done) struct scope_tree tree = { 0 };
	CLEANUP(costs_done) struct costs costs = { 0 };
	CLEANUP(loop_table_done) struct loop_table loops;

	fuse(&fuse_input, &fuse_options, &tree);
	loop_table_init(&loops, profile, &tree, options.metric, threads);
	if (has_lines)
		scope_tree_merge_addresses(&tree);
	else
		scope_tree_drop_lines(&tree);
	costs_init(&costs, &tree, threads);
	struct text_input input = { profile, &tree, &costs, threads, filter, NULL, &loops, NULL };
	put(&input, &options, ret);
}

static void render(const struct profile *profile, struct text_options options, const bool *threads,
		   const char *filter, struct text *ret)
{
	render_as(report_text, profile, options, threads, filter, ret);
}

static char *read_file(const char *path)
{
	struct text text = { 0 };
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t n;

	if (!file)
		return NULL;
	text_add(&text, "", 0);
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		text_add(&text, bytes, n);
	fclose(file);
	return text.at;
}

static void check_golden(const char *name, const char *got)
{
	CLEANUP(freep) char *path = alloc_printf("%s/report/%s", GOLDEN_FOLDER, name);

	if (getenv("CPPROF_REFRESH")) {
		FILE *file = fopen(path, "w");
		CHECK(file);
		fputs(got, file);
		fclose(file);
	}
	CLEANUP(freep) char *want = read_file(path);
	CHECK(want);
	CHECK_STR(got, want);
}

static void check_report(const char *name, struct text_options options)
{
	OWNED struct profile *profile = sample_profile();
	CLEANUP(text_done) struct text text = { 0 };

	options.metric = 1;
	render(profile, options, NULL, NULL, &text);
	check_golden(name, text.at);
}

static const struct style fancy = { .width = 100, .color = true, .utf8 = true };

TEST(summary_reads_as_its_golden_file)
{
	check_report("summary.txt", (struct text_options){ .view = TEXT_SUMMARY });
}

TEST(tree_reads_as_its_golden_file)
{
	check_report("tree.txt", (struct text_options){ .view = TEXT_TREE });
}

TEST(tree_in_colour_reads_as_its_golden_file)
{
	check_report("tree-colour.txt", (struct text_options){ .view = TEXT_TREE, .style = fancy });
}

TEST(tree_with_shares_of_the_parent_reads_as_its_golden_file)
{
	check_report("tree-parent.txt",
		     (struct text_options){ .view = TEXT_TREE, .percent_of_parent = true });
}

TEST(callers_read_as_their_golden_file)
{
	check_report("callers.txt", (struct text_options){ .view = TEXT_CALLERS, .sort = VIEW_BY_SELF });
}

TEST(flat_reads_as_its_golden_file)
{
	check_report("flat.txt",
		     (struct text_options){ .view = TEXT_FLAT, .sort = VIEW_BY_SELF, .percent_limit = 6 });
}

TEST(flat_by_module_file_and_line_read_as_their_golden_files)
{
	check_report("flat-module.txt", (struct text_options){ .view = TEXT_FLAT, .group = GROUP_MODULE });
	check_report("flat-file.txt", (struct text_options){ .view = TEXT_FLAT, .group = GROUP_FILE });
	check_report("flat-line.txt",
		     (struct text_options){ .view = TEXT_FLAT, .group = GROUP_LINE, .sort = VIEW_BY_SELF });
}

TEST(hot_path_reads_as_its_golden_file)
{
	check_report("hot.txt", (struct text_options){ .view = TEXT_HOT });
}

TEST(quality_reads_as_its_golden_file)
{
	check_report("quality.txt", (struct text_options){ .view = TEXT_QUALITY });
}

static void check_rows(const char *name, renderer put, struct text_options options)
{
	OWNED struct profile *profile = sample_profile();
	CLEANUP(text_done) struct text text = { 0 };

	/* Names with characters that are special in the format. */
	profile->functions.at[0].name = intern_add(&profile->strings, "operator,\"quoted\"|`ticked`<b>");
	options.metric = 1;
	render_as(put, profile, options, NULL, NULL, &text);
	check_golden(name, text.at);
}

TEST(markdown_reads_as_its_golden_files)
{
	check_rows("summary.md", report_markdown, (struct text_options){ .view = TEXT_SUMMARY });
	check_rows("callers.md", report_markdown,
		   (struct text_options){ .view = TEXT_CALLERS, .sort = VIEW_BY_SELF });
	check_rows("module.md", report_markdown,
		   (struct text_options){ .view = TEXT_FLAT, .group = GROUP_MODULE });
}

TEST(csv_reads_as_its_golden_files)
{
	check_rows("tree.csv", report_csv, (struct text_options){ .view = TEXT_TREE });
	check_rows("thread.csv", report_csv,
		   (struct text_options){ .view = TEXT_FLAT, .tasks = TASKS_BY_THREAD });
}

TEST(json_reads_as_its_golden_files)
{
	check_rows("flat.json", render_json,
		   (struct text_options){ .view = TEXT_FLAT, .sort = VIEW_BY_SELF });
	check_rows("tree.json", render_json, (struct text_options){ .view = TEXT_TREE, .percent_limit = 30 });
	check_rows("process.json", render_json,
		   (struct text_options){ .view = TEXT_FLAT, .tasks = TASKS_BY_PROCESS });
}

TEST(json_reports_time_without_samples)
{
	OWNED struct profile *profile = sample_profile();
	CLEANUP(text_done) struct text text = { 0 };

	profile->quality.counted = profile_sum(profile, 1) * 2;
	render_as(render_json, profile, (struct text_options){ .view = TEXT_QUALITY, .metric = 1 }, NULL,
		  NULL, &text);
	CHECK(strstr(text.at, "\"between_samples_percent\":4"));
	CHECK(strstr(text.at, "\"the sampling timer was late"));
}

TEST(one_thread_reads_as_its_golden_file)
{
	OWNED struct profile *profile = sample_profile();
	CLEANUP(text_done) struct text text = { 0 };

	render(profile, (struct text_options){ .view = TEXT_TREE, .metric = 1 },
	       (bool[]){ true, false, false }, "thread 4711", &text);
	check_golden("thread.txt", text.at);
}

TEST(the_summary_says_what_was_watched_and_each_number_once)
{
	OWNED struct profile *profile = sample_profile();
	CLEANUP(text_done) struct text text = { 0 };

	profile->run.mode = intern_add(&profile->strings, "record");
	profile->run.target = intern_add(&profile->strings, "the whole machine");
	render(profile, (struct text_options){ .view = TEXT_SUMMARY, .metric = 1 }, NULL, NULL, &text);
	CHECK(strncmp(text.at, "the whole machine was watched for ", 34) == 0);
	CHECK(strstr(text.at, ": 100 samples, 100 ms of cpu-clock, ") != NULL);
	text_clear(&text);
	/* A metric that counts what is already given. */
	for (size_t i = 0; i < profile->cct.values.n; i++)
		profile->cct.values.at[i].value /= profile->cct.values.at[i].metric == 1 ? 1000000 : 1;
	profile->metrics.at[1].name = intern_add(&profile->strings, "samples");
	profile->metrics.at[1].unit = intern_add(&profile->strings, "count");
	render(profile, (struct text_options){ .view = TEXT_SUMMARY, .metric = 1 }, NULL, NULL, &text);
	CHECK(strstr(text.at, ": 100 samples, in 3 threads") != NULL);
}

TEST(no_samples_leave_only_the_quality_line)
{
	OWNED struct profile *profile = profile_new();
	CLEANUP(text_done) struct text text = { 0 };

	render(profile, (struct text_options){ .view = TEXT_SUMMARY }, NULL, NULL, &text);
	CHECK_STR(text.at, "quality: 0 samples, 0 lost\n");
}

TEST(no_line_is_wider_than_the_terminal)
{
	OWNED struct profile *profile = sample_profile();

	profile->functions.at[1].name =
		intern_add(&profile->strings, "std::a_very_long<template_name, of_many, words, that_"
					      "does_not, fit, any, terminal, of, this, world>()");
	for (int view = TEXT_SUMMARY; view <= TEXT_HOT; view++) {
		for (size_t width = 40; width <= 120; width += 20) {
			CLEANUP(text_done) struct text text = { 0 };
			struct style style = { .width = width, .utf8 = true };
			render(profile,
			       (struct text_options){
				       .view = (enum text_view)view, .metric = 1, .style = style },
			       NULL, NULL, &text);
			for (char *line = text.at, *end; *line; line = end + 1) {
				end = strchr(line, '\n');
				*end = '\0';
				/* A single word of a paragraph may be longer; the name above is cut at 60. */
				CHECK(style_columns(line) <= (width < 80 ? 80 : width));
			}
		}
	}
}

/* ---- what names may do -------------------------------------------------------------------------- */

static void check_safe(const char *name, bool utf8, const char *want)
{
	CLEANUP(text_done) struct text text = { 0 };

	style_safe(&text, &(struct style){ .utf8 = utf8 }, name);
	CHECK_STR(text.at, want);
}

TEST(names_cannot_contain_terminal_escapes)
{
	check_safe("plain", true, "plain");
	check_safe("", true, "");
	check_safe("\033[31mred\n\t\x7f", true, "?[31mred???");
	check_safe("caf\xc3\xa9", true, "caf\xc3\xa9");
	check_safe("caf\xc3\xa9", false, "caf?");
	check_safe("\xff\xfe\xc3", true, "???");
	check_safe("\xc2\x9b"
		   "2J",
		   true, "?2J"); /* CSI, the one-byte form of ESC [, in UTF-8 */
	check_safe("a\xe2\x80\xae"
		   "b",
		   true, "a?b");                 /* right-to-left override */
	check_safe("\xed\xa0\x80", true, "???"); /* a surrogate */
	check_safe("\xf0\x9f\x98\x80", true, "\xf0\x9f\x98\x80");
	check_safe("\xe2\x82", true, "??"); /* truncated */
}

TEST(lines_are_cut_with_an_ellipsis)
{
	static const struct style style = { .width = 8, .utf8 = true };
	CLEANUP(text_done) struct text text = { 0 };
	struct line line = line_start(&text, &style);

	line_printf(&line, TINT_PLAIN, "12345");
	line_name(&line, TINT_PLAIN, "ééééé");
	line_printf(&line, TINT_PLAIN, "never");
	line_end(&line);
	CHECK_STR(text.at, "12345éé…\n");
}
