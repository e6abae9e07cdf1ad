/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later: a program that a command runs at its end, when it may no longer start programs (cmd/confine.h). A
 * child that is forked early waits for the first byte on its standard input and then executes that program;
 * without input, it just ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct later {
	int input; /* write to it; 0 = no program */
	pid_t child;
};

/* argv: program and arguments; searched in PATH. False if it cannot be found. */
bool later_fork(struct later *later, const char *const *argv);
/* Closes its input and waits for it. Returns its status as from waitpid, 0 if it was never forked. */
int later_end(struct later *later);
