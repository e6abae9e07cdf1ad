/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A branch that is taken in one of four iterations, at random, while signals arrive. Prints a checksum, which
 * is wrong if the program was disturbed. usage: ratio ROUNDS
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile uint64_t sum;
static volatile unsigned signals;

static void on_alarm(int number)
{
	(void)number;
	signals++;
}

__attribute__((noinline)) uint64_t choose(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	if ((x & 3) == 0)
		sum += x;
	else
		sum ^= x;
	return x;
}

int main(int argc, char **argv)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	uint64_t x = 88172645463325252u, rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (rounds--)
		x = choose(x);
	printf("%llx %s\n", (unsigned long long)sum, signals ? "signals came" : "no signal came");
	return 0;
}
