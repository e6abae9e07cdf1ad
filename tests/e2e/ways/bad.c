/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code whose execution paths (ways) are hard to count: an irreducible loop, jumps with unknown targets,
 * functions interrupted by signal handlers. Prints how often handled was called.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile uint64_t sink;
static volatile sig_atomic_t n_handled;

#define DO(n) (sink = sink + (n))

/* Its loop is entered at its start and in its middle. */
__attribute__((noinline)) uint64_t irreducible(uint64_t rounds, int in)
{
	uint64_t i = 0;

	if (in)
		goto middle;
again:
	DO(1);
	if (i & 1)
		DO(3);
middle:
	DO(2); /* as often as it is asked for */
	if (++i < rounds)
		goto again;
	return i;
}

/* Jumps through a table that is a parameter. */
__attribute__((noinline)) void computed(void **table, unsigned rounds)
{
	static void *own[] = { &&first, &&second, &&third };

	if (!table)
		table = own;
	for (unsigned i = 0; i < rounds; i++) {
		goto *table[i % 3];
	first:
		DO(1);
		continue;
	second:
		DO(2);
		continue;
	third:
		DO(3);
	}
}

/* Is also called by a signal handler while it is being executed. */
__attribute__((noinline)) int handled(int n)
{
	if (n & 1) {
		DO(1);
		return 1;
	}
	for (int i = 0; i < 50; i++)
		if (i & 1)
			DO(2);
	return 2;
}

static void handler(int number)
{
	(void)number;
	handled(n_handled++);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	struct itimerval each = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };

	irreducible((uint64_t)rounds, 0);
	irreducible((uint64_t)rounds, 1);
	computed(NULL, (unsigned)rounds);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < 100 * rounds; i++)
		handled(i);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", 100 * rounds + n_handled);
	return 0;
}
