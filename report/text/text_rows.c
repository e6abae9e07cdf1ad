/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_rows.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/label.h"
#include "report/number.h"
#include "report/quality.h"
#include "report/shorten.h"
#include "report/text/columns_text.h"
#include "report/text/text_loops.h"

#define MODULE_COLUMNS 24 /* longer module names are truncated */
#define HOT_PERCENT 20
#define WARM_PERCENT 5

/* ---- numbers ------------------------------------------------------------------------------------ */

static bool self_comes_first(const struct text_report *report)
{
	return report->options->sort == VIEW_BY_SELF;
}

static int count_columns(const struct text_report *report)
{
	char number[NUMBER_MAX];
	int n = (int)strlen(number_count(report->samples, number));

	return n < 7 ? 7 : n; /* as wide as its heading */
}

/* Zero is shown as nothing: a table full of zeroes hides what is not zero. */
static void put_percent(struct line *line, double percent, uint64_t samples, bool is_key)
{
	enum tint tint = !is_key                   ? TINT_PLAIN
			 : percent >= HOT_PERCENT  ? TINT_HOT
			 : percent >= WARM_PERCENT ? TINT_WARM
						   : TINT_PLAIN;

	if (percent == 0 && samples == 0)
		line_printf(line, TINT_PLAIN, "%7s", "");
	else if (percent < 0.05)
		line_printf(line, TINT_PLAIN, "%7s", "<0.1%");
	else
		line_printf(line, tint, "%6.1f%%", percent);
}

static void put_cost(const struct text_report *report, struct line *line, double percent, uint64_t samples,
		     bool is_key)
{
	char number[NUMBER_MAX];

	put_percent(line, percent, samples, is_key);
	if (!text_is_narrow(report))
		line_printf(line, TINT_PLAIN, " %*s", count_columns(report),
			    percent == 0 && samples == 0 ? "" : number_count(samples, number));
}

/* For a reduced profile: how much more the slowest rank spent than the average. */
static void put_imbalance(const struct text_report *report, struct line *line, const struct view *view,
			  uint32_t row)
{
	uint32_t rank = RANK_NONE;
	char number[NUMBER_MAX];

	if (!report->options->ranks)
		return;
	double percent = ranks_imbalance(report->options->ranks, &view->inclusive.at[row * view->n_metrics],
					 report->metric, &rank);
	line_printf(line, TINT_PLAIN, " %9s", percent < 0 ? "" : number_percent(percent, number));
	if (rank == RANK_NONE)
		line_printf(line, TINT_PLAIN, " %7s", "");
	else
		line_printf(line, TINT_PLAIN, " %7u", rank);
}

static void put_numbers(const struct text_report *report, struct line *line, const struct view *view,
			uint32_t row, uint64_t whole)
{
	double self = number_share(view_self(view, row, report->metric), whole);
	double inclusive = number_share(view_inclusive(view, row, report->metric), whole);
	uint64_t self_samples = view_self(view, row, 0), samples = view_inclusive(view, row, 0);

	if (report->options->columns) {
		columns_put_row(report, line, view, row, whole);
		return;
	}
	if (self_comes_first(report)) {
		put_cost(report, line, self, self_samples, true);
		line_printf(line, TINT_PLAIN, " ");
		put_cost(report, line, inclusive, samples, false);
	} else {
		put_cost(report, line, inclusive, samples, true);
		line_printf(line, TINT_PLAIN, " ");
		put_cost(report, line, self, self_samples, false);
	}
	put_imbalance(report, line, view, row);
	line_printf(line, TINT_PLAIN, "  ");
}

static void text_rows_put_header(const struct text_report *report, struct line *line)
{
	int columns = count_columns(report);
	const char *first = self_comes_first(report) ? "self" : "total";
	const char *second = self_comes_first(report) ? "total" : "self";

	if (report->options->columns) {
		columns_put_header(report, line);
		return;
	}
	const char *ranks = report->options->ranks ? " imbalance slowest" : "";
	if (text_is_narrow(report))
		line_printf(line, TINT_DIM, "%7s %7s%s  ", first, second, ranks);
	else
		line_printf(line, TINT_DIM, "%7s %*ss %7s %*ss%s  ", first, columns - 1,
			    quality_unit(report->profile), second, columns - 1, quality_unit(report->profile),
			    ranks);
}

/* ---- names -------------------------------------------------------------------------------------- */

/* As much of a name as fits on the line. */
static void put_name(const struct text_report *report, struct line *line, enum tint tint, const char *name)
{
	CLEANUP(text_done) struct text shown = { 0 };
	size_t width = line->style->width, room = width > line->used ? width - line->used : 0;

	if (width)
		names_fit(report->names, name, room, &shown);
	else
		names_shorten(report->names, name, SHORTEN_COLUMNS, &shown);
	line_name(line, tint, shown.at ? shown.at : "");
}

/* Shown once, not for everything that it calls while waiting. */
static bool is_waiting(const struct text_report *report, const struct scope *scope)
{
	return (scope->flags & SCOPE_WAITING) &&
	       (report->options->view == TEXT_FLAT ||
		!(scope_frame(report->tree, scope->parent)->flags & SCOPE_WAITING));
}

static void text_rows_put_label(const struct text_report *report, struct line *line,
				const struct scope *scope)
{
	CLEANUP(text_done) struct text label = { 0 };
	bool is_dull =
		scope->kind == SCOPE_INCOMPLETE || scope->kind == SCOPE_UNKNOWN || scope->kind == SCOPE_LINE;

	label_scope(report->profile, scope, &label);
	put_name(report, line, is_dull ? TINT_DIM : TINT_PLAIN, label.at ? label.at : "");
	if (scope->kind == SCOPE_INLINE)
		line_printf(line, TINT_DIM, " (inlined)");
	if (scope->flags & SCOPE_JOINED)
		line_printf(line, TINT_DIM, " [joined]");
	if (is_waiting(report, scope))
		line_printf(line, TINT_DIM, " [waiting]");
}

static void put_place(const struct text_report *report, struct line *line, const struct scope *scope)
{
	CLEANUP(text_done) struct text place = { 0 };

	if (scope->flags & SCOPE_PARALLEL) {
		line_printf(line, TINT_DIM, "  ");
		line_name(line, TINT_DIM, intern_text(&report->profile->strings, scope->name));
		return;
	}
	if (scope->kind != SCOPE_FUNCTION && scope->kind != SCOPE_INLINE)
		return;
	label_place(report->profile, scope->file, scope->line, &place);
	if (place.len == 0)
		return;
	line_printf(line, TINT_PLAIN, "  ");
	line_name(line, TINT_DIM, place.at);
}

/* For a loop of an inlined function: into which function it was inlined, and where. Distinguishes rows that
 * look the same. */
static void put_host(const struct text_report *report, struct line *line, const struct scope *scope)
{
	CLEANUP(text_done) struct text place = { 0 };
	struct loop_place loop = loop_place_of(report->tree, scope);

	if (!loop.is_inlined)
		return;
	label_place(report->profile, loop.call_file, loop.call_line, &place);
	line_printf(line, TINT_DIM, place.len ? ", inlined at " : ", inlined");
	if (place.len)
		line_name(line, TINT_DIM, place.at);
	line_printf(line, TINT_DIM, " into ");
	put_name(report, line, TINT_DIM, intern_text(&report->profile->strings, loop.host));
}

static enum group_by text_rows_group(const struct text_report *report)
{
	if (report->options->view == TEXT_LOOPS)
		return GROUP_LOOP;
	return report->options->view == TEXT_FLAT ? report->options->group : GROUP_FUNCTION;
}

/* What a row of a flat view is, depending on the grouping. */
static void text_rows_put_group(const struct text_report *report, struct line *line,
				const struct view_row *row, const struct scope *scope)
{
	const struct profile *profile = report->profile;

	switch (text_rows_group(report)) {
	case GROUP_MODULE:
		line_name(line, TINT_PLAIN, label_image(profile, scope->image));
		return;
	case GROUP_FILE:
		line_name(line, TINT_PLAIN,
			  scope->file ? intern_text(&profile->strings, scope->file) : "[unknown]");
		return;
	case GROUP_LINE:
		text_rows_put_label(report, line, scope);
		line_printf(line, TINT_DIM, "  in ");
		if (row->n_functions > 1)
			line_printf(line, TINT_DIM, "%u functions", row->n_functions);
		else
			put_name(report, line, TINT_DIM, intern_text(&profile->strings, scope->name));
		return;
	case GROUP_LOOP:
		text_rows_put_label(report, line, scope);
		line_printf(line, TINT_DIM, " in ");
		put_name(report, line, TINT_PLAIN, intern_text(&profile->strings, scope->name));
		put_host(report, line, scope);
		return;
	case GROUP_FUNCTION:
		break;
	}
	/* A group may have inlined and other copies: this is not a property of the row. */
	struct scope plain = *scope;
	if (plain.kind == SCOPE_INLINE)
		plain.kind = SCOPE_FUNCTION;
	text_rows_put_label(report, line, &plain);
	put_place(report, line, scope);
}

/* ---- tables ------------------------------------------------------------------------------------- */

static size_t module_columns(const struct text_report *report, const struct view *view)
{
	size_t columns = strlen("module");

	for (uint32_t row = 0; row < view->rows.n; row++) {
		size_t n = style_columns(label_image(
			report->profile, scope_frame(report->tree, view->rows.at[row].scope)->image));
		if (n > columns)
			columns = n;
	}
	return columns > MODULE_COLUMNS ? MODULE_COLUMNS : columns;
}

static void put_module(const struct text_report *report, struct line *line, image_id image, size_t columns)
{
	CLEANUP(text_done) struct text name = { 0 };
	struct style narrow = report->options->style;
	size_t end = line->used + columns + 2;

	narrow.width = columns;
	narrow.color = false;
	struct line part = line_start(&name, &narrow);
	line_name(&part, TINT_PLAIN, label_image(report->profile, image));
	line_printf(line, TINT_DIM, "%s", name.at ? name.at : "");
	line_pad(line, end);
}

void text_table(const struct text_report *report, const struct view *view, const char *what)
{
	bool is_of_functions = report->options->view != TEXT_FLAT || report->options->group == GROUP_FUNCTION;
	bool has_modules = is_of_functions && !report->options->columns && !text_is_narrow(report);
	size_t columns = module_columns(report, view);
	struct line line = line_start(report->to, &report->options->style);

	text_rows_put_header(report, &line);
	if (has_modules)
		line_printf(&line, TINT_DIM, "%-*s  ", (int)columns, "module");
	line_printf(&line, TINT_DIM, "%s", what);
	line_end(&line);
	for (uint32_t row = 0; row < view->rows.n; row++) {
		const struct scope scope = scope_at(report->tree, view->rows.at[row].scope);
		if (!text_is_shown(report, view, row))
			continue;
		line = line_start(report->to, &report->options->style);
		put_numbers(report, &line, view, row, report->total);
		if (has_modules)
			put_module(report, &line, scope.image, columns);
		text_rows_put_group(report, &line, &view->rows.at[row], &scope);
		if (text_rows_group(report) == GROUP_LOOP) {
			text_loop_tags(report, &line, view->rows.at[row].scope, false);
			text_loop_remarks(report, &line, view->rows.at[row].scope);
		}
		line_end(&line);
	}
}

/* ---- trees -------------------------------------------------------------------------------------- */

/* The position of a row among its siblings. */
enum hang { HANG_ONLY, HANG_MIDDLE, HANG_LAST };

struct tree_mark {
	uint32_t depth;
	uint8_t hang; /* not HANG_ONLY: nothing is drawn for rows without siblings */
};

struct tree_lines {
	uint32_t *depth;             /* by row */
	uint8_t *hang;               /* by row */
	VEC(struct tree_mark) marks; /* of the current row and those above it */
	struct map told;             /* loops that have been described in a row */
};

static bool is_hidden_root(const struct text_report *report, const struct view *view)
{
	return view->rows.n > 0 && !text_is_shown(report, view, 0);
}

/* Rows are in preorder, so a row's last child is the last one that refers to it. */
static void text_rows_find_lines(const struct text_report *report, const struct view *view,
				 struct tree_lines *lines)
{
	size_t n = view->rows.n;
	CLEANUP(freep) uint32_t *n_children = alloc_zero(n + 1, sizeof(*n_children));
	CLEANUP(freep) uint32_t *last_child = alloc_zero(n + 1, sizeof(*last_child));
	bool top_is_one = is_hidden_root(report, view);

	lines->depth = alloc_zero(n + 1, sizeof(*lines->depth));
	lines->hang = alloc_zero(n + 1, sizeof(*lines->hang));
	for (uint32_t row = 0; row < n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		if (parent == VIEW_NONE)
			continue;
		lines->depth[row] = lines->depth[parent] + 1;
		n_children[parent]++;
		last_child[parent] = row;
	}
	for (uint32_t row = 0; row < n; row++) {
		uint32_t parent = view->rows.at[row].parent;
		/* Directly below one of several top rows, a line shows that it is not a top row itself. */
		bool may_be_only = parent == VIEW_NONE || top_is_one || lines->depth[row] > 1;
		if (parent == VIEW_NONE || (n_children[parent] == 1 && may_be_only))
			lines->hang[row] = HANG_ONLY;
		else
			lines->hang[row] = last_child[parent] == row ? HANG_LAST : HANG_MIDDLE;
	}
}

static void put_branches(struct line *line, struct tree_lines *lines, uint32_t row)
{
	static const char *const utf8[] = { [HANG_ONLY] = "", [HANG_MIDDLE] = "├─ ", [HANG_LAST] = "└─ " };
	static const char *const ascii[] = { [HANG_ONLY] = "", [HANG_MIDDLE] = "|- ", [HANG_LAST] = "`- " };
	static const char *const above_utf8[] = {
		[HANG_ONLY] = "", [HANG_MIDDLE] = "│  ", [HANG_LAST] = "   "
	};
	static const char *const above_ascii[] = {
		[HANG_ONLY] = "", [HANG_MIDDLE] = "|  ", [HANG_LAST] = "   "
	};
	bool is_utf8 = line->style->utf8;
	uint32_t depth = lines->depth[row];
	size_t room = line->style->width > line->used ? (line->style->width - line->used) / 2 / 3 : 0;
	size_t n_skipped = 0;

	while (lines->marks.n && lines->marks.at[lines->marks.n - 1].depth >= depth)
		lines->marks.n--;
	if (lines->hang[row] != HANG_ONLY)
		vec_push(&lines->marks, ((struct tree_mark){ depth, lines->hang[row] }));
	/* On a narrow screen, deep rows keep their innermost lines, after a sign that some are missing. */
	if (line->style->width && lines->marks.n > room) {
		line_printf(line, TINT_DIM, is_utf8 ? "… " : "~ ");
		n_skipped = lines->marks.n - room;
	}
	for (size_t i = n_skipped; i < lines->marks.n; i++) {
		uint8_t hang = lines->marks.at[i].hang;
		if (lines->marks.at[i].depth == depth)
			line_printf(line, TINT_DIM, "%s", is_utf8 ? utf8[hang] : ascii[hang]);
		else
			line_printf(line, TINT_DIM, "%s", is_utf8 ? above_utf8[hang] : above_ascii[hang]);
	}
}

/* The module is shown if it differs from that of the parent row. */
static bool module_changes(const struct text_report *report, const struct view *view, uint32_t row)
{
	uint32_t parent = view->rows.at[row].parent;
	const struct scope_frame *frame = scope_frame(report->tree, view->rows.at[row].scope);

	if (frame->kind == SCOPE_INCOMPLETE || frame->kind == SCOPE_UNKNOWN ||
	    (frame->flags & SCOPE_RECOVERED_NAME))
		return false;
	return parent == VIEW_NONE ||
	       scope_frame(report->tree, view->rows.at[parent].scope)->image != frame->image;
}

/* "[libm.so.6]"; names such as "[kernel]" have their brackets already. */
static void put_bracketed(struct line *line, const char *name)
{
	CLEANUP(freep) char *text = alloc_printf(*name == '[' ? " %s" : " [%s]", name);

	line_name(line, TINT_DIM, text);
}

/* The loops around it, and the levels of recursion, that are not shown as rows. */
static void put_folded(struct line *line, const struct view_row *row)
{
	char number[NUMBER_MAX];

	if (row->n_loops && row->has_schedule)
		line_printf(line, TINT_DIM, " (in %u outer loop%s, and its schedule)", row->n_loops,
			    row->n_loops == 1 ? "" : "s");
	else if (row->n_loops)
		line_printf(line, TINT_DIM, " (in %u outer loop%s)", row->n_loops,
			    row->n_loops == 1 ? "" : "s");
	else if (row->has_schedule)
		line_printf(line, TINT_DIM, " (and its schedule)");
	if (row->n_levels)
		line_printf(line, TINT_DIM, " (recursion, %s levels", number_count(row->n_levels, number));
	if (row->level_rows > 1)
		line_printf(line, TINT_DIM, " of these %u rows", row->level_rows);
	if (row->n_levels)
		line_printf(line, TINT_DIM, ")");
}

/* Was the loop already described in a row above? With recursion, and below many callers, a loop has many
 * rows. */
static bool text_rows_was_told(const struct text_report *report, struct tree_lines *lines, uint32_t scope)
{
	const struct scope_frame *frame = scope_frame(report->tree, scope);
	uint64_t key = hash_pair_secret(frame->vaddr, frame->image);

	if (frame->kind != SCOPE_LOOP || map_find(&lines->told, key) != MAP_NONE)
		return true;
	map_put(&lines->told, key, 1);
	return false;
}

static void put_tree_row(const struct text_report *report, const struct view *view, struct tree_lines *lines,
			 uint32_t row)
{
	const struct scope scope = scope_at(report->tree, view->rows.at[row].scope);
	uint32_t parent = view->rows.at[row].parent;
	struct line line = line_start(report->to, &report->options->style);
	uint64_t whole = report->total;
	bool is_told = text_rows_was_told(report, lines, view->rows.at[row].scope);

	if (report->options->percent_of_parent && parent != VIEW_NONE)
		whole = view_cost(view, parent, report->options->sort, report->metric);
	put_numbers(report, &line, view, row, whole);
	put_branches(&line, lines, row);
	size_t column = line.used;
	if (report->options->view == TEXT_LOOPS)
		text_rows_put_group(report, &line, &view->rows.at[row], &scope);
	else
		text_rows_put_label(report, &line, &scope);
	text_loop_tags(report, &line, view->rows.at[row].scope, is_told);
	put_folded(&line, &view->rows.at[row]);
	if (module_changes(report, view, row))
		put_bracketed(&line, label_image(report->profile, scope.image));
	if (report->options->view != TEXT_LOOPS && !is_told)
		text_loop_remarks(report, &line, view->rows.at[row].scope);
	line_end(&line);
	if (report->options->view == TEXT_LOOPS)
		text_loop_details(report, view->rows.at[row].scope, column);
}

/* Are top rows separate things? */
static bool is_of_blocks(const struct text_report *report)
{
	return report->options->view == TEXT_CALLERS || report->options->view == TEXT_LOOPS;
}

void text_tree(const struct text_report *report, const struct view *view, const char *what)
{
	struct tree_lines lines = { 0 };
	struct line line = line_start(report->to, &report->options->style);

	text_rows_put_header(report, &line);
	line_printf(&line, TINT_DIM, "%s", what);
	line_end(&line);
	text_rows_find_lines(report, view, &lines);
	for (uint32_t row = 0; row < view->rows.n; row++) {
		if (text_is_shown(report, view, row)) {
			bool is_block =
				is_of_blocks(report) && row > 0 && view->rows.at[row].parent == VIEW_NONE;
			text_printf(report->to, is_block ? "\n" : "");
			put_tree_row(report, view, &lines, row);
			continue;
		}
		vec_clear(&lines.marks); /* the hidden root */
	}
	vec_done(&lines.marks);
	map_done(&lines.told);
	free(lines.depth);
	free(lines.hang);
}
