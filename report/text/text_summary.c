/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paragraph before every view: what was measured, what dominates, on which path, and the confidence
 * intervals.
 */
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/label.h"
#include "report/number.h"
#include "report/quality.h"
#include "report/text/text_rows.h"

#define PATH_NAMES 5    /* longer paths are shortened in the middle */
#define NAME_COLUMNS 60 /* a template's name must not fill the paragraph */
#define MOST_COLUMNS 80 /* unless it needs more to be distinguished from another */

static const char *text_summary_string(const struct text_report *report, uint32_t id)
{
	return intern_text(&report->profile->strings, id);
}

/* Escaped, and short enough for a sentence. */
static void text_summary_add_name(const struct text_report *report, const char *name, struct text *ret)
{
	struct style style = { .width = NAME_COLUMNS, .utf8 = report->options->style.utf8 };
	struct line line = line_start(ret, &style);

	line_name(&line, TINT_PLAIN, name);
}

static void text_summary_add_scope(const struct text_report *report, uint32_t scope, struct text *ret)
{
	CLEANUP(text_done) struct text label = { 0 };
	CLEANUP(text_done) struct text shown = { 0 };

	const struct scope what = scope_at(report->tree, scope);
	label_scope(report->profile, &what, &label);
	names_shorten(report->names, label.at ? label.at : "", NAME_COLUMNS, &shown);
	if (shown.len <= MOST_COLUMNS)
		style_safe(ret, &report->options->style, shown.at ? shown.at : "");
	else
		text_summary_add_name(report, shown.at, ret);
}

/* "30.0% (22.0-39.6%)": with the 95 % confidence interval. */
static void add_share(const struct text_report *report, const uint64_t *costs, struct text *ret)
{
	struct interval interval = text_interval(report, costs);
	char number[NUMBER_MAX];

	text_printf(ret, "%s", number_percent(number_share(costs[report->metric], report->total), number));
	if (interval.low < interval.high) /* otherwise it is measured, not sampled */
		text_printf(ret, " (%.1f%s%.1f%%)", interval.low, report->options->style.utf8 ? "–" : "-",
			    interval.high);
}

static void count_tasks(const struct text_report *report, size_t *ret_threads, size_t *ret_processes)
{
	const struct profile *profile = report->profile;
	CLEANUP(freep) bool *thread = alloc_zero(profile->threads.n + 1, sizeof(*thread));
	CLEANUP(freep) bool *process = alloc_zero(profile->processes.n + 1, sizeof(*process));

	*ret_threads = *ret_processes = 0;
	for (size_t i = 0; i < report->tree->values.n; i++) {
		uint32_t t = report->tree->values.at[i].thread;
		uint32_t p = profile->threads.at[t].process;
		if (!text_has_thread(report, t))
			continue;
		*ret_threads += !thread[t];
		*ret_processes += !process[p];
		thread[t] = process[p] = true;
	}
}

static const char *what_it_did(const struct text_report *report, const char *target)
{
	bool is_group = strcmp(target, "the whole machine") == 0 || strncmp(target, "the cgroup ", 11) == 0;

	if (strcmp(text_summary_string(report, report->profile->run.mode), "record") == 0 && !is_group)
		return "ran";
	return isdigit((unsigned char)*target) ? "were watched" : "was watched"; /* "10 processes" */
}

/* "90 calls" is also what the metric "calls" says. */
static bool text_summary_counts_units(const struct text_report *report, const struct profile_metric *metric)
{
	const char *unit = quality_unit(report->profile), *name = text_summary_string(report, metric->name);
	size_t len = strlen(unit);

	return report->total == report->samples && strncmp(name, unit, len) == 0 &&
	       strcmp(name + len, "s") == 0;
}

static void add_what_ran(const struct text_report *report, struct text *ret)
{
	const struct profile_run *run = &report->profile->run;
	const char *target = text_summary_string(report, run->target ? run->target : run->command_line);
	const struct profile_metric *metric = &report->profile->metrics.at[report->metric];
	size_t n_threads, n_processes;
	char count[NUMBER_MAX], time[NUMBER_MAX], value[NUMBER_MAX];

	text_summary_add_name(report, *target ? target : "The target", ret);
	if (run->n_runs)
		text_printf(ret, " (%s runs, %s in all)", number_count(run->n_runs, count),
			    number_time(run->duration_ns, time));
	else
		text_printf(ret, " %s for %s", what_it_did(report, target),
			    number_time(run->duration_ns, time));
	count_tasks(report, &n_threads, &n_processes);
	text_printf(ret, ": %s", number_count(report->samples, count));
	if (report->samples != report->profile->quality.samples)
		text_printf(ret, " of %s", number_count(report->profile->quality.samples, count));
	text_printf(ret, " %s%s", quality_unit(report->profile),
		    report->profile->quality.samples == 1 ? "" : "s");
	if (report->metric != 0 && !text_summary_counts_units(report, metric)) {
		text_printf(ret, ", %s of ",
			    number_value(report->total, text_summary_string(report, metric->unit), value));
		text_summary_add_name(report, text_summary_string(report, metric->name), ret);
	}
	text_printf(ret, ", in %s thread%s", number_count(n_threads, count), n_threads == 1 ? "" : "s");
	if (n_processes > 1)
		text_printf(ret, " of %s processes", number_count(n_processes, count));
	text_printf(ret, ".");
}

/* The row with the highest self cost that is a place in code. */
static uint32_t hottest_row(const struct text_report *report, const struct view *flat)
{
	uint32_t best = VIEW_NONE;

	for (uint32_t row = 0; row < flat->rows.n; row++) {
		uint8_t kind = (uint8_t)scope_kind(report->tree, flat->rows.at[row].scope);
		if (kind == SCOPE_ROOT || kind == SCOPE_INCOMPLETE ||
		    view_self(flat, row, report->metric) == 0)
			continue;
		if (best == VIEW_NONE ||
		    view_self(flat, row, report->metric) > view_self(flat, best, report->metric))
			best = row;
	}
	return best;
}

static void add_hottest(const struct text_report *report, const struct view *flat, uint32_t row,
			struct text *ret)
{
	const struct scope_frame *scope = scope_frame(report->tree, flat->rows.at[row].scope);
	uint64_t self = view_self(flat, row, report->metric),
		 total = view_inclusive(flat, row, report->metric);

	text_printf(ret, number_share(self, report->total) >= 50 ? " The dominant function is "
								 : " The hottest function is ");
	text_summary_add_scope(report, flat->rows.at[row].scope, ret);
	if (!(scope->flags & SCOPE_RECOVERED_NAME) && scope->kind != SCOPE_UNKNOWN) {
		const char *module = label_image(report->profile, scope->image);
		text_printf(ret, *module == '[' ? " " : " ["); /* "[kernel]" has its brackets */
		text_summary_add_name(report, module, ret);
		text_printf(ret, *module == '[' ? "" : "]");
	}
	text_printf(ret, ": ");
	add_share(report, &flat->self.at[row * flat->n_metrics], ret);
	text_printf(ret, " itself");
	if (total > self) {
		char number[NUMBER_MAX];
		text_printf(ret, ", %s with what it calls",
			    number_percent(number_share(total, report->total), number));
	}
	text_printf(ret, ".");
}

/* 0 = there is none on the path. */
static uint32_t innermost_loop(const struct text_report *report, const view_path *path)
{
	for (size_t i = path->n; i-- > 0;)
		if ((uint8_t)scope_kind(report->tree, path->at[i]) == SCOPE_LOOP)
			return path->at[i];
	return 0;
}

/* Loops and lines are places within a function, not callees; a recursive function is named once. */
static void keep_functions(const struct text_report *report, view_path *path)
{
	const struct scope_row *scopes = report->tree->scopes.at;
	size_t n = 1;

	for (size_t i = 1; i < path->n; i++) {
		uint8_t kind = (uint8_t)scope_kind(report->tree, path->at[i]);
		bool is_recursive = scopes[path->at[n - 1]].frame == scopes[path->at[i]].frame;
		if (kind != SCOPE_LOOP && kind != SCOPE_LINE && !is_recursive)
			path->at[n++] = path->at[i];
	}
	path->n = n;
}

/* "main > ... > solve > dot": the start and the end of a long path are enough to recognise it. */
static void text_summary_add_path(const struct text_report *report, const view_path *path, struct text *ret)
{
	const char *arrow = report->options->style.utf8 ? " → " : " > ";
	size_t n_shown = 0;

	for (size_t i = 1; i < path->n; i++) {
		bool is_left_out = path->n - 1 > PATH_NAMES && i > 1 && i + (PATH_NAMES - 2) < path->n;
		if (is_left_out) {
			if (i == 2)
				text_printf(ret, "%s%s", arrow, report->options->style.utf8 ? "…" : "...");
			continue;
		}
		text_printf(ret, "%s", n_shown++ ? arrow : "");
		text_summary_add_scope(report, path->at[i], ret);
	}
}

static void add_inclusive_share(const struct text_report *report, uint32_t scope, struct text *ret)
{
	CLEANUP(freep) uint64_t *costs = alloc_zero(report->costs->n_metrics, sizeof(*costs));

	for (uint32_t i = 0; i < report->costs->n_metrics; i++)
		costs[i] = costs_inclusive(report->costs, scope, i);
	add_share(report, costs, ret);
}

static void add_hot_path(const struct text_report *report, struct text *ret)
{
	view_path path = { 0 };

	view_hot_path(report->tree, report->costs, report->metric, &path);
	uint32_t last = path.at[path.n - 1];
	uint32_t loop = innermost_loop(report, &path);
	keep_functions(report, &path);
	if (path.n > 2) {
		text_printf(ret, " The hot path is ");
		text_summary_add_path(report, &path, ret);
		if (loop) {
			text_printf(ret, ", inside the ");
			text_summary_add_scope(report, loop, ret);
		}
		text_printf(ret, "; ");
		add_inclusive_share(report, last, ret);
		text_printf(ret, " is at its end.");
	}
	vec_done(&path);
}

#define KINDS_SHOWN 3

/* "By kind: futex 69.4%, sleep 29.2%." kinds: the time of each; changed. */
static void add_wait_kinds(const struct text_report *report, uint64_t kinds[WAIT_KIND_N], struct text *ret)
{
	for (size_t n = 0; n < KINDS_SHOWN; n++) {
		size_t best = 0;
		char share[NUMBER_MAX], kind[WAIT_KIND_TEXT];
		for (size_t i = 1; i < WAIT_KIND_N; i++)
			best = kinds[i] > kinds[best] ? i : best;
		if (number_share(kinds[best], report->total) < 1)
			break;
		struct wait_row row = { .kind = (enum wait_kind)best };
		text_printf(ret, "%s%s %s",
			    n ? ", " : " By kind: ", wait_row_kind(&report->waits, &row, kind),
			    number_percent(number_share(kinds[best], report->total), share));
		kinds[best] = 0;
	}
	text_printf(ret, ".");
}

/* All waits are in the scheduler, so the hottest function says nothing about them. Returns false if none is
 * known by its kind. */
static bool add_waits(const struct text_report *report, struct text *ret)
{
	CLEANUP(text_done) struct text path = { 0 };
	uint64_t kinds[WAIT_KIND_N] = { 0 };
	char kind[WAIT_KIND_TEXT], share[NUMBER_MAX];
	wait_rows rows = { 0 };

	if (report->metric != report->waits.off_cpu || !report->metric || report->waits.is_near)
		return false;
	wait_rows_find(report->profile, report->tree, report->threads, &rows);
	for (size_t i = 0; i < rows.n; i++)
		kinds[rows.at[i].kind] += rows.at[i].off_cpu;
	bool has_rows = rows.n > 0;
	if (has_rows) {
		add_wait_kinds(report, kinds, ret);
		text_path(report, rows.at[0].scope, PATH_NAMES, &path);
		text_printf(ret, " The heaviest wait is %s, in ",
			    wait_row_kind(&report->waits, &rows.at[0], kind));
		style_safe(ret, &report->options->style, path.at ? path.at : "");
		text_printf(ret, ": %s.",
			    number_percent(number_share(rows.at[0].off_cpu, report->total), share));
	}
	vec_done(&rows);
	return has_rows;
}

void text_sentences(const struct text_report *report, const char *filter, struct text *ret)
{
	CLEANUP(view_done) struct view flat = { 0 };

	view_flat(report->tree, report->costs, GROUP_FUNCTION, &flat);
	uint32_t hottest = hottest_row(report, &flat);
	add_what_ran(report, ret);
	if (filter) {
		text_printf(ret, " Shown: ");
		style_safe(ret, &report->options->style, filter);
		text_printf(ret, ".");
	}
	if (!add_waits(report, ret) && hottest != VIEW_NONE) {
		add_hottest(report, &flat, hottest, ret);
		add_hot_path(report, ret);
	}
}

void text_paragraph(const struct text_report *report, const char *filter)
{
	CLEANUP(text_done) struct text text = { 0 };

	text_sentences(report, filter, &text);
	style_paragraph(report->to, &report->options->style, text.at);
}
