/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_private: declarations shared by the parts of a diff.
 */
#pragma once

#include "report/diff/diff.h"

uint32_t diff_n_runs(const struct diff *diff);
/* The means and their difference, without the interval, which takes time. */
struct change diff_means(const struct diff *diff, const uint64_t *values);
/* The inclusive cost of a scope: costs by run, then samples. */
void diff_inclusive(const struct diff *diff, uint32_t scope, uint64_t *ret);
/* The smallest change that is shown. */
double diff_cut_least(const struct diff *diff, const struct diff_cut *cut);
