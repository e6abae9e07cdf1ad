/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_text: a diff as text.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/diff/diff_report.h"
#include "report/diff/signed_number.h"
#include "report/number.h"
#include "report/shorten.h"

/* Columns end here. */
#define COLUMN_AFTER 20
#define COLUMN_CHANGE 32
#define COLUMN_PERCENT 42
#define COLUMN_INTERVAL 62
#define COLUMN_NAME 65

void diff_report_table(const struct diff_report *report, struct diff_table *ret)
{
	if (report->view == DIFF_VIEW_TREE)
		diff_tree(report->diff, &report->cut, ret);
	else
		diff_flat(report->diff, report->by, &report->cut, ret);
}

const char *diff_report_source(const struct diff_report *report)
{
	if (report->diff->from_runs)
		return "95 % confidence intervals are computed from the variation between runs.";
	return "95 % confidence intervals are computed from sample counts alone and do not include the "
	       "variation between runs; for that, record two or more runs on each side.";
}

const char *diff_report_title(const struct diff_table *table)
{
	static const char *const titles[] = { [GROUP_FUNCTION] = "functions by change of self cost",
					      [GROUP_MODULE] = "modules by change of self cost",
					      [GROUP_FILE] = "files by change of self cost",
					      [GROUP_LOOP] = "loops by change of total cost",
					      [GROUP_LINE] = "lines by change of self cost" };

	return table->is_tree ? "contexts by change of total cost" : titles[table->by];
}

void diff_report_total(const struct diff_report *report, struct text *ret)
{
	const struct diff *diff = report->diff;
	const struct change *total = &diff->total;
	char a[SIGNED_MAX], b[SIGNED_MAX], delta[SIGNED_MAX], percent[SIGNED_MAX];
	bool is_sure = total->low > 0 || total->high < 0;

	text_printf(ret, "%s: %s before, %s after", report->metric, plain_value(total->a, report->unit, a),
		    plain_value(total->b, report->unit, b));
	if (report->normalized)
		text_printf(ret, ", normalized by %s", report->normalized);
	text_printf(ret, ": %s", signed_value(total->delta, report->unit, delta));
	if (total->a > 0)
		text_printf(ret, ", %s (95 %% interval %+.1f to %+.1f %%)",
			    signed_percent(diff_percent(diff, total->delta), percent),
			    diff_percent(diff, total->low), diff_percent(diff, total->high));
	text_printf(ret, ": %s.",
		    !is_sure           ? "no difference beyond noise"
		    : total->delta > 0 ? "more"
				       : "less");
}

/* ---- tables --------------------------------------------------------------------------------------- */

/* A number that ends at a column. */
static void line_right(struct line *line, enum tint tint, const char *text, size_t column)
{
	size_t width = style_columns(text);

	if (line->used + width < column)
		line_pad(line, column - width);
	line_printf(line, tint, "%s", text);
}

static enum tint change_tint(const struct diff_row *row, const struct change *change)
{
	return !row->is_significant ? TINT_PLAIN : change->delta > 0 ? TINT_HOT : TINT_WARM;
}

static void line_change(const struct diff_report *report, struct line *line, const struct change *change,
			enum tint tint)
{
	char text[SIGNED_MAX];

	line_right(line, TINT_PLAIN, plain_value(change->a, report->unit, text), 10);
	line_right(line, TINT_PLAIN, plain_value(change->b, report->unit, text), COLUMN_AFTER);
	line_right(line, tint, signed_value(change->delta, report->unit, text), COLUMN_CHANGE);
	line_right(line, tint, signed_percent(diff_percent(report->diff, change->delta), text),
		   COLUMN_PERCENT);
}

static void line_interval(const struct diff_report *report, struct line *line, const struct change *change)
{
	double low = diff_percent(report->diff, change->low), high = diff_percent(report->diff, change->high);
	int digits = fmax(fabs(low), fabs(high)) < 0.0995 ? 2 : 1;
	char text[SIGNED_MAX];

	snprintf(text, sizeof(text), "%+.*f to %+.*f", digits, low, digits, high);
	line_right(line, TINT_DIM, text, COLUMN_INTERVAL);
}

static void text_head(const struct diff_report *report, struct text *to, const char *name)
{
	struct line line = line_start(to, &report->style);

	line_right(&line, TINT_DIM, "before", 10);
	line_right(&line, TINT_DIM, "after", COLUMN_AFTER);
	line_right(&line, TINT_DIM, "change", COLUMN_CHANGE);
	line_right(&line, TINT_DIM, "of before", COLUMN_PERCENT);
	line_right(&line, TINT_DIM, "95 % interval", COLUMN_INTERVAL);
	line_pad(&line, COLUMN_NAME);
	line_printf(&line, TINT_DIM, "%s", name);
	line_end(&line);
}

static void text_row(const struct diff_report *report, const struct diff_table *table,
		     const struct diff_row *row, size_t indent, const char *name, struct text *to)
{
	const struct change *change = diff_key(table, row);
	struct line line = line_start(to, &report->style);
	size_t room = report->style.width > COLUMN_NAME + indent + 20
			      ? report->style.width - COLUMN_NAME - indent
			      : SHORTEN_COLUMNS;
	CLEANUP(text_done) struct text label = { 0 };
	const char *state = diff_state(row);

	line_change(report, &line, change, change_tint(row, change));
	line_interval(report, &line, change);
	line_printf(&line, TINT_BOLD, " %s", row->is_significant ? "*" : " ");
	line_pad(&line, COLUMN_NAME + indent);
	name_shorten(name, room, &label);
	line_name(&line, change_tint(row, change), label.at ? label.at : "");
	if (*state)
		line_printf(&line, TINT_DIM, " [%s]", state);
	line_end(&line);
}

static void text_left_out(const struct diff_report *report, const struct diff_table *table, struct text *to)
{
	struct line line = line_start(to, &report->style);
	struct change left = { .a = table->left_a,
			       .b = table->left_b,
			       .delta = table->left_b - table->left_a };
	char count[NUMBER_MAX];

	if (table->n_left_out) {
		line_change(report, &line, &left, TINT_PLAIN);
		line_pad(&line, COLUMN_NAME);
		line_printf(&line, TINT_DIM, "%s more, %s", number_count(table->n_left_out, count),
			    table->is_tree ? "excluding changes below them" : "each changed by less");
		line_end(&line);
	}
	if (table->by_total && !table->is_tree)
		return;
	line = line_start(to, &report->style);
	line_change(report, &line, &report->diff->total, TINT_BOLD);
	line_interval(report, &line, &report->diff->total);
	line_pad(&line, COLUMN_NAME);
	line_printf(&line, TINT_BOLD, "total");
	line_end(&line);
}

/* ---- the tree: a path without branches is one row -------------------------------------------------- */

static bool is_on_the_way(const struct diff_report *report, const struct diff_table *table, size_t i)
{
	const struct diff_row *row = &table->rows.at[i];
	double least = report->cut.percent / 100 * fmax(report->diff->total.a, report->diff->total.b);

	if (i + 1 >= table->rows.n || table->rows.at[i + 1].parent != i || fabs(row->self.delta) >= least)
		return false;
	for (size_t k = i + 2; k < table->rows.n && table->rows.at[k].depth > row->depth; k++)
		if (table->rows.at[k].parent == i)
			return false;
	return true;
}

static void text_tree_rows(const struct diff_report *report, const struct diff_table *table, struct text *to)
{
	CLEANUP(freep) size_t *indent = alloc_zero(table->rows.n + 1, sizeof(*indent));
	const char *arrow = report->style.utf8 ? " → " : " > ";

	for (size_t i = 0; i < table->rows.n; i++) {
		CLEANUP(text_done) struct text name = { 0 };
		uint32_t parent = table->rows.at[i].parent;
		size_t depth = parent == UINT32_MAX ? 0 : indent[parent] + 1;
		indent[i] = depth;
		for (size_t steps = 0; i > 0 && is_on_the_way(report, table, i) && steps < 6; steps++) {
			diff_label(report->diff, table, &table->rows.at[i], &name);
			text_printf(&name, "%s", arrow);
			indent[++i] = depth;
		}
		diff_label(report->diff, table, &table->rows.at[i], &name);
		text_row(report, table, &table->rows.at[i], 2 * depth, name.at, to);
	}
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static void text_table(const struct diff_report *report, struct text *to)
{
	struct diff_table table;
	char count[NUMBER_MAX], tested[NUMBER_MAX];

	diff_report_table(report, &table);
	text_printf(to, "\n%s\n", diff_report_title(&table));
	text_head(report, to, table.is_tree ? "context" : group_name(table.by));
	if (table.is_tree)
		text_tree_rows(report, &table, to);
	for (size_t i = 0; i < table.rows.n && !table.is_tree; i++) {
		CLEANUP(text_done) struct text name = { 0 };
		diff_label(report->diff, &table, &table.rows.at[i], &name);
		text_row(report, &table, &table.rows.at[i], 0, name.at, to);
	}
	text_left_out(report, &table, to);
	text_printf(to,
		    "* %s of %s rows tested differ by more than noise (at most 5 %% of such marks are "
		    "expected to be wrong)\n",
		    number_count(table.n_significant, count), number_count(table.n_tested, tested));
	diff_table_done(&table);
}

static void text_hot_path(const struct diff_report *report, struct text *to)
{
	const struct diff *diff = report->diff;
	view_path path = { 0 };
	size_t indent = 0;

	diff_hot_path(diff, &path);
	text_printf(to, "\n"
			"path of the largest change\n");
	text_head(report, to, "context");
	for (size_t i = path.n > 1; i < path.n; i++) {
		size_t n = diff->costs.n_metrics;
		CLEANUP(freep) uint64_t *values = alloc_zero(n, sizeof(*values));
		CLEANUP(text_done) struct text name = { 0 };
		struct diff_table table = { .is_tree = true, .by_total = true };
		struct diff_row row = { .scope = path.at[i] };
		for (uint32_t k = 0; k < n; k++)
			values[k] = costs_inclusive(&diff->costs, path.at[i], k);
		row.total = diff_change(diff, values, 1);
		diff_label(diff, &table, &row, &name);
		text_row(report, &table, &row, indent < 20 ? indent++ : indent, name.at, to);
	}
	vec_done(&path);
}

static void text_sides(const struct diff_report *report, struct text *to)
{
	uint32_t n[] = { report->diff->n_a, report->diff->n_b };
	CLEANUP(text_done) struct text line = { 0 }, safe = { 0 };

	for (uint32_t side = 0, at = 0; side < 2; at += n[side++]) {
		text_printf(&line, "%s%s: ", side ? "; " : "", side ? "after" : "before");
		if (n[side] > 1)
			text_printf(&line, "%u runs, %s to %s", n[side], report->files[at],
				    report->files[at + n[side] - 1]);
		else
			text_printf(&line, "%s", report->files[at]);
	}
	style_safe(&safe, &report->style, line.at);
	style_paragraph(to, &report->style, safe.at);
}

static void text_sentence(const struct diff_report *report, struct text *to, const char *sentence)
{
	CLEANUP(text_done) struct text safe = { 0 };

	style_safe(&safe, &report->style, sentence);
	style_paragraph(to, &report->style, safe.at);
}

void diff_text(const struct diff_report *report, struct text *ret)
{
	CLEANUP(text_done) struct text total = { 0 };

	text_sides(report, ret);
	diff_report_total(report, &total);
	text_sentence(report, ret, total.at);
	text_sentence(report, ret, diff_report_source(report));
	for (size_t i = 0; i < report->n_notes; i++)
		text_sentence(report, ret, report->notes[i]);
	if (report->view == DIFF_VIEW_SUMMARY || report->view == DIFF_VIEW_HOT)
		text_hot_path(report, ret);
	if (report->view != DIFF_VIEW_HOT)
		text_table(report, ret);
	if (report->verdicts->n)
		text_printf(ret, "\nrules\n");
	for (size_t i = 0; i < report->verdicts->n; i++) {
		CLEANUP(text_done) struct text line = { 0 };
		rule_verdict_say(&report->verdicts->at[i], report->unit, &line);
		text_sentence(report, ret, line.at);
	}
}
