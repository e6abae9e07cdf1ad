/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control: commands to a running trace, one per line, through a FIFO or at the terminal.
 *
 *   add NAME       trace this function, too
 *   remove NAME    not this one any more
 *   reset          forget what was measured so far
 *   write          write the profile so far
 *   quit           end
 *
 * The first letter of a command is enough, but reset needs at least "res".
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "base/text.h"
#include "recording/recording.h"

struct control_input {
	int fd; /* -1 = none */
	struct text line;
};

struct control {
	int wake_fd; /* readable if something else is pending, or a command has arrived */
	struct control_input fifo, terminal;
	const char *path; /* of the FIFO; NULL = none */
	bool is_made;     /* created by us: removed at the end */
	bool is_over;
};

/* other: another descriptor to wait for. path: NULL = none. with_terminal: also read lines from the terminal.
 */
int control_open(struct control *control, int other, const char *path, bool with_terminal, struct diag *diag);
void control_close(struct control *control);
/* Executes the commands that have arrived. */
void control_obey(struct control *control, struct recording *recording);
