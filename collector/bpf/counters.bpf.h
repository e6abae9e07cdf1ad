/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * counters: a part of trace.bpf.c that counts events by thread. Counters belong to CPUs; what each has
 * counted while a thread ran is added up whenever the thread leaves its CPU.
 */
#pragma once

#define NOT_READ (~0ull)

/* The counters of each CPU are adjacent. The size is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_counters SEC(".maps");

/* The current values on this CPU. */
static __always_inline void read_counters(__u64 *ret)
{
	__u32 first = bpf_get_smp_processor_id() * TRACE_COUNTERS_MAX;

	for (__u32 i = 0; i < TRACE_COUNTERS_MAX; i++) {
		struct bpf_perf_event_value value = { 0 };
		ret[i] = NOT_READ;
		if (i < options.n_counters &&
		    !bpf_perf_event_read_value(&cpprof_counters, first + i, &value, sizeof(value)))
			ret[i] = value.counter;
	}
}

static __always_inline __u64 since(__u64 now, __u64 then)
{
	return now == NOT_READ || now < then ? 0 : now - then;
}

/* Everything that a running thread has counted. */
static __always_inline void count_thread(const struct thread *thread, __u64 *ret)
{
	const volatile __u64 *off_cpu = &thread->off_cpu;

	if (!options.n_counters)
		return;
	for (int i = 0; i < 2; i++) { /* again if it lost its CPU in between */
		__u64 before = *off_cpu;
		read_counters(ret);
		for (__u32 j = 0; j < TRACE_COUNTERS_MAX; j++)
			ret[j] = thread->counted[j] + since(ret[j], thread->at_start[j]);
		if (*off_cpu == before)
			break;
	}
}

/* The thread gets a CPU. */
static __always_inline void start_counting(struct thread *thread)
{
	if (options.n_counters)
		read_counters(thread->at_start);
}

static __always_inline void stop_counting(struct thread *thread)
{
	if (!options.n_counters)
		return;
	__u64 now[TRACE_COUNTERS_MAX];
	read_counters(now);
	for (__u32 i = 0; i < TRACE_COUNTERS_MAX; i++)
		thread->counted[i] += since(now[i], thread->at_start[i]);
}

static __always_inline void enter_counting(struct thread *thread, struct open_call *call)
{
	if (!options.n_counters)
		return;
	count_thread(thread, call->counted_start);
	for (__u32 i = 0; i < TRACE_COUNTERS_MAX; i++) {
		call->counted[i] = thread->inside[i];
		thread->inside[i] = 0;
	}
}

static __always_inline void leave_counting(struct thread *thread, const struct open_call *call,
					   struct trace_call *record)
{
	if (!options.n_counters)
		return;
	__u64 now[TRACE_COUNTERS_MAX];
	count_thread(thread, now);
	for (__u32 i = 0; i < TRACE_COUNTERS_MAX; i++) {
		__u64 whole = since(now[i], call->counted_start[i]);
		record->counted[i] = since(whole, thread->inside[i]);
		thread->inside[i] = call->counted[i] + whole;
	}
}
