/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asleep: to be preloaded. For the program the clock on the wall goes on for an hour in one moment, as it
 * does for one that slept with its machine: when the file that ASLEEP names is there.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HOUR_S 3600

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);
	const char *file = getenv("ASLEEP");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int error = real(clock, ret);
	if (!error && clock == CLOCK_REALTIME && file && access(file, F_OK) == 0)
		ret->tv_sec += HOUR_S;
	return error;
}
