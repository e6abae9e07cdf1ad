/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bursts: the ways that a process takes through all its functions, estimated from short stretches of single
 * steps at random moments.
 *
 * A process of its own steps, so that the target goes on unharmed whatever happens to us. Ways that lie whole
 * in a stretch count, and only those that begin in its first half: else long ways would be missing more often
 * than short ones. Shares are ratios of sums over stretches; their intervals come from drawing stretches
 * anew, for the steps of one are not independent.
 */
#pragma once

#include "base/child.h"
#include "recording/paths.h"

#define BURST_STEPS 1000
#define BURST_NS 2000000  /* that a thread stands still */
#define BURSTS_SHARE 0.01 /* of the time that it may stand still, in sum */

struct bursts {
	struct child child;
	int control; /* closing it ends the child; -1 = it is closed */
	pid_t pid;
	double rate;
	uint64_t n, n_empty, n_steps, stopped_ns, longest_ns; /* after bursts_finish */
};

struct bursts_request {
	pid_t pid;          /* 0: the command */
	char *const *argv;  /* NULL: the process */
	char *const *names; /* functions that are shown; none = all */
	size_t n_names;
	double rate; /* a second */
	const sigset_t *signals;
};

/* Of a process or a command, which waits for paths_start. */
int bursts_open(struct bursts *bursts, struct paths *paths, const struct bursts_request *request,
		struct diag *diag);
/* From now on; after paths_start. */
int bursts_start(struct bursts *bursts, struct paths *paths, struct diag *diag);
/* Has the process that steps ended? Looks at what the target has mapped. */
bool bursts_is_over(struct bursts *bursts, struct paths *paths);
/* Ends it, and counts: fills the functions of paths. */
int bursts_finish(struct bursts *bursts, struct paths *paths, const struct bursts_request *request,
		  struct diag *diag);
void bursts_close(struct bursts *bursts);
