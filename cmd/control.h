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
 * The first letter of a word is enough; a reset must be spelt as far as "res".
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
	int wake_fd; /* can be read while something else is pending, or somebody has told something */
	struct control_input fifo, terminal;
	const char *path; /* of the FIFO; NULL = none */
	bool is_made;     /* by us: it goes with us */
	bool is_over;
};

/* other: a descriptor that is waited for besides. path: NULL = none. with_terminal: lines are read from it.
 */
int control_open(struct control *control, int other, const char *path, bool with_terminal, struct diag *diag);
void control_close(struct control *control);
/* Does what has been told since. */
void control_obey(struct control *control, struct recording *recording);
