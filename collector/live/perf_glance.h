/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_glance: samples the threads of a process for a short time, by the CPU clock. Addresses only: nothing
 * is unwound or stored, and the process is hardly disturbed.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

#define GLANCE_PERIOD_NS 250000u /* of CPU time, from one sample of a thread to the next */

struct glance {
	VEC(uint64_t) pcs;
	uint64_t ns; /* how long it sampled */
};

/* Takes that long. -errno if no thread may be sampled. */
int glance_take(struct glance *glance, pid_t pid, uint64_t ms);
void glance_done(struct glance *glance);
