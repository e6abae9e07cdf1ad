/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns: which columns a report shows, in which order. The same names select columns of text and markdown
 * and fields of CSV and JSON; the cost of a metric other than the report's is "self:METRIC".
 */
#pragma once

#include "base/diag.h"
#include "report/formula.h"
#include "report/number.h"
#include "report/text/row_facts.h"

struct columns {
	VEC(struct column {
		const char *title;             /* as given; borrowed */
		unsigned kind;                 /* index of a table in columns.c */
		uint32_t metric;               /* COLUMN_OWN_METRIC: the report's */
		const struct formula *formula; /* of a derived column */
	})
	of;
	VEC(struct formula *) formulas; /* owned */
	bool is_usual;                  /* only derived ones were requested */
};

#define COLUMN_OWN_METRIC UINT32_MAX

/* The contents of one cell. */
struct cell {
	enum {
		CELL_COUNT,
		CELL_INDEX,
		CELL_AMOUNT,
		CELL_PERCENT,
		CELL_INTERVAL,
		CELL_REAL,
		CELL_CALLS, /* at least this many */
		CELL_EACH,  /* ... with at most this amount each */
		CELL_TEXT
	} type;
	uint64_t number; /* CELL_INDEX: UINT32_MAX = none */
	bool is_every;   /* CELL_CALLS, CELL_EACH: nearly every sample showed a new one */
	double percent;
	struct interval interval;
	double real;      /* not finite = no value */
	const char *text; /* CELL_TEXT; of an amount, its unit */
};

/* Adds a column by its name. -EINVAL with a diag if there is no such column or metric. */
int columns_add(struct columns *columns, const struct profile *profile, const char *name, struct diag *diag);
/* Adds a column by formula. -EINVAL with a diag. */
int columns_derive(struct columns *columns, const struct profile *profile, const char *formula,
		   struct diag *diag);
/* Adds common ratios whose events were recorded; returns how many. */
size_t columns_derive_usual(struct columns *columns, const struct profile *profile);
/* Does a column show the distribution over threads? Then options.spreads must be set. */
bool columns_need_threads(const struct columns *columns);
/* The default fields of CSV, or of JSON with is_json; with those of ranks for a reduced profile. */
void columns_add_default(struct columns *columns, bool is_json, bool is_reduced);
void columns_done(struct columns *columns);
/* "self, self_percent, ..." */
void columns_names(struct text *ret);

struct cell column_cell(const struct text_report *report, const struct column *column,
			const struct row_facts *facts);
bool column_is_text(const struct column *column);
/* Is it a number of calls, which is shown with words? */
bool column_is_calls(const struct column *column);
/* Is there such a column? Then the tree needs activations (fuse.h). */
bool columns_want_calls(const struct columns *columns);
/* Is it the name? In text it is always the last column. */
bool column_is_name(const struct column *column);
