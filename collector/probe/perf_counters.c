/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/probe/perf_counters.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* It is counted all the time or not at all: reading it tells which. */
static int counters_open(const struct perf_event_attr *like, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = like->type,
					.config = like->config,
					.config1 = like->config1,
					.config2 = like->config2,
					.bp_type = like->bp_type,
					.exclude_user = like->exclude_user,
					.exclude_kernel = like->exclude_kernel,
					.exclude_hv = like->exclude_hv,
					.pinned = 1 };
	uint64_t count;
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (read((int)fd, &count, sizeof(count)) == sizeof(count))
		return (int)fd;
	close((int)fd);
	return -EBUSY;
}

int perf_counters_add(struct perf_counters *counters, const struct bpf_trace *program, uint32_t number,
		      const struct perf_event_attr *attr, const int *cpus, size_t n_cpus)
{
	size_t n_kept = counters->fds.n;
	int error = 0;

	for (size_t i = 0; !error && i < n_cpus; i++) {
		int fd = counters_open(attr, cpus[i]);
		if (fd >= 0)
			vec_push(&counters->fds, fd);
		error = fd < 0 ? fd : bpf_trace_counter(program, cpus[i], number, fd);
	}
	while (error && counters->fds.n > n_kept)
		close(counters->fds.at[--counters->fds.n]);
	return error;
}

void perf_counters_done(struct perf_counters *counters)
{
	while (counters->fds.n)
		close(counters->fds.at[--counters->fds.n]);
	vec_done(&counters->fds);
}
