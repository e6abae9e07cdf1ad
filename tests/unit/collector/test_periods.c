/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "collector/live/periods.h"
#include "tests/test.h"

#define MS 1000000ull
#define MEAN MS
#define ID 7

/* A clock like the kernel's: a new period starts a new interval. */
struct clock {
	uint64_t now, next, period;
};

static bool clock_set(void *context, int fd, uint64_t period, uint64_t *ret_ns)
{
	struct clock *clock = context;

	(void)fd;
	clock->period = period;
	clock->next = clock->now + period;
	*ret_ns = clock->now;
	return true;
}

struct outcome {
	uint64_t in_first, all, n;
};

/* A program with a cycle of a millisecond, of which the first 30 % are in one function. */
static struct outcome sample_beats(uint64_t seed, uint64_t length, bool are_few)
{
	struct periods periods;
	struct outcome outcome = { 0 };

	periods_init(&periods, seed, 0);
	if (are_few)
		periods_make_few(&periods);
	struct clock clock = { .period = periods_draw(&periods, MEAN) };
	clock.next = clock.period;
	periods_add(&periods, ID, 1, MEAN, clock.period);
	while (clock.next < length) {
		if (periods_due(&periods) < clock.next) {
			clock.now = periods_due(&periods);
			periods_begin_round(&periods, clock.now,
					    &(struct periods_ops){ .set = clock_set, .context = &clock });
			continue;
		}
		clock.now = clock.next;
		clock.next += clock.period;
		uint64_t weight = periods_weigh(
			&periods, &(struct period_sample){ .id = ID, .stream = ID, .time_ns = clock.now });
		outcome.in_first += clock.now % MS < MS * 3 / 10 ? weight : 0;
		outcome.all += weight;
		outcome.n++;
	}
	periods_done(&periods);
	return outcome;
}

static double share_of(struct outcome outcome)
{
	return (double)outcome.in_first / (double)outcome.all;
}

static void check_beats(bool are_few)
{
	const uint64_t length = 1500 * MS;
	unsigned n_within = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct outcome outcome = sample_beats(seed, length, are_few);
		double margin = 1.96 * sqrt(0.3 * 0.7 / (double)outcome.n);
		n_within += fabs(share_of(outcome) - 0.3) <= margin;
		/* Weights add up to the elapsed time, except for the last interval. */
		CHECK(outcome.all <= length + MEAN && outcome.all >= length - 2 * MEAN);
	}
	CHECK(n_within >= 175); /* differing rounds widen the interval: test_spread.c */
}

TEST(random_periods_sample_a_periodic_program_without_bias)
{
	check_beats(false);
}

TEST(few_periods_sample_a_periodic_program_without_bias_too)
{
	check_beats(true);
}

/* All weights are multiples of one number, also those after a draw; and no time is lost. */
TEST(weights_of_few_periods_have_a_common_divisor)
{
	struct periods periods;
	uint64_t all = 0, unit = 0;

	periods_init(&periods, 7, 0);
	periods_make_few(&periods);
	struct clock clock = { .period = periods_draw(&periods, MEAN) };
	clock.next = clock.period;
	periods_add(&periods, ID, 1, MEAN, clock.period);
	while (clock.next < 5000 * MS) {
		clock.now = periods_due(&periods) < clock.next ? periods_due(&periods) : clock.next;
		if (clock.now < clock.next) {
			periods_begin_round(&periods, clock.now,
					    &(struct periods_ops){ .set = clock_set, .context = &clock });
			continue;
		}
		clock.next += clock.period;
		uint64_t weight = periods_weigh(
			&periods, &(struct period_sample){ .id = ID, .stream = ID, .time_ns = clock.now });
		all += weight;
		for (uint64_t rest; weight; weight = rest) {
			rest = unit % weight;
			unit = weight;
		}
	}
	CHECK(unit > MEAN / 128);
	CHECK(all <= 5000 * MS && all >= 5000 * MS - 2 * MEAN);
	periods_done(&periods);
}

TEST(a_fixed_period_samples_a_periodic_program_with_bias)
{
	struct outcome outcome = sample_beats(0, 1500 * MS, false);

	CHECK(share_of(outcome) < 0.01 || share_of(outcome) > 0.99);
}

TEST(the_mean_period_is_the_requested_one)
{
	uint64_t n = 0;

	for (uint64_t seed = 1; seed <= 100; seed++)
		n += sample_beats(seed, 1000 * MS, seed % 2).n;
	CHECK(n > 95000 && n < 105000);
}

TEST(samples_of_inherited_clocks_have_the_weight_that_the_kernel_gives)
{
	struct periods periods;
	struct clock clock = { .now = 100 * MS };

	periods_init(&periods, 1, 0);
	periods_add(&periods, ID, 1, MEAN, 900000);
	for (unsigned i = 0; i < 20; i++)
		periods_weigh(&periods, &(struct period_sample){ ID, ID, i * MS, 900000 });
	periods_begin_round(&periods, clock.now,
			    &(struct periods_ops){ .set = clock_set, .context = &clock });
	CHECK(clock.period != 0 && clock.period != 900000);

	struct period_sample inherited = { ID, ID + 1, 200 * MS, 900000 };
	CHECK_EQ(periods_weigh(&periods, &inherited), 900000);
	/* Its own event: the new period, and the rest of the interval that the draw ended. */
	struct period_sample own = { ID, ID, 200 * MS, 900000 };
	CHECK_EQ(periods_weigh(&periods, &own), clock.period + 450000);
	CHECK_EQ(periods_weigh(&periods, &own), clock.period);
	/* For events other than clocks the weight is the kernel's. */
	struct period_sample other = { ID + 5, ID + 5, 200 * MS, 42 };
	CHECK_EQ(periods_weigh(&periods, &other), 42);
	periods_done(&periods);
}

TEST(records_from_before_a_draw_have_the_previous_period)
{
	struct periods periods;
	struct clock clock = { .now = 100 * MS };

	periods_init(&periods, 1, 0);
	periods_add(&periods, ID, 1, MEAN, 900000);
	for (unsigned i = 0; i < 20; i++)
		periods_weigh(&periods, &(struct period_sample){ ID, ID, i * MS, 900000 });
	periods_begin_round(&periods, clock.now,
			    &(struct periods_ops){ .set = clock_set, .context = &clock });
	CHECK_EQ(periods_weigh(&periods, &(struct period_sample){ ID, ID, 99 * MS, 900000 }), 900000);
	CHECK_EQ(periods_round(&periods, 99 * MS), 0);
	CHECK_EQ(periods_round(&periods, 100 * MS), 1);
	/* There is no new draw before records from after the last one were seen. */
	uint64_t drawn = clock.period;
	periods_begin_round(&periods, 150 * MS, &(struct periods_ops){ .set = clock_set, .context = &clock });
	CHECK_EQ(clock.period, drawn);
	CHECK_EQ(periods_round(&periods, 149 * MS), 1);
	CHECK_EQ(periods_round(&periods, 400 * MS), 2);
	periods_done(&periods);
}

/* How long the threads of the event have run. */
static uint64_t read_ran(void *context, int fd)
{
	(void)fd;
	return *(uint64_t *)context;
}

static void throttle(struct periods *periods, uint64_t time_ns, bool begins, uint64_t ran)
{
	periods_throttle(periods, &(struct throttle_change){ ID, ID + 3, time_ns, begins }, time_ns,
			 &(struct periods_ops){ .read = read_ran, .context = &ran });
}

static uint64_t weigh(struct periods *periods, uint64_t time_ns)
{
	return periods_weigh(periods, &(struct period_sample){ ID, ID + 3, time_ns, MEAN });
}

static uint64_t weigh_all(struct periods *periods, uint64_t from_ns, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += weigh(periods, from_ns + i * MS);
	return sum;
}

TEST(suppressed_time_is_spread_over_the_next_samples)
{
	struct periods periods;

	periods_init(&periods, 0, 0);
	periods_add(&periods, ID, 1, MEAN, MEAN);
	CHECK_EQ(weigh_all(&periods, 1 * MS, 10), 10 * MS);
	/* Samples were suppressed for 8 ms, of which the thread ran for 3. */
	throttle(&periods, 10 * MS, true, 0);
	throttle(&periods, 100 * MS, false, 13 * MS);
	uint64_t first = weigh(&periods, 101 * MS);
	CHECK(first > MS && first < 2 * MS);
	CHECK_EQ(first + weigh_all(&periods, 102 * MS, 39), 40 * MS + 3 * MS);
	/* No more is added than was suppressed: the other 20 ms were lost otherwise. */
	throttle(&periods, 150 * MS, true, 0);
	throttle(&periods, 152 * MS, false, 53 * MS + 22 * MS);
	CHECK_EQ(weigh_all(&periods, 153 * MS, 40), 40 * MS + 2 * MS);
	throttle(&periods, 200 * MS, true, 0);
	throttle(&periods, 202 * MS, false, 75 * MS + 40 * MS);
	CHECK_EQ(weigh_all(&periods, 203 * MS, 40), 40 * MS);
	/* An end without a beginning, and a time that runs backwards, are ignored. */
	throttle(&periods, 301 * MS, false, 999 * MS);
	throttle(&periods, 310 * MS, true, 0);
	throttle(&periods, 305 * MS, false, 999 * MS);
	CHECK_EQ(weigh(&periods, 311 * MS), MS);
	periods_done(&periods);
}

TEST(samples_from_before_a_reading_are_counted_first)
{
	struct periods periods;

	periods_init(&periods, 0, 0);
	periods_add(&periods, ID, 1, MEAN, MEAN);
	throttle(&periods, 10 * MS, true, 0);
	uint64_t ran = 14 * MS;
	periods_throttle(&periods, &(struct throttle_change){ ID, ID + 3, 12 * MS, false }, 30 * MS,
			 &(struct periods_ops){ .read = read_ran, .context = &ran });
	CHECK_EQ(weigh_all(&periods, 13 * MS, 13), 13 * MS); /* 1 ms is still missing, not 14 */
	CHECK_EQ(weigh_all(&periods, 31 * MS, 40), 40 * MS + 1 * MS);
	periods_done(&periods);
}

TEST(suppressed_time_of_a_cpu_needs_the_same_thread_on_both_sides)
{
	struct periods periods;

	periods_init(&periods, 0, 0);
	periods.are_of_cpus = true;
	periods_add(&periods, ID, 1, MEAN, MEAN);
	CHECK_EQ(weigh_all(&periods, 1 * MS, 9), 9 * MS);
	throttle(&periods, 10 * MS, true, 0);
	CHECK_EQ(weigh(&periods, 10 * MS + 500), MS);
	throttle(&periods, 13 * MS, false, 0);
	CHECK_EQ(weigh_all(&periods, 14 * MS, 40), 40 * MS + 3 * MS);
	/* Another thread ran when it began ... */
	throttle(&periods, 60 * MS, true, 0);
	throttle(&periods, 63 * MS, false, 0);
	CHECK_EQ(weigh_all(&periods, 64 * MS, 10), 10 * MS);
	/* ... or when it ended. */
	throttle(&periods, 80 * MS, true, 0);
	CHECK_EQ(weigh(&periods, 80 * MS + 500), MS);
	throttle(&periods, 83 * MS, false, 0);
	CHECK_EQ(weigh_all(&periods, 90 * MS, 10), 10 * MS);
	periods_done(&periods);
}

TEST(an_event_that_was_closed_again_is_forgotten)
{
	struct periods periods;

	periods_init(&periods, 1, 0);
	periods_add(&periods, ID, 1, MEAN, 900000);
	periods_remove(&periods, ID);
	periods_remove(&periods, ID + 1);
	CHECK_EQ(periods_weigh(&periods, &(struct period_sample){ ID, ID, MS, 5 }), 5);
	periods_done(&periods);
}

/* The round determines the period: each of them is used once in PERIODS_FEW rounds, in the same order. */
TEST(the_round_determines_which_of_few_periods_is_used)
{
	struct periods periods;
	uint64_t of_round[PERIODS_FEW] = { 0 };

	periods_init(&periods, 7, 0);
	periods_make_few(&periods);
	for (uint32_t i = 0; i < 5 * PERIODS_FEW; i++) {
		uint64_t now = periods_due(&periods), drawn;
		periods_begin_round(&periods, now, &(struct periods_ops){ 0 });
		drawn = periods_draw(&periods, MEAN);
		uint32_t round = periods_round(&periods, i % 3 ? now : now - 1) % PERIODS_FEW;
		if (i % 3 == 0) /* recorded before the round began: still the previous round */
			round = (round + 1) % PERIODS_FEW;
		if (!of_round[round])
			for (size_t k = 0; k < PERIODS_FEW; k++)
				CHECK(of_round[k] != drawn);
		else
			CHECK_EQ(of_round[round], drawn);
		of_round[round] = drawn;
	}
	periods_done(&periods);
}
