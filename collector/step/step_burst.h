/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_burst: stops a running thread, single-steps it for a short time, and releases it.
 *
 * A burst ends before a system call, which may wait, and before a load-exclusive, whose store would never
 * succeed: nothing has to be undone if the tracer is killed. Signals are delivered. The caller should be a
 * separate process that is not killed: a thread whose tracer dies in the middle of a step receives the trap
 * itself.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"
#include "collector/event.h"

struct burst_limits {
	uint32_t max_steps;
	uint64_t max_ns; /* for which the thread is stopped */
};

struct burst {
	VEC(uint64_t) pcs;   /* in order; the last instruction was not executed */
	uint64_t stopped_ns; /* how long it was stopped */
};

/* Fills ret, reusing its memory. 0, also if the thread was not running or has ended (then there are no pcs);
 * a negative errno if it may not be traced. Moves the caller to the thread's CPU. */
int burst_take(pid_t tid, const struct burst_limits *limits, struct burst *ret);
void burst_done(struct burst *burst);
