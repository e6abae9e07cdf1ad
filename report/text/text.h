/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text: the report people read: a paragraph that says what dominates, then one view, then how far it
 * can be trusted. A pure function of the profile and its fused tree.
 */
#pragma once

#include "profile/profile.h"
#include "report/style.h"
#include "report/tree/costs.h"
#include "report/tree/view.h"

enum text_view { TEXT_SUMMARY, TEXT_TREE, TEXT_CALLERS, TEXT_FLAT, TEXT_HOT, TEXT_QUALITY };

struct columns;

/* Instead of places in the code. */
enum text_tasks { TASKS_NOT, TASKS_BY_THREAD, TASKS_BY_PROCESS };

struct text_options {
	enum text_view view;
	uint32_t metric;        /* whose shares are shown; see text_default_metric */
	enum view_key sort;     /* rows with the same parent: the largest first */
	enum group_by group;    /* rows of the flat view ... */
	enum text_tasks tasks;  /* ... or these */
	double percent_limit;   /* rows below that share of the whole are left out */
	size_t limit;           /* most rows of a view; 0 = all */
	size_t max_depth;       /* of trees: so many levels below the top; 0 = all */
	bool percent_of_parent; /* in trees: shares of the row above, not of the whole */
	const struct columns
		*columns; /* which facts of a row, report/text/columns.h; NULL = the usual ones */
	struct style style;
};

struct text_input {
	const struct profile *profile;
	const struct scope_tree *tree;
	const struct costs *costs; /* of the threads asked about */
	const bool *threads;       /* which those are, by index; NULL = all */
	const char *filter;        /* the same in words; NULL = all */
};

/* The first event's weight, or samples where there is none. */
uint32_t text_default_metric(const struct profile *profile, const struct costs *costs);
/* Flat and callers by self, the others by inclusive cost. */
enum view_key text_default_sort(enum text_view view);

/* Trees have many small rows; one in a hundred is enough at first sight. */
double text_default_percent_limit(enum text_view view);

void report_text(const struct text_input *input, const struct text_options *options, struct text *ret);
