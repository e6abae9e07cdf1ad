/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beat: a periodic program. Each period takes MICROSECONDS of CPU time, the first 30 % in first(), the rest
 * in rest(). Prints the share of first() by the thread's own CPU clock, and the number of involuntary
 * context switches.
 *
 * usage: beat MICROSECONDS MILLISECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

__attribute__((noinline)) static unsigned long long first(unsigned long long until)
{
	unsigned long long t;

	while ((t = now()) < until)
		__asm__ volatile("" : "+r"(t));
	return t;
}

__attribute__((noinline)) static unsigned long long rest(unsigned long long until)
{
	unsigned long long t;

	do /* different code than first(), so that the compiler does not merge the functions */
		t = now();
	while (t < until);
	return t;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	unsigned long long beat = strtoull(argv[1], NULL, 10) * 1000, start = now(), in_first = 0, at = start;
	unsigned long long end = start + strtoull(argv[2], NULL, 10) * 1000000;

	for (unsigned long long next = start; next < end; next += beat) {
		unsigned long long middle = first(next + beat * 3 / 10);
		in_first += middle - at;
		at = rest(next + beat);
	}
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("%.2f %ld\n", 100.0 * (double)in_first / (double)(at - start), usage.ru_nivcsw);
	return 0;
}
