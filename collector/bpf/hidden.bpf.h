/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * hidden: the part of deep.bpf.c that reports what probes of other tools hide from a sample: return
 * addresses, and the true pc of the thread.
 */
#pragma once

static __always_inline __u64 read_kernel(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

static __always_inline void write_hidden(void *context, __u64 sp, __u64 task)
{
	__u64 it = options.members.next ? read_kernel(task + options.members.instances) : 0, n = 0;

	if (!it)
		return;
	struct deep_hidden *record = bpf_map_lookup_elem(&cpprof_hidden, &zero);
	if (!record)
		return;
	for (int i = 0; i < DEEP_HIDDEN_MAX && it; i++) {
		record->of[i].stack = read_kernel(it + options.members.stack);
		record->of[i].address = read_kernel(it + options.members.address);
		it = read_kernel(it + options.members.next);
		n = i + 1;
	}
	record->magic = DEEP_MAGIC_HIDDEN;
	record->sp = sp;
	record->n = n;
	if (n <= DEEP_HIDDEN_MAX)
		bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, record,
				      __builtin_offsetof(struct deep_hidden, of) + 16 * n);
}

/* Has the kernel replaced the return address of a function that was just entered, and not yet recorded the
 * true one? */
static __always_inline int is_in_between(__u64 sp, __u64 task)
{
	__u64 ra = 0, own, last;

	if (!options.members.own)
		return 0;
	own = read_kernel((__u64)bpf_get_current_task() + options.members.space);
	own = read_kernel(own + options.members.probes);
	own = own ? read_kernel(own + options.members.own) : 0;
	if (options.is_x86)
		bpf_probe_read_user(&ra, sizeof(ra), (void *)sp);
	else
		ra = entry_registers()[30];
	last = read_kernel(task + options.members.instances);
	return own && ra == own && (!last || read_kernel(last + options.members.stack) != sp);
}

static __always_inline void copy_registers(void *context, struct deep_nearby *record)
{
	if (options.is_x86) {
#pragma unroll
		for (int i = 0; i < 15; i++)
			record->words[i] = CONTEXT_WORD(context, i);
	} else {
#pragma unroll
		for (int i = 0; i < DEEP_NEARBY_REGS; i++)
			record->words[i] = CONTEXT_WORD(context, i);
	}
}

/* The context has the registers of the kernel. */
static __always_inline void write_nearby(void *context, __u64 sp)
{
	__u64 own_sp = options.is_x86 ? CONTEXT_WORD(context, 19) : CONTEXT_WORD(context, 31);
	struct deep_nearby *record = bpf_map_lookup_elem(&cpprof_nearby, &zero);

	if (!record)
		return;
	__builtin_memset(record->words, 0, sizeof(record->words));
	copy_registers(context, record);
	bpf_probe_read_kernel(&record->words[DEEP_NEARBY_REGS], 8 * DEEP_NEARBY_STACK, (void *)own_sp);
#pragma clang loop unroll(disable)
	for (int i = 0; i < DEEP_NEARBY_REGS + DEEP_NEARBY_STACK; i++)
		if (record->words[i] >> 48)
			record->words[i] = 0;
	record->magic = DEEP_MAGIC_NEARBY;
	record->sp = sp;
	bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, record, sizeof(*record));
}

/* Between the traps before and after a copied instruction, also in the kernel. */
static __always_inline void write_stepped(void *context, __u64 sp, __u64 task)
{
	struct deep_stepped record = { .magic = DEEP_MAGIC_STEPPED, .sp = sp };

	record.copy = options.members.copy ? read_kernel(task + options.members.copy) : 0;
	if (!record.copy)
		return;
	record.place = read_kernel(task + options.members.place);
	bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, &record, sizeof(record));
}

/* Usually there is nothing to do, because the process has no probes. in_kernel: the context has the registers
 * of the kernel. */
static __always_inline void write_probes(void *context, __u64 sp, int in_kernel)
{
	const struct task_struct *thread = (const void *)bpf_get_current_task();
	__u64 task = bpf_core_field_exists(thread->utask) ? (__u64)BPF_CORE_READ(thread, utask) : 0;

	if (!task)
		return;
	write_hidden(context, sp, task);
	write_stepped(context, sp, task);
	if (in_kernel && is_in_between(sp, task))
		write_nearby(context, sp);
}
