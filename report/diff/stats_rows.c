/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_rows: the statistics of units as text, markdown, CSV and JSON.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/diff/signed_number.h"
#include "report/diff/stats.h"
#include "report/number.h"
#include "report/quote.h"
#include "report/shorten.h"

#define STRIP 24 /* columns of a dot plot */
#define NAME_COLUMN 100

static const char *row_word(const struct stats *stats)
{
	static const char *const words[] = { [STATS_FUNCTION] = "function",
					     [STATS_LOOP] = "loop",
					     [STATS_MODULE] = "module",
					     [STATS_PATH] = "path" };

	return words[stats->by];
}

/* The positions of the units between the smallest and the largest. */
static void text_strip(struct line *line, const struct stats_row *row, uint32_t n)
{
	char strip[STRIP + 1];

	memset(strip, ' ', STRIP);
	strip[STRIP] = 0;
	for (uint32_t i = 0; i < n; i++) {
		double share = row->max > row->min ? (row->values[i] - row->min) / (row->max - row->min) : 0;
		size_t at = (size_t)(share * (STRIP - 1) + 0.5);
		strip[at] = strip[at] == ' ' ? '.' : strip[at] == '.' ? 'o' : 'O';
	}
	line_printf(line, TINT_WARM, " |%s| ", strip);
}

static void text_number(struct line *line, const char *text, size_t column)
{
	size_t width = style_columns(text);

	if (line->used + width < column)
		line_pad(line, column - width);
	line_printf(line, TINT_PLAIN, "%s", text);
}

static void text_stats_row(const struct stats_report *report, const struct stats_row *row, const char *name,
			   struct text *to)
{
	struct line line = line_start(to, &report->style);
	const double values[] = { row->sum, row->mean, row->deviation, row->min, row->max };
	CLEANUP(text_done) struct text label = { 0 };
	char text[SIGNED_MAX];

	snprintf(text, sizeof(text), "%.2f %%", 100 * row->range);
	text_number(&line, text, 9);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		text_number(&line, plain_value(values[i], report->unit, text), 20 + 10 * i);
	text_strip(&line, row, report->stats->joint->n_units);
	name_shorten(name, NAME_COLUMN, &label);
	line_name(&line, TINT_PLAIN, label.at ? label.at : "");
	line_end(&line);
}

static void text_stats_head(const struct stats_report *report, struct text *to)
{
	static const char *const names[] = { "sum", "mean", "deviation", "min", "max" };
	struct line line = line_start(to, &report->style);

	text_number(&line, "range/sum", 9);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		text_number(&line, names[i], 20 + 10 * i);
	line_printf(&line, TINT_PLAIN, " |%-*s| %s", STRIP, "min .. max", row_word(report->stats));
	line_end(&line);
}

static void stats_sentence(const struct stats_report *report, const char *safe_metric, struct text *to)
{
	uint32_t n = report->stats->joint->n_units;
	char text[NUMBER_MAX];

	text_printf(to, "%s of %s %s, by %s%s", safe_metric, number_count(n, text), report->units,
		    row_word(report->stats), report->stats->by_self ? ", self cost" : ", total cost");
}

void stats_text(const struct stats_report *report, struct text *ret)
{
	const struct stats *stats = report->stats;
	CLEANUP(text_done) struct text metric = { 0 };
	char text[NUMBER_MAX];

	style_safe(&metric, &report->style, report->metric);
	stats_sentence(report, metric.at, ret);
	text_printf(ret, "\n");
	for (size_t i = 0; i < report->n_notes; i++) {
		CLEANUP(text_done) struct text safe = { 0 };
		style_safe(&safe, &report->style, report->notes[i]);
		style_paragraph(ret, &report->style, safe.at);
	}
	text_stats_head(report, ret);
	for (size_t i = 0; i < stats->rows.n; i++) {
		CLEANUP(text_done) struct text name = { 0 };
		stats_label(stats, &stats->rows.at[i], &name);
		text_stats_row(report, &stats->rows.at[i], name.at, ret);
	}
	text_stats_row(report, &stats->total, "total", ret);
	if (stats->n_left_out)
		text_printf(ret, "%s more not shown (--percent-limit, --limit)\n",
			    number_count(stats->n_left_out, text));
}

void stats_markdown(const struct stats_report *report, struct text *ret)
{
	const struct stats *stats = report->stats;
	CLEANUP(text_done) struct text metric = { 0 };

	quote_markdown(&metric, report->metric);
	stats_sentence(report, metric.at, ret);
	text_printf(ret,
		    "\n\n| range/sum | sum | mean | deviation | min | max | %s "
		    "|\n|---:|---:|---:|---:|---:|---:|---|\n",
		    row_word(stats));
	for (size_t i = 0; i < stats->rows.n; i++) {
		const struct stats_row *row = &stats->rows.at[i];
		const double values[] = { row->sum, row->mean, row->deviation, row->min, row->max };
		CLEANUP(text_done) struct text name = { 0 };
		char text[SIGNED_MAX];
		text_printf(ret, "| %.2f %% |", 100 * row->range);
		for (size_t k = 0; k < ARRAY_LEN(values); k++)
			text_printf(ret, " %s |", plain_value(values[k], report->unit, text));
		stats_label(stats, row, &name);
		text_printf(ret, " ");
		quote_markdown(ret, name.at);
		text_printf(ret, " |\n");
	}
}

void stats_csv(const struct stats_report *report, struct text *ret)
{
	const struct stats *stats = report->stats;

	text_printf(ret, "name,range_of_sum,sum,mean,deviation,min,max,min_of,max_of");
	for (uint32_t u = 0; u < stats->joint->n_units; u++) {
		text_printf(ret, ",");
		quote_csv(ret, report->names[u]);
	}
	text_printf(ret, "\n");
	for (size_t i = 0; i < stats->rows.n; i++) {
		const struct stats_row *row = &stats->rows.at[i];
		CLEANUP(text_done) struct text name = { 0 };
		stats_label(stats, row, &name);
		quote_csv(ret, name.at);
		text_printf(ret, ",%.6f,%.0f,%.6g,%.6g,%.0f,%.0f,", row->range, row->sum, row->mean,
			    row->deviation, row->min, row->max);
		quote_csv(ret, report->names[row->min_unit]);
		text_printf(ret, ",");
		quote_csv(ret, report->names[row->max_unit]);
		for (uint32_t u = 0; u < stats->joint->n_units; u++)
			text_printf(ret, ",%.0f", row->values[u]);
		text_printf(ret, "\n");
	}
}

static void json_stats_row(struct json *json, const struct stats_report *report, const struct stats_row *row,
			   const char *name)
{
	json_object(json);
	json_text_of(json, "name", name);
	json_number_of(json, "range_of_sum", row->range);
	json_number_of(json, "sum", row->sum);
	json_number_of(json, "mean", row->mean);
	json_number_of(json, "deviation", row->deviation);
	json_number_of(json, "min", row->min);
	json_number_of(json, "max", row->max);
	json_text_of(json, "min_of", report->names[row->min_unit]);
	json_text_of(json, "max_of", report->names[row->max_unit]);
	json_name(json, "values");
	json_array(json);
	for (uint32_t u = 0; u < report->stats->joint->n_units; u++)
		json_number(json, row->values[u]);
	json_end_array(json);
	json_end_object(json);
}

int stats_json(const struct stats_report *report, FILE *to)
{
	const struct stats *stats = report->stats;
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_text_of(&json, "metric", report->metric);
	json_text_of(&json, "unit", report->unit);
	json_text_of(&json, "rows_are", row_word(stats));
	json_text_of(&json, "cost", stats->by_self ? "self" : "total");
	json_text_of(&json, "of", report->units);
	json_name(&json, "names");
	json_array(&json);
	for (uint32_t u = 0; u < stats->joint->n_units; u++)
		json_text(&json, report->names[u]);
	json_end_array(&json);
	json_name(&json, "total");
	json_stats_row(&json, report, &stats->total, "total");
	json_name(&json, "rows");
	json_array(&json);
	for (size_t i = 0; i < stats->rows.n; i++) {
		CLEANUP(text_done) struct text name = { 0 };
		stats_label(stats, &stats->rows.at[i], &name);
		json_stats_row(&json, report, &stats->rows.at[i], name.at);
	}
	json_end_array(&json);
	json_uint_of(&json, "left_out", stats->n_left_out);
	json_name(&json, "notes");
	json_array(&json);
	for (size_t i = 0; i < report->n_notes; i++)
		json_text(&json, report->notes[i]);
	json_end_array(&json);
	json_end_object(&json);
	json_line(&json);
	return json_done(&json);
}
