/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_facts: the fields of a row of a view.
 */
#pragma once

#include "report/text/text_report.h"

struct row_facts {
	uint32_t row, parent; /* among the rows shown; UINT32_MAX = at the top */
	uint32_t depth;
	const char *kind; /* "function", "inline", "loop", "line", "module", "file", "unknown", "incomplete",
			     "all" */
	struct text name;
	struct text told;   /* for a loop: what is known about it */
	const char *module; /* "" if not applicable */
	const char *file;   /* whole path, "" = unknown */
	uint32_t line;
	uint64_t self, total, self_samples, total_samples;
	double self_percent, total_percent; /* of the whole */
	double imbalance;                   /* of a reduced profile, in percent; negative = not known */
	uint32_t slowest;                   /* the rank with the highest cost; RANK_NONE = not known */
	const struct view *view;            /* where the costs of other metrics are ... */
	uint32_t view_row;                  /* ... and its row there */
};

/* The position of a loop in its function. */
struct loop_place {
	uint32_t nesting;              /* loops around it in the same function, itself included */
	uint32_t host;                 /* name of the function that contains its machine code */
	uint32_t call_file, call_line; /* of the inlined call that contains it; 0 = unknown */
	bool is_inlined;
};
struct loop_place loop_place_of(const struct scope_tree *tree, const struct scope *loop);

/* Fills everything except number, parent and depth among the rows shown. */
void row_facts_fill(const struct text_report *report, const struct view *view, uint32_t row,
		    struct row_facts *ret);
void row_facts_done(struct row_facts *facts);
/* Calls put for every row that is shown, in order. The facts are valid during the call. */
void row_facts_each(const struct text_report *report, const struct view *view,
		    void (*put)(void *context, const struct row_facts *facts), void *context);
