/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_time: how long a cycle of this processor takes, while it works.
 *
 * Virtual machines do not tell, and what the system says of clocks is not what they do under load. A chain of
 * additions, each of which needs the one before, takes a cycle each on every processor that we know.
 */
#pragma once

#include <stdint.h>

/* Femtoseconds; takes about a millisecond. 0 = this machine is not known. */
uint64_t cycle_time_measure(void);
