/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread: how much wider the confidence interval of a share is than its number of samples suggests.
 *
 * Samples are taken in rounds with different random periods. If the shares of the rounds differ by more than
 * independent samples would, a sample has less weight. Phases of the program are not random: a round is
 * compared with its neighbours, and contributes only as far as it differs from both.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many samples count as one: 1 or more. part and whole: samples by round. */
double spread_factor(const uint64_t *part, const uint64_t *whole, size_t n_rounds);
