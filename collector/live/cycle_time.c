/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/cycle_time.h"

#include <stdbool.h>

#include "base/clock.h"

#define ATTEMPTS 24              /* an interrupt spoils some of them */
#define AGREEING 4u              /* so many that take as long as the fastest are enough */
#define ROUNDS 2000u             /* 40 us or less each */
#define ADDITIONS 32u            /* per round: the loop itself runs in parallel with them */
#define PLAUSIBLE_LEAST 50000u   /* 20 GHz */
#define PLAUSIBLE_MOST 10000000u /* 100 MHz */

/* Two registers, because some processors eliminate additions of a constant. */
#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#endif

#ifdef ADD
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD
static uint64_t cycle_time_once(void)
{
	uint64_t sum = 0, one = 1, start = clock_now_ns();

	for (unsigned i = 0; i < ROUNDS; i++)
		__asm__ volatile(ADD_8 ADD_8 ADD_8 ADD_8 : "+r"(sum) : "r"(one) : "cc");
	return (clock_now_ns() - start) * 1000000u / (ROUNDS * ADDITIONS);
}
#else
static uint64_t cycle_time_once(void)
{
	return 0;
}
#endif

/* Does an attempt differ from the fastest by less than 0.5 %? */
static bool cycle_time_agrees(uint64_t now, uint64_t best)
{
	return now - best <= best / 200;
}

uint64_t cycle_time_measure(void)
{
	uint64_t best = 0;

	for (unsigned i = 0, n_agreeing = 0; i < ATTEMPTS && n_agreeing < AGREEING; i++) {
		uint64_t now = cycle_time_once();
		if (!best || now < best) {
			n_agreeing = best && cycle_time_agrees(best, now) ? n_agreeing : 0;
			best = now;
		}
		n_agreeing += cycle_time_agrees(now, best);
	}
	return best >= PLAUSIBLE_LEAST && best <= PLAUSIBLE_MOST ? best : 0;
}
