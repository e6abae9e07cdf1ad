/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_html: the statistics of units as a page without scripts: a dot plot in each row.
 */
#include <string.h>

#include "base/cleanup.h"
#include "report/diff/signed_number.h"
#include "report/diff/stats.h"
#include "report/html_text.h"

#define WIDTH 360 /* of a plot, in pixels */
#define HEIGHT 18
#define MAX_DOTS 2000 /* of a plot: with more units, only some are drawn besides the extremes */

static const char style[] =
	":root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5rem}"
	"table{border-collapse:collapse}th,td{padding:.15rem .6rem;text-align:right;white-space:nowrap}"
	"th{border-bottom:1px solid #8888}td.name,th.name{text-align:left;font-family:ui-monospace,monospace;"
	"max-width:48rem;overflow:hidden;text-overflow:ellipsis}svg{display:block}line{stroke:#8888}"
	"circle{fill:#0b62c4;fill-opacity:.55}circle.extreme{fill:#c4370b}tr.total td{border-top:1px solid "
	"#8888}";

static void html_dot(FILE *to, const struct stats_report *report, const struct stats_row *row, uint32_t unit)
{
	double share = row->max > row->min ? (row->values[unit] - row->min) / (row->max - row->min) : 0;
	bool is_extreme = unit == row->min_unit || unit == row->max_unit;
	char text[SIGNED_MAX];

	fprintf(to, "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\"%s><title>", 5 + share * (WIDTH - 10), HEIGHT / 2,
		is_extreme ? " class=\"extreme\"" : "");
	html_escaped(to, report->names[unit]);
	fprintf(to, ": %s</title></circle>", plain_value(row->values[unit], report->unit, text));
}

static void html_strip(FILE *to, const struct stats_report *report, const struct stats_row *row)
{
	uint32_t n = report->stats->joint->n_units, step = n / MAX_DOTS + 1;

	fprintf(to,
		"<svg width=\"%d\" height=\"%d\" role=\"img\"><line x1=\"5\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>",
		WIDTH, HEIGHT, WIDTH - 5, HEIGHT / 2, HEIGHT / 2);
	for (uint32_t unit = 0; unit < n; unit += step)
		if (unit != row->min_unit && unit != row->max_unit)
			html_dot(to, report, row, unit);
	html_dot(to, report, row, row->min_unit);
	if (row->max_unit != row->min_unit)
		html_dot(to, report, row, row->max_unit);
	fputs("</svg>", to);
}

static void html_row(FILE *to, const struct stats_report *report, const struct stats_row *row,
		     const char *name, const char *kind)
{
	const double values[] = { row->sum, row->mean, row->deviation, row->min, row->max };
	char text[SIGNED_MAX];

	fprintf(to, "<tr%s><td>%.2f&nbsp;%%</td>", kind, 100 * row->range);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		fprintf(to, "<td>%s</td>", plain_value(values[i], report->unit, text));
	fputs("<td>", to);
	html_strip(to, report, row);
	fputs("</td><td class=\"name\" title=\"", to);
	html_escaped(to, name);
	fputs("\">", to);
	html_escaped(to, name);
	fputs("</td></tr>\n", to);
}

void stats_html(const struct stats_report *report, FILE *to)
{
	const struct stats *stats = report->stats;

	fprintf(to,
		"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>cpprof "
		"stats</title><style>%s</style>\n",
		style);
	fputs("<h1>", to);
	html_escaped(to, report->metric);
	fprintf(to,
		" of %u %s</h1><p>Each dot is one of them, from the smallest cost on the left to the largest "
		"on the right. Rows are sorted by range/sum = (max - min) / sum. %s</p>\n",
		stats->joint->n_units, report->units,
		stats->by_self ? "Costs are self costs." : "Costs are total costs, including callees.");
	for (size_t i = 0; i < report->n_notes; i++) {
		fputs("<p>", to);
		html_escaped(to, report->notes[i]);
		fputs("</p>\n", to);
	}
	fputs("<table><tr><th>range/sum</th><th>sum</th><th>mean</th><th>deviation</th><th>min</th><th>max</"
	      "th><th></th>"
	      "<th class=\"name\">name</th></tr>\n",
	      to);
	for (size_t i = 0; i < stats->rows.n; i++) {
		CLEANUP(text_done) struct text name = { 0 };
		stats_label(stats, &stats->rows.at[i], &name);
		html_row(to, report, &stats->rows.at[i], name.at, "");
	}
	html_row(to, report, &stats->total, "total", " class=\"total\"");
	fprintf(to, "</table><p>%zu more are not shown.</p></html>\n", stats->n_left_out);
}
