/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periods: periods are uniform within a range as wide as their mean. Two samples then are in step with a loop
 * of about that length no more often than two that are drawn by themselves, however long the run is; drawing
 * again only makes it rarer that many are. Few periods within the range do as well, unless the length of a
 * loop is just one of them: it is not that of any usual timer, because the factor below is no simple
 * fraction. They come in the same random order again and again, so that a profile need not say for each
 * sample which one it had: its round tells. Samples are weighted by their period, so nothing depends on the
 * order but which moments are sampled.
 */
#include "collector/live/periods.h"

#include "base/alloc.h"

/* The time between two rounds: a twelfth of the time so far, within these limits. */
#define ROUND_LEAST_NS 40000000ull
#define ROUND_MOST_NS 500000000ull
#define ROUND_FRACTION 12
/*
 * A draw cuts an interval short. For an event with this many samples since the last draw, that matters
 * little, and one with fewer is not in step with anything.
 */
#define SAMPLES_LEAST 16
/* Of few periods: so that those of clocks on CPUs that are half idle are drawn in every round, too. */
#define SAMPLES_LEAST_FEW 8
#define DRAWS_MOST 64 /* per round: each takes some microseconds */

/* The mean of 1 / (0.5 .. 1.5) is ln 3: with this factor, as many samples are taken as requested. */
#define SCALE 1.0986122887
/* Of few periods: in a mean, so that they are as far from each other as from the ends of the range. */
#define UNITS (2 * PERIODS_FEW)

void periods_init(struct periods *periods, uint64_t seed, uint64_t start_ns)
{
	*periods = (struct periods){ .random = seed, .start_ns = start_ns };
	periods->due_ns = start_ns + ROUND_LEAST_NS;
}

void periods_done(struct periods *periods)
{
	map_done(&periods->by_id);
	vec_done(&periods->all);
	vec_done(&periods->rounds);
	throttles_done(&periods->throttles);
}

/* From 0 to 1. */
static double periods_random(struct periods *periods)
{
	periods->random += 0x9e3779b97f4a7c15u;
	return (double)(hash_u64(periods->random) >> 11) / (double)(1ull << 53);
}

void periods_make_few(struct periods *periods)
{
	periods->are_few = true;
	for (uint32_t i = 0; periods->random && i < PERIODS_FEW; i++) {
		uint32_t at = (uint32_t)(periods_random(periods) * (i + 1));
		periods->order[i] = periods->order[at];
		periods->order[at] = (uint8_t)i;
	}
}

/* 1 if periods are free. */
static uint64_t periods_unit(const struct periods *periods, uint64_t mean)
{
	uint64_t unit = (uint64_t)((double)mean * SCALE / UNITS);

	return periods->are_few && periods->random && unit * UNITS / 2 > PERIOD_LEAST ? unit : 1;
}

uint64_t periods_draw(struct periods *periods, uint64_t mean)
{
	uint64_t drawn = mean, unit = periods_unit(periods, mean);

	if (unit > 1) {
		size_t round = periods->round + periods->rounds.n; /* the last one that has begun */
		return unit * (UNITS / 2 + 1 + 2 * (uint64_t)periods->order[round % PERIODS_FEW]);
	}
	if (periods->random)
		drawn = (uint64_t)((double)mean * SCALE * (0.5 + periods_random(periods)));
	return drawn > PERIOD_LEAST ? drawn : PERIOD_LEAST;
}

void periods_add(struct periods *periods, uint64_t id, int fd, uint64_t mean, uint64_t drawn)
{
	map_put(&periods->by_id, id, (uint32_t)periods->all.n);
	vec_push(&periods->all, (struct period){ .id = id, .fd = fd, .mean = mean, .now = drawn });
}

void periods_remove(struct periods *periods, uint64_t id)
{
	if (map_find(&periods->by_id, id) == MAP_NONE)
		return;
	map_remove(&periods->by_id, id);
	periods->all.n--;
}

void periods_close(struct periods *periods, uint64_t id)
{
	uint32_t index = map_find(&periods->by_id, id);

	if (index != MAP_NONE)
		periods->all.at[index].fd = -1;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

uint64_t periods_due(const struct periods *periods)
{
	return periods->due_ns;
}

/* Not while records from before the last draw are still to come: they need the previous period. */
static bool periods_may_draw(const struct periods *periods, const struct period *period)
{
	return !period->next && period->n_samples >= (periods->are_few ? SAMPLES_LEAST_FEW : SAMPLES_LEAST);
}

static void periods_draw_again(struct periods *periods, struct period *period, const struct periods_ops *ops)
{
	uint64_t drawn = periods_draw(periods, period->mean), when;

	period->n_samples = 0;
	if (!ops->set(ops->context, period->fd, drawn, &when))
		return;
	period->next = drawn;
	period->next_from_ns = when;
}

void periods_begin_round(struct periods *periods, uint64_t now_ns, const struct periods_ops *ops)
{
	uint64_t passed = now_ns > periods->start_ns ? now_ns - periods->start_ns : 0;
	uint64_t pause = passed / ROUND_FRACTION;
	size_t n_drawn = 0;

	pause = pause < ROUND_LEAST_NS ? ROUND_LEAST_NS : pause > ROUND_MOST_NS ? ROUND_MOST_NS : pause;
	periods->due_ns = now_ns + pause;
	vec_push(&periods->rounds, now_ns);
	for (size_t i = 0; periods->random && i < periods->all.n && n_drawn < DRAWS_MOST; i++) {
		periods->next_drawn = (periods->next_drawn + 1) % periods->all.n;
		struct period *period = &periods->all.at[periods->next_drawn];
		if (!periods_may_draw(periods, period))
			continue;
		periods_draw_again(periods, period, ops);
		n_drawn++;
	}
}

uint32_t periods_round(struct periods *periods, uint64_t time_ns)
{
	size_t n = 0;

	while (n < periods->rounds.n && periods->rounds.at[n] <= time_ns)
		n++;
	periods->round += (uint32_t)n;
	for (size_t i = n; n && i < periods->rounds.n; i++)
		periods->rounds.at[i - n] = periods->rounds.at[i];
	periods->rounds.n -= n;
	return periods->round;
}

/* ---- weights --------------------------------------------------------------------------------- */

/*
 * The draw ended an interval that the next sample must represent, too. If the thread may have run all the
 * time since its last sample, that was its length; otherwise it is half a period, on average.
 */
static void periods_pass_draw(struct period *period, uint64_t unit)
{
	uint64_t since = period->next_from_ns - period->last_ns;

	period->rest += period->last_ns && since < period->now ? since : period->now / 2;
	period->owed = period->rest / unit * unit;
	period->rest -= period->owed;
	period->now = period->next;
	period->next = 0;
}

static uint64_t periods_own_weight(const struct periods *periods, struct period *period, uint64_t time_ns)
{
	if (period->next && time_ns > period->next_from_ns)
		periods_pass_draw(period, periods_unit(periods, period->mean));

	uint64_t weight = period->now + period->owed;
	period->owed = 0;
	period->last_ns = time_ns;
	period->n_samples++;
	return weight;
}

uint64_t periods_weigh(struct periods *periods, const struct period_sample *sample)
{
	uint32_t at = map_find(&periods->by_id, sample->id);

	if (at == MAP_NONE) /* not a clock: the kernel counts */
		return sample->said;

	struct period *period = &periods->all.at[at];
	bool is_inherited = sample->stream != sample->id;
	struct throttle_sample own = { .event = sample->id,
				       .stream = sample->stream,
				       .time_ns = sample->time_ns };

	own.weight = is_inherited ? sample->said : periods_own_weight(periods, period, sample->time_ns);
	return own.weight + (periods->are_of_cpus
				     ? throttles_weigh_on_cpu(&periods->throttles, &own)
				     : throttles_weigh(&periods->throttles, &period->account, &own));
}

void periods_throttle(struct periods *periods, const struct throttle_change *change, uint64_t now_ns,
		      const struct periods_ops *ops)
{
	uint32_t at = map_find(&periods->by_id, change->event);

	if (at == MAP_NONE) /* not a clock */
		return;
	throttles_change(&periods->throttles, change);
	struct period *period = &periods->all.at[at];
	if (!periods->are_of_cpus && !change->begins && throttle_account_wants(&period->account, now_ns))
		throttle_account_read(&period->account, ops->read(ops->context, period->fd), now_ns);
}
