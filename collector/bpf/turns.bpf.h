/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * turns: which waits are sampled if a thread has very many: a random selection, so that a CPU does not get
 * more samples than allowed, shared equally among the threads that wait on it. Part of waits.bpf.c.
 */
#pragma once

/* The number of threads that wait on this CPU in a window. Each gets an equal share of the CPU's samples. */
static __always_inline __u64 count_threads(__u32 window, int is_new)
{
	__u32 zero = 0;
	struct cpu_window *cpu = bpf_map_lookup_elem(&cpprof_window, &zero);

	if (!cpu)
		return 1;
	if (cpu->window != window) {
		cpu->n_last = cpu->window + 1 == window ? cpu->n_threads : 0;
		cpu->n_threads = 0;
		cpu->window = window;
	}
	cpu->n_threads += is_new;
	return cpu->n_last > cpu->n_threads ? cpu->n_last : cpu->n_threads;
}

/*
 * The largest gap between two sampled waits. Gaps are drawn uniformly up to this, so that a thread that
 * alternates between two places is not always sampled in the same one.
 */
static __always_inline __u64 longest_gap(const struct waits_thread *thread, __u64 n_threads)
{
	__u64 n = thread->n_last;

	if (n < thread->n) /* it waits more often than before; how much more is not yet known */
		n = thread->n * n_threads > options.n_sampled ? 8 * thread->n : thread->n;
	return 2 * ((n | 1) * n_threads / (options.n_sampled | 1));
}

static __always_inline __u64 draw_gap(__u64 longest)
{
	return longest ? bpf_get_prandom_u32() % (longest + 1) : 0;
}

/* The window in which a thread started says little about how often it waits: a thousand threads that started
 * together at the end of a window would all be sampled again at the beginning of the next. */
static __always_inline void begin_window(struct waits_thread *thread, __u32 window)
{
	int is_next = thread->window + 1 == window;

	thread->n_last = is_next && !thread->is_partial ? thread->n : 0;
	thread->is_partial = !is_next;
	thread->n = 0;
	thread->window = window;
}

static __always_inline int is_due_by_turn(struct waits_thread *thread, __u64 now)
{
	__u32 window = (__u32)(now >> WAITS_WINDOW_SHIFT);
	int is_new = thread->window != window;

	if (is_new)
		begin_window(thread, window);
	thread->n++;
	if (thread->gap && !is_new) {
		thread->gap--;
		return 0;
	}
	__u64 n_threads = count_threads(window, is_new);
	__u64 longest = longest_gap(thread, n_threads);
	if (thread->gap > longest) /* it waits, or seems to wait, less often than when this was drawn */
		thread->gap = draw_gap(longest);
	if (thread->gap) {
		thread->gap--;
		return 0;
	}
	thread->gap = draw_gap(longest);
	return 1;
}
