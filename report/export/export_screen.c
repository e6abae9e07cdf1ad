/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen: the current state of a trace, which replaces the previous one on the screen. Not a file format.
 */
#include <unistd.h>

#include "base/cleanup.h"
#include "report/allocations.h"
#include "report/export/exporter.h"
#include "report/text/text.h"

#define SCREEN_ROWS 20

static int screen_write(const struct export_input *input, const struct export_options *options, FILE *to,
			struct diag *diag)
{
	CLEANUP(costs_done) struct costs costs = { 0 };
	CLEANUP(text_done) struct text text = { 0 };
	bool is_followed, allocates = allocations_are_in(input->profile, &is_followed);
	struct text_input report = { .profile = input->profile, .tree = input->tree, .costs = &costs };

	(void)options, (void)diag;
	costs_init(&costs, input->tree, NULL);
	struct text_options how = { .view = allocates ? TEXT_ALLOCATIONS : TEXT_CALLS,
				    .metric = text_default_metric(input->profile, input->tree, NULL),
				    .limit = SCREEN_ROWS,
				    .style = { .utf8 = true } };
	report_text(&report, &how, &text);
	if (isatty(fileno(to)))
		fputs("\033[H\033[J", to);
	fputs(text.at ? text.at : "nothing yet\n", to);
	return 0;
}

const struct exporter exporter_screen = {
	.name = "screen",
	.suffixes = "",
	.summary = "a trace while it runs",
	.needs_durations = true,
	.write = screen_write,
};
