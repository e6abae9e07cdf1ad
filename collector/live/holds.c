/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/holds.h"

#define READ_PAUSE_NS \
	40000000ull /* a read takes some microseconds for each thread that inherited the event */
#define SPREAD 8    /* a sample takes this part of what is owed */
/* Samples are suppressed until a CPU's next tick at the latest; anything longer was not spent running. */
#define HOLD_MOST_NS 10000000ull

void holds_done(struct holds *holds)
{
	map_done(&holds->by_stream);
	vec_done(&holds->all);
}

void holds_change(struct holds *holds, const struct hold_change *change)
{
	uint32_t at = map_find(&holds->by_stream, change->stream);

	if (at == MAP_NONE) {
		at = (uint32_t)holds->all.n;
		vec_push(&holds->all, (struct hold){ .event = change->event });
		map_put(&holds->by_stream, change->stream, at);
	}
	struct hold *hold = &holds->all.at[at];
	if (!change->begins && hold->since_ns && change->time_ns > hold->since_ns) {
		uint64_t held = change->time_ns - hold->since_ns;
		hold->held_ns += held < HOLD_MOST_NS ? held : HOLD_MOST_NS;
		hold->until_ns = change->time_ns;
	}
	hold->since_ns = change->begins ? change->time_ns : 0;
	hold->began_seen &= !change->begins;
}

bool hold_account_wants(const struct hold_account *account, uint64_t now_ns)
{
	return !account->read_at && now_ns >= account->next_read;
}

void hold_account_read(struct hold_account *account, uint64_t ran, uint64_t now_ns)
{
	account->ran = ran;
	account->read_at = now_ns;
	account->next_read = now_ns + READ_PAUSE_NS;
}

/* All samples from before the read have been counted. */
static void holds_settle(struct holds *holds, struct hold_account *account, uint64_t event)
{
	uint64_t known = account->represented + account->written_off, held = 0;
	uint64_t missing = account->ran > known ? account->ran - known : 0;

	account->read_at = 0;
	for (size_t i = 0; i < holds->all.n; i++)
		held += holds->all.at[i].event == event ? holds->all.at[i].held_ns : 0;
	uint64_t owed = missing < held ? missing : held;
	account->written_off += missing - owed;
	account->represented += owed;
	for (size_t i = 0; held && i < holds->all.n; i++) {
		struct hold *hold = &holds->all.at[i];
		if (hold->event != event)
			continue;
		hold->owed += (uint64_t)((double)owed * (double)hold->held_ns / (double)held);
		hold->held_ns = 0;
	}
}

static struct hold *holds_find(struct holds *holds, uint64_t stream)
{
	uint32_t at = holds->all.n ? map_find(&holds->by_stream, stream) : MAP_NONE;

	return at == MAP_NONE ? NULL : &holds->all.at[at];
}

/* A part of what is owed. */
static uint64_t hold_part(struct hold *hold, uint64_t weight)
{
	uint64_t part = hold->owed > weight ? hold->owed / SPREAD : hold->owed;

	hold->owed -= part;
	return part;
}

uint64_t holds_take(struct holds *holds, struct hold_account *account, const struct hold_sample *sample)
{
	if (account->read_at && sample->time_ns > account->read_at)
		holds_settle(holds, account, sample->event);
	account->represented += sample->weight;

	struct hold *hold = holds_find(holds, sample->stream);
	return hold ? hold_part(hold, sample->weight) : 0;
}

uint64_t holds_take_on_cpu(struct holds *holds, const struct hold_sample *sample)
{
	struct hold *hold = holds_find(holds, sample->stream);

	if (!hold)
		return 0;
	bool is_near = sample->time_ns < hold->last_ns + 2 * sample->weight;
	if (hold->since_ns) { /* the sample with which it began */
		hold->began_seen = sample->time_ns < hold->since_ns + sample->weight;
	} else if (hold->held_ns) {
		is_near = hold->began_seen && sample->time_ns < hold->until_ns + 2 * sample->weight;
		hold->owed += hold->held_ns;
		hold->held_ns = 0;
	}
	hold->last_ns = sample->time_ns;
	if (!is_near)
		hold->owed = 0;
	return hold_part(hold, sample->weight);
}
