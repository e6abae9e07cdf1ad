/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_job: declarations shared by the parts of cpprof-mpi.
 */
#pragma once

#include "cmd/merge_files.h"

struct mpi_job {
	int rank, size;
	struct merge_request request;
	struct merge_tally tally;
	struct merger *merger;
};

/* mpi_main.c: afterwards the tally of the first process is that of all. */
void mpi_gather_tallies(struct mpi_job *job);
/* Reports, counts and notes a process whose merge cannot be added. */
void mpi_leave_out(struct mpi_job *job, const char *name, const struct diag *diag);

/* mpi_share.c: merges all files; each process has a share of them. Returns the exit code, in the first
 * process. */
int mpi_merge_shares(struct mpi_job *job);
