/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_options: the command line of `diff`: its options, and which files are compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/database.h"
#include "cmd/file_list.h"
#include "cmd/options.h"
#include "report/diff/diff.h"
#include "report/diff/fail_rule.h"
#include "report/diff/modules.h"
#include "report/quality.h"

#define DIFF_NO_VIEW (-1)
#define DIFF_NO_GROUP (-1)

enum diff_format { DIFF_TEXT, DIFF_MARKDOWN, DIFF_JSON, DIFF_CSV };

struct diff_request {
	int view, group, format, color;
	double percent_limit;
	struct quality_bar min_quality;
	uint64_t limit;
	const char *metric, *normalize, *html, *rules_file, *files_from;
	struct option_list fail_on, renames;
	bool inlines, loops, call_sites, pager, opens;
	mode_t mode;
	struct database_choice database;
	const char *a, *b; /* time ranges of the database */
	/* Derived from these: */
	VEC(char *) files; /* first those of before, then those of after; borrowed */
	uint32_t n_a, n_b;
	file_names names; /* memory of files that are not on the command line */
	fail_rules rules;
	struct diff_normalization normalization;
	struct renames renamed;
	struct later *program; /* pager or browser, which waits until it is needed */
};

/* Negative: continue. Otherwise the exit code; the error has been printed. */
int diff_options_parse(struct diff_request *request, int argc, char **argv);
void diff_options_done(struct diff_request *request);
