/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_clock.h"

#include "collector/live/perf_events.h"

enum record_clock record_clock_choose(bool is_plain)
{
	return is_plain && perf_events_may_watch_cpus() ? RECORD_CLOCK_CPU : RECORD_CLOCK_THREAD;
}
