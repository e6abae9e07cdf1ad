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

void quote_markdown(struct text *to, const char *name)
{
	CLEANUP(text_done) struct text safe = { 0 };
	const char *fence = strchr(name, '`') ? "``" : "`";

	struct style style = { .utf8 = true, .width = MAX_NAME };
	struct line line = line_start(&safe, &style);
	line_name(&line, TINT_PLAIN, name);
	if (!safe.len)
		text_printf(&safe, " ");
	text_printf(to, "%s%s", fence, fence[1] ? " " : "");
	for (const char *at = safe.at; *at; at++)
		text_add(to, *at == '|' ? "\\|" : at, *at == '|' ? 2 : 1);
	text_printf(to, "%s%s", fence[1] ? " " : "", fence);
}
