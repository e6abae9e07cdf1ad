/* SPDX-License-Identifier: Apache-2.0 */
#include "report/quote.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/style.h"

#define MAX_NAME 200 /* columns of a name in markdown; comments have at most 64 KiB */

void quote_csv(struct text *to, const char *name)
{
	const struct style style = { .utf8 = true };
	CLEANUP(text_done) struct text safe = { 0 };

	if (*name && strchr("=+-@", *name))
		text_add(&safe, "'", 1);
	style_safe(&safe, &style, name);
	const char *text = safe.at;
	if (!strpbrk(text, ",\"\r\n")) {
		text_printf(to, "%s", text);
		return;
	}
	text_add(to, "\"", 1);
	for (; *text; text++)
		text_add(to, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	text_add(to, "\"", 1);
}

/* More backticks than are side by side anywhere in the text: only as many as begin the code end it. */
static void quote_fence(struct text *to, const char *safe)
{
	size_t longest = 0;

	for (const char *at = strchr(safe, '`'); at; at = strchr(at, '`')) {
		size_t n = strspn(at, "`");
		longest = n > longest ? n : longest;
		at += n;
	}
	for (size_t i = 0; i <= longest; i++)
		text_add(to, "`", 1);
}

/* In a table, a bar behind one backslash is text, but behind two of them it ends the cell: those before a bar
 * are doubled. */
static void quote_bars(struct text *to, const char *safe)
{
	for (const char *at = safe; *at;) {
		size_t n = strspn(at, "\\");
		text_add(to, at, n);
		if (at[n] == '|') {
			text_add(to, at, n);
			text_printf(to, "\\|");
		} else if (at[n]) {
			text_add(to, at + n, 1);
		}
		at += n + (at[n] != '\0');
	}
}

void quote_markdown(struct text *to, const char *name)
{
	CLEANUP(text_done) struct text safe = { 0 }, fence = { 0 };

	struct style style = { .utf8 = true, .width = MAX_NAME };
	struct line line = line_start(&safe, &style);
	line_name(&line, TINT_PLAIN, name);
	if (!safe.len)
		text_printf(&safe, " ");
	quote_fence(&fence, safe.at);
	const char *space = fence.len > 1 ? " " : "";
	text_printf(to, "%s%s", fence.at, space);
	quote_bars(to, safe.at);
	text_printf(to, "%s%s", space, fence.at);
}
