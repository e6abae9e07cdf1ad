/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * below: the part of deep.bpf.c that copies the red zone: what a function of x86-64 keeps below sp. OpenSSL's
 * SHA-512 keeps the address of its frame there, and its unwind entry says so.
 */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct deep_below);
} cpprof_below SEC(".maps");

static __always_inline void write_below(void *context, __u64 sp)
{
	struct deep_below *below = bpf_map_lookup_elem(&cpprof_below, &zero);

	if (!below)
		return;
	below->magic = DEEP_MAGIC_BELOW;
	below->sp = sp;
	if (bpf_probe_read_user(below->words, DEEP_BELOW, (void *)(sp - DEEP_BELOW)) == 0)
		bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, below, sizeof(*below));
}
