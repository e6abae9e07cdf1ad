/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns: which facts of a row a report shows, in which order. The same names choose columns of text and
 * markdown and fields of CSV and JSON; a cost of another metric than the report's is "self:METRIC".
 */
#pragma once

#include "base/diag.h"
#include "report/formula.h"
#include "report/number.h"
#include "report/text/row_facts.h"

struct columns {
	VEC(struct column {
		const char *title;             /* as it was asked for; borrowed */
		unsigned kind;                 /* index of a table in columns.c */
		uint32_t metric;               /* COLUMN_OWN_METRIC: the report's */
		const struct formula *formula; /* of a column that is derived */
	})
	of;
	VEC(struct formula *) formulas; /* owned */
	bool is_usual;                  /* none but derived ones were asked for */
};

#define COLUMN_OWN_METRIC UINT32_MAX

/* What stands in one cell. */
struct cell {
	enum {
		CELL_COUNT,
		CELL_INDEX,
		CELL_AMOUNT,
		CELL_PERCENT,
		CELL_INTERVAL,
		CELL_REAL,
		CELL_CALLS, /* at least so many */
		CELL_EACH,  /* ... of at most this amount each */
		CELL_TEXT
	} type;
	uint64_t number; /* CELL_INDEX: UINT32_MAX = none */
	bool is_every;   /* CELL_CALLS, CELL_EACH: nearly every sample showed a new one */
	double percent;
	struct interval interval;
	double real;      /* not finite = there is no value */
	const char *text; /* CELL_TEXT; of an amount, its unit */
};

/* One more column, by its name. -EINVAL with a diag if there is no such column or metric. */
int columns_add(struct columns *columns, const struct profile *profile, const char *name, struct diag *diag);
/* One more, by formula. -EINVAL with a diag. */
int columns_derive(struct columns *columns, const struct profile *profile, const char *formula,
		   struct diag *diag);
/* Those that everybody asks for, where their events are there; returns how many. */
size_t columns_derive_usual(struct columns *columns, const struct profile *profile);
/* One of them says how threads share a row: options.threads must be there. */
bool columns_need_threads(const struct columns *columns);
/* The fields of CSV, and of JSON with is_json, unless others are asked for; those of ranks for a reduced
 * profile. */
void columns_add_default(struct columns *columns, bool is_json, bool is_reduced);
void columns_done(struct columns *columns);
/* "self, self_percent, ..." */
void columns_names(struct text *ret);

struct cell column_cell(const struct text_report *report, const struct column *column,
			const struct row_facts *facts);
bool column_is_text(const struct column *column);
/* How many calls there were; it has words beside the number. */
bool column_is_calls(const struct column *column);
/* Is there one of them? The tree then needs these calls (fuse.h). */
bool columns_want_calls(const struct columns *columns);
/* The name comes last in text, whatever the order. */
bool column_is_name(const struct column *column);
