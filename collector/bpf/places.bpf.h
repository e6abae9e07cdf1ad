/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * places: where threads have waited for much longer than they usually do. Part of waits.bpf.c.
 *
 * Whether a wait is sampled is decided when it begins, so most samples of a thread are of its most frequent
 * waits. Only the end of a wait shows that it was long; but then the thread is still in the same system call,
 * with the same registers. So a long wait that was not sampled is counted for its place, and the next wait in
 * that place is sampled. Preemptions have a place of their own: they can happen anywhere.
 */
#pragma once

#define KEY_PREEMPTED 1
#define KEY_NO_CALL 2 /* a page fault, or the like: at any instruction */
#define KEY_UNSEEN 3  /* its end was not reported: the system call may be another one by now */
#define KEY_FIRST 4

/* A number for the place in which a thread waits. x86-64 has no register with the return address. */
static __always_inline __u32 place_key(const __u64 *regs, int is_preempted)
{
	__u64 hash;

	if (is_preempted)
		return KEY_PREEMPTED;
	if (system_call(regs) < 0)
		return KEY_NO_CALL;
	if (options.is_x86)
		hash = regs[X86_PC] ^ regs[X86_SP] << 20;
	else
		hash = regs[A64_PC] ^ regs[A64_SP] << 20 ^ regs[A64_RETURN] << 7;
	__u32 key = (__u32)(hash * 0x9e3779b97f4a7c15ull >> 32);
	return key < KEY_FIRST ? KEY_FIRST : key;
}

/* Finds a place of the thread, or adds it; 0 = there is no room for it. */
static __always_inline struct waits_place *find_place(struct waits_thread *thread, __u32 key)
{
	__u32 hash = thread->number * 0x9e3779b1u ^ key;

#pragma unroll
	for (int i = 0; i < PROBES; i++) {
		__u32 slot = (hash + (__u32)i) % WAITS_PLACES_MAX;
		struct waits_place *place = &places[slot];
		if (place->number == thread->number && place->key == key)
			return place;
		if (place->number && place->number != WAITS_GONE)
			continue;
		if (thread->n_places >= WAITS_PLACES_OF_THREAD)
			return 0;
		*place = (struct waits_place){ .number = thread->number, .key = key, .next = thread->places };
		thread->places = slot + 1;
		thread->n_places++;
		return place;
	}
	return 0;
}

#define LOOKED_AFTER \
	65536 /* waits, to find the next one in the same place: looking at one takes some 10 ns */

/* Is this wait long for the thread? The usual length is adapted slowly. */
static __always_inline int is_long(struct waits_thread *thread, __u64 ns)
{
	if (ns / WAITS_LONG > thread->usual) {
		thread->usual += (thread->usual >> 3) + 1;
		return 1;
	}
	thread->usual += (__u64)((__s64)(ns - thread->usual) >> 3);
	return 0;
}

/* A thread is back from a long wait, and still in the same system call, or was preempted. */
static __always_inline void end_apart(void *context, struct waits_thread *thread, struct task_struct *task,
				      const struct waits_sum *wait, __u64 now)
{
	__u32 key = place_key(registers_of(task), (int)thread->is_preempted);
	struct waits_place *place = find_place(thread, key);
	__u32 window = (__u32)(now >> WAITS_WINDOW_SHIFT);

	if (!place) {
		end_usual(context, thread, wait);
		return;
	}
	place->thread = thread->thread;
	add_wait(&place->sum, wait);
	if (thread->sampled) {
		place->window = window;
		send(context, thread, &place->sum, wait, 0, key);
		return;
	}
	/* Once in a window is enough; and where it has waited for longest is wanted most. */
	if (place->window == window || (thread->wanted && thread->wanted_ns > place->sum.ns))
		return;
	thread->wanted = key;
	thread->wanted_ns = place->sum.ns;
	thread->n_wanted = LOOKED_AFTER;
}

/* A sampled wait that must not represent others: it was not chosen at random, but because of its place, and
 * is not long; or its place is not known any more. */
static __always_inline void end_alone(void *context, struct waits_thread *thread,
				      const struct waits_sum *wait)
{
	struct waits_sum own = { 0 };

	add_wait(&own, wait);
	send(context, thread, &own, wait, 0, 0);
	if (own.n) /* the ring is full */
		add_wait(&thread->sum, wait);
}

/*
 * The thread is back from a wait, but this is known only now that it leaves its CPU again, or ends: not every
 * kernel reports every switch. The scheduler knows when it came back.
 */
static __always_inline void end_unseen(void *context, struct waits_thread *thread,
				       const struct task_struct *task)
{
	__u64 back = task->sched_info.last_arrival;
	struct waits_sum wait = { .ns = back > thread->since ? back - thread->since : 0,
				  .runnable = task->sched_info.run_delay - thread->delayed };

	thread->since = 0;
	if (thread->sampled) {
		end_alone(context, thread, &wait);
		end_sample(thread);
		return;
	}
	struct waits_place *place = find_place(thread, KEY_UNSEEN);
	if (place)
		place->thread = thread->thread;
	add_wait(place ? &place->sum : &thread->sum, &wait);
}
