/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg: a static flame graph for documents: the root at the top, colours by module, loops hatched, inlined
 * calls dashed. It contains no scripts; pointing at a frame shows its name and cost. For interactive use
 * there is html.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/export/exporter.h"
#include "report/limit.h"
#include "report/number.h"
#include "report/quality.h"
#include "report/style.h"
#include "report/tree/children.h"
#include "report/tree/document.h"

#define WIDTH 1200
#define MARGIN 10
#define ROW 17
#define TOP 34        /* space for the title */
#define MIN_WIDTH 0.1 /* pixels: narrower frames, and those below them, are not drawn */
#define COLUMN 7.25   /* pixels of a letter: 12 px of a monospaced font */
#define MIN_COLUMNS 3 /* no label is better than one of two letters */

struct svg {
	const struct document *document;
	uint32_t metric;
	double scale;           /* pixels of one unit */
	VEC(uint64_t) cursor;   /* by depth: where the next frame begins */
	uint32_t depth;         /* deepest row drawn */
	struct text body, safe; /* safe: the current name, escaped */
};

/* ---- text and colour -------------------------------------------------------------------------- */

static void svg_add_escaped(struct text *ret, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case '&':
			text_printf(ret, "&amp;");
			break;
		case '<':
			text_printf(ret, "&lt;");
			break;
		case '>':
			text_printf(ret, "&gt;");
			break;
		case '"':
			text_printf(ret, "&quot;");
			break;
		default:
			text_add(ret, text + i, 1);
		}
}

static void make_safe(struct svg *s, const char *name)
{
	static const struct style plain = { .utf8 = true };

	text_clear(&s->safe);
	text_add(&s->safe, "", 0);
	style_safe(&s->safe, &plain, *name ? name : "?");
}

/* Bytes of the first n letters. */
static size_t prefix_of(const char *text, size_t letters)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && letters-- == 0)
			break;
	return i;
}

static unsigned channel(double hue, double saturation, double light, double offset)
{
	double k = offset + hue / 30, a = saturation * (light < 0.5 ? light : 1 - light);

	while (k >= 12)
		k -= 12;
	double part = k - 3 < 9 - k ? k - 3 : 9 - k;
	part = part > 1 ? 1 : part < -1 ? -1 : part;
	return (unsigned)(255 * (light - a * part) + 0.5);
}

/* One hue per module, a slightly different shade per function. */
static unsigned color_of(const struct svg *s, const struct scope_frame *frame, const char *name)
{
	const char *module = profile_image_name(s->document->profile, frame->image);
	uint64_t module_hash = hash_bytes((struct bytes){ (const uint8_t *)module, strlen(module) });
	uint64_t name_hash = hash_bytes((struct bytes){ (const uint8_t *)name, strlen(name) });
	double hue = (double)(module_hash % 360), light = 0.74 + (double)(name_hash % 9) / 100;
	double saturation = *module == '\0' ? 0 : frame->kind == SCOPE_LOOP ? 0.35 : 0.6;

	return channel(hue, saturation, light, 0) << 16 | channel(hue, saturation, light, 8) << 8 |
	       channel(hue, saturation, light, 4);
}

/* ---- frames ----------------------------------------------------------------------------------- */

static void draw_title(struct svg *s, const struct scope_frame *frame, uint64_t value)
{
	const struct profile *profile = s->document->profile;
	const char *module = profile_image_name(profile, frame->image);
	char amount[NUMBER_MAX], percent[NUMBER_MAX];

	text_printf(&s->body, "<title>");
	svg_add_escaped(&s->body, s->safe.at, s->safe.len);
	if (*module) {
		struct text name = s->safe;
		s->safe = (struct text){ 0 };
		make_safe(s, module);
		text_printf(&s->body, " in ");
		svg_add_escaped(&s->body, s->safe.at, s->safe.len);
		text_done(&s->safe);
		s->safe = name;
	}
	number_value(value, profile_text(profile, profile->metrics.at[s->metric].unit), amount);
	number_percent(number_share(value, document_inclusive(s->document, 0, s->metric)), percent);
	text_printf(&s->body, ": ");
	svg_add_escaped(&s->body, amount, strlen(amount));
	text_printf(&s->body, ", ");
	svg_add_escaped(&s->body, percent, strlen(percent));
	text_printf(&s->body, "%s</title>", frame->kind == SCOPE_INLINE ? ", inlined" : "");
}

static void draw_label(struct svg *s, double x, double width, double y)
{
	size_t room = width > 6 ? (size_t)((width - 6) / COLUMN) : 0;
	bool fits = style_columns(s->safe.at) <= room;

	if (room < MIN_COLUMNS)
		return;
	text_printf(&s->body, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + 12.5);
	svg_add_escaped(&s->body, s->safe.at, fits ? s->safe.len : prefix_of(s->safe.at, room - 1));
	text_printf(&s->body, "%s</text>", fits ? "" : "…");
}

static void draw(void *context, uint32_t node, uint32_t depth)
{
	struct svg *s = context;
	const struct document *document = s->document;
	uint32_t index = document_frame(document, node);
	const struct scope_frame *frame = &document->frames.at[index];
	uint64_t value = document_inclusive(document, node, s->metric);
	char label[512];

	while (s->cursor.n < depth + 2)
		vec_push(&s->cursor, 0);
	double x = MARGIN + (double)s->cursor.at[depth] * s->scale, width = (double)value * s->scale,
	       y = TOP + (double)depth * ROW;
	s->cursor.at[depth + 1] = s->cursor.at[depth];
	s->cursor.at[depth] += value;
	if (width < MIN_WIDTH)
		return;
	s->depth = depth > s->depth ? depth : s->depth;
	width -= width > 2 ? 0.5 : 0; /* a gap, so that neighbours of one colour can be distinguished */
	make_safe(s, document_frame_label(document, index, label, sizeof(label)));
	text_printf(&s->body, "<g>");
	draw_title(s, frame, value);
	text_printf(&s->body, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"%s/>",
		    x, y, width, ROW - 1, color_of(s, frame, s->safe.at),
		    frame->kind == SCOPE_INLINE && width > 4
			    ? " stroke=\"#444\" stroke-width=\"0.7\" stroke-dasharray=\"3 2\""
			    : "");
	if (frame->kind == SCOPE_LOOP && width > 4)
		text_printf(&s->body,
			    "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"url(#loop)\"/>",
			    x, y, width, ROW - 1);
	draw_label(s, x, width, y);
	text_printf(&s->body, "</g>\n");
}

/* ---- the whole -------------------------------------------------------------------------------- */

static void write_line(struct svg *s, FILE *to, const char *text, int y, const char *style)
{
	struct text escaped = { 0 };

	make_safe(s, text);
	svg_add_escaped(&escaped, s->safe.at, s->safe.len);
	fprintf(to, "<text x=\"%d\" y=\"%d\" style=\"%s\">%s</text>\n", MARGIN, y, style, escaped.at);
	text_done(&escaped);
}

static void write_heading(struct svg *s, FILE *to)
{
	const struct profile *profile = s->document->profile;
	struct text heading = { 0 };
	char amount[NUMBER_MAX];

	number_value(document_inclusive(s->document, 0, s->metric),
		     profile_text(profile, profile->metrics.at[s->metric].unit), amount);
	text_printf(&heading, "%s %s", amount, profile_text(profile, profile->metrics.at[s->metric].name));
	if (profile->run.target)
		text_printf(&heading, " of %s", profile_text(profile, profile->run.target));
	write_line(s, to, heading.at, 22, "font:14px sans-serif");
	text_done(&heading);
}

static void write_document(struct svg *s, FILE *to)
{
	int bottom = TOP + (int)(s->depth + 1) * ROW, height = bottom + 28;
	struct text quality = { 0 }, note = { 0 };

	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"style=\"font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\">\n"
		"<defs><pattern id=\"loop\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\">"
		"<path d=\"M0 0V6\" stroke=\"#000\" stroke-opacity=\"0.22\" "
		"stroke-width=\"2\"/></pattern></defs>\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height, WIDTH, height);
	write_heading(s, to);
	if (s->body.len)
		fwrite(s->body.at, 1, s->body.len, to);
	quality_line(s->document->profile, &quality);
	limit_note(s->document->tree, s->document->profile, &note);
	if (note.len)
		text_printf(&quality, "; %s", note.at);
	write_line(s, to, quality.at, bottom + 18, "font:11px sans-serif;fill:#666");
	fputs("</svg>\n", to);
	text_done(&quality);
	text_done(&note);
}

static int write_svg(const struct export_input *input, const struct export_options *options, FILE *to,
		     struct diag *diag)
{
	struct document document;
	struct children children;

	(void)diag;
	document_init(&document, input->profile, input->tree);
	uint64_t total = document_inclusive(&document, 0, options->metric);
	struct svg s = { .document = &document,
			 .metric = options->metric,
			 .scale = total ? (double)(WIDTH - 2 * MARGIN) / (double)total : 0 };
	children_of_document(&children, &document, options->metric);
	children_walk(&children, document.n_nodes, draw, &s);
	children_done(&children);
	write_document(&s, to);
	vec_done(&s.cursor);
	text_done(&s.body);
	text_done(&s.safe);
	document_done(&document);
	return 0;
}

const struct exporter exporter_svg = {
	.name = "svg",
	.suffixes = ".svg",
	.summary = "a static flame graph, for documents",
	.carries = CARRIES_INLINES | CARRIES_LOOPS | CARRIES_CONTEXT,
	.loops_by_default = true,
	.write = write_svg,
};
