/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_files: shared by `cpprof merge` and `cpprof-mpi merge`: the options, the list of files, and reading
 * them one after the other. A file that cannot be read is reported, counted and left out.
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

/* command: "merge", for messages. Negative: continue; otherwise the exit code. */
int merge_request_parse(struct merge_request *request, const char *command, int argc, char **argv);
void merge_request_done(struct merge_request *request);

/* The result. */
struct merge_tally {
	size_t n_bad;      /* files that were left out */
	VEC(char *) notes; /* owned: a sentence for each of them */
	uint64_t *ids;     /* by file: equal for different names of the same file; 0 = not known */
};
void merge_tally_done(struct merge_tally *tally);

/* Adds the files first, first + step, ... of the list; reports errors on standard error. */
void merge_files_add(const struct merge_request *request, size_t first, size_t step, struct merger *merger,
		     struct merge_tally *tally);

/*
 * With the tally of all files: reports files that are given twice, and adds notes to the result. False if
 * there is nothing to write, which is also reported.
 */
bool merge_files_note(const struct merge_request *request, struct merger *merger,
		      const struct merge_tally *tally);
/* Writes the result, and reports it. 0 or the exit code. */
int merge_files_write(const struct merge_request *request, struct profile *all,
		      const struct merge_tally *tally);
/* Does both; takes the merger. */
int merge_files_finish(const struct merge_request *request, struct merger *merger,
		       const struct merge_tally *tally);
