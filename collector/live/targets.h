/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targets: the requested processes and threads, and which of them have ended.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"

struct target {
	pid_t pid;
	pid_t tid; /* 0: the whole process */
	int pidfd; /* -1: checked through /proc */
	bool is_gone;
};

struct targets {
	VEC(struct target) at;
	VEC(struct pollfd) polls;
};

void targets_done(struct targets *targets);
/* tid 0: the whole process. */
void targets_add(struct targets *targets, pid_t pid, pid_t tid);
bool targets_are_gone(struct targets *targets);

/* To be polled: one per target, then one for `more`. Valid until the next call. */
struct pollfd *targets_poll(struct targets *targets, int more, size_t *ret_n);
/* Takes poll's results; true if `more` is ready. */
bool targets_polled(struct targets *targets);
/* For a target that is a process: waits until the first one has ended. */
void targets_wait_first(const struct targets *targets, int timeout_ms);
