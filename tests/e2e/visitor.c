/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visitor SECONDS: works for two milliseconds now and then, sleeps in between, and exits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define BURST_NS 2000000
#define PAUSE_NS 700000000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void burn(void)
{
	for (volatile unsigned i = 0; i < 2000; i++)
		;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (uint64_t)(argc > 1 ? atof(argv[1]) * 1e9 : 1e9);

	while (now_ns() < end) {
		uint64_t pause = now_ns() + BURST_NS;
		while (now_ns() < pause)
			burn();
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}
