/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * waits: runs in the kernel whenever a watched thread leaves its CPU, is woken, and comes back, and times
 * every wait. It also decides which waits are sampled: all of them, or a random selection for threads that
 * switch very often.
 *
 * sched_switch passes both threads and runs in the one that leaves, where the sample is written. Threads have
 * no perf event for this, because an event costs as much at every switch as this whole program. sched_waking
 * runs in the thread that wakes another one. cpprof passes the ids of the threads to watch; their children
 * are watched, too.
 *
 * Reading a clock would take longer than everything else here, so the scheduler's own times are used: it has
 * just read its clock, and it stores since when a thread has been runnable.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "collector/bpf/waits_layout.h"

/* Some of the helpers used here are available only to programs under the kernel's licence. */
char cpprof_license[] SEC("license") = "GPL";

const volatile struct waits_options options = { 0 };
/* Set by cpprof. */
volatile __u64 is_on;
volatile __u64 n_targets; /* entries of cpprof_targets: an empty table is not searched */
/* Number of sampled waits that have not ended, or slightly more. While it is 0, wakeups are ignored. */
__u64 n_open;
/* Read by cpprof: the clock of samples minus the scheduler's clock. */
volatile __u64 clock_offset;
__u64 own_frames[WAITS_OWN_FRAMES];

/* Members of kernel structures; the loader fills in their offsets. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct rq {
	__u64 clock; /* of this CPU, in ns */
};
struct cfs_rq {
	struct rq *rq;
};
struct sched_entity {
	struct cfs_rq *cfs_rq;
};
struct sched_info {
	unsigned long long run_delay;    /* total time for which it was runnable but did not run */
	unsigned long long last_arrival; /* when it last came to a CPU */
	unsigned long long last_queued;  /* since when it has been runnable again, not yet in run_delay; 0 =
					    it is not */
};
struct thread_info {
	__u64 preempt_count; /* AArch64 */
};
struct task_struct {
	struct thread_info thread_info;
	int pid;
	struct sched_entity se;
	struct sched_info sched_info;
};
#pragma clang attribute pop

struct cpu_window {
	__u32 window;
	__u64 n_threads, n_last; /* threads that waited in this window, and in the one before */
};

/* Watched threads: an open-addressing table, indexed by thread id. One of the kernel's hash maps would take
 * ten times as long to search, and an array map would cost a call. */
struct waits_thread waiting[WAITS_THREADS_MAX];
struct waits_place places[WAITS_PLACES_MAX];
/* Threads that are to be watched but have not been seen yet, by id; the value is an enum waits_target. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAITS_THREADS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_targets SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_window);
} cpprof_window SEC(".maps");
/* The program that copies deep stacks. If present, it runs instead of write_sample, and writes the sample. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_next SEC(".maps");
/* The events through which records are written, one per CPU. Its size is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_output SEC(".maps");
/* The same for samples. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_samples SEC(".maps");

#include "collector/bpf/current.bpf.h"

/* ---- the table ------------------------------------------------------------------------------------------
 */

#define PROBES 4 /* slots of a table in which a thread, or a place, may be */

static __always_inline struct waits_thread *look_up(__u32 number)
{
#pragma unroll
	for (int i = 0; i < PROBES; i++) {
		__u32 slot = (number + (__u32)i) % WAITS_THREADS_MAX;
		struct waits_thread *thread = &waiting[slot];
		if (!thread->number)
			return 0;
		if (thread->number == number)
			return thread;
	}
	return 0;
}

/* Not protected against two threads that take the same slot at the same time: their ids would have to differ
 * by a multiple of WAITS_THREADS_MAX, and they would have to start within nanoseconds. */
static __always_inline struct waits_thread *take_slot(__u32 number)
{
#pragma unroll
	for (int i = 0; i < PROBES; i++) {
		__u32 slot = (number + (__u32)i) % WAITS_THREADS_MAX;
		struct waits_thread *thread = &waiting[slot];
		if (thread->number && thread->number != WAITS_GONE && thread->number != number)
			continue;
		*thread = (struct waits_thread){ .number = number };
		return thread;
	}
	return 0;
}

/* ---- whom we watch --------------------------------------------------------------------------------------
 */

static __always_inline struct waits_thread *add_thread(__u32 number, __u64 as)
{
	struct waits_thread *thread = take_slot(number);

	if (thread)
		thread->thread = as;
	return thread;
}

static __always_inline void drop_target(__u32 tid)
{
	if (bpf_map_delete_elem(&cpprof_targets, &tid) == 0)
		__sync_fetch_and_sub(&n_targets, 1);
}

/* The current thread is seen for the first time: is it one that cpprof wants to be watched? */
static __always_inline struct waits_thread *find_target(void *context, __u32 number, int is_exec)
{
	__u64 as = current_thread();
	__u32 tid = (__u32)as;
	const __u32 *target = bpf_map_lookup_elem(&cpprof_targets, &tid);

	if (!target || (*target == WAITS_TARGET_EXEC && !is_exec))
		return 0;
	int is_own = *target == WAITS_TARGET_OWN;
	drop_target(tid);
	if (!is_own)
		return add_thread(number, as);
	bpf_get_stack(context, own_frames, sizeof(own_frames), 0);
	return 0;
}

static __always_inline struct waits_thread *find_thread(void *context, __u32 number)
{
	struct waits_thread *thread = look_up(number);

	return thread || !n_targets ? thread : find_target(context, number, 0);
}

/* struct task_struct *p, which runs, pid_t old_pid, struct linux_binprm * */
SEC("tp_btf/sched_process_exec")
int cpprof_exec(__u64 *context)
{
	const struct task_struct *task = (const void *)context[0];
	__u32 number = (__u32)task->pid, before = (__u32)context[1];
	struct waits_thread *old = number != before ? look_up(before) : 0;

	if (old) { /* it has taken the id of its process's first thread */
		struct waits_thread *thread = add_thread(number, 0);
		if (thread) {
			thread->sum = old->sum;
			thread->places = old->places; /* of its old program; reported when it ends */
			thread->n_places = old->n_places;
		}
		old->number = WAITS_GONE;
	}
	if (n_targets)
		find_target(context, number, 1);
	return 0;
}

/* struct task_struct *parent, which runs, *child */
SEC("tp_btf/sched_process_fork")
int cpprof_fork(__u64 *context)
{
	const struct task_struct *parent = (const void *)context[0], *child = (const void *)context[1];

	if (find_thread(context, (__u32)parent->pid))
		add_thread((__u32)child->pid, 0);
	return 0;
}

/* ---- switches ------------------------------------------------------------------------------------------ */

/* The current wait is sampled. The first wait of a thread always is. */
static __always_inline void begin_sample(struct waits_thread *thread, __u64 now)
{
	__sync_fetch_and_add(&n_open, 1);
	thread->sampled = bpf_ktime_get_ns();
	clock_offset = thread->sampled - now;
	if (!thread->thread)
		thread->thread = current_thread();
	thread->waker = thread->woken = 0;
	thread->futex = thread->is_preempted ? 0 : find_futex();
}

static __always_inline void end_sample(struct waits_thread *thread)
{
	thread->sampled = 0;
	__sync_fetch_and_sub(&n_open, 1);
}

static __always_inline void add_wait(struct waits_sum *sum, const struct waits_sum *wait)
{
	sum->n++;
	sum->ns += wait->ns;
	sum->runnable += wait->runnable;
	if (wait->ns > sum->longest)
		sum->longest = wait->ns;
}

/* wait: the sampled one; 0 = none of them was, and until is now. */
static __always_inline void send(void *context, const struct waits_thread *thread, struct waits_sum *sum,
				 const struct waits_sum *wait, __u64 until, __u64 place)
{
	struct waits_record record = { .magic = WAITS_MAGIC,
				       .thread = thread->thread,
				       .since = wait ? thread->sampled : 0,
				       .until = wait ? thread->sampled + wait->ns : until,
				       .waker = wait ? thread->waker : 0,
				       .woken = wait ? thread->woken : 0,
				       .futex = wait ? thread->futex : 0,
				       .sum = *sum,
				       .place = place,
				       .runnable = wait ? wait->runnable : 0 };
	struct waits_sum none = { 0 };

	if (bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, &record, sizeof(record)) == 0)
		*sum = none; /* otherwise the next record includes it */
}

static __always_inline void end_usual(void *context, struct waits_thread *thread,
				      const struct waits_sum *wait)
{
	add_wait(&thread->sum, wait);
	if (thread->sampled)
		send(context, thread, &thread->sum, wait, 0, 0);
}

#include "collector/bpf/places.bpf.h"

static __always_inline void come_back(void *context, struct waits_thread *thread, struct task_struct *task,
				      __u64 now)
{
	if (!thread->since)
		return;
	__u64 queued = task->sched_info.last_queued;
	struct waits_sum wait = { .ns = now > thread->since ? now - thread->since : 0 };
	wait.runnable =
		task->sched_info.run_delay - thread->delayed + (queued && queued < now ? now - queued : 0);
	thread->since = 0;
	if (thread->is_preempted || is_long(thread, wait.ns))
		end_apart(context, thread, task, &wait, now);
	else if (thread->sampled && thread->is_wanted)
		end_alone(context, thread, &wait);
	else
		end_usual(context, thread, &wait);
	if (thread->sampled)
		end_sample(thread);
}

static __always_inline void leave(void *context, struct waits_thread *thread, const struct task_struct *task,
				  __u64 now, int is_preempted)
{
	if (thread->since)
		end_unseen(context, thread, task);
	thread->since = now;
	thread->is_preempted = (__u32)is_preempted;
	thread->delayed = task->sched_info.run_delay;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

#include "collector/bpf/turns.bpf.h"

/* Is this wait to be sampled? */
static __always_inline int is_due(struct waits_thread *thread, struct task_struct *task, __u64 now)
{
	int is_due = is_due_by_turn(thread, now);

	thread->is_wanted = 0;
	if (!thread->wanted)
		return is_due;
	if (place_key(registers_of(task), (int)thread->is_preempted) == thread->wanted)
		thread->is_wanted = !is_due;
	else if (--thread->n_wanted)
		return is_due;
	thread->wanted = 0;
	return is_due || thread->is_wanted;
}

/* The kernel adds registers, stack and call chain, as for any sample. The program's own data is empty. */
static __always_inline void write_sample(void *context)
{
	__u64 nothing = 0;

	bpf_perf_event_output(context, &cpprof_samples, BPF_F_CURRENT_CPU, &nothing, sizeof(nothing));
}

/* bool preempt, struct task_struct *prev, *next */
SEC("tp_btf/sched_switch")
int cpprof_switch(__u64 *context)
{
	struct task_struct *out = (void *)context[1], *in = (void *)context[2];

	if (!is_on)
		return 0;
	struct waits_thread *thread = look_up((__u32)in->pid);
	__u64 now = 0;
	if (thread)
		come_back(context, thread, in, now = out->se.cfs_rq->rq->clock);
	thread = find_thread(context, (__u32)out->pid);
	if (!thread)
		return 0;
	if (!now)
		now = out->se.cfs_rq->rq->clock;
	leave(context, thread, out, now, context[0] & 1);
	if (!is_due(thread, out, now))
		return 0;
	begin_sample(thread, now);
	bpf_tail_call(context, &cpprof_next, 0);
	write_sample(context);
	return 0;
}

/* ---- the others -----------------------------------------------------------------------------------------
 */

/* The current thread wakes another one: writes a record that says so, and then a sample of the waker. */
static __always_inline void write_waker(void *context, const struct waits_thread *thread)
{
	struct waits_waking record = { .magic = WAITS_MAGIC_WAKING,
				       .thread = thread->thread,
				       .waker = thread->waker,
				       .at = thread->woken };

	if (bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, &record, sizeof(record)) == 0)
		write_sample(context);
}

/* A second sample for each wait would take as long as many a short wait does. */
static __always_inline int is_waker_due(struct waits_thread *thread)
{
	if (thread->woken - thread->sampled > WAITS_SHORT_NS)
		return 1;
	if (thread->n_skipped) {
		thread->n_skipped--;
		return 0;
	}
	thread->n_skipped = bpf_get_prandom_u32() % WAITS_WAKERS;
	return 1;
}

/* struct task_struct *p */
SEC("tp_btf/sched_waking")
int cpprof_waking(__u64 *context)
{
	const struct task_struct *task = (const void *)context[0];

	if (!n_open)
		return 0;
	struct waits_thread *thread = look_up((__u32)task->pid);
	if (!thread || !thread->sampled || thread->waker || !is_in_system_call())
		return 0;
	thread->waker = current_thread();
	thread->woken = bpf_ktime_get_ns();
	if (thread->futex && find_futex() != thread->futex) /* such as the end of a thread that is joined */
		thread->futex = 0;
	if (look_up((__u32)bpf_get_current_pid_tgid()) && is_waker_due(thread))
		write_waker(context, thread);
	return 0;
}

/* struct task_struct *p, which runs */
SEC("tp_btf/sched_process_exit")
int cpprof_exit(__u64 *context)
{
	const struct task_struct *task = (const void *)context[0];
	struct waits_thread *thread = look_up((__u32)task->pid);
	__u64 now = bpf_ktime_get_ns();

	if (n_targets)
		drop_target((__u32)current_thread());
	if (!thread)
		return 0;
	thread->thread = current_thread();
	if (thread->since)
		end_unseen(context, thread, task);
	if (thread->sum.n)
		send(context, thread, &thread->sum, 0, now, 0);
	__u32 next = thread->places;
	for (int i = 0; i < WAITS_PLACES_OF_THREAD && next; i++) {
		struct waits_place *place = &places[(next - 1) % WAITS_PLACES_MAX];
		next = place->next;
		if (place->sum.n)
			send(context, thread, &place->sum, 0, now, place->key);
		place->number = place->sum.n ? WAITS_LEFT : WAITS_GONE;
	}
	thread->number = thread->sum.n ? WAITS_LEFT : WAITS_GONE;
	return 0;
}
