/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * paths: a part of trace.bpf.c that recognises known call paths. cpprof has unwound a stack and passes the
 * registers and words that the result depended on; if they are the same now, so is the path, and the call is
 * counted here.
 */
#pragma once

__u64 paths_generation; /* paths of earlier generations are no longer valid */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct trace_path_key);
	__type(value, struct trace_path);
} cpprof_paths SEC(".maps");
/* A path belongs to one thread, so two CPUs never update one entry at the same time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_PATHS_MAX);
	__type(key, __u32);
	__type(value, struct trace_sums);
} cpprof_sums SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, struct trace_class_key);
	__type(value, __u64);
} cpprof_classes SEC(".maps");

static __always_inline __u64 read_fp(void *context)
{
	return options.is_x86 ? CONTEXT_WORD(context, 4) : CONTEXT_WORD(context, 29);
}

static __always_inline int is_known_path(void *context, const struct call_key *key, __u32 *ret_number)
{
	struct trace_path_key path_key = { read_sp(context), (__u32)bpf_get_current_pid_tgid(),
					   key->function };
	const struct trace_path *path = bpf_map_lookup_elem(&cpprof_paths, &path_key);

	if (!path || path->generation != paths_generation || path->pc != read_pc(context) ||
	    (path->uses_fp && path->fp != read_fp(context)) ||
	    (!options.is_x86 && path->uses_ra && path->ra != CONTEXT_WORD(context, 30)))
		return 0;
	for (__u32 i = 0; i < TRACE_PATH_WORDS; i++) {
		__u64 word = 0;
		if (i >= path->n_words)
			break;
		if (bpf_probe_read_user(&word, sizeof(word), (void *)path->words[i].addr) ||
		    word != path->words[i].value)
			return 0;
	}
	*ret_number = path->number;
	return 1;
}

/* See base/log_scale.h. */
static __always_inline __u32 class_of(__u64 number)
{
	__u32 high = 0;
	__u64 n = number;

	if (number < 16)
		return (__u32)number;
	for (int bit = 32; bit; bit >>= 1)
		if (n >> bit) {
			high += (__u32)bit;
			n >>= bit;
		}
	return (high - 3) * 16 + (__u32)(number >> (high - 4) & 15);
}

/* 0 if there is no room. */
static __always_inline int count_call(const struct trace_call *record, __u32 number)
{
	struct trace_class_key key = { number, class_of(record->whole_wall) };
	struct trace_sums *sums = bpf_map_lookup_elem(&cpprof_sums, &number);
	__u64 *n = bpf_map_lookup_elem(&cpprof_classes, &key), none = 0, stands = record->n_stands;

	if (!n) {
		bpf_map_update_elem(&cpprof_classes, &key, &none, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&cpprof_classes, &key);
	}
	if (!n || !sums)
		return 0;
	*n += stands;
	if (!sums->seen || record->whole_wall < sums->least)
		sums->least = record->whole_wall;
	if (record->whole_wall > sums->most)
		sums->most = record->whole_wall;
	sums->seen++;
	sums->calls += stands;
	sums->wall += record->wall * stands;
	sums->off_cpu += (record->off_cpu < record->wall ? record->off_cpu : record->wall) * stands;
	sums->faults += record->faults * stands;
	sums->arg += record->arg * stands;
	sums->ret += (__s64)record->ret > 0 ? record->ret * stands : 0;
	sums->duration += record->whole_wall * stands;
	for (__u32 i = 0; i < options.n_counters && i < TRACE_COUNTERS_MAX; i++)
		sums->counted[i] += record->counted[i] * stands;
	return 1;
}
