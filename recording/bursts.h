/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bursts: execution paths of a process through all its functions, estimated from short bursts of single steps
 * at random moments.
 *
 * A separate process does the stepping, so that the target is not harmed if cpprof is killed. Only paths that
 * lie completely within a burst and start in its first half are counted: otherwise long paths would be missed
 * more often than short ones. Shares are ratios of sums over bursts; their confidence intervals are
 * bootstrapped over bursts, because the steps of one are not independent.
 */
#pragma once

#include "base/child.h"
#include "recording/paths.h"

#define BURST_STEPS 1000
#define BURST_NS 2000000  /* maximum time that a thread is stopped */
#define BURSTS_SHARE 0.01 /* maximum share of the time that threads are stopped, in total */

struct bursts {
	struct child child;
	int control; /* closing it ends the child; -1 = closed */
	pid_t pid;
	double rate;
	uint64_t n, n_empty, n_steps, stopped_ns, longest_ns; /* after bursts_finish */
};

struct bursts_request {
	pid_t pid;          /* 0: the command */
	char *const *argv;  /* NULL: the process */
	char *const *names; /* functions to show; none = all */
	size_t n_names;
	double rate; /* per second */
	const sigset_t *signals;
};

/* For a process, or a command, which waits for paths_start. */
int bursts_open(struct bursts *bursts, struct paths *paths, const struct bursts_request *request,
		struct diag *diag);
/* Starts the bursts; after paths_start. */
int bursts_start(struct bursts *bursts, struct paths *paths, struct diag *diag);
/* Has the stepping process ended? Also updates the mappings of the target. */
bool bursts_is_over(struct bursts *bursts, struct paths *paths);
/* Ends it, and computes the counts: fills the functions of paths. */
int bursts_finish(struct bursts *bursts, struct paths *paths, const struct bursts_request *request,
		  struct diag *diag);
void bursts_close(struct bursts *bursts);
