/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending: how signals end a recording. They are blocked, and looked for between events: nothing is
 * interrupted halfway. The first ends the recording, and what was sampled until then is unwound and named;
 * the second ends that, too. While names are looked up, the first already does.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

struct ending {
	sigset_t signals, old_signals;
	int fd;            /* readable while one of them is pending */
	int forwarded;     /* a signal that was sent only to us, to be passed on to the command; 0 = none */
	int urgent;        /* a signal that came while what was left was unwound; 0 = none */
	const char *saved; /* where the profile is, while names are looked up */
	pthread_t watcher;
	bool is_watched;
	atomic_bool is_named; /* then the watcher has nothing left to do */
};

void ending_init(struct ending *ending);
/* Restores the signals for the next run: its command gets those that we were started with. */
void ending_done(struct ending *ending);

/* Has a signal asked us to end? One from a terminal has also reached the command. */
bool ending_is_asked(struct ending *ending);
/* The same after that: nobody wants to wait for names, either. */
bool ending_is_urgent(struct ending *ending);

/* The profile is in a file, without names. Until ending_named, a signal ends the process. */
void ending_saved(struct ending *ending, const char *path);
void ending_named(struct ending *ending);
