/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/perf_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/live/perf_live.h"

#define SPAN_MIN 2000000ull
#define SPAN_MAX 1000000000ull /* what is rarely written to may be written to more often soon */

struct perf_guard {
	struct perf_live *live;
	pthread_t thread;
	int timer;
	atomic_bool is_over;
};

uint64_t perf_guard_span(uint64_t room, uint64_t bytes_per_s)
{
	uint64_t span = bytes_per_s ? (uint64_t)((double)room * 5 / 8 / (double)bytes_per_s * 1e9) : SPAN_MAX;

	return span < SPAN_MIN ? SPAN_MIN : span < SPAN_MAX ? span : SPAN_MAX;
}

void perf_guard_rest(struct perf_guard *guard, uint64_t ns)
{
	struct itimerspec when = { .it_value = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) } };

	timerfd_settime(guard->timer, 0, &when, NULL);
}

static void *watch(void *argument)
{
	struct perf_guard *guard = argument;
	uint64_t n;

	priority_first();
	while (!atomic_load(&guard->is_over)) { /* also behind a relief, which sets the timer again */
		ssize_t got = read(guard->timer, &n, sizeof(n));
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0 && !atomic_load(&guard->is_over))
			perf_live_relieve(guard->live);
	}
	return NULL;
}

/* Who holds the lock goes ahead of everybody else while the guard wants it. */
static void make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &kind);
	pthread_mutexattr_destroy(&kind);
}

static int start_thread(struct perf_guard *guard)
{
	sigset_t all, old;

	sigfillset(&all); /* signals are for the thread that waits for them */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(&guard->thread, NULL, watch, guard);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

static void dismiss(struct perf_live *live)
{
	struct perf_guard *guard = live->guard;

	live->guard = NULL;
	pthread_mutex_destroy(&live->lock);
	if (guard->timer >= 0)
		close(guard->timer);
	free(guard);
}

void perf_guard_start(struct perf_live *live)
{
	struct perf_guard *guard = alloc_zero(1, sizeof(*guard));

	guard->live = live;
	guard->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	make_lock(&live->lock);
	live->guard = guard;
	if (guard->timer >= 0 && start_thread(guard) == 0)
		perf_guard_rest(guard, SPAN_MIN); /* attaching has taken some time */
	else
		dismiss(live);
}

void perf_guard_stop(struct perf_live *live)
{
	struct perf_guard *guard = live->guard;

	if (!guard)
		return;
	atomic_store(&guard->is_over, true);
	perf_guard_rest(guard, 1);
	pthread_join(guard->thread, NULL);
	dismiss(live);
}
