/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings N SECONDS: maps N pages of code at ever lower addresses and unmaps them later, of which the kernel
 * does not report the latter, then runs a busy loop.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_MAPPED 10000 /* at a time */
#define STRIDE 2         /* pages, so that the kernel does not merge them */

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = strtoul(argv[1], NULL, 0), size = n * STRIDE * page;
	char *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	volatile double x = 0;

	if (at == MAP_FAILED)
		return 3;
	for (size_t i = 0; i < n; i++) {
		char *next = at + size - (i + 1) * STRIDE * page;
		if (mmap(next, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
			return 4;
		if (i >= MAX_MAPPED)
			munmap(next + MAX_MAPPED * STRIDE * page, page * STRIDE);
	}
	for (clock_t end = clock() + (clock_t)(atof(argv[2]) * CLOCKS_PER_SEC); clock() < end;)
		for (int i = 0; i < 10000; i++)
			x = x * 1.0001 + 1;
	return 0;
}
