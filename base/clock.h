/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: the monotonic clock, which also stamps perf events.
 */
#pragma once

#include <stdint.h>

#define CLOCK_NS_PER_MS 1000000ull
#define CLOCK_NS_PER_S 1000000000ull

/* CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
