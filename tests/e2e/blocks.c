/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks: allocates known amounts on known call paths. Reads a line first, so that a tracer can attach.
 *
 *   small    200 000 blocks of 48 bytes, all freed
 *   middle    20 000 blocks of 1000 bytes by calloc, every other one kept
 *   large        100 blocks of 300 000 bytes by posix_memalign, 25 of them kept
 *   aligned      100 blocks of 20 032 bytes by aligned_alloc, 25 of them kept
 *   growing    2 000 blocks of 100 bytes, enlarged to 5000 by realloc, all kept
 *   threads   4 x 10 000 blocks of 500 bytes, all freed
 *   own          500 blocks of 8000 bytes by an allocation function of the program
 *   mapped       200 mappings of 100 000 bytes, every fifth one kept; one more fails
 *
 * usage: blocks [DIVISOR]: all numbers are divided by DIVISOR.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OWN __attribute__((noinline, noclone, noipa))

static void *volatile keep;
static char arena[4 << 20];
static size_t used;
static int divisor = 1;

OWN void *take_own(int flags, size_t size)
{
	void *block = arena + (used + size > sizeof(arena) ? (used = 0) : used);

	used += size + (size_t)flags;
	return block;
}

OWN void small(void)
{
	for (int i = 0; i < 200000 / divisor; i++) {
		keep = malloc(48);
		free(keep);
	}
}

OWN void middle(void)
{
	for (int i = 0; i < 20000 / divisor; i++) {
		keep = calloc(10, 100);
		if (i % 2)
			free(keep);
	}
}

OWN void large(void)
{
	for (int i = 0; i < 100 / divisor; i++) {
		void *block;
		if (posix_memalign(&block, 64, 300000))
			abort();
		keep = block;
		if (i % 4)
			free(keep);
	}
}

OWN void aligned(void)
{
	for (int i = 0; i < 100 / divisor; i++) {
		keep = aligned_alloc(64, 20032);
		if (i % 4)
			free(keep);
	}
}

OWN void growing(void)
{
	for (int i = 0; i < 2000 / divisor; i++) {
		keep = malloc(100);
		keep = realloc(keep, 5000);
	}
}

OWN void *threaded(void *nothing)
{
	for (int i = 0; i < 10000 / divisor; i++) {
		void *block = malloc(500);
		memset(block, 1, 500);
		free(block);
	}
	return nothing;
}

OWN void threads(void)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, threaded, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

OWN void own(void)
{
	for (int i = 0; i < 500 / divisor; i++)
		keep = take_own(0, 8000);
}

OWN void mapped(void)
{
	for (int i = 0; i < 200 / divisor; i++) {
		void *block = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block == MAP_FAILED)
			abort();
		keep = block;
		if (i % 5)
			munmap(block, 100000);
	}
	keep = mmap(NULL, 100000, PROT_READ, MAP_ANONYMOUS, -1, 0); /* fails: neither private nor shared */
}

int main(int argc, char **argv)
{
	if (argc > 1 && atoi(argv[1]) > 0)
		divisor = atoi(argv[1]);
	getchar();
	small();
	middle();
	large();
	aligned();
	growing();
	threads();
	own();
	mapped();
	puts("done");
	return 0;
}
