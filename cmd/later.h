/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later: a program that a command starts at its end, when it may start none any more (cmd/confine.h). A child
 * that is forked early waits for the first byte of its standard input, and becomes that program; if there is
 * none, it just ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct later {
	int input; /* write to it; 0 = there is no such program */
	pid_t child;
};

/* Program and arguments, to be found in PATH. False: it cannot be. */
bool later_fork(struct later *later, const char *const *argv);
/* Closes its input and waits for it. Its status as of waitpid. 0 if it was never forked. */
int later_end(struct later *later);
