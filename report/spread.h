/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread: how much less sure a share is than the number of its samples says.
 *
 * Samples are taken in rounds, each by another luck. Where the shares of the rounds differ by more than
 * samples drawn one by one would, a sample counts for less. Phases of the program are no luck: a round is
 * held against those right before and after it, and counts only as far as it stands out from both.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many samples one sample counts for, inverted: 1 or more. By round: of the part, and of the whole. */
double spread_of(const uint64_t *part, const uint64_t *whole, size_t n_rounds);
