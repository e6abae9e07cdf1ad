/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/merge_files.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/options.h"
#include "recording/output.h"

#define HEAP_KEPT (64 << 20) /* free memory that is not returned to the kernel */
#define HEAP_PIECE (4 << 20) /* larger allocations come from the kernel, and can grow without a copy */
#define NOTES_MAX 16         /* at most this many skipped files are listed in the result */

static const char merge_about[] =
	"Merges profiles: runs of one program, programs of one run, or ranks of one job. Code is matched by\n"
	"build ID; threads and processes stay separate. The result is an ordinary profile; it does not "
	"depend on\n"
	"the order of the files, nor on whether they are merged at once or in steps. A file that cannot be "
	"read\n"
	"is reported and skipped; the exit status is then 1.";

static const char merge_examples[] =
	"  cpprof merge -o all.data run1.data run2.data run3.data\n"
	"  cpprof merge --reduce -o all.data rank-*.data         how the ranks of a job differ\n"
	"  find . -name 'rank-*.data' | cpprof merge -o all.data --files-from -\n";

/* ---- the request -------------------------------------------------------------------------------- */

int merge_request_parse(struct merge_request *request, const char *command, int argc, char **argv)
{
	const char *list = NULL;
	const struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &request->output, "FILE",
		  "profile to write; - is standard output; a name such as x.html writes that export "
		  "instead" },
		FILES_FROM_SPEC(list, "merge"),
		{ 0, "reduce", OPTION_FLAG, &request->reduces, NULL,
		  "store the sum over all ranks and how much they differ, not each rank's values; for "
		  "thousands of ranks" },
		MODE_SPEC(request->mode),
		{ 0 },
	};
	struct command_line line = { .command = command,
				     .usage = "-o OUTPUT [--reduce] FILE...",
				     .about = merge_about,
				     .examples = merge_examples,
				     .specs = specs };
	struct diag diag = { 0 };
	int code = options_parse(&line, argc, argv);

	if (code >= 0)
		return code;
	if (!request->output)
		return cmd_usage(command, "give an output file with -o FILE");
	for (int i = 0; i < line.n_operands; i++)
		vec_push(&request->paths, alloc_text(line.operands[i]));
	if (list && file_list_read(&request->paths, list, &diag) < 0)
		return cmd_fail(&diag);
	if (request->paths.n == 0)
		return list ? cmd_usage(command, "the list of files '%s' is empty", list)
			    : cmd_usage(command, "give the profiles to merge");
	return code;
}

void merge_request_done(struct merge_request *request)
{
	file_names_done(&request->paths);
}

/* ---- reading ------------------------------------------------------------------------------------ */

void merge_tally_done(struct merge_tally *tally)
{
	for (size_t i = 0; i < tally->notes.n; i++)
		free(tally->notes.at[i]);
	vec_done(&tally->notes);
	free(tally->ids);
}

static void merge_leave_out(struct merge_tally *tally, const char *path, const struct diag *diag)
{
	cmd_fail(diag);
	tally->n_bad++;
	vec_push(&tally->notes, alloc_printf("'%s' was not merged: %s", path,
					     diag->why[0] ? diag->why : strerror(-diag->error)));
}

static uint64_t merge_file_id(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return hash_u64((uint64_t)st.st_dev) ^ (uint64_t)st.st_ino;
}

/* Thousands of profiles are read and freed. Memory that is returned to the kernel would have to be requested
 * again for the next one. */
static void merge_keep_heap(void)
{
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
	mallopt(M_MMAP_THRESHOLD, HEAP_PIECE);
}

void merge_files_add(const struct merge_request *request, size_t first, size_t step, struct merger *merger,
		     struct merge_tally *tally)
{
	merge_keep_heap();
	tally->ids = alloc_zero(request->paths.n + 1, sizeof(*tally->ids));
	for (size_t i = first; i < request->paths.n; i += step) {
		CLEANUP(profile_freep) struct profile *one = NULL;
		struct diag diag = { 0 };
		tally->ids[i] = merge_file_id(request->paths.at[i]);
		if (profile_read(request->paths.at[i], &one, &diag) < 0 ||
		    merger_add(merger, one, request->paths.at[i], &diag) < 0)
			merge_leave_out(tally, request->paths.at[i], &diag);
	}
}

/* Also under different names. */
static void merge_say_twice(const struct merge_request *request, const struct merge_tally *tally)
{
	CLEANUP(map_done) struct map seen = { 0 };

	for (size_t i = 0; i < request->paths.n; i++) {
		const char *path = request->paths.at[i];
		uint32_t first = tally->ids[i] ? map_find(&seen, tally->ids[i]) : MAP_NONE;
		if (first == MAP_NONE) {
			map_put(&seen, tally->ids[i], (uint32_t)i);
			continue;
		}
		CLEANUP(freep)
		char *text = strcmp(path, request->paths.at[first]) == 0
				     ? alloc_printf("'%s' is given twice and counted twice", path)
				     : alloc_printf("'%s' and '%s' are the same file, which is counted twice",
						    request->paths.at[first], path);
		cmd_say(text);
	}
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* The name determines the format: a profile, or an export. */
static int merge_write(struct profile *all, const struct merge_request *request, struct diag *diag)
{
	const struct exporter *exporter = exporter_instead_of_profile(request->output);
	CLEANUP(freep) char *target = NULL;
	size_t n_contexts = all->cct.nodes.n - 2;
	int error;

	if (exporter) {
		profile_unpack(all);
		struct export_choice choice = export_choose(exporter, all);
		choice.mode = request->mode;
		error = export_to(exporter, all, &choice, request->output, diag);
	} else {
		error = output_follow(request->output, &target, diag);
		error = error < 0 ? error : profile_write_mode(all, target, request->mode, diag);
	}
	if (error == 0)
		fprintf(stderr, "cpprof: wrote %s: %zu contexts, %llu samples\n", request->output, n_contexts,
			(unsigned long long)all->quality.samples);
	return error;
}

static int merge_compare_notes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The first few in the order of their texts. */
static void merge_add_notes(struct merger *merger, const char *const *notes, size_t n)
{
	VEC(const char *) sorted = { 0 };

	for (size_t i = 0; i < n; i++)
		vec_push(&sorted, notes[i]);
	if (sorted.n)
		qsort(sorted.at, sorted.n, sizeof(*sorted.at), merge_compare_notes);
	for (size_t i = 0; i < n && i < NOTES_MAX; i++)
		merger_note(merger, sorted.at[i]);
	if (n > NOTES_MAX)
		merger_note(merger, "more files were not merged");
	vec_done(&sorted);
}

bool merge_files_note(const struct merge_request *request, struct merger *merger,
		      const struct merge_tally *tally)
{
	merge_say_twice(request, tally);
	if (merger_count(merger) == 0) {
		if (request->paths.n > 1)
			fprintf(stderr, "cpprof: none of %zu files could be merged; nothing was written\n",
				request->paths.n);
		return false;
	}
	merge_add_notes(merger, (const char *const *)tally->notes.at, tally->notes.n);
	return true;
}

int merge_files_write(const struct merge_request *request, struct profile *all,
		      const struct merge_tally *tally)
{
	struct diag diag = { 0 };

	if (merge_write(all, request, &diag) < 0)
		return cmd_fail(&diag);
	if (!tally->n_bad)
		return EXIT_OK;
	fprintf(stderr, "cpprof: %zu of %zu files could not be merged; the result contains only the others\n",
		tally->n_bad, request->paths.n);
	return EXIT_FAULT;
}

int merge_files_finish(const struct merge_request *request, struct merger *merger,
		       const struct merge_tally *tally)
{
	if (!merge_files_note(request, merger, tally)) {
		merger_free(merger);
		return EXIT_FAULT;
	}
	CLEANUP(profile_freep) struct profile *all = merger_finish(merger);
	return merge_files_write(request, all, tally);
}
