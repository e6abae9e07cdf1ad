/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: time off the CPU, by place and kind.
 */
#pragma once

#include "profile/profile.h"
#include "structure/scope.h"
#include "symbolize/wait_kind.h"

/* The metrics of waits, by their names; 0 = it has none. */
struct wait_metrics {
	uint32_t off_cpu, waits, wall;
	uint32_t runnable; /* the part in which nothing but a CPU was missing */
	uint32_t sampled;  /* how many samples there are of them */
	bool is_near;      /* they are put where a thread was last sampled on a CPU */
};
struct wait_metrics wait_metrics_of(const struct profile *profile);
/* Of which time a metric is, for exports: "oncpu", "offcpu", or "wall", which is both. */
const char *wait_metric_domain(const struct profile *profile, uint32_t metric);

/* All waits of one kind in one place: the innermost scope that is not the kernel's. */
struct wait_row {
	uint32_t scope;
	enum wait_kind kind;
	uint64_t off_cpu, waits;
	uint64_t of_others; /* of off_cpu, no waits of its own: those of other kinds, after they were woken */
	uint64_t longest;   /* of them; 0 = it is not known */
	uint32_t waker;     /* the metric of the threads that ended most of it; 0 = none is known */
	uint64_t woken_by;  /* what of it they did, with the time until the thread ran */
	uint32_t woken_in;  /* where they did most of that; 0 = none of them was sampled then */
	uint64_t woken_in_ns; /* ... so much */
	uint32_t holder;      /* of a futex: the metric of the threads that held it longest; 0 = not known */
	uint64_t held_by;     /* ... so long, of the waits for it */
};
typedef VEC(struct wait_row) wait_rows;
/*
 * What it waited for, in words. Where nothing tells when threads were woken, a wait may also be one for
 * a CPU.
 */
#define WAIT_KIND_TEXT 32
const char *wait_row_kind(const struct wait_metrics *metrics, const struct wait_row *row,
			  char text[WAIT_KIND_TEXT]);
/* Can it not be told apart from a wait for a CPU? */
bool wait_row_is_mixed(const struct wait_metrics *metrics, const struct wait_row *row);
/* The name of the threads that ended most of a row; NULL = it is not known. */
const char *wait_row_waker(const struct profile *profile, const struct wait_row *row);
/* The same of those that held the futex longest. */
const char *wait_row_holder(const struct profile *profile, const struct wait_row *row);
/* Is it what the path of a waker hangs under? */
bool wait_is_waking(const struct profile *profile, const struct scope_tree *tree, uint32_t scope);
/* The longest first. is_kept: by thread; NULL = all. */
void wait_rows_find(const struct profile *profile, const struct scope_tree *tree, const bool *is_kept,
		    wait_rows *ret);
