/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: a thread that acts at a given time, which can be postponed.
 *
 * It sleeps until the most recently given time, and costs nothing as long as it is postponed before that. It
 * runs at real-time priority if allowed, so its work must be short.
 */
#pragma once

#include <stdint.h>

struct guard;

/* NULL if no thread can be created. It does nothing before the first guard_rest. */
struct guard *guard_start(void (*act)(void *context), void *context);
/* The thread has ended when this returns. May be NULL. */
void guard_stop(struct guard *guard);

/* Acts once, in this many nanoseconds, unless called again before then. The action itself may call it. */
void guard_rest(struct guard *guard, uint64_t ns);
