/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/live/priority.h"

struct guard {
	void (*act)(void *context);
	void *context;
	pthread_t thread;
	int timer;
	atomic_bool is_over;
};

void guard_rest(struct guard *guard, uint64_t ns)
{
	struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) } };

	timerfd_settime(guard->timer, 0, &when, NULL);
}

static void *guard_run(void *argument)
{
	struct guard *guard = argument;
	uint64_t n;

	priority_first();
	while (!atomic_load(&guard->is_over)) { /* also after each action, which sets the timer again */
		ssize_t got = read(guard->timer, &n, sizeof(n));
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0 && !atomic_load(&guard->is_over))
			guard->act(guard->context);
	}
	return NULL;
}

static int guard_start_thread(struct guard *guard)
{
	sigset_t all, old;

	sigfillset(&all); /* signals go to the thread that waits for them */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(&guard->thread, NULL, guard_run, guard);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

static void guard_free(struct guard *guard)
{
	if (guard->timer >= 0)
		close(guard->timer);
	free(guard);
}

struct guard *guard_start(void (*act)(void *context), void *context)
{
	struct guard *guard = alloc_zero(1, sizeof(*guard));

	guard->act = act;
	guard->context = context;
	guard->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (guard->timer >= 0 && guard_start_thread(guard) == 0)
		return guard;
	guard_free(guard);
	return NULL;
}

void guard_stop(struct guard *guard)
{
	if (!guard)
		return;
	atomic_store(&guard->is_over, true);
	guard_rest(guard, 1);
	pthread_join(guard->thread, NULL);
	guard_free(guard);
}
