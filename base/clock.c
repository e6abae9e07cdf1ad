/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}
