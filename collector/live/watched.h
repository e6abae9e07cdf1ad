/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watched: which processes are recorded, if records come from all processes of a machine. Has no side
 * effects.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "collector/event.h"

struct watched {
	bool is_used;  /* otherwise every record belongs to one of them */
	bool inherits; /* also the children of a process */
	struct map pids;
};

void watched_done(struct watched *watched);
void watched_add(struct watched *watched, pid_t pid);
/* Does this event belong to one of them? Events come in the order of their times. */
bool watched_has(struct watched *watched, const struct event *event);
