/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_files: what `cpprof merge` and `cpprof-mpi merge` have in common: the options, the list of files, and
 * reading them one after the other. A file that cannot be read is named, counted and left out.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/command_line.h"
#include "cmd/file_list.h"
#include "profile/merge.h"

struct merge_request {
	const char *output;
	mode_t mode;
	bool reduces;
	file_names paths;
};

/* command: "merge", as it is called in messages. Negative: go on; else the exit code. */
int merge_request_parse(struct merge_request *request, const char *command, int argc, char **argv);
void merge_request_done(struct merge_request *request);

/* What came of it. */
struct merge_tally {
	size_t n_bad;      /* files that were left out */
	VEC(char *) notes; /* owned: a sentence for each of them */
	uint64_t *ids;     /* by file: the same for names of one file; 0 = not known */
};
void merge_tally_done(struct merge_tally *tally);

/* Adds the files first, first + step, ... of the list; says what is wrong on standard error. */
void merge_files_add(const struct merge_request *request, size_t first, size_t step, struct merger *merger,
		     struct merge_tally *tally);

/*
 * With the tally of all files: says which are given twice, and makes notes of the result's. False if there is
 * nothing to write, which is said, too.
 */
bool merge_files_note(const struct merge_request *request, struct merger *merger,
		      const struct merge_tally *tally);
/* Writes the result, and says so. 0 or the exit code. */
int merge_files_write(const struct merge_request *request, struct profile *all,
		      const struct merge_tally *tally);
/* Both; takes the merger. */
int merge_files_finish(const struct merge_request *request, struct merger *merger,
		       const struct merge_tally *tally);
