/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/columns_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define NUMBER_COLUMNS 12
#define TEXT_COLUMNS 20 /* longer texts are truncated */
#define CALLS_COLUMNS 19

const char *column_number(const struct cell *cell, char text[NUMBER_MAX])
{
	char amount[NUMBER_MAX];

	switch (cell->type) {
	case CELL_INDEX:
		snprintf(text, NUMBER_MAX, "%llu", (unsigned long long)cell->number);
		return cell->number == UINT32_MAX ? "" : text;
	case CELL_COUNT:
		return number_count(cell->number, text);
	case CELL_AMOUNT:
		return number_value(cell->number, cell->text, text);
	case CELL_PERCENT:
		return number_percent(cell->percent, text);
	case CELL_INTERVAL:
		snprintf(text, NUMBER_MAX, "%.1f-%.1f%%", cell->interval.low, cell->interval.high);
		return text;
	case CELL_CALLS:
		if (cell->is_every)
			snprintf(text, NUMBER_MAX, "new in every sample");
		else
			snprintf(text, NUMBER_MAX, "at least %s", number_count(cell->number, amount));
		return text;
	case CELL_EACH:
		snprintf(text, NUMBER_MAX, "%s %s", cell->is_every ? "below" : "at most",
			 number_value(cell->number, cell->text, amount));
		return text;
	case CELL_REAL:
		snprintf(text, NUMBER_MAX, "%.4g", cell->real);
		return isfinite(cell->real) ? text : "";
	case CELL_TEXT:
		break;
	}
	return "";
}

/* The title may be wider than the values. */
static int columns_text_width_of(const struct column *column, bool is_text)
{
	int least = is_text ? TEXT_COLUMNS : column_is_calls(column) ? CALLS_COLUMNS : NUMBER_COLUMNS;
	int title = (int)strlen(column->title);

	return title > least ? title : least;
}

static void put_text(struct line *line, const char *name, int width)
{
	CLEANUP(text_done) struct text cut = { 0 };
	struct style narrow = { .width = (size_t)width, .utf8 = line->style->utf8 };
	struct line part = line_start(&cut, &narrow);
	size_t end = line->used + (size_t)width;

	line_name(&part, TINT_PLAIN, name);
	line_printf(line, TINT_DIM, "%s", cut.at ? cut.at : "");
	line_pad(line, end);
}

void columns_put_header(const struct text_report *report, struct line *line)
{
	const struct columns *columns = report->options->columns;

	for (size_t i = 0; i < columns->of.n; i++) {
		const struct column *column = &columns->of.at[i];
		if (column_is_name(column))
			continue;
		if (column_is_text(column))
			line_printf(line, TINT_DIM, "%-*s  ", columns_text_width_of(column, true),
				    column->title);
		else
			line_printf(line, TINT_DIM, "%*s  ", columns_text_width_of(column, false),
				    column->title);
	}
}

void columns_put_row(const struct text_report *report, struct line *line, const struct view *view,
		     uint32_t row, uint64_t whole)
{
	const struct columns *columns = report->options->columns;
	struct row_facts facts = { .row = row, .parent = UINT32_MAX };
	char number[NUMBER_MAX];

	row_facts_fill(report, view, row, &facts);
	facts.self_percent = number_share(facts.self, whole);
	facts.total_percent = number_share(facts.total, whole);
	for (size_t i = 0; i < columns->of.n; i++) {
		const struct column *column = &columns->of.at[i];
		if (column_is_name(column))
			continue;
		struct cell cell = column_cell(report, column, &facts);
		if (cell.type == CELL_TEXT)
			put_text(line, cell.text, columns_text_width_of(column, true));
		else
			line_printf(line, TINT_PLAIN, "%*s", columns_text_width_of(column, false),
				    column_number(&cell, number));
		line_printf(line, TINT_PLAIN, "  ");
	}
	row_facts_done(&facts);
}
