/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority: getting a CPU in time on a machine where many want one.
 *
 * What we ask for is bounded by what we do: a reader that takes a few thousandths of a CPU takes no more of
 * it because it is let in sooner. Nothing that is started by a thread inherits what that was given. Asking is
 * all: what is refused goes without saying.
 */
#pragma once

#include <stdbool.h>

struct priority {
	bool is_ours;     /* else its user has seen to it: nothing is changed */
	int before, nice; /* while it is raised; the same if that was refused */
};

/* The calling thread counts for some ten of those that it watches, unless its user has asked it to stand
 * back. */
void priority_raise(struct priority *ret);
/* It runs as soon as it wants to, for what takes little time; and no longer. */
void priority_hurry(const struct priority *priority);
void priority_calm(const struct priority *priority);
/* As it was before. */
void priority_restore(struct priority *priority);

/* As priority_hurry, for good: for a thread that does little at a time. */
void priority_first(void);
