/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority: scheduling priority, to get a CPU in time on a loaded machine.
 *
 * What we ask for is bounded by what we do: a reader that takes a few thousandths of a CPU takes no more of
 * it because it is scheduled sooner. Threads and processes started later do not inherit it. A refusal is not
 * reported: everything works without it.
 */
#pragma once

#include <stdbool.h>

struct priority {
	bool is_ours;     /* else the user has chosen a priority: nothing is changed */
	int before, nice; /* while it is raised; the same if that was refused */
};

/* Gives the calling thread about ten times the weight of others, unless the user has lowered its priority. */
void priority_raise(struct priority *ret);
/* Real-time priority, where allowed, for something short; then back to the raised one. */
void priority_hurry(const struct priority *priority);
void priority_calm(const struct priority *priority);
/* As it was before. */
void priority_restore(struct priority *priority);

/* As priority_hurry, to stay: for a thread that does little at a time. */
void priority_first(void);
