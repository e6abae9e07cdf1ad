/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitter SECONDS: burns CPU in code that is not in any file, and names it in a perf map, which is removed at
 * exit.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CODE_BYTES 4096
#define COPIED 256 /* larger than the function */

/* Position-independent. Aligned, so that all the bytes copied are mapped. */
__attribute__((noinline, aligned(COPIED))) static uint64_t jitter_turn(uint64_t n)
{
	uint64_t sum = n;

	for (uint64_t i = 0; i < n; i++) {
		sum = sum * 5 + i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

__attribute__((aligned(COPIED))) static void jitter_write_map(const void *code)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	if (!map)
		exit(1);
	fprintf(map, "%lx %x written_while_running\n", (unsigned long)(uintptr_t)code, COPIED);
	fclose(map);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	uint64_t (*turn)(uint64_t);
	void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, (const void *)(uintptr_t)jitter_turn, COPIED);
	__builtin___clear_cache(code, (char *)code + COPIED);
	memcpy(&turn, &code, sizeof(turn));
	jitter_write_map(code);
	for (time_t end = time(NULL) + (time_t)seconds + 1; time(NULL) < end;)
		if (turn(2000000) == 1)
			break;
	return 0;
}
