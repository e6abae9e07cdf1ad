/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asleep: an LD_PRELOAD library that simulates a suspended machine: CLOCK_REALTIME jumps ahead by an hour
 * when the file named by the variable ASLEEP exists.
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
