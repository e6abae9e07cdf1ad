/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_job: what the parts of cpprof-mpi share.
 */
#pragma once

#include "cmd/merge_files.h"

struct mpi_job {
	int rank, size;
	struct merge_request request;
	struct merge_tally tally;
	struct merger *merger;
};

/* mpi_main.c: the first's tally is that of all afterwards. */
void mpi_gather_tallies(struct mpi_job *job);
/* A process whose merge cannot be added: said, counted, noted. */
void mpi_leave_out(struct mpi_job *job, const char *name, const struct diag *diag);

/* mpi_share.c: one merge of all the files, which each process has a share of. The exit code, of the first. */
int mpi_merge_shares(struct mpi_job *job);
