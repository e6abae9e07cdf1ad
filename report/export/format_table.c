/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/format_table.h"

#include <string.h>

#include "base/vec.h"
#include "report/export/exporter.h"

struct column {
	const char *title;
	unsigned mask;
};

static const struct column columns[] = {
	{ "whole paths", CARRIES_CONTEXT },
	{ "inlined calls", CARRIES_INLINES },
	{ "loops", CARRIES_LOOPS },
	{ "lines", CARRIES_LINES },
	{ "call sites", CARRIES_CALL_SITES },
	{ "threads", CARRIES_THREADS },
	{ "time", CARRIES_TIME },
	{ "several metrics", CARRIES_METRICS },
	{ "build-ids", CARRIES_BUILD_IDS },
};

static void add_suffixes(const char *suffixes, struct text *ret)
{
	while (*suffixes) {
		int len = (int)strcspn(suffixes, " ");
		text_printf(ret, "`%.*s`", len, suffixes);
		suffixes += len;
		suffixes += strspn(suffixes, " ");
		text_printf(ret, "%s", *suffixes ? " " : "");
	}
}

static const char *mark(const struct exporter *exporter, unsigned mask)
{
	if (!(exporter->carries & mask))
		return "";
	return mask == CARRIES_LOOPS && !exporter->loops_by_default ? "with `--loops frames`" : "yes";
}

void format_table(struct text *ret)
{
	text_printf(ret, "| format | for | names ending in |");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		text_printf(ret, " %s |", columns[i].title);
	text_printf(ret, "\n|---|---|---|");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		text_printf(ret, "---|");
	text_printf(ret, "\n");
	for (const struct exporter *const *e = exporters; *e; e++) {
		text_printf(ret, "| `%s` | %s | ", (*e)->name, (*e)->summary);
		add_suffixes((*e)->suffixes, ret);
		text_printf(ret, " |");
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			text_printf(ret, " %s |", mark(*e, columns[i].mask));
		text_printf(ret, "\n");
	}
}

void format_names(struct text *ret)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		text_printf(ret, "%s%s", e == exporters ? "" : ", ", (*e)->name);
}
