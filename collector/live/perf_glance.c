/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/perf_glance.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "collector/live/perf_ring.h"
#include "collector/process/target.h"

#define THREADS_MAX 64 /* that are sampled; running ones come first */
#define RING_PAGES 8   /* holds a second of samples: 16 bytes each */

struct glance_thread {
	int fd;
	struct perf_ring ring;
};
struct glance_threads {
	VEC(struct glance_thread) at;
};

static int glance_open(struct glance_threads *threads, pid_t tid)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = GLANCE_PERIOD_NS,
					.sample_type = PERF_SAMPLE_IP,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	struct glance_thread it = { .fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
						       PERF_FLAG_FD_CLOEXEC) };

	if (it.fd < 0)
		return -errno;
	int error = perf_ring_open(&it.ring, it.fd, RING_PAGES);
	if (error)
		close(it.fd);
	else
		vec_push(&threads->at, it);
	return error;
}

/* Running threads and, if there is room, waiting ones. */
static int glance_open_all(struct glance_threads *threads, pid_t pid)
{
	struct pid_list list = { 0 };
	int error = target_threads(pid, &list);

	for (int runs = 1; runs >= 0; runs--)
		for (size_t i = 0; i < list.pids.n && threads->at.n < THREADS_MAX; i++)
			if ((target_state(list.pids.at[i]) == 'R') == (runs == 1)) {
				int failed = glance_open(threads, list.pids.at[i]);
				error = error ? error : failed;
			}
	vec_done(&list.pids);
	return threads->at.n ? 0 : error ? error : -ESRCH;
}

static void glance_read(struct glance *glance, struct glance_thread *thread)
{
	struct bytes record;

	perf_ring_begin(&thread->ring);
	while (perf_ring_next(&thread->ring, &record)) {
		struct reader r = reader_of(record);
		uint32_t type = read_u32(&r);
		read_u32(&r); /* the rest of the header */
		uint64_t pc = read_u64(&r);
		if (type == PERF_RECORD_SAMPLE && !r.failed)
			vec_push(&glance->pcs, pc);
	}
	perf_ring_end(&thread->ring);
}

int glance_take(struct glance *glance, pid_t pid, uint64_t ms)
{
	struct timespec time = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
	struct glance_threads threads = { 0 };
	uint64_t start = clock_now_ns();

	*glance = (struct glance){ 0 };
	int error = glance_open_all(&threads, pid);
	if (!error)
		nanosleep(&time, NULL);
	glance->ns = clock_now_ns() - start;
	for (size_t i = 0; i < threads.at.n; i++) {
		glance_read(glance, &threads.at.at[i]);
		perf_ring_close(&threads.at.at[i].ring);
		close(threads.at.at[i].fd);
	}
	vec_done(&threads.at);
	return error;
}

void glance_done(struct glance *glance)
{
	vec_done(&glance->pcs);
}
