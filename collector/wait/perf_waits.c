/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/wait/perf_waits.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/bpf/bpf_symbol.h"

/* Inode of the initial pid namespace. */
#define FIRST_NAMESPACE 0xeffffffcu

/* ---- output to the rings ------------------------------------------------------------------------------- */

static int perf_waits_open_output(struct perf_waits *waits, int cpu, int anchor)
{
	struct perf_waits_fd it;
	long fd = syscall(SYS_perf_event_open, &waits->attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	it.fd = (int)fd;
	int error = ioctl(it.fd, PERF_EVENT_IOC_SET_OUTPUT, anchor) < 0 ||
				    ioctl(it.fd, PERF_EVENT_IOC_ID, &it.id) < 0
			    ? -errno
			    : 0;
	if (!error)
		error = bpf_waits_output(waits->program, cpu, it.fd);
	if (error)
		close(it.fd);
	else
		vec_push(&waits->fds, it);
	return error;
}

static int perf_waits_open_outputs(struct perf_waits *waits, const struct perf_waits_want *want)
{
	/* perf script prints only fields that all events have. */
	const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	int error = 0;

	waits->attr =
		(struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					  .size = sizeof(waits->attr),
					  .config = PERF_COUNT_SW_BPF_OUTPUT,
					  .sample_period = 1,
					  .sample_type = (want->like->sample_type & common) | PERF_SAMPLE_RAW,
					  .sample_id_all = want->like->sample_id_all,
					  .use_clockid = want->like->use_clockid,
					  .clockid = want->like->clockid };
	for (size_t i = 0; !error && i < want->n_cpus; i++)
		error = perf_waits_open_output(waits, want->cpus[i], want->anchors[i]);
	return error;
}

/* ---- opening and closing
 * -------------------------------------------------------------------------------------- */

static struct waits_options perf_waits_options(const struct perf_waits_want *want)
{
	struct waits_options options = { .is_x86 = want->is_x86,
					 .n_sampled =
						 (want->max_switches << WAITS_WINDOW_SHIFT) / 1000000000u };
	struct stat st;

	if (options.n_sampled == 0)
		options.n_sampled = 1;
	if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_NAMESPACE) {
		/* The kernel's own encoding of a device number. */
		options.namespace_device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
		options.namespace_inode = st.st_ino;
	}
	return options;
}

bool perf_waits_number_alike(const struct perf_waits *waits)
{
	struct stat st;

	return waits->program && stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_NAMESPACE;
}

/* The innermost frame of the thread itself; further in are those of the program. */
#define FIRST_FRAME "__schedule+"

/*
 * The program runs during the context switch, so the kernel stack of a sample begins with its own frames. How
 * many there are depends on the kernel, so we count them in a switch of this thread. 0 = not known: then they
 * are shown.
 */
static uint32_t perf_waits_count_own(const struct perf_waits *waits)
{
	const uint64_t *frames = bpf_waits_own_frames(waits->program);
	uint32_t n = 0;

	bpf_waits_turn(waits->program, true);
	if (bpf_waits_watch(waits->program, gettid(), WAITS_TARGET_OWN) < 0)
		return 0;
	nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
	struct bpf_symbol *symbol = frames[0] ? bpf_symbol_open() : NULL;
	for (uint32_t i = 0; symbol && !n && i < WAITS_OWN_FRAMES && frames[i]; i++) {
		struct symbol_question question = { .vaddr = frames[i] - 1 };
		if (bpf_symbol_ask(symbol, &question) == 0 &&
		    strncmp((const char *)question.answer, FIRST_FRAME, strlen(FIRST_FRAME)) == 0)
			n = i;
	}
	bpf_symbol_close(symbol);
	return n;
}

int perf_waits_open(struct perf_waits *waits, const struct perf_waits_want *want, struct diag *diag)
{
	const struct waits_options options = perf_waits_options(want);
	int most = 0;

	*waits = (struct perf_waits){ 0 };
	for (size_t i = 0; i < want->n_cpus; i++)
		most = want->cpus[i] > most ? want->cpus[i] : most;
	int error = bpf_waits_open(&options, (uint32_t)most + 1, want->deep, &waits->program, diag);
	if (!error && (error = perf_waits_open_outputs(waits, want)))
		diag_set(diag, error, "cannot open an event for a BPF program");
	if (!error && (error = bpf_waits_start(waits->program, want->inherits)))
		diag_set(diag, error, "cannot attach a BPF program to the scheduler");
	if (error) {
		perf_waits_close(waits);
		return error;
	}
	waits->how = want->at_exec ? WAITS_TARGET_EXEC : WAITS_TARGET_NOW;
	waits->n_own = perf_waits_count_own(waits);
	bpf_waits_turn(waits->program, !want->starts_later);
	return 0;
}

void perf_waits_close(struct perf_waits *waits)
{
	bpf_waits_close(waits->program);
	for (size_t i = 0; i < waits->fds.n; i++)
		close(waits->fds.at[i].fd);
	vec_done(&waits->fds);
	*waits = (struct perf_waits){ 0 };
}

int perf_waits_watch(const struct perf_waits *waits, pid_t tid)
{
	return waits->program ? bpf_waits_watch(waits->program, tid, waits->how) : 0;
}

void perf_waits_unwatch(const struct perf_waits *waits, pid_t tid)
{
	bpf_waits_unwatch(waits->program, tid);
}

void perf_waits_turn(const struct perf_waits *waits, bool is_on)
{
	if (waits->program)
		bpf_waits_turn(waits->program, is_on);
}

/* ---- records ----------------------------------------------------------------------------------- */

static void perf_waits_tell(const struct waits_record *record, struct event *ret)
{
	const struct waits_sum *sum = &record->sum;

	*ret = (struct event){ .kind = EVENT_SWITCH,
			       .time_ns = record->until,
			       .pid = (pid_t)(record->thread >> 32),
			       .tid = (pid_t)record->thread,
			       .sw = { .is_measured = true,
				       .is_rest = !record->since,
				       .since_ns = record->since,
				       .n = sum->n,
				       .waited_ns = sum->ns,
				       .runnable_ns = sum->runnable < sum->ns ? sum->runnable : sum->ns,
				       .longest_ns = sum->longest,
				       .own_ns = record->since ? record->until - record->since : 0,
				       .own_runnable_ns = record->runnable,
				       .waker = (pid_t)record->waker,
				       .waker_pid = (pid_t)(record->waker >> 32),
				       .woken_ns = record->woken,
				       .futex = record->futex,
				       .sort = (uint32_t)record->place } };
}

/* Of the sampled wait alone: the same part as of all that it represents. */
static uint64_t perf_waits_guess_runnable(const struct waits_record *record)
{
	if (!record->since || !record->sum.ns)
		return 0;
	return (uint64_t)((double)record->sum.runnable / (double)record->sum.ns *
			  (double)(record->until - record->since));
}

bool perf_waits_read(struct bytes raw, struct event *ret)
{
	struct waits_record record = { 0 };

	if (raw.len < offsetof(struct waits_record, place))
		return false;
	memcpy(&record, raw.at, raw.len < sizeof(record) ? raw.len : sizeof(record));
	/* Older ones have the kernel's padding here. */
	if (record.magic == WAITS_MAGIC_2)
		record.place = 0;
	else if (record.magic != WAITS_MAGIC && record.magic != WAITS_MAGIC_3)
		return false;
	if (record.until < record.since || !record.sum.n)
		return false;
	if (record.magic != WAITS_MAGIC)
		record.runnable = perf_waits_guess_runnable(&record);
	perf_waits_tell(&record, ret);
	return true;
}

/* Waits at the places of threads that are in no record. */
static bool perf_waits_rest_of_places(struct perf_waits *waits, uint64_t now_ns, struct event *ret)
{
	const struct waits_place *place;

	while ((place = bpf_waits_next_place(waits->program, &waits->next_place))) {
		struct waits_record record = {
			.thread = place->thread, .until = now_ns, .sum = place->sum, .place = place->key
		};
		if (!record.sum.n)
			continue;
		perf_waits_tell(&record, ret);
		return true;
	}
	return false;
}

/* The same for threads. */
static bool perf_waits_rest_of_threads(struct perf_waits *waits, uint64_t now_ns, struct event *ret)
{
	const struct waits_thread *thread;

	while ((thread = bpf_waits_next(waits->program, &waits->next))) {
		struct waits_record record = { .thread = thread->thread,
					       .until = now_ns,
					       .sum = thread->sum };
		if (!record.sum.n)
			continue;
		perf_waits_tell(&record, ret);
		return true;
	}
	return false;
}

#define PLACE_UNKNOWN UINT32_MAX

/* Waits that have not ended are counted up to now. */
static bool perf_waits_cut(struct perf_waits *waits, uint64_t now_ns, struct event *ret)
{
	const struct waits_thread *in_table;

	while ((in_table = bpf_waits_next(waits->program, &waits->next_cut))) {
		struct waits_thread thread = *in_table; /* a copy: the program may change it meanwhile */
		uint64_t since = thread.since + bpf_waits_clock_offset(waits->program);
		if (!thread.since || since >= now_ns)
			continue;
		uint64_t ns = now_ns - since;
		bool is_like_others = !thread.sampled && ns / WAITS_LONG <= thread.usual;
		struct waits_record record = { .thread = thread.thread,
					       .since = thread.sampled,
					       .until = now_ns,
					       .sum = { 1, ns, thread.is_preempted ? ns : 0, ns },
					       .place = is_like_others ? 0 : PLACE_UNKNOWN };
		perf_waits_tell(&record, ret);
		ret->sw.is_cut = true;
		return true;
	}
	return false;
}

bool perf_waits_rest(struct perf_waits *waits, uint64_t now_ns, struct event *ret)
{
	return waits->program &&
	       (perf_waits_rest_of_places(waits, now_ns, ret) ||
		perf_waits_rest_of_threads(waits, now_ns, ret) || perf_waits_cut(waits, now_ns, ret));
}
