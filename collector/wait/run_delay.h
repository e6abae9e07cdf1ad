/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_delay: how long threads were kept from running, by the kernel's own account (schedstat), where no
 * program times their waits. It can only be read while a thread lives: what comes after the last look is
 * missing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/event.h"

struct run_delay {
	pid_t pid, tid;
	uint64_t before_ns, ns; /* before: when the recording began */
};

struct run_delays {
	struct map by_tid;
	VEC(struct run_delay) threads;
	uint64_t next_ns; /* when they are read again */
};

void run_delays_done(struct run_delays *delays);
/* is_new: it began while we watched. */
void run_delays_add(struct run_delays *delays, pid_t pid, pid_t tid, bool is_new);
/* Samples begin only now: what was before does not count. */
void run_delays_restart(struct run_delays *delays);
/* Reads all, if that was not done a moment ago. */
void run_delays_look(struct run_delays *delays, uint64_t now_ns);
/* At the end: the next thread's, as the event that tells it. False: there is no other. */
bool run_delays_take(struct run_delays *delays, uint64_t now_ns, struct event *ret);
