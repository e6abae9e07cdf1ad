/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats: how much each function, loop or path varies from run to run, thread to thread, process to process:
 * sum, mean, deviation, extremes, and the range as a share of the sum, by which rows are sorted.
 */
#pragma once

#include <stdio.h>

#include "report/diff/joint.h"
#include "report/style.h"

enum stats_rows { STATS_FUNCTION, STATS_LOOP, STATS_MODULE, STATS_PATH };

struct stats_row {
	uint32_t scope;
	double sum, mean, deviation, min, max;
	double range; /* (max - min) / sum */
	uint32_t min_unit, max_unit;
	const double *values; /* by unit */
};

struct stats {
	const struct joint *joint;
	enum stats_rows by;
	bool by_self;               /* rows show self costs, without callees */
	VEC(struct stats_row) rows; /* the widest range first */
	double *values;
	struct stats_row total;
	size_t n_left_out;
};

struct stats_options {
	enum stats_rows by;
	double percent; /* rows below this share of the sum are left out: the smallest vary most */
	size_t limit;   /* 0 = all */
};
void stats_init(struct stats *stats, const struct joint *joint, const struct stats_options *options);
void stats_done(struct stats *stats);
void stats_label(const struct stats *stats, const struct stats_row *row, struct text *ret);

struct stats_report {
	const struct stats *stats;
	const char *metric, *unit;
	const char *units;  /* "runs", "threads", ... */
	char *const *names; /* of the units */
	char *const *notes;
	size_t n_notes;
	struct style style;
};
void stats_text(const struct stats_report *report, struct text *ret);
void stats_markdown(const struct stats_report *report, struct text *ret);
void stats_csv(const struct stats_report *report, struct text *ret);
int stats_json(const struct stats_report *report, FILE *to);
/* A page without scripts: a table with a dot plot in each row, one dot per unit. */
void stats_html(const struct stats_report *report, FILE *to);
