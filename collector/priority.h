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
	bool is_raised;
	int nice; /* before */
};

/* The calling thread counts for some ten of those that it watches, unless its user has asked it to stand
 * back. */
void priority_raise(struct priority *ret);
/* As it was before, if it was raised. */
void priority_restore(struct priority *priority);

/* The calling thread runs as soon as it wants to; for those that do little at a time. */
void priority_first(void);
