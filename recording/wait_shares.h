/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_shares: distributes the waiting time of a thread over its sampled waits.
 *
 * If only some waits of a thread are sampled, the time of all of them is known, but not where the others
 * were. The best estimate for a sampled wait is its own duration times the number of waits it represents: at
 * a place where a thread waits for longer than elsewhere, so do the waits that were not sampled. These
 * estimates do not add up to the known time, so they only determine the shares of it. They are kept until the
 * values of the tree are needed; then the time is distributed, and the sum over all is exact.
 */
#pragma once

#include <sys/types.h>

#include "base/hash.h"
#include "unwinder/cct.h"

/* 0 = none. */
struct wait_share_metrics {
	uint32_t off_cpu, runnable, wall;
};

/* A sampled wait; or several at the same place, added up. */
struct wait_share {
	uint32_t node, waker_node;
	uint32_t woken_metric, held_metric; /* 0 = none */
	double n;                           /* waits that it represents */
	double ns, runnable_ns; /* n times its own duration, and how much of that it was runnable */
	double held_ns;         /* part of ns - runnable_ns that held_metric gets */
	double longest_ns;      /* of the n waits */
};

/* The waits of one class (WAIT_SORTS): waits of different classes do not represent each other. */
struct wait_shares_thread {
	pid_t tid;
	uint32_t row, sort;
	uint64_t ns, runnable_ns; /* to be distributed */
	VEC(struct wait_share) waits;
};

struct wait_shares {
	struct wait_share_metrics metrics;
	struct map index_of; /* class and tid -> threads */
	VEC(struct wait_shares_thread) threads;
};

void wait_shares_done(struct wait_shares *shares);
/* The whole time of these waits is attributed to one place. row: the thread in the tree. */
void wait_shares_give(const struct wait_shares *shares, struct cct *cct, uint32_t row,
		      const struct wait_share *wait, uint64_t ns, uint64_t runnable_ns);
/* Waits of a thread, of class sort, took this time, and this one of them was sampled. */
void wait_shares_add(struct wait_shares *shares, struct cct *cct, struct wait_shares_thread of,
		     const struct wait_share *wait);
/* Distributes the time: of a thread that ends, or of all. */
void wait_shares_settle(struct wait_shares *shares, struct cct *cct, pid_t tid);
void wait_shares_settle_all(struct wait_shares *shares, struct cct *cct);
