/* SPDX-License-Identifier: Apache-2.0 */
#include "report/style.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define PARAGRAPH_WIDTH 100

static const char *const codes[] = {
	[TINT_PLAIN] = "",         [TINT_BOLD] = "\033[1m",  [TINT_DIM] = "\033[2m",
	[TINT_HOT] = "\033[1;31m", [TINT_WARM] = "\033[33m",
};

/* Bytes of the character that starts here; 0 if it is not well-formed UTF-8. */
static size_t character_len(const char *at)
{
	const uint8_t *b = (const uint8_t *)at;
	size_t len = b[0] < 0x80                   ? 1
		     : b[0] >= 0xc2 && b[0] < 0xe0 ? 2
		     : b[0] >= 0xe0 && b[0] < 0xf0 ? 3
		     : b[0] >= 0xf0 && b[0] < 0xf5 ? 4
						   : 0;

	for (size_t i = 1; i < len; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) || (b[0] == 0xf0 && b[1] < 0x90) ||
	    (b[0] == 0xf4 && b[1] > 0x8f))
		return 0;
	return len;
}

/* Control characters of ASCII and Latin-1, and those that change the writing direction. */
static bool is_control(const char *at, size_t len)
{
	const uint8_t *b = (const uint8_t *)at;

	if (len == 1)
		return b[0] < 0x20 || b[0] == 0x7f;
	if (len == 2)
		return b[0] == 0xc2 && b[1] < 0xa0;
	return len == 3 && b[0] == 0xe2 &&
	       ((b[1] == 0x80 && b[2] >= 0xa8 && b[2] <= 0xae) || (b[1] == 0x81 && b[2] >= 0xa6));
}

/* The number of plain ASCII bytes at the start: nearly always all of them. */
static size_t plain_len(const char *at)
{
	size_t len = 0;

	while (at[len] >= 0x20 && at[len] < 0x7f)
		len++;
	return len;
}

void style_safe(struct text *to, const struct style *style, const char *name)
{
	size_t n_plain = plain_len(name);

	text_add(to, name, n_plain);
	name += n_plain;
	while (*name) {
		size_t len = character_len(name);
		if (len == 0 || is_control(name, len) || (len > 1 && !style->utf8))
			text_add(to, "?", 1);
		else
			text_add(to, name, len);
		name += len ? len : 1;
	}
}

size_t style_columns(const char *safe)
{
	size_t n = 0;

	for (; *safe; safe++)
		n += ((uint8_t)*safe & 0xc0) != 0x80;
	return n;
}

struct line line_start(struct text *to, const struct style *style)
{
	return (struct line){ .to = to, .style = style };
}

/* The longest prefix of safe text that takes at most this many columns. */
static size_t bytes_that_fit(const char *safe, size_t columns)
{
	size_t at = 0;

	for (; safe[at]; at += character_len(safe + at))
		if (columns-- == 0)
			break;
	return at;
}

static void style_put(struct line *line, enum tint tint, const char *safe)
{
	const struct style *style = line->style;
	size_t columns = style_columns(safe);
	bool is_tinted = style->color && tint != TINT_PLAIN && *safe;

	if (line->is_full || !*safe)
		return;
	if (style->width && line->used >= style->width) { /* no room even for an ellipsis */
		line->is_full = true;
		return;
	}
	if (is_tinted)
		text_printf(line->to, "%s", codes[tint]);
	if (style->width && line->used + columns > style->width) {
		const char *ellipsis = style->utf8 ? "…" : "~";
		size_t room = style->width > line->used ? style->width - line->used - 1 : 0;
		text_add(line->to, safe, bytes_that_fit(safe, room));
		text_printf(line->to, "%s", ellipsis);
		line->is_full = true;
	} else {
		text_add(line->to, safe, strlen(safe));
	}
	if (is_tinted)
		text_printf(line->to, "\033[0m");
	line->used += columns;
}

void line_name(struct line *line, enum tint tint, const char *name)
{
	CLEANUP(text_done) struct text safe = { 0 };

	style_safe(&safe, line->style, name);
	style_put(line, tint, safe.at);
}

void line_printf(struct line *line, enum tint tint, const char *format, ...)
{
	CLEANUP(freep) char *safe = NULL;
	va_list args;

	va_start(args, format);
	int len = vasprintf(&safe, format, args);
	va_end(args);
	if (len >= 0)
		style_put(line, tint, safe);
	else
		safe = NULL;
}

void line_pad(struct line *line, size_t column)
{
	if (line->used < column)
		line_printf(line, TINT_PLAIN, "%*s", (int)(column - line->used), "");
}

/* Plain text has no spaces at the ends of lines. */
void line_end(struct line *line)
{
	while (line->to->len > 0 && line->to->at[line->to->len - 1] == ' ')
		line->to->len--;
	text_add(line->to, "\n", 1);
}

void style_paragraph(struct text *to, const struct style *style, const char *safe)
{
	size_t width = style->width && style->width < PARAGRAPH_WIDTH ? style->width : PARAGRAPH_WIDTH;
	size_t used = 0;

	while (*safe) {
		size_t len = strcspn(safe, " ");
		CLEANUP(freep) char *word = alloc_text_n(safe, len);
		size_t columns = style_columns(word);
		if (used > 0 && used + 1 + columns > width) {
			text_add(to, "\n", 1);
			used = 0;
		} else if (used > 0) {
			text_add(to, " ", 1);
			used++;
		}
		text_add(to, word, len);
		used += columns;
		safe += len;
		safe += strspn(safe, " ");
	}
	text_add(to, "\n", 1);
}
