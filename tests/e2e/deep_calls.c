/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls `measured` with stacks of 8, 100, 300 and 900 KB, three times each, in the main thread and in another
 * one.
 */
#include <pthread.h>
#include <stdio.h>

#define OWN __attribute__((noinline, noclone, noipa))
#define ROUNDS 3

static volatile unsigned sum;

OWN void measured(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

/* A frame of slightly more than a kilobyte. */
OWN void dig(unsigned depth)
{
	volatile char room[1024];

	room[depth % 1024] = 1;
	if (depth > 1)
		dig(depth - 1);
	else
		measured(1000);
	sum += (unsigned)room[depth % 1024];
}

OWN void *work(void *unused)
{
	const unsigned depths[] = { 8, 100, 300, 900 };

	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned k = 0; k < 4; k++)
			dig(depths[k]);
	return unused;
}

int main(void)
{
	pthread_t thread;

	work(NULL);
	if (pthread_create(&thread, NULL, work, NULL) == 0)
		pthread_join(thread, NULL);
	puts("done");
}
