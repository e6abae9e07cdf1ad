/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of cpprof-mpi that merges without reducing. The result is as large as all files together, so a
 * single process must not write it alone: trees are sent up to the first, numbers are sent back, and the
 * tables of values are made by all (profile/merge.h, profile/value_blocks.h).
 */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/mpi_job.h"
#include "cmd/mpi_message.h"
#include "profile/value_blocks.h"

/* A process whose merge was added to ours. */
struct mpi_child {
	int rank;
	struct merge_numbers numbers;
};

struct mpi_shares {
	struct mpi_job *job;
	int parent;
	VEC(struct mpi_child) children;
	struct merge_numbers mine;
	struct profile *all; /* in the first process: the result, if there is one */
};

static void mpi_shares_done(struct mpi_shares *shares)
{
	for (size_t i = 0; i < shares->children.n; i++)
		merge_numbers_done(&shares->children.at[i].numbers);
	vec_done(&shares->children);
	merge_numbers_done(&shares->mine);
	profile_free(shares->all);
}

/* ---- trees and numbers -------------------------------------------------------------------------- */

static void mpi_shares_take(struct mpi_shares *shares, int from)
{
	CLEANUP(writer_done) struct writer share = { 0 };
	struct mpi_child child = { .rank = from };
	struct diag diag = { 0 };
	char name[40];

	mpi_receive(&share, from);
	snprintf(name, sizeof(name), "the merge of process %d", from);
	if (share.len &&
	    merger_add_share(shares->job->merger, writer_bytes(&share), name, &child.numbers, &diag) < 0)
		mpi_leave_out(shares->job, name, &diag);
	vec_push(&shares->children, child);
}

static void mpi_shares_give(struct mpi_shares *shares, int to)
{
	CLEANUP(writer_done) struct writer share = { 0 };

	merger_pack_share(shares->job->merger, &share);
	mpi_send(writer_bytes(&share), to);
	shares->parent = to;
}

static void mpi_shares_up(struct mpi_shares *shares)
{
	const struct mpi_job *job = shares->job;

	merger_close(job->merger);
	for (int step = 1; step < job->size; step *= 2) {
		if (job->rank & step) {
			mpi_shares_give(shares, job->rank - step);
			return;
		}
		if (job->rank + step < job->size)
			mpi_shares_take(shares, job->rank + step);
	}
}

static void mpi_shares_down(struct mpi_shares *shares)
{
	CLEANUP(writer_done) struct writer numbers = { 0 };

	if (shares->job->rank != 0) {
		mpi_receive(&numbers, shares->parent);
		if (merge_numbers_parse(writer_bytes(&numbers), &shares->mine) < 0)
			merge_numbers_done(
				&shares->mine); /* so that the first process does not expect our values */
	}
	for (size_t i = 0; i < shares->children.n; i++) {
		struct mpi_child *child = &shares->children.at[i];
		merge_numbers_follow(&child->numbers, &shares->mine);
		writer_clear(&numbers);
		merge_numbers_pack(&child->numbers, &numbers);
		mpi_send(writer_bytes(&numbers), child->rank);
	}
}

/* ---- values ------------------------------------------------------------------------------------- */

static void mpi_writers_done(struct writer *writers, int n)
{
	for (int i = 0; i < n; i++)
		writer_done(&writers[i]);
	free(writers);
}

/* Sends each process our values of its nodes; returns what each has of ours. */
static struct writer *mpi_values_exchange(const struct mpi_job *job, const struct value_deal *deal,
					  const struct packed_values *values)
{
	struct writer *dealt = alloc_zero((size_t)job->size, sizeof(*dealt));
	struct writer *sent = alloc_zero((size_t)job->size, sizeof(*sent));
	struct mpi_sending *sending = mpi_sending_new();

	for (int i = 1; i < job->size; i++) {
		int to = (job->rank + i) % job->size;
		value_blocks_deal(deal, values, (uint32_t)to, &sent[to]);
		mpi_send_begin(sending, writer_bytes(&sent[to]), to);
	}
	value_blocks_deal(deal, values, (uint32_t)job->rank, &dealt[job->rank]);
	for (int i = 1; i < job->size; i++) {
		int from = (job->rank + job->size - i) % job->size;
		mpi_receive(&dealt[from], from);
	}
	mpi_send_end(sending);
	mpi_writers_done(sent, job->size);
	return dealt;
}

/* Afterwards the first process has the tables of the result; false if they are not complete. */
static bool mpi_values_write(struct mpi_shares *shares)
{
	struct mpi_job *job = shares->job;
	struct value_deal deal = { shares->mine.n_nodes, (uint32_t)job->size };
	struct packed_values *values = merger_take_values(TAKE(job->merger), &shares->mine);
	struct writer *dealt = mpi_values_exchange(job, &deal, values);
	struct writer *encoded = alloc_zero((size_t)job->size, sizeof(*encoded));
	struct value_tables *tables = NULL;

	packed_values_done(values);
	free(values);
	if (value_blocks_encode(&deal, (uint32_t)job->rank, dealt, &encoded[job->rank]) < 0)
		writer_clear(&encoded[job->rank]); /* the first process does not get them */
	mpi_writers_done(dealt, job->size);
	if (job->rank != 0)
		mpi_send(writer_bytes(&encoded[job->rank]), 0);
	for (int from = 1; job->rank == 0 && from < job->size; from++)
		mpi_receive(&encoded[from], from);
	if (job->rank == 0)
		tables = value_blocks_join(&deal, encoded);
	mpi_writers_done(encoded, job->size);
	if (shares->all)
		shares->all->tables = tables;
	else
		value_tables_free(tables);
	return tables;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* An export needs values, not tables of them. */
static int mpi_shares_write(struct mpi_shares *shares)
{
	const struct merge_request *request = &shares->job->request;
	CLEANUP(writer_done) struct writer file = { 0 };
	struct diag diag = { 0 };

	if (exporter_instead_of_profile(request->output)) {
		profile_pack_fast(shares->all, &file);
		profile_free(TAKE(shares->all));
		if (profile_parse(writer_bytes(&file), "the merge", &shares->all, &diag) < 0)
			return cmd_fail(&diag);
	}
	return merge_files_write(request, shares->all, &shares->job->tally);
}

int mpi_merge_shares(struct mpi_job *job)
{
	CLEANUP(mpi_shares_done) struct mpi_shares shares = { .job = job };
	struct diag diag = { 0 };

	mpi_shares_up(&shares);
	mpi_gather_tallies(job);
	if (job->rank == 0 && merge_files_note(&job->request, job->merger, &job->tally))
		shares.all = merger_settle(job->merger, &shares.mine);
	mpi_shares_down(&shares);
	bool is_whole = mpi_values_write(&shares);
	if (job->rank != 0)
		return EXIT_OK;
	if (!shares.all)
		return EXIT_FAULT;
	if (is_whole)
		return mpi_shares_write(&shares);
	diag_set(&diag, -EBADMSG, "cannot merge");
	diag_why(&diag, "the values of one process do not match those of the others");
	return cmd_fail(&diag);
}
