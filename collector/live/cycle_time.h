/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_time: measures the clock rate of this processor under load.
 *
 * Virtual machines do not report it, and the clock rates that the system reports are not those under load. In
 * a chain of dependent additions, each takes one cycle on all known processors.
 */
#pragma once

#include <stdint.h>

/* In femtoseconds; takes at most a millisecond. 0 = not implemented for this machine. */
uint64_t cycle_time_measure(void);
