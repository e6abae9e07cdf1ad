/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * blocked: iterates over all threads, and for each requested thread that is waiting in the kernel writes its
 * registers and its kernel stack. It runs at the start of a recording, for waits that began before it.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "collector/bpf/blocked_layout.h"

/* Some of the helpers used here are available only to programs under the kernel's licence. */
char cpprof_license[] SEC("license") = "GPL";

const volatile struct blocked_options options = { 0 };

/* Members of kernel structures; the loader fills in their offsets. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct task_struct {
	int pid;
	unsigned int __state;
	unsigned long nvcsw, nivcsw;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
/* Before Linux 5.14. */
struct task_struct___old {
	volatile long state;
};
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLOCKED_THREADS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_wanted SEC(".maps");
/* Room for one: it is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct blocked_thread);
} cpprof_scratch SEC(".maps");

#define SLEEPS 3 /* TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE */

static __always_inline int is_asleep(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return (task->__state & SLEEPS) != 0;
	return (((const struct task_struct___old *)task)->state & SLEEPS) != 0;
}

SEC("iter/task")
int cpprof_blocked(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	__u32 zero = 0;

	if (!task || !is_asleep(task))
		return 0;
	__u32 tid = (__u32)task->pid;
	struct blocked_thread *thread = bpf_map_lookup_elem(&cpprof_scratch, &zero);
	if (!thread || !bpf_map_lookup_elem(&cpprof_wanted, &tid))
		return 0;
	thread->tid = tid;
	thread->n_switches = task->nvcsw + task->nivcsw;
	__u64 n_regs = options.n_regs < BLOCKED_REGS ? options.n_regs : BLOCKED_REGS;
	if (bpf_probe_read_kernel(thread->regs, n_regs * 8, (const void *)bpf_task_pt_regs(task)) < 0)
		return 0;
	long size = bpf_get_task_stack(task, thread->frames, sizeof(thread->frames), 0);
	thread->n_frames = size > 0 ? (__u64)size / 8 : 0;
	bpf_seq_write(context->meta->seq, thread, sizeof(*thread));
	return 0;
}
