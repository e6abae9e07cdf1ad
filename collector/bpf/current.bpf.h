/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * current: the thread in which a BPF program runs: its id, and what it does in the kernel. Part of
 * waits.bpf.c, whose options and types it uses.
 */
#pragma once

/* The ids of the thread in cpprof's pid namespace. */
static __always_inline __u64 current_thread(void)
{
	struct bpf_pidns_info ids;

	if (options.namespace_inode &&
	    bpf_get_ns_current_pid_tgid(options.namespace_device, options.namespace_inode, &ids,
					sizeof(ids)) == 0)
		return (__u64)ids.tgid << 32 | ids.pid;
	return bpf_get_current_pid_tgid();
}

/* Words of struct pt_regs. They are read without a call, which would take longer than all the rest. */
#define X86_DI 14
#define X86_CALL 15
#define X86_PC 16
#define X86_SP 19
#define A64_RETURN 30
#define A64_SP 31
#define A64_PC 32
#define A64_X0 34   /* at the system call */
#define A64_CALL 35 /* a __s32 */

#define X86_FUTEX 202
#define A64_FUTEX 98

static __always_inline const __u64 *registers_of(struct task_struct *task)
{
	return (const __u64 *)bpf_task_pt_regs(task);
}

/* The number of the system call that the thread is in; negative = none. */
static __always_inline __s64 system_call(const __u64 *regs)
{
	return options.is_x86 ? (__s64)regs[X86_CALL] : *(const __s32 *)&regs[A64_CALL];
}

/* The bits of preempt_count for hardware interrupts. Softirqs are not included: data that a thread sends to
 * another one on this machine is delivered in a softirq, at the end of its own system call. */
#define IN_INTERRUPT 0xff0000u

static __always_inline __u32 preempt_count(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	__u32 count = 0;

	if (bpf_core_field_exists(task->thread_info.preempt_count))
		return (__u32)task->thread_info.preempt_count;
	if (options.preempt_count)
		bpf_probe_read_kernel(&count, sizeof(count),
				      (const char *)task->se.cfs_rq->rq + options.preempt_count);
	return count;
}

/* An interrupt may occur in any thread, which then is not the waker. A network softirq that is handled later
 * cannot be distinguished. */
static __always_inline int is_in_system_call(void)
{
	return !(preempt_count() & IN_INTERRUPT) &&
	       system_call(registers_of(bpf_get_current_task_btf())) >= 0;
}

/* The address of the futex if the thread is in a futex system call; otherwise 0. */
static __always_inline __u64 find_futex(void)
{
	const __u64 *regs = registers_of(bpf_get_current_task_btf());

	if (system_call(regs) != (options.is_x86 ? X86_FUTEX : A64_FUTEX))
		return 0;
	return options.is_x86 ? regs[X86_DI] : regs[A64_X0];
}
