/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches: execution paths of a process through all its functions, from the branch records (LBR, BRBE) of a
 * perf.data file: each record is like a burst, but costs the target nothing.
 */
#pragma once

#include "recording/paths.h"

struct branches_request {
	const char *path;   /* perf.data */
	const char *symfs;  /* where the recorded files are searched; NULL = "/" */
	char *const *names; /* functions to show; none = all */
	size_t n_names;
};

struct branches_found {
	uint64_t n_samples, n_others; /* samples with branches; those of processes other than the first */
};

/* Fills paths. -ENODATA with a diag if the file has no branches. */
int branches_read(struct paths *paths, const struct branches_request *request, struct branches_found *ret,
		  struct diag *diag);
