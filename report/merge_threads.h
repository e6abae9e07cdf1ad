/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_threads: merges the threads of a pool into one, by their names.
 */
#pragma once

#include "base/diag.h"
#include "profile/profile.h"

/*
 * Threads of one process whose names fit are one from now on, with all their values: all that fit, or, if the
 * pattern has parentheses, those that have the same between the first. -EINVAL with a diag: not a pattern.
 */
int threads_merge(struct profile *profile, const char *regex, struct diag *diag);
