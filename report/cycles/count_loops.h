/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_loops: iteration counts of loops, from the output of `cpprof paths --format json`.
 */
#pragma once

#include "base/diag.h"
#include "report/tree/loop_counts.h"

/* 0, or -errno with a diag. */
int loop_counts_read(const char *path, const struct profile *profile, struct loop_counts *ret,
		     struct diag *diag);
/* -EINVAL with a diag if they belong to another build of a file than the profile: addresses of one are
 * meaningless in the other. */
int loop_counts_check(const char *path, const struct loop_counts *counts, const struct profile *profile,
		      struct diag *diag);
