/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wait/wakings.h"

#include <string.h>

#include "collector/bpf/waits_layout.h"

/* A record and its sample are written one after the other, with interrupts off: only a hypervisor can delay
 * the second. If a sample was lost, its record must not be combined with a later one. */
#define APART_NS 10000000ull
#define WAITING_MAX 4096 /* more than there are CPUs */

void wakings_done(struct wakings *wakings)
{
	vec_done(&wakings->waiting);
}

bool wakings_take(struct wakings *wakings, struct bytes raw)
{
	struct waits_waking record;

	if (raw.len < sizeof(record))
		return false;
	memcpy(&record, raw.at, sizeof(record));
	if (record.magic != WAITS_MAGIC_WAKING)
		return false;
	size_t n = 0;
	for (size_t i = 0; i < wakings->waiting.n; i++) {
		const struct waking it = wakings->waiting.at[i];
		if (it.waker != (pid_t)record.waker && it.at_ns + APART_NS >= record.at)
			wakings->waiting.at[n++] = it;
	}
	wakings->waiting.n = n < WAITING_MAX ? n : 0;
	vec_push(&wakings->waiting, ((struct waking){ .waker = (pid_t)record.waker,
						      .pid = (pid_t)(record.thread >> 32),
						      .tid = (pid_t)record.thread,
						      .at_ns = record.at }));
	return true;
}

bool wakings_join(struct wakings *wakings, struct event *sample)
{
	for (size_t i = 0; i < wakings->waiting.n; i++) {
		const struct waking it = wakings->waiting.at[i];
		if (it.waker != sample->tid)
			continue;
		wakings->waiting.at[i] = wakings->waiting.at[--wakings->waiting.n];
		if (sample->time_ns < it.at_ns || sample->time_ns - it.at_ns > APART_NS)
			return false;
		sample->sample.woken.pid = it.pid;
		sample->sample.woken.tid = it.tid;
		sample->sample.n_kernel_pc = 0;
		return true;
	}
	return false;
}
