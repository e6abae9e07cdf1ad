/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpprof-mpi: `cpprof merge` in many processes. It is a separate program, because MPI libraries are not
 * binary compatible, and cpprof itself must run without MPI.
 *
 * The first process reads the command line and sends it to the others. Each merges its share of the files.
 * Reduced profiles are small: half of the processes send theirs, as in a file, to the other half, and so on,
 * until the first has everything. Without --reduce, all processes take part up to the end (mpi_share.c). The
 * order of merging does not matter, so the result is identical to that of `cpprof merge`.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/mpi_job.h"
#include "cmd/mpi_message.h"

/* ---- the request -------------------------------------------------------------------------------- */

static int mpi_parse(struct mpi_job *job, int argc, char **argv)
{
	static const char usage[] = "usage: mpirun -n N cpprof-mpi merge -o OUTPUT [--reduce] FILE...\n"
				    "Does the work of `cpprof merge` in many processes; for the options see: "
				    "cpprof merge --help\n";

	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		puts("cpprof-mpi " CPPROF_VERSION);
		return EXIT_OK;
	}
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (argc < 2 || strcmp(argv[1], "merge") != 0) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	return merge_request_parse(&job->request, "merge", argc - 1, argv + 1);
}

/* Only the first process has the terminal, and a list of files from standard input. */
static int mpi_agree(struct mpi_job *job, int argc, char **argv)
{
	CLEANUP(writer_done) struct writer told = { 0 };
	struct merge_request *request = &job->request;
	int32_t code = job->rank == 0 ? mpi_parse(job, argc, argv) : 0;

	if (job->rank == 0) {
		write_sleb(&told, code);
		write_uleb(&told, request->reduces);
		write_uleb(&told, request->paths.n);
		for (size_t i = 0; i < request->paths.n; i++)
			write_bytes(&told, (struct bytes){ (const uint8_t *)request->paths.at[i],
							   strlen(request->paths.at[i]) + 1 });
	}
	mpi_tell(&told, job->rank);
	if (job->rank == 0)
		return code;
	struct reader r = reader_of(writer_bytes(&told));
	code = (int32_t)read_sleb(&r);
	request->reduces = read_uleb(&r);
	for (uint64_t n = read_uleb(&r); n > 0; n--)
		vec_push(&request->paths, alloc_text(read_cstr(&r)));
	return code;
}

/* ---- what was left out -------------------------------------------------------------------------- */

void mpi_leave_out(struct mpi_job *job, const char *name, const struct diag *diag)
{
	cmd_fail(diag);
	job->tally.n_bad++;
	vec_push(&job->tally.notes, alloc_printf("%s was not merged: %s", name, diag->why));
}

/* The number of skipped files, the ids of our files, and the sentences, each zero-terminated. */
static void mpi_give_tally(const struct mpi_job *job)
{
	CLEANUP(writer_done) struct writer mine = { 0 };
	const struct merge_tally *tally = &job->tally;

	write_uleb(&mine, tally->n_bad);
	for (size_t i = (size_t)job->rank; i < job->request.paths.n; i += (size_t)job->size)
		write_u64(&mine, tally->ids[i]);
	for (size_t i = 0; i < tally->notes.n; i++)
		write_bytes(&mine, (struct bytes){ (const uint8_t *)tally->notes.at[i],
						   strlen(tally->notes.at[i]) + 1 });
	mpi_send(writer_bytes(&mine), 0);
}

static void mpi_take_tally(struct mpi_job *job, int from)
{
	CLEANUP(writer_done) struct writer its = { 0 };
	struct merge_tally *tally = &job->tally;

	mpi_receive(&its, from);
	struct reader r = reader_of(writer_bytes(&its));
	tally->n_bad += read_uleb(&r);
	for (size_t i = (size_t)from; i < job->request.paths.n; i += (size_t)job->size)
		tally->ids[i] = read_u64(&r);
	while (reader_left(&r))
		vec_push(&tally->notes, alloc_text(read_cstr(&r)));
}

void mpi_gather_tallies(struct mpi_job *job)
{
	if (job->rank != 0)
		mpi_give_tally(job);
	for (int from = 1; job->rank == 0 && from < job->size; from++)
		mpi_take_tally(job, from);
}

/* ---- merging the trees -------------------------------------------------------------------------- */

static void mpi_give(struct mpi_job *job, int to)
{
	CLEANUP(writer_done) struct writer file = { 0 };
	bool is_empty = merger_count(job->merger) == 0;
	CLEANUP(profile_freep) struct profile *all = merger_finish(TAKE(job->merger));

	if (!is_empty)
		profile_pack(all, &file);
	mpi_send(writer_bytes(&file), to);
}

static void mpi_take(struct mpi_job *job, int from)
{
	CLEANUP(writer_done) struct writer file = { 0 };
	CLEANUP(profile_freep) struct profile *one = NULL;
	struct diag diag = { 0 };
	char name[40];

	mpi_receive(&file, from);
	snprintf(name, sizeof(name), "the merge of process %d", from);
	if (file.len == 0)
		return;
	if (profile_parse(writer_bytes(&file), name, &one, &diag) == 0 &&
	    merger_add(job->merger, one, name, &diag) == 0)
		return;
	mpi_leave_out(job, name, &diag);
}

static void mpi_join(struct mpi_job *job)
{
	for (int step = 1; step < job->size; step *= 2) {
		if (job->rank & step) {
			mpi_give(job, job->rank - step);
			return;
		}
		if (job->rank + step < job->size)
			mpi_take(job, job->rank + step);
	}
}

/* No process ends, which would mean to wait in MPI_Finalize, before the first has written its file. */
static void mpi_end(const struct mpi_job *job)
{
	CLEANUP(writer_done) struct writer nothing = { 0 };

	if (job->rank != 0)
		mpi_receive(&nothing, 0);
	for (int to = 1; job->rank == 0 && to < job->size; to++)
		mpi_send(writer_bytes(&nothing), to);
}

static int mpi_merge_reduced(struct mpi_job *job)
{
	mpi_join(job);
	mpi_gather_tallies(job);
	return job->rank == 0 ? merge_files_finish(&job->request, TAKE(job->merger), &job->tally) : EXIT_OK;
}

/* start: when MPI was initialised. */
static int mpi_merge(struct mpi_job *job, double start)
{
	job->merger = merger_new(&(struct merge_options){ .reduces = job->request.reduces });
	merge_files_add(&job->request, (size_t)job->rank, (size_t)job->size, job->merger, &job->tally);
	int code = job->request.reduces ? mpi_merge_reduced(job) : mpi_merge_shares(job);
	mpi_end(job);
	if (job->rank == 0)
		fprintf(stderr, "cpprof: %zu files by %d processes in %.3f s\n", job->request.paths.n,
			job->size, MPI_Wtime() - start);
	merger_free(job->merger);
	merge_tally_done(&job->tally);
	return code;
}

int main(int argc, char **argv)
{
	struct mpi_job job = { 0 };
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	double start = MPI_Wtime();
	MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job.size);
	int code = mpi_agree(&job, argc, argv);
	if (code < 0)
		code = mpi_merge(&job, start);
	merge_request_done(&job.request);
	MPI_Finalize();
	return job.rank == 0 ? code : EXIT_OK;
}
