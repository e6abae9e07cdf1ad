/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periods: random sampling periods, and the weight of each sample.
 *
 * A program that is synchronised with a fixed period is always sampled at the same places. So each clock gets
 * its own random period when it is opened, and a new one from time to time. Threads that inherit a clock keep
 * the period it had when they were created.
 *
 * The kernel says in each sample the period its event was made with, and goes on saying so when it is given
 * another. Only we know that one, and since when; so weights are taken from here.
 *
 * A round is the time between two draws. The samples of one round are correlated, rounds are independent: the
 * variation of shares between rounds gives their confidence intervals.
 *
 * Weights of free periods take two to three bytes of each sample in a file. Where that matters, there are few
 * periods: a multiple of one unit each, and so is what a sample is owed.
 *
 * Pure but for one callback: knows no descriptor and no clock. Times are those of the records.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/live/throttles.h"

/* The shortest that the kernel accepts. */
#define PERIOD_LEAST 10000
/* As many as rounds that are told apart in profiles (unwinder/cct.h), so that the number of a round says
 * which. */
#define PERIODS_FEW 32

struct period {
	uint64_t id;
	int fd;
	uint64_t mean, now;          /* as requested; as drawn, for the records looked at */
	uint64_t next, next_from_ns; /* drawn, and valid from then on; 0 = none */
	uint64_t last_ns;            /* of its last sample */
	uint64_t owed;               /* to the next sample: the interval that a draw ended */
	uint64_t rest;               /* with few periods: what is too little for a unit is owed later */
	uint32_t n_samples;          /* since the last draw */
	struct throttle_account account;
};

/*
 * set gives an event its new period, and returns when that was; false: it is gone, or cannot. read returns
 * how long the threads of an event have run.
 */
struct periods_ops {
	bool (*set)(void *context, int fd, uint64_t period, uint64_t *ret_ns);
	uint64_t (*read)(void *context, int fd);
	void *context;
};

struct periods {
	uint64_t random; /* state; 0 = periods are fixed */
	bool are_few;
	uint8_t order[PERIODS_FEW]; /* of few: by round, modulo their number, which one it is */
	struct map by_id;           /* event id -> all */
	VEC(struct period) all;
	size_t next_drawn; /* the next one to be drawn */
	uint64_t start_ns, due_ns;
	VEC(uint64_t) rounds; /* start times of those of which no record was seen yet */
	uint32_t round;       /* of the records looked at */
	struct throttles throttles;
	bool are_of_cpus; /* events are on CPUs, not on threads */
};

/* seed 0: the periods are always those requested. */
void periods_init(struct periods *periods, uint64_t seed, uint64_t start_ns);
/* From now on they are one of PERIODS_FEW: all clocks that get a new one in a round get the same, each of
 * them every PERIODS_FEW rounds, in an order that is drawn now. */
void periods_make_few(struct periods *periods);
void periods_done(struct periods *periods);

/* A period around that mean, so that on average there are as many samples per second as requested. */
uint64_t periods_draw(struct periods *periods, uint64_t mean);
/* A clock was opened with that period. */
void periods_add(struct periods *periods, uint64_t id, int fd, uint64_t mean, uint64_t drawn);

/* It was closed again; must be the last one added. */
void periods_remove(struct periods *periods, uint64_t id);

/* Its descriptor was closed; there may still be samples of it. */
void periods_close(struct periods *periods, uint64_t id);

/* When the next round should begin; periods_begin_round begins it. */
uint64_t periods_due(const struct periods *periods);
void periods_begin_round(struct periods *periods, uint64_t now_ns, const struct periods_ops *ops);

struct period_sample {
	uint64_t id, stream; /* of the event, and of the thread's own copy of it */
	uint64_t time_ns;
	uint64_t said; /* by the kernel */
};
/* What a sample represents. Records come in the order of their times. */
uint64_t periods_weigh(struct periods *periods, const struct period_sample *sample);
/* The round that a record of this time belongs to. */
uint32_t periods_round(struct periods *periods, uint64_t time_ns);
/* The kernel starts or stops suppressing samples of a clock. */
void periods_throttle(struct periods *periods, const struct throttle_change *change, uint64_t now_ns,
		      const struct periods_ops *ops);
