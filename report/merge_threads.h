/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_threads: merges the threads of a pool into one, by their names.
 */
#pragma once

#include "base/diag.h"
#include "profile/profile.h"

/*
 * Merges threads of one process whose names match, with all their values: all that match or, if the pattern
 * has a group in parentheses, those that agree in the first group. -EINVAL with a diag: not a valid pattern.
 */
int threads_merge(struct profile *profile, const char *regex, struct diag *diag);
