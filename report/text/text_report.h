/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_report: the options of a text report, and the data that all its parts use.
 */
#pragma once

#include "profile/profile.h"
#include "report/names.h"
#include "report/number.h"
#include "report/style.h"
#include "report/tree/costs.h"
#include "report/tree/ranks.h"
#include "report/tree/thread_spread.h"
#include "report/tree/view.h"
#include "report/waits.h"

enum text_view {
	TEXT_SUMMARY,
	TEXT_TREE,
	TEXT_CALLERS,
	TEXT_FLAT,
	TEXT_HOT,
	TEXT_LOOPS,
	TEXT_QUALITY,
	TEXT_WAITS,
	TEXT_CALLS,
	TEXT_ALLOCATIONS,
};

struct columns;
struct loop_table;

/* Lines of source files, if they may be read. */
struct text_source {
	void *context;
	/* NULL if it does not exist; valid until the next call. */
	const char *(*line)(void *context, const char *path, uint32_t line);
};

/* Rows by thread or process instead of places in the code. */
enum text_tasks { TASKS_NOT, TASKS_BY_THREAD, TASKS_BY_PROCESS };

struct text_options {
	enum text_view view;
	uint32_t metric;               /* the metric that is shown; see text_default_metric */
	enum view_key sort;            /* rows with the same parent: the largest first */
	enum group_by group;           /* rows of the flat view ... */
	enum text_tasks tasks;         /* ... or these */
	double percent_limit;          /* rows below this share of the whole are left out */
	size_t limit;                  /* maximum number of rows of a view; 0 = all */
	size_t max_depth;              /* of trees: maximum number of levels below the top; 0 = all */
	const bool *callers_of;        /* of the callers view: only these top rows, by scope; NULL = all */
	bool folds_recursion;          /* in trees: its levels are one row, see view_fold_recursion */
	bool percent_of_parent;        /* in trees: shares of the parent row, not of the whole */
	const struct columns *columns; /* the columns, report/text/columns.h; NULL = the usual ones */
	const struct thread_spreads *spreads; /* for columns that need it; NULL = not known */
	const struct ranks *ranks; /* of a reduced profile; NULL = not reduced, or they have no numbers */
	const struct text_source *source; /* of the lines of loops; NULL = none is shown */
	struct style style;
};

struct text_input {
	const struct profile *profile;
	const struct scope_tree *tree;
	const struct costs *costs;        /* of the selected threads */
	const bool *threads;              /* the selected threads, by index; NULL = all */
	const char *filter;               /* the selection as text; NULL = all */
	const char *remedy;               /* how to get names for code without them; NULL = none */
	const struct loop_table *loops;   /* measured facts about loops; NULL = none */
	const struct loop_counts *counts; /* iteration counts of loops; NULL = not known */
};

/* The first event's weight, or samples if it has no values. is_kept: by thread; NULL = all. */
uint32_t text_default_metric(const struct profile *profile, const struct scope_tree *tree,
			     const bool *is_kept);
/* Flat and callers by self, others and loops by inclusive cost: the outer loops of a nest have no self cost.
 */
enum view_key text_default_sort(enum text_view view, enum group_by group);

/* Trees have many small rows, so their default limit is higher. */
double text_default_percent_limit(enum text_view view);

/* The input of every part of a text report. */
struct text_report {
	const struct profile *profile;
	const struct scope_tree *tree;
	const struct costs *costs;
	const bool *threads; /* NULL = all */
	const struct loop_table *loops;
	const struct loop_counts *counts; /* NULL = none */
	const struct text_options *options;
	uint32_t metric;
	struct wait_metrics waits;
	uint64_t total, samples;     /* of everything that is reported on */
	uint64_t sampled;            /* samples that are not waits */
	uint64_t rounds[CCT_ROUNDS]; /* samples of everything, by round */
	struct text *to;
	struct names *names; /* for shortening long names; NULL = each name separately */
};

struct text_report text_report_of(const struct text_input *input, const struct text_options *options,
				  struct text *to);

/* The confidence interval for costs by metric and round, as in a view and struct costs. */
struct interval text_interval(const struct text_report *report, const uint64_t *costs);

/* The root, if a view has a row for it, is shown only if it has a self cost. */
bool text_is_shown(const struct text_report *report, const struct view *view, uint32_t row);
/* Smallest cost that reaches the percent limit. */
uint64_t text_min_cost(const struct text_report *report);
/* Is the screen too narrow for all columns? */
bool text_is_narrow(const struct text_report *report);
/* A heading and its line end. */
void text_heading(const struct text_report *report, const char *text);

static inline bool text_has_thread(const struct text_report *report, uint32_t thread)
{
	return !report->threads || report->threads[thread];
}
