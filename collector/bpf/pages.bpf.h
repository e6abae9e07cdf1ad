/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * pages: the part of deep.bpf.c that reads one page of a stack, and writes it if it has changed.
 */
#pragma once

static __always_inline __u64 hash_round(__u64 lane, __u64 word)
{
	return __builtin_bswap64(lane ^ word) * DEEP_FACTOR;
}

/* State of the loop over the words of a page. */
struct hash_loop {
	const struct deep_page_record *page;
	__u64 a, b, c, d;
};

/* A part of a page. The verifier follows a plain loop through all of the page's words, which takes it a
 * millisecond; it follows this function only two or three times. */
static long hash_run(__u64 index, struct hash_loop *loop)
{
	if (index >= DEEP_PAGE / 8 / HASH_RUN)
		return 1;
	const __u64 *run = loop->page->words + index * HASH_RUN;
	__u64 a = loop->a, b = loop->b, c = loop->c, d = loop->d;
#pragma unroll
	for (int i = 0; i < HASH_RUN; i += DEEP_LANES) {
		a = hash_round(a, run[i]);
		b = hash_round(b, run[i + 1]);
		c = hash_round(c, run[i + 2]);
		d = hash_round(d, run[i + 3]);
	}
	loop->a = a;
	loop->b = b;
	loop->c = c;
	loop->d = d;
	return 0;
}

/* As deep_hash() in collector/deep computes it. */
static __always_inline __u64 hash_page(const struct deep_page_record *page)
{
	struct hash_loop loop = { page, 1, 2, 3, 4 };
	__u64 hash;

	bpf_loop(DEEP_PAGE / 8 / HASH_RUN, hash_run, &loop, 0);
	hash = hash_round(hash_round(hash_round(hash_round(0, loop.a), loop.b), loop.c), loop.d);
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
		hash = hash_page(record);
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
