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
	bool is_ours;     /* otherwise the user has chosen a priority: nothing is changed */
	int before, nice; /* while raised; the old one if that was refused */
};

/* Gives the calling thread about ten times the weight of others, unless the user has lowered its priority. */
void priority_raise(struct priority *ret);
/* Real-time priority, if allowed, for something short; then back to the raised one. */
void priority_hurry(const struct priority *priority);
void priority_calm(const struct priority *priority);
/* Restores the original priority. */
void priority_restore(struct priority *priority);

/* As priority_hurry, but permanent: for a thread that does little at a time. */
void priority_first(void);
