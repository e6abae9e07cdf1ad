/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html: the interactive report: one file, no network, opens from disk.
 *
 * The page (report/html/) is embedded at build time. The profile is in it as blocks of columns
 * (html_columns.c), a JSON object for everything that is not a column (html_meta.c) and texts (html_texts.c),
 * all compressed (deflate) and in base64.
 */
#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/compress.h"
#include "base/embed.h"
#include "base/text.h"
#include "report/annotate/source_user.h"
#include "report/export/export_document.h"
#include "report/html/html.h"
#include "report/html_text.h"
#include "report/quality.h"
#include "report/tree/flatten.h"

EMBED(html_index, "report/html/page/index.html");
EMBED(html_style, "report/html/page/style.css");
EMBED(html_views, "report/html/page/views.css");
EMBED(html_data, "report/html/page/data.js");
EMBED(html_tree, "report/html/page/tree.js");
EMBED(html_model, "report/html/page/model.js");
EMBED(html_dom, "report/html/page/dom.js");
EMBED(html_state, "report/html/page/state.js");
EMBED(html_formula, "report/html/page/formula.js");
EMBED(html_diff, "report/html/page/diff.js");
EMBED(html_ranks, "report/html/page/ranks.js");
EMBED(html_grid, "report/html/page/grid.js");
EMBED(html_columns, "report/html/page/columns.js");
EMBED(html_actions, "report/html/page/actions.js");
EMBED(html_view_tree, "report/html/page/view_tree.js");
EMBED(html_view_callers, "report/html/page/view_callers.js");
EMBED(html_view_flat, "report/html/page/view_flat.js");
EMBED(html_view_sandwich, "report/html/page/view_sandwich.js");
EMBED(html_flame_layout, "report/html/page/flame_layout.js");
EMBED(html_view_flame, "report/html/page/view_flame.js");
EMBED(html_code, "report/html/page/code.js");
EMBED(html_view_source, "report/html/page/view_source.js");
EMBED(html_heatmap, "report/html/page/heatmap.js");
EMBED(html_view_threads, "report/html/page/view_threads.js");
EMBED(html_view_summary, "report/html/page/view_summary.js");
EMBED(html_app, "report/html/page/app.js");

/* In the order of their dependencies. */
static const char *const scripts[] = {
	html_data,         html_tree,         html_model,        html_dom,         html_state,
	html_formula,      html_diff,         html_ranks,        html_grid,        html_columns,
	html_actions,      html_view_tree,    html_view_callers, html_view_flat,   html_view_sandwich,
	html_flame_layout, html_view_flame,   html_code,         html_view_source, html_heatmap,
	html_view_threads, html_view_summary, html_app,
};

/* For mail previews and pagers: the most expensive functions as a plain table. */
static void write_plain_table(FILE *to, const struct document *d, uint32_t metric)
{
	struct flat_table table;
	struct text line = { 0 };
	char label[512];
	size_t rows = 0;

	quality_line(d->profile, &line);
	fputs("<h1>cpprof: ", to);
	html_escaped(to, profile_text(d->profile, d->profile->run.target));
	fputs("</h1><p>", to);
	html_escaped(to, line.at);
	fputs("</p><table><tr><th>self</th><th>total</th><th>name</th></tr>", to);
	flatten_frames(d, &table);
	flat_table_sort(&table, metric);
	for (size_t i = 0; i < table.rows.n && rows < 20; i++) {
		const struct flat_row *row = &table.rows.at[i];
		uint64_t whole = document_inclusive(d, 0, metric);
		double all = whole ? (double)whole : 1;
		if (d->frames.at[row->frame].kind < SCOPE_FUNCTION)
			continue;
		fprintf(to, "<tr><td>%.2f%%</td><td>%.2f%%</td><td>", 100 * (double)row->self[metric] / all,
			100 * (double)row->total[metric] / all);
		html_escaped(to, document_frame_label(d, row->frame, label, sizeof(label)));
		fputs("</td></tr>", to);
		rows++;
	}
	fputs("</table>", to);
	flat_table_done(&table);
	text_done(&line);
}

struct page {
	FILE *to;
	const struct document *document;
	const struct export_options *options;
	const struct derived *derived;
};

void html_part_open(struct html_part *part, FILE *to, const char *kind, const char *name)
{
	fprintf(to, "<script type=\"text/plain\" id=\"%s-%s\">", kind, name);
	part->to = to;
	part->text = base64_stream(to);
	part->packed = compress_stream(part->text, COMPRESS_DEFLATE);
}

void html_part_close(struct html_part *part)
{
	fclose(part->packed);
	fclose(part->text);
	fputs("</script>\n", part->to);
}

static void write_data(const struct page *page)
{
	struct html_part part;

	html_part_open(&part, page->to, "block", "meta");
	html_write_meta(part.packed, page->document, page->options, page->derived);
	html_part_close(&part);
	html_write_blocks(page->to, page->document);
	html_write_texts(page->to, page->document, page->options);
}

static void write_part(const struct page *page, const char *name, size_t len)
{
	if (len == 5 && strncmp(name, "style", len) == 0)
		fprintf(page->to, "%s%s", html_style, html_views);
	else if (len == 8 && strncmp(name, "noscript", len) == 0)
		write_plain_table(page->to, page->document, page->options->metric);
	else if (len == 4 && strncmp(name, "data", len) == 0)
		write_data(page);
	else if (len == 6 && strncmp(name, "script", len) == 0)
		for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
			fputs(scripts[i], page->to);
}

/* The page with each line "@name@" replaced by the named part. */
static void html_write_page(const struct page *page)
{
	const char *at = html_index;

	for (;;) {
		const char *mark = strchr(at, '@');
		const char *end = mark ? strchr(mark + 1, '@') : NULL;
		if (!end) {
			fputs(at, page->to);
			return;
		}
		fwrite(at, 1, (size_t)(mark - at), page->to);
		write_part(page, mark + 1, (size_t)(end - mark - 1));
		at = end + 1;
	}
}

static int html_write(const struct export_input *input, const struct export_options *options, FILE *to,
		      struct diag *diag)
{
	struct export_document it;
	struct export_options safe = *options;
	struct source_search sources = { 0 };
	int error = export_document_open(&it, input, options, diag);

	if (error)
		return error;
	if (!safe.sources) {
		source_user_limit(&sources, input->profile, NULL);
		safe.sources = &sources;
	}
	html_write_page(&(struct page){ to, &it.document, &safe, &it.derived });
	export_document_done(&it);
	return 0;
}

const struct exporter exporter_html = {
	.name = "html",
	.suffixes = ".html .htm",
	.summary = "an interactive report in one file, for any browser",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_THREADS | CARRIES_TIME | CARRIES_METRICS |
		   CARRIES_LINES | CARRIES_CALL_SITES | CARRIES_CONTEXT | CARRIES_FORMULAS,
	.loops_by_default = true,
	.needs_lines = true,
	.needs_spread = true,
	.needs_calls = true,
	.needs_ranks = true,
	.needs_addresses = true,
	.joins = true,
	.max_nodes = 1000000,
	.write = html_write,
};
