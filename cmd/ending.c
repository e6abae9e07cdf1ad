/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/ending.h"

#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

void ending_init(struct ending *ending)
{
	struct sigaction hangup;

	sigemptyset(&ending->signals);
	sigaddset(&ending->signals, SIGINT);
	sigaddset(&ending->signals, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* otherwise: nohup */
		sigaddset(&ending->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending->signals, &ending->old_signals);
	ending->fd = signalfd(-1, &ending->signals, SFD_CLOEXEC);
}

void ending_done(struct ending *ending)
{
	if (ending->fd >= 0)
		close(ending->fd);
	sigprocmask(SIG_SETMASK, &ending->old_signals, NULL);
}

bool ending_is_asked(struct ending *ending)
{
	siginfo_t info;
	int number = sigtimedwait(&ending->signals, &info, &(struct timespec){ 0 });

	if (number > 0 && info.si_code <= 0) /* sent by kill, not by the kernel */
		ending->forwarded = number;
	return number > 0;
}

bool ending_is_urgent(struct ending *ending)
{
	int number = sigtimedwait(&ending->signals, NULL, &(struct timespec){ 0 });

	if (number > 0)
		ending->urgent = number;
	return number > 0;
}

/* ---- while names are looked up -------------------------------------------------------------- */

static _Noreturn void ending_without_names(const struct ending *ending, int number)
{
	fprintf(stderr,
		"cpprof: interrupted before names were added: the profile was written without them\n"
		"        add them with: cpprof resolve %s\n",
		ending->saved);
	_exit(128 + number);
}

/* Names may take long with large debug information, and the thread that looks them up does not check for
 * signals. */
static void *ending_watch(void *context)
{
	const struct ending *ending = context;
	int number = 0;

	if (sigwait(&ending->signals, &number) != 0 || atomic_load(&ending->is_named))
		return NULL;
	ending_without_names(ending, number);
}

void ending_saved(struct ending *ending, const char *path)
{
	ending->saved = path;
	if (ending->urgent)
		ending_without_names(ending, ending->urgent);
	atomic_store(&ending->is_named, false);
	ending->is_watched = pthread_create(&ending->watcher, NULL, ending_watch, ending) == 0;
}

void ending_named(struct ending *ending)
{
	if (!ending->is_watched)
		return;
	atomic_store(&ending->is_named, true);
	pthread_kill(ending->watcher, SIGTERM); /* it waits for a signal, or is about to end the process */
	pthread_join(ending->watcher, NULL);
	ending->is_watched = false;
}
