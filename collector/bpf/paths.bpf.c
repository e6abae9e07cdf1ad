/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * paths: runs in the kernel at the branches of chosen functions, and counts the execution paths through them
 * (in the code: ways). The registers tell whether a branch will be taken.
 *
 * A call is identified by its process, its function and its frame (the CFA), so recursive calls and signal
 * handlers are told apart. Each probe knows which one follows on every path. If another one follows, the path
 * was left by other means (longjmp, for example): it is not counted as a path, but as dropped.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "collector/bpf/paths_branch.h"

#define OPEN_CALLS 65536

/* Some of the kernel's functions used here are available only to programs under its own licence. */
char cpprof_license[] SEC("license") = "GPL";

const volatile struct paths_options options = { 0 };
/* Probes are set and removed one after the other: nothing is counted unless all of them are set. */
__u32 is_open;

enum way_state {
	WAY_PARTIAL, /* it began before there were probes */
	WAY_WHOLE,
	WAY_DROPPED, /* it did not continue where it had to */
};
struct call_key {
	__u64 frame;
	__u32 process, function;
};
struct call {
	__u64 caller;
	__u32 number, expect;
	__u32 state; /* enum way_state, of the current path */
	__u32 goes_to_entry;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OPEN_CALLS);
	__type(key, struct call_key);
	__type(value, struct call);
} cpprof_calls SEC(".maps");
/* Its size is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct paths_probe);
} cpprof_probes SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct paths_arrival);
	__type(value, struct paths_action);
} cpprof_arrivals SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PATHS_COUNTED_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct paths_key);
	__type(value, __u64);
} cpprof_counted SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct paths_stats);
} cpprof_stats SEC(".maps");

/* ---- registers ---------------------------------------------------------------------------------------- */

#define X86_FLAGS 18
#define A64_FLAGS 33
#define X86_SP 19
#define X86_PC 16
#define A64_PC 32
#define A64_LINK 30

static __always_inline __u64 read_word(void *context, __u32 word)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (char *)context + 8 * (word & 63));
	return value;
}

static __always_inline int is_taken(void *context, const struct paths_probe *probe)
{
	if (probe->test == PATHS_BY_FLAGS)
		return options.is_x86 ? branch_by_x86(read_word(context, X86_FLAGS), probe->condition)
				      : branch_by_a64(read_word(context, A64_FLAGS), probe->condition);
	return branch_by_register(probe, read_word(context, probe->reg));
}

static __always_inline __u64 read_caller(void *context)
{
	__u64 address = 0;

	if (!options.by_caller)
		return 0;
	if (options.is_x86)
		bpf_probe_read_user(&address, sizeof(address), (const void *)read_word(context, X86_SP));
	else
		address = read_word(context, A64_LINK);
	return address - read_word(context, options.is_x86 ? X86_PC : A64_PC);
}

/* Adds to a value of this CPU; atomic, because another thread may have been preempted while doing so. */
static __always_inline void tally(__u64 *sum, __u64 n)
{
	__sync_fetch_and_add(sum, n);
}

/* ---- ways --------------------------------------------------------------------------------------------- */

static __always_inline void count(const struct call_key *key, const struct call *call, __u32 number,
				  struct paths_stats *stats)
{
	struct paths_key at = { call->caller, key->function, number };
	__u64 *counted = bpf_map_lookup_elem(&cpprof_counted, &at), zero = 0;

	if (call->state != WAY_WHOLE) {
		tally(&stats->partial, call->state == WAY_PARTIAL);
		return;
	}
	if (!counted) {
		bpf_map_update_elem(&cpprof_counted, &at, &zero, BPF_NOEXIST);
		counted = bpf_map_lookup_elem(&cpprof_counted, &at);
	}
	if (counted)
		__sync_fetch_and_add(counted, 1);
	else
		tally(&stats->full, 1);
}

/* False if the call is over. */
static __always_inline int act(const struct call_key *key, struct call *call,
			       const struct paths_action *action, struct paths_stats *stats)
{
	__u32 number = call->number + action->add;

	if (action->end == PATHS_GOES_ON) {
		call->number = number;
	} else {
		count(key, call, number, stats);
		call->number = action->next;
		call->state = WAY_WHOLE;
	}
	call->expect = action->expect;
	call->goes_to_entry = action->goes_to_entry;
	return action->end != PATHS_LEAVES;
}

/* A new path begins; the previous one is given up. */
static __always_inline void begin(struct call *call, const struct paths_action *action)
{
	call->number = action->next;
	call->expect = action->expect;
	call->goes_to_entry = action->goes_to_entry;
	call->state = WAY_WHOLE;
}

/* False if the call is over. */
static __always_inline int arrive(const struct call_key *key, const struct paths_probe *probe,
				  struct call *call, struct paths_stats *stats)
{
	struct paths_arrival arrival = { key->function, call->expect, probe->block };
	const struct paths_action *action = bpf_map_lookup_elem(&cpprof_arrivals, &arrival);

	return !action || act(key, call, action, stats);
}

/* At a landing pad. False if the call is over. */
static __always_inline int land(const struct call_key *key, const struct paths_probe *probe,
				struct call *call, struct paths_stats *stats)
{
	tally(&stats->dropped, call->state == WAY_WHOLE);
	begin(call, &probe->entry);
	if (probe->entry.end != PATHS_LEAVES)
		return 1;
	count(key, call, call->number, stats);
	return 0;
}

static __always_inline void enter(void *context, const struct call_key *key, const struct paths_probe *probe,
				  struct call *known, struct paths_stats *stats)
{
	struct call call = { .caller = read_caller(context) };

	if (known && known->goes_to_entry) {
		known->goes_to_entry = 0;
		return;
	}
	if (known && known->state == WAY_WHOLE)
		tally(&stats->dropped, 1);
	begin(&call, &probe->entry);
	/* A function without a branch has one path: it is counted here. */
	if (probe->entry.end == PATHS_LEAVES)
		count(key, &call, call.number, stats);
	else
		bpf_map_update_elem(&cpprof_calls, key, &call, BPF_ANY);
}

static __always_inline void choose(void *context, const struct call_key *key, const struct paths_probe *probe,
				   struct call *call, struct paths_stats *stats)
{
	const struct paths_action *action =
		probe->stages & PATHS_PASS || is_taken(context, probe) ? &probe->way[0] : &probe->way[1];

	if (call->expect != probe->block && call->state == WAY_WHOLE) {
		tally(&stats->dropped, 1);
		call->state = WAY_DROPPED;
	}
	if (!act(key, call, action, stats))
		bpf_map_delete_elem(&cpprof_calls, key);
}

SEC("kprobe")
int cpprof_paths(void *context)
{
	__u32 number = (__u32)bpf_get_attach_cookie(context), zero = 0;
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	const struct paths_probe *probe = bpf_map_lookup_elem(&cpprof_probes, &number);
	struct paths_stats *stats = bpf_map_lookup_elem(&cpprof_stats, &zero);

	if (!probe || !stats || (options.process && options.process != process))
		return 0;
	tally(&stats->hits, 1);
	if (!*(volatile __u32 *)&is_open)
		return 0;
	struct call_key key = { read_word(context, probe->cfa_reg) + probe->cfa_offset, process,
				probe->function };
	struct call *call = bpf_map_lookup_elem(&cpprof_calls, &key);

	if (call && probe->stages & PATHS_ARRIVAL && !arrive(&key, probe, call, stats)) {
		bpf_map_delete_elem(&cpprof_calls, &key);
		return 0;
	}
	if (call && probe->stages & PATHS_PAD && !land(&key, probe, call, stats)) {
		bpf_map_delete_elem(&cpprof_calls, &key);
		return 0;
	}
	if (probe->stages & PATHS_ENTRY) {
		enter(context, &key, probe, call, stats);
		call = bpf_map_lookup_elem(&cpprof_calls, &key);
	}
	if (!(probe->stages & (PATHS_BRANCH | PATHS_PASS)))
		return 0;
	if (!call) { /* it was entered before the probes were set */
		struct call fresh = { .expect = probe->block };
		bpf_map_update_elem(&cpprof_calls, &key, &fresh, BPF_ANY);
		call = bpf_map_lookup_elem(&cpprof_calls, &key);
	}
	if (call)
		choose(context, &key, probe, call, stats);
	return 0;
}
