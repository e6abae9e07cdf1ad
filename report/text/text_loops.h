/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_loops: facts about a loop besides its cost.
 */
#pragma once

#include "report/text/text_report.h"
#include "report/tree/loop_counts.h"
#include "report/tree/loop_facts.h"

/* Possible reasons why a loop is slow: a mask. */
enum loop_doubt {
	DOUBT_NOT_VECTOR = 1, /* hot, innermost, and not vectorised */
	DOUBT_CALLS = 2,      /* hot, innermost, and contains calls */
	DOUBT_IMBALANCE = 4,  /* the shares of its threads differ much */
};
unsigned loop_facts_doubts(const struct loop_facts *facts, uint64_t total);
/* "not vectorised", ... */
const char *loop_doubt_name(enum loop_doubt doubt);

/* "not vectorised; 1 call inside; 3 threads: 1.0% to 2.0%, ...": shares are of `total`. May be nothing. */
void loop_facts_tell(const struct loop_facts *facts, uint64_t total, struct text *ret);
/* " [1 of 2 on this line] [vector 128 bit] [2 copies] [1,000 passes]"; may be nothing. Counts: NULL if
 * there are none. */
void loop_tags_tell(const struct profile *profile, const struct loop_counts *counts,
		    const struct scope_frame *loop, struct text *ret);

/* What is needed to describe loops. */
struct loop_teller {
	const struct profile *profile;
	const struct loop_counts *counts; /* NULL = there are none */
	const struct text_source *source; /* NULL = none is shown */
	uint64_t total;                   /* shares are relative to this */
};
/* The tags, the facts (NULL = not known), and the hottest line with as much of its text as fits. */
void loop_tell(const struct loop_teller *teller, const struct scope_frame *loop,
	       const struct loop_facts *facts, struct text *ret);
/* The hottest line without its indentation; NULL if it cannot be read. Valid until the next such call. */
const char *loop_hot_text(const struct loop_teller *teller, const struct loop_facts *facts);

/* The same in a report: */
void text_loop_tell(const struct text_report *report, uint32_t scope, struct text *ret);
const char *text_loop_hot_text(const struct text_report *report, const struct loop_facts *facts);
/* The tags, after the name of a row; if another row already has them, only which of the loops on its line it
 * is. */
void text_loop_tags(const struct text_report *report, struct line *line, uint32_t scope, bool is_told);
/* The rest, at the end of a row: the hottest line only if it is informative and there is room. */
void text_loop_remarks(const struct text_report *report, struct line *line, uint32_t scope);
/* ... or in the loops view on separate lines, which start at `column`. */
void text_loop_details(const struct text_report *report, uint32_t scope, size_t column);
