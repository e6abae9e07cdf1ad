/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst_intervals: how sure shares of ways are of which only samples in time were counted: bursts of steps,
 * or stretches in which probes were set. Those are drawn anew, with replacement, many times: what is counted
 * in one of them is not independent.
 */
#pragma once

#include "recording/paths.h"

/* Fills the intervals of the ways of all functions. One burst alone says nothing. */
void burst_intervals(const struct burst_count *counts, size_t n, uint32_t n_bursts, struct paths *paths);
