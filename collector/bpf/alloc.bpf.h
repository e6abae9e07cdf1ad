/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * alloc: a part of trace.bpf.c that runs at each call of allocation functions, and samples them by bytes:
 * each thread has a countdown of allocated bytes, and the call that brings it to zero is sampled. Countdowns
 * are drawn from an exponential distribution, which is memoryless: the probability that a call is sampled
 * depends only on its size.
 */
#pragma once

const volatile __u32 log_steps[TRACE_LOGS + 1] = { 0 };

/* Sampled blocks that have not been freed, and their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TRACE_BLOCKS_MAX);
	__type(key, struct trace_block_key);
	__type(value, __u64);
} cpprof_blocks SEC(".maps");

/* The binary logarithm of a number that is not 0, in 65536ths. */
static __always_inline __u64 logarithm(__u32 number)
{
	__u32 high = 0, n = number;

	for (int bit = 16; bit; bit >>= 1)
		if (n >> bit) {
			high += (__u32)bit;
			n >>= bit;
		}
	__u64 rest = ((__u64)number << (32 - high)) & 0xffffffff; /* the bits below the highest one */
	__u32 step = (rest >> 24) & (TRACE_LOGS - 1);
	__u64 low = log_steps[step], next = log_steps[step + 1];
	return ((__u64)high << 16) + low + (((next - low) * (rest >> 8 & 0xffff)) >> 16);
}

/* At least 1; on average options.every / ln 2. */
static __always_inline __u64 draw_countdown(void)
{
	__u32 random = bpf_get_prandom_u32();

	return 1 + ((options.every * ((32u << 16) - logarithm(random ? random : 1))) >> 16);
}

static __always_inline __u64 read_return(void *context, __u64 sp)
{
	__u64 address = 0;

	if (!options.is_x86)
		return CONTEXT_WORD(context, 30);
	bpf_probe_read_user(&address, sizeof(address), (void *)sp);
	return address;
}

/* Has one allocation function jumped to another? Then it is the same call, and counted already. */
static __always_inline int is_same_call(void *context, const struct call_key *key, __u64 size,
					struct thread *thread)
{
	__u64 address = read_return(context, key->frame);
	int is_same = thread->last_frame == key->frame && thread->last_size == size &&
		      thread->last_function != key->function && thread->last_return == address;

	thread->last_frame = key->frame;
	thread->last_size = size;
	thread->last_function = key->function;
	thread->last_return = address;
	return is_same;
}

static __always_inline void give_back(__u64 address, __u32 process)
{
	struct trace_block_key key = { address, process, 0 };

	bpf_map_delete_elem(&cpprof_blocks, &key);
}

/* Increasing on each CPU. */
static __always_inline __u64 number_block(void)
{
	return bpf_ktime_get_ns() << 8 | (bpf_get_smp_processor_id() & 255);
}

static __always_inline void send_block(void *context, const struct call_key *key, __u64 size, __u64 pointer,
				       struct trace_count *count)
{
	struct trace_call *record = own_record();

	if (!record) {
		tally(&count->dropped, 1);
		return;
	}
	record->magic = TRACE_MAGIC;
	record->function = key->function;
	record->site = TRACE_ENTRY;
	record->wall = record->off_cpu = record->faults = record->whole_wall = record->ret =
		record->n_hidden = 0;
	record->arg = size;
	record->n_stands = 1;
	record->entry = read_pc(context);
	record->block = number_block();
	if (options.held) {
		struct open_call call = { .start = record->block, .arg = pointer };
		bpf_map_update_elem(&cpprof_open, key, &call, BPF_ANY);
	}
	if (options.hides)
		find_hidden(record, key->frame);
	send(context, record, count);
}

static __always_inline void allocate(void *context, const struct call_key *key, struct trace_grant grant,
				     struct thread *thread, struct trace_count *count)
{
	__u64 size = grant.size == TRACE_GRANT_NONE ? 0 : read_argument(context, grant.size);

	if (options.held && grant.freed != TRACE_GRANT_NONE)
		give_back(read_argument(context, grant.freed), key->process);
	if (grant.count != TRACE_GRANT_NONE)
		size *= read_argument(context, grant.count);
	if (!size || is_same_call(context, key, size, thread))
		return;
	tally(&count->entries, 1);
	tally(&count->bytes, size);
	if (!thread->countdown)
		thread->countdown = draw_countdown();
	if (thread->countdown > size) {
		thread->countdown -= size;
		return;
	}
	thread->countdown = draw_countdown();
	tally(&count->exits, 1);
	send_block(context, key, size,
		   grant.pointer == TRACE_GRANT_NONE ? 0 : read_argument(context, grant.pointer), count);
}

/* At the end of a sampled call: stores the address of the block. */
static __always_inline void hold(void *context, const struct call_key *key, struct trace_count *count)
{
	const struct open_call *call = bpf_map_lookup_elem(&cpprof_open, key);
	struct trace_block_key block = { read_result(context), key->process, 0 };

	if (!call)
		return;
	__u64 number = call->start;
	if (call->arg && bpf_probe_read_user(&block.address, sizeof(block.address), (void *)call->arg))
		block.address = 0;
	bpf_map_delete_elem(&cpprof_open, key);
	/* NULL, or an error number. */
	if (!block.address || block.address > -4096ull)
		return;
	if (bpf_map_update_elem(&cpprof_blocks, &block, &number, BPF_ANY))
		tally(&count->dropped, 1);
}

SEC("kprobe")
int cpprof_alloc(void *context)
{
	__u64 cookie = bpf_get_attach_cookie(context), ids = bpf_get_current_pid_tgid();
	__u32 function = (__u32)(cookie >> 2) & TRACE_FUNCTION_MASK, site = cookie & 3;
	struct call_key key = { read_sp(context), (__u32)(ids >> 32), function };
	struct trace_count *count = bpf_map_lookup_elem(&cpprof_counts, &function);
	struct thread *thread = find_thread((__u32)ids);

	if (!count || !thread)
		return 0;
	if (options.counts) {
		tally(&count->entries, site == TRACE_ENTRY);
		return 0;
	}
	if (site == TRACE_RETURN && options.is_x86)
		key.frame -= 8;
	if (site == TRACE_ENTRY)
		allocate(context, &key, trace_grant_of(cookie), thread, count);
	else
		hold(context, &key, count);
	return 0;
}
