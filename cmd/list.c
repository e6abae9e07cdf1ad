/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list: which events this machine can count, which it cannot, and why.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pager.h"
#include "cmd/terminal.h"
#include "collector/live/event_list.h"

#define NAME_COLUMN 2
#define STATE_COLUMN 36

enum list_format { LIST_TEXT, LIST_JSON, LIST_NAMES };

static const char about[] = "Lists the events that -e accepts, and whether this machine can count them. Each "
			    "event is opened once; if that\n"
			    "fails, the reason is shown. PATTERN is part of a name, or a glob. Tracepoints "
			    "need tracefs and root.";

static const char examples[] =
	"  cpprof list                     everything\n"
	"  cpprof list cache               events with 'cache' in their names\n"
	"  sudo cpprof list 'sched:*'      tracepoints of the scheduler\n"
	"  cpprof list -f names            only events that can be counted, one per line\n";

static const char *list_state(const struct event_row *row)
{
	return row->error ? "no" : row->is_user_only ? "user" : "yes";
}

static void list_put(const struct event_row *row, const struct style *style, struct text *to)
{
	struct line line = line_start(to, style);
	enum tint tint = row->error ? TINT_DIM : TINT_PLAIN;

	line_pad(&line, NAME_COLUMN);
	line_name(&line, tint, row->name);
	line_printf(&line, tint, " ");
	line_pad(&line, STATE_COLUMN);
	line_printf(&line, tint, "%-4s", list_state(row));
	if (row->error)
		line_printf(&line, tint, "  %s (%s)", event_error_words(row->error),
			    strerrorname_np(-row->error));
	else if (row->about)
		line_printf(&line, tint, "  ");
	if (!row->error && row->about)
		line_name(&line, tint, row->about);
	line_end(&line);
}

/* What would be available with other privileges, or on another machine. */
static void list_put_hints(const struct event_list *list, const char *pattern, struct text *to)
{
	bool is_denied = false;

	for (size_t i = 0; i < list->rows.n; i++)
		is_denied |= list->rows.at[i].is_user_only || list->rows.at[i].error == -EACCES;
	if (is_denied)
		text_printf(to, "'user': can be counted in user mode only; to include the kernel: sudo "
				"cpprof list, or\n"
				"        sudo sysctl kernel.perf_event_paranoid=1\n");
	if (list->no_tracepoints == -EACCES)
		text_printf(to, "tracepoints: not permitted to read tracefs; try: sudo cpprof list\n");
	else if (list->no_tracepoints)
		text_printf(to, "tracepoints: tracefs is not mounted; try: sudo mount -t tracefs tracefs "
				"/sys/kernel/tracing\n");
	if (!list->rows.n && pattern)
		text_printf(to, "no event matches '%s'; to list all: cpprof list\n", pattern);
}

static int list_print_text(const struct event_list *list, const char *pattern, bool pager)
{
	CLEANUP(text_done) struct text text = { 0 };
	struct style style = terminal_style(COLOR_AUTO);
	enum event_family last = EVENT_FAMILY_N;

	for (size_t i = 0; i < list->rows.n; i++) {
		enum event_family family = list->rows.at[i].family;
		if (family != last) {
			struct line line = line_start(&text, &style);
			line_printf(&line, TINT_BOLD, "%s%s events: %s", i ? "\n" : "",
				    event_family_name(family), event_family_about(family));
			line_end(&line);
		}
		last = family;
		list_put(&list->rows.at[i], &style, &text);
	}
	list_put_hints(list, pattern, &text);
	if (pager)
		return text.len ? pager_print(&text) : 0;
	return fwrite(text.at, 1, text.len, stdout) == text.len ? 0 : -EIO;
}

static int list_print_json(const struct event_list *list)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_name(&json, "events");
	json_array(&json);
	for (size_t i = 0; i < list->rows.n; i++) {
		const struct event_row *row = &list->rows.at[i];
		json_object(&json);
		json_text_of(&json, "name", row->name);
		json_text_of(&json, "family", event_family_name(row->family));
		if (row->about)
			json_text_of(&json, "about", row->about);
		json_bool_of(&json, "available", !row->error);
		json_bool_of(&json, "user_only", row->is_user_only);
		if (row->error) {
			json_text_of(&json, "errno", strerrorname_np(-row->error));
			json_text_of(&json, "why", event_error_words(row->error));
		}
		json_end_object(&json);
	}
	json_end_array(&json);
	if (list->no_tracepoints)
		json_text_of(&json, "no_tracepoints",
			     list->no_tracepoints == -EACCES ? "not permitted to read tracefs"
							     : "tracefs is not mounted");
	json_end_object(&json);
	json_line(&json);
	return json_done(&json);
}

/* For shell completion: names that -e accepts. */
static int list_print_names(const struct event_list *list)
{
	for (size_t i = 0; i < list->rows.n; i++)
		if (!list->rows.at[i].error && list->rows.at[i].family != EVENT_FAMILY_BREAKPOINT)
			puts(list->rows.at[i].name);
	return ferror(stdout) ? -EIO : 0;
}

static int list_print(const struct event_list *list, const char *pattern, enum list_format format, bool pager)
{
	switch (format) {
	case LIST_TEXT:
		return list_print_text(list, pattern, pager);
	case LIST_JSON:
		return list_print_json(list);
	case LIST_NAMES:
		return list_print_names(list);
	}
	return 0;
}

int cmd_list(int argc, char **argv)
{
	bool pager = true;
	int format = LIST_TEXT;
	const struct option_spec specs[] = {
		{ 'f', "format", OPTION_CHOICE, &format, "text|json|names",
		  "output format; names: only the names of events that can be counted" },
		{ 0, "pager", OPTION_FLAG, &pager, NULL, "use a pager on a terminal (default)" },
		{ 0 },
	};
	struct command_line line = {
		.command = "list", .usage = "[PATTERN]", .about = about, .examples = examples, .specs = specs
	};
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	if (line.n_operands > 1)
		return cmd_usage("list", "give only one pattern; quote globs: cpprof list '*cache*'");

	struct event_list list = { 0 };
	struct diag diag = { 0 };
	const char *pattern = line.n_operands ? line.operands[0] : NULL;
	event_list_make(&list, pattern);
	int error = list_print(&list, pattern, (enum list_format)format, pager);
	bool is_empty = list.rows.n == 0;
	event_list_done(&list);
	if (error) {
		diag_set(&diag, error, "cannot write the list");
		return cmd_fail(&diag);
	}
	return is_empty ? EXIT_FAULT : EXIT_OK;
}
