/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch: starts a command that waits, forked but not yet executed, until the profiler is ready.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"

struct launch {
	pid_t pid;  /* 0 = none */
	int go;     /* closing it without writing makes the child exit */
	int error;  /* the child writes its errno here if it cannot run the command */
	int status; /* as waitpid gives it, once is_over */
	bool is_started, is_over;
};

/* argv[0] is searched in PATH. signals: the mask the command runs with; NULL = the caller's own. */
int launch_prepare(char *const *argv, const sigset_t *signals, struct launch *ret, struct diag *diag);
/* Starts it; fails if the command cannot be executed. */
int launch_start(struct launch *launch, const char *name, struct diag *diag);
/* Has it ended? Never waits. */
bool launch_poll(struct launch *launch);
/* Releases the child; one that was never started exits by itself. */
void launch_done(struct launch *launch);
