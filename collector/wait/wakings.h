/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakings: samples of threads at the moment at which they wake another. The program that times waits writes
 * a record that says whom, and the kernel's sample follows: they are put together here. Pure.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "collector/event.h"

struct waking {
	pid_t waker;
	pid_t pid, tid; /* that is woken */
	uint64_t at_ns;
};

struct wakings {
	VEC(struct waking) waiting; /* for their samples: a few at most, one a CPU */
};

void wakings_done(struct wakings *wakings);
/* A record's raw part; false if it is none of ours. */
bool wakings_take(struct wakings *wakings, struct bytes raw);
/* A sample that a program has taken: if it is one of a waker, it says so from now on, and has no frames in
 * the kernel, which are those of waking. */
bool wakings_join(struct wakings *wakings, struct event *sample);
