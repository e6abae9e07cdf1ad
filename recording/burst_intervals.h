/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst_intervals: confidence intervals for shares of execution paths that were counted only part of the
 * time: in bursts of steps, or in windows in which probes were set. They are bootstrapped over bursts or
 * windows, because counts within one are not independent.
 */
#pragma once

#include "recording/paths.h"

/* Fills the intervals of the paths of all functions. A single burst gives no interval. */
void burst_intervals(const struct burst_count *counts, size_t n, uint32_t n_bursts, struct paths *paths);
