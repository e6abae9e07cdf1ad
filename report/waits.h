/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: time off the CPU, by place and kind.
 */
#pragma once

#include "profile/profile.h"
#include "structure/scope.h"
#include "symbolize/wait_kind.h"

/* The metrics of waits, found by their names; 0 = none. */
struct wait_metrics {
	uint32_t off_cpu, waits, wall;
	uint32_t runnable; /* the part in which the thread was runnable and only waited for a CPU */
	uint32_t sampled;  /* number of sampled waits */
	bool is_near;      /* waits are attributed to where the thread was last sampled on a CPU */
};
struct wait_metrics wait_metrics_of(const struct profile *profile);
/* The kind of time that a metric measures, for exports: "oncpu", "offcpu", or "wall", which is both. */
const char *wait_metric_domain(const struct profile *profile, uint32_t metric);

/* All waits of one kind in one place: the innermost scope outside the kernel. */
struct wait_row {
	uint32_t scope;
	enum wait_kind kind;
	uint64_t off_cpu, waits;
	uint64_t of_others; /* the part of off_cpu that belongs to waits of other kinds, after they were woken
			     */
	uint64_t longest;   /* of these waits; 0 = not known */
	uint32_t waker;     /* the metric of the threads that ended most of it; 0 = not known */
	uint64_t woken_by;  /* the part of off_cpu that they ended */
	uint32_t woken_in;  /* where they ended most of that; 0 = none of them was sampled then */
	uint64_t woken_in_ns; /* ... the time that they ended there */
	uint32_t holder;      /* for a futex: the metric of the threads that held it longest; 0 = not known */
	uint64_t held_by;     /* ... how long, during the waits for it */
};
typedef VEC(struct wait_row) wait_rows;
/*
 * What it waited for, as text. If it is not known when threads were woken, a wait may also be one for a CPU.
 */
#define WAIT_KIND_TEXT 32
const char *wait_row_kind(const struct wait_metrics *metrics, const struct wait_row *row,
			  char text[WAIT_KIND_TEXT]);
/* Can it not be distinguished from a wait for a CPU? */
bool wait_row_is_mixed(const struct wait_metrics *metrics, const struct wait_row *row);
/* The name of the threads that ended most of a row; NULL = not known. */
const char *wait_row_waker(const struct profile *profile, const struct wait_row *row);
/* The same for those that held the futex longest. */
const char *wait_row_holder(const struct profile *profile, const struct wait_row *row);
/* Is it the parent scope of the call paths of wakers? */
bool wait_is_waking(const struct profile *profile, const struct scope_tree *tree, uint32_t scope);
/* The longest first. is_kept: by thread; NULL = all. */
void wait_rows_find(const struct profile *profile, const struct scope_tree *tree, const bool *is_kept,
		    wait_rows *ret);
