/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/throttles.h"

#define READ_PAUSE_NS \
	40000000ull /* a read takes some microseconds for each thread that inherited the event */
#define SPREAD 8    /* a sample gets this part of the time that is owed */
/* Throttling lasts until the CPU's next tick at the latest: if it took longer, the thread was not running. */
#define THROTTLED_MAX_NS 10000000ull

void throttles_done(struct throttles *throttles)
{
	map_done(&throttles->by_stream);
	vec_done(&throttles->all);
}

void throttles_change(struct throttles *throttles, const struct throttle_change *change)
{
	uint32_t at = map_find(&throttles->by_stream, change->stream);

	if (at == MAP_NONE) {
		at = (uint32_t)throttles->all.n;
		vec_push(&throttles->all, (struct throttle){ .event = change->event });
		map_put(&throttles->by_stream, change->stream, at);
	}
	struct throttle *throttle = &throttles->all.at[at];
	if (!change->begins && throttle->since_ns && change->time_ns > throttle->since_ns) {
		uint64_t suppressed = change->time_ns - throttle->since_ns;
		throttle->suppressed_ns += suppressed < THROTTLED_MAX_NS ? suppressed : THROTTLED_MAX_NS;
		throttle->until_ns = change->time_ns;
	}
	throttle->since_ns = change->begins ? change->time_ns : 0;
	throttle->began_seen &= !change->begins;
}

bool throttle_account_wants(const struct throttle_account *account, uint64_t now_ns)
{
	return !account->read_at && now_ns >= account->next_read;
}

void throttle_account_read(struct throttle_account *account, uint64_t ran, uint64_t now_ns)
{
	account->ran = ran;
	account->read_at = now_ns;
	account->next_read = now_ns + READ_PAUSE_NS;
}

/* All samples from before the counter was read have arrived. */
static void throttles_settle(struct throttles *throttles, struct throttle_account *account, uint64_t event)
{
	uint64_t known = account->represented + account->written_off, suppressed = 0;
	uint64_t missing = account->ran > known ? account->ran - known : 0;

	account->read_at = 0;
	for (size_t i = 0; i < throttles->all.n; i++)
		suppressed += throttles->all.at[i].event == event ? throttles->all.at[i].suppressed_ns : 0;
	uint64_t owed = missing < suppressed ? missing : suppressed;
	account->written_off += missing - owed;
	account->represented += owed;
	for (size_t i = 0; suppressed && i < throttles->all.n; i++) {
		struct throttle *throttle = &throttles->all.at[i];
		if (throttle->event != event)
			continue;
		throttle->owed +=
			(uint64_t)((double)owed * (double)throttle->suppressed_ns / (double)suppressed);
		throttle->suppressed_ns = 0;
	}
}

static struct throttle *throttles_find(struct throttles *throttles, uint64_t stream)
{
	uint32_t at = throttles->all.n ? map_find(&throttles->by_stream, stream) : MAP_NONE;

	return at == MAP_NONE ? NULL : &throttles->all.at[at];
}

/* A part of the time that is owed. */
static uint64_t throttle_part(struct throttle *throttle, uint64_t weight)
{
	uint64_t part = throttle->owed > weight ? throttle->owed / SPREAD : throttle->owed;

	throttle->owed -= part;
	return part;
}

uint64_t throttles_weigh(struct throttles *throttles, struct throttle_account *account,
			 const struct throttle_sample *sample)
{
	if (account->read_at && sample->time_ns > account->read_at)
		throttles_settle(throttles, account, sample->event);
	account->represented += sample->weight;

	struct throttle *throttle = throttles_find(throttles, sample->stream);
	return throttle ? throttle_part(throttle, sample->weight) : 0;
}

uint64_t throttles_weigh_on_cpu(struct throttles *throttles, const struct throttle_sample *sample)
{
	struct throttle *throttle = throttles_find(throttles, sample->stream);

	if (!throttle)
		return 0;
	bool is_near = sample->time_ns < throttle->last_ns + 2 * sample->weight;
	if (throttle->since_ns) { /* this sample triggered the throttling */
		throttle->began_seen = sample->time_ns < throttle->since_ns + sample->weight;
	} else if (throttle->suppressed_ns) {
		is_near = throttle->began_seen && sample->time_ns < throttle->until_ns + 2 * sample->weight;
		throttle->owed += throttle->suppressed_ns;
		throttle->suppressed_ns = 0;
	}
	throttle->last_ns = sample->time_ns;
	if (!is_near)
		throttle->owed = 0;
	return throttle_part(throttle, sample->weight);
}
