/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakings: samples of threads at the moment they wake another one. The BPF program that times waits writes a
 * record that names the woken thread; the kernel's sample follows it. The two are combined here. No side
 * effects.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "collector/event.h"

struct waking {
	pid_t waker;
	pid_t pid, tid; /* the woken thread */
	uint64_t at_ns;
};

struct wakings {
	VEC(struct waking) waiting; /* for their samples: at most one per CPU */
};

void wakings_done(struct wakings *wakings);
/* Takes the raw part of a record; false if it is not one of ours. */
bool wakings_take(struct wakings *wakings, struct bytes raw);
/* If a sample taken by the BPF program is that of a waker, marks it as such and removes its kernel frames,
 * which only show the wakeup itself. */
bool wakings_join(struct wakings *wakings, struct event *sample);
