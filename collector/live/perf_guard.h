/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_guard: a thread that empties the rings when their reader does not.
 *
 * The reader walks what it has read on its own thread, and code that is seen for the first time takes it a
 * tenth of a second; on a loaded machine it may wait as long for a CPU. Whenever rings have been read, the
 * guard is told how long their room will last, and sleeps for that long: it costs nothing as long as the
 * reader is back by then. It runs ahead of everybody else where we may have that, and never for longer than
 * it takes to copy the rings.
 */
#pragma once

#include <stdint.h>

struct perf_guard;
struct perf_live;

/* From now on live has a guard, and a lock; neither if there is no thread to be had. */
void perf_guard_start(struct perf_live *live);
/* If there is one: it is gone when this returns. */
void perf_guard_stop(struct perf_live *live);

/* In so many nanoseconds, unless this is called again before: perf_live_relieve. */
void perf_guard_rest(struct perf_guard *guard, uint64_t ns);

/*
 * How long to rest while the kernel writes so many bytes a second into a ring that has room for so many. The
 * reader is woken at half a ring: it should have come by then.
 */
uint64_t perf_guard_span(uint64_t room, uint64_t bytes_per_s);
