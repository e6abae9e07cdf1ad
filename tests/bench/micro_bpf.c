/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_bpf: milliseconds to load the BPF program that copies deep stacks: minimum of several runs, in CPU
 * time of this process, which includes the verifier. usage: micro_bpf
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "collector/bpf/bpf_deep.h"

#define ROUNDS 10

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void)
{
	const struct deep_options options = {
		.snapshot = 16384, .n_pages = DEEP_PAGES_MAX, .n_first = 16, .n_written = 64
	};
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		struct bpf_deep *deep;
		struct diag diag = { 0 };
		double start = cpu_seconds();

		if (bpf_deep_open(&options, (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
				  &(struct bpf_deep_use){ 0 }, &deep, NULL, &diag) < 0) {
			printf("skipped: %s: %s\n", diag.what, diag.why);
			return 77;
		}
		double took = cpu_seconds() - start;
		best = took < best ? took : best;
		bpf_deep_close(deep);
	}
	printf("%.1f\n", best * 1e3);
	return 0;
}
