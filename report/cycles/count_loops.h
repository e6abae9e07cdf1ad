/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_loops: how often loops went round, as `cpprof paths --format json` has written it.
 */
#pragma once

#include "base/diag.h"
#include "report/tree/loop_counts.h"

/* 0, or -errno with a diag. */
int loop_counts_read(const char *path, struct loop_counts *ret, struct diag *diag);
