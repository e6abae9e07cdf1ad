/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_filter: options that select part of a profile for a report.
 */
#pragma once

#include "base/diag.h"
#include "cmd/options.h"
#include "profile/profile.h"
#include "report/tree/filter.h"

struct report_filter {
	struct option_list threads, processes, modules;
	const char *focus, *hide;
	bool kernel_only, user_only;
};

#define REPORT_FILTER_SPECS(filter)                                                                            \
	{ 't', "thread", OPTION_LIST, &(filter).threads, "TID|NAME", "only these threads" },                   \
		{ 0, "process", OPTION_LIST, &(filter).processes, "PID|NAME", "only these processes" },        \
		{ 0, "comms", OPTION_LIST, &(filter).processes, "NAME", NULL },                                \
		{ 0,           "module",                                                                       \
		  OPTION_LIST, &(filter).modules,                                                              \
		  "NAME",      "only samples in code of these programs or libraries" },                        \
		{ 0, "dsos", OPTION_LIST, &(filter).modules, "NAME", NULL },                                   \
		{ 0, "kernel-only", OPTION_FLAG, &(filter).kernel_only, NULL, "only samples in the kernel" },  \
		{ 0, "user-only", OPTION_FLAG, &(filter).user_only, NULL, "only samples outside the kernel" }, \
		{ 0,                                                                                           \
		  "focus",                                                                                     \
		  OPTION_TEXT,                                                                                 \
		  &(filter).focus,                                                                             \
		  "REGEX",                                                                                     \
		  "only stacks through a matching function; with --view callers,\nthe callers of "             \
		  "it" },                                                                                      \
	{                                                                                                      \
		0, "hide", OPTION_TEXT, &(filter).hide, "REGEX",                                               \
			"leave matching functions out of the stacks"                                           \
	}

/* A description; NULL if everything is shown. Allocated. */
char *report_filter_describe(const struct report_filter *filter);
/* By thread, whether it was selected; NULL = all. -ENOENT if the profile has no such thread or process. */
int report_filter_threads(const struct report_filter *filter, const struct profile *profile, bool **ret,
			  struct diag *diag);
/* Replaces the tree by the selected part, if there is a filter. -EINVAL with a diag. */
int report_filter_apply(const struct report_filter *filter, const struct profile *profile,
			struct scope_tree *tree, struct diag *diag);
void report_filter_done(struct report_filter *filter);
/* Prints that no samples match the description; returns the exit code. */
int report_filter_say_nothing_left(const char *filter);
