/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_delay: how long threads were runnable but not running, from the kernel's schedstat, if no BPF program
 * times their waits. It can only be read while a thread lives: time after the last reading is missing.
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
	uint64_t before_ns, ns; /* before: at the start of the recording */
};

struct run_delays {
	struct map by_tid;
	VEC(struct run_delay) threads;
	uint64_t next_ns; /* when they are read again */
};

void run_delays_done(struct run_delays *delays);
/* is_new: the thread started during the recording. */
void run_delays_add(struct run_delays *delays, pid_t pid, pid_t tid, bool is_new);
/* Sampling starts now: discards earlier delays. */
void run_delays_restart(struct run_delays *delays);
/* Reads all threads, unless that was done very recently. */
void run_delays_look(struct run_delays *delays, uint64_t now_ns);
/* At the end: the delay of the next thread, as an event. False: no more. */
bool run_delays_take(struct run_delays *delays, uint64_t now_ns, struct event *ret);
