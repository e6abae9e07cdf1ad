/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * pages: the part of deep.bpf.c that reads one page of a stack, and writes it if it has changed.
 */
#pragma once

static __always_inline __u64 hash_round(__u64 lane, __u64 word)
{
	return __builtin_bswap64(lane ^ word) * DEEP_FACTOR;
}

/* As deep_hash() in collector/deep computes it. */
static __always_inline __u64 hash_page(const __u64 *words)
{
	__u64 a = 1, b = 2, c = 3, d = 4, hash;

#pragma clang loop unroll(disable)
	for (int i = 0; i < DEEP_PAGE / 8; i += HASH_RUN) {
		const __u64 *run = words + i;
#pragma unroll
		for (int j = 0; j < HASH_RUN; j += DEEP_LANES) {
			a = hash_round(a, run[j]);
			b = hash_round(b, run[j + 1]);
			c = hash_round(c, run[j + 2]);
			d = hash_round(d, run[j + 3]);
		}
	}
	hash = hash_round(hash_round(hash_round(hash_round(0, a), b), c), d);
	return hash_round(hash_round(hash, 0),
			  0); /* two rounds more, so that the last words reach all bits */
}

/* Into the outline: what the page holds. */
static __always_inline int note_page(struct loop *loop, __u64 index, __u64 hash)
{
	struct deep_outline *outline = bpf_map_lookup_elem(&cpprof_outline, &zero);

	if (!outline)
		return 0;
	outline->hashes[index & (DEEP_PAGES_MAX - 1)] = hash;
	loop->n = index + 1;
	return 1;
}

static __always_inline int is_known(const struct page_key *key, __u64 hash)
{
	const __u64 *known = bpf_map_lookup_elem(&cpprof_known, key);

	return known && *known == hash;
}

/* Has this CPU room left in this window? Takes it. */
static __always_inline int may_write(void)
{
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpprof_cpu, &zero);

	if (!cpu || cpu->n_written >= options.n_written)
		return 0;
	cpu->n_written++;
	return 1;
}

/* A page that is not in memory (never written, or paged out) is a hole. One that finds no room in the ring is
 * not known: it will be tried again. */
static long copy_page(__u64 index, struct loop *loop)
{
	struct deep_page_record *record = bpf_map_lookup_elem(&cpprof_page, &zero);
	struct page_key key = { loop->thread, loop->first + (index << DEEP_PAGE_SHIFT) };
	__u64 hash = DEEP_HOLE;

	if (!record)
		return 1;
	int is_there = bpf_probe_read_user(record->words, DEEP_PAGE, (void *)key.addr) == 0;
	if (is_there)
		hash = hash_page(record->words);
	if (!note_page(loop, index, hash))
		return 1;
	if (!is_there || is_known(&key, hash) || !may_write())
		return 0;
	record->magic = DEEP_MAGIC_PAGE;
	record->addr = key.addr;
	record->hash = hash;
	if (bpf_perf_event_output(loop->context, &cpprof_output, BPF_F_CURRENT_CPU, record,
				  sizeof(*record)) == 0)
		bpf_map_update_elem(&cpprof_known, &key, &hash, BPF_ANY);
	return 0;
}
