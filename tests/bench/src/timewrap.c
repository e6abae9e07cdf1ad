/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timewrap OUT.json COMMAND...: runs the command and writes its cost and when it ended.
 *
 * Runs between a profiler and its target, to separate the profiler's own cost. Must be
 * linked statically: perf keeps a parent's mappings across exec and confuses libraries that both use.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status = 0;

	if (argc < 3)
		return 2;
	double start = now();
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (wait4(child, &status, 0, &used) < 0)
		;
	double end = now();
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	FILE *out = fopen(argv[1], "w");
	if (out) {
		fprintf(out, "{\"wall\":%.6f,\"end\":%.6f,\"cpu\":%.6f,\"maxrss_kb\":%ld,\"status\":%d}\n", end - start, end,
			seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss, code);
		fclose(out);
	}
	return code;
}
