/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults: touches new pages on two call paths, three times as many in many_here as in few_here, with work in
 * between, and stays on each for many sampling intervals. Prints the total number of pages.
 *
 * usage: faults ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGES 64
#define REPEATS 50 /* so that each path is active for many sampling intervals */
#define PAGE 4096

static volatile unsigned long sink;

__attribute__((noinline)) static void touch_pages(int n)
{
	char *at = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	madvise(at, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		at[i * PAGE] = 1;
	munmap(at, (size_t)n * PAGE);
	for (int i = 0; i < 20000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) static void few_here(void)
{
	for (int i = 0; i < REPEATS; i++)
		touch_pages(PAGES);
	__asm__ volatile("");
}

__attribute__((noinline)) static void many_here(void)
{
	for (int i = 0; i < REPEATS; i++)
		touch_pages(3 * PAGES);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < n / REPEATS; i++) {
		few_here();
		many_here();
	}
	printf("touched %ld\n", n / REPEATS * REPEATS * 4 * PAGES);
	return 0;
}
