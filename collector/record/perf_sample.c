/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_sample: fields in the order in which the kernel writes them. The comment in the kernel's header is
 * wrong about the tail: the page sizes come before the AUX data, and the cgroup before them.
 */
#include "collector/record/perf_sample.h"

#include <linux/perf_event.h>
#include <string.h>

#include "collector/record/perf_regs.h"

/* Newer than the headers we may be built with. */
#define BRANCH_COUNTERS (1ull << 19)           /* PERF_SAMPLE_BRANCH_COUNTERS, Linux 6.8 */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640) /* a cookie follows, not a pc; Linux 6.19 */

/* Callchains and branch stacks as they are in the record; each may be empty. */
struct chains {
	struct bytes ips;      /* u64 each, with context markers between */
	struct bytes branches; /* {u64 from, to, flags}, newest first */
};

enum context { CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_OTHER };

static enum context sample_context_of_marker(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_KERNEL:
		return CONTEXT_KERNEL;
	case PERF_CONTEXT_USER:
		return CONTEXT_USER;
	case CONTEXT_USER_DEFERRED:
	default: /* hypervisor, guests */
		return CONTEXT_OTHER;
	}
}

/* `count` elements of `size` bytes; fails if the record is too short for them. */
static struct bytes sample_read_array(struct reader *r, uint64_t count, size_t size)
{
	if (count > reader_left(r) / size) {
		r->failed = true;
		return (struct bytes){ 0 };
	}
	return read_bytes(r, count * size);
}

/* The times follow the value if there is only one. */
static struct perf_counts sample_read_counts(struct reader *r, uint64_t format)
{
	bool is_group = format & PERF_FORMAT_GROUP;
	struct perf_counts counts = { .n = is_group ? read_u64(r) : 1, .has_ids = format & PERF_FORMAT_ID };
	int more = __builtin_popcountll(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	struct bytes value = is_group ? (struct bytes){ 0 } : read_bytes(r, 8);

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		counts.enabled = read_u64(r);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		counts.running = read_u64(r);
	counts.words = 1 + (uint32_t)more;
	if (is_group) {
		counts.entries = sample_read_array(r, counts.n, 8 * (size_t)counts.words);
		return counts;
	}
	reader_skip(r, 8 * (uint64_t)more);
	counts.entries = value;
	counts.has_ids = false; /* its id is the sample's own */
	return counts;
}

static void sample_read_fixed_fields(struct reader *r, const struct perf_layout *layout,
				     struct perf_record *ret)
{
	uint64_t type = layout->sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		ret->id = read_u64(r);
	if (type & PERF_SAMPLE_IP)
		ret->sample.ip = read_u64(r);
	if (type & PERF_SAMPLE_TID) {
		ret->pid = (pid_t)read_u32(r);
		ret->tid = (pid_t)read_u32(r);
	}
	if (type & PERF_SAMPLE_TIME)
		ret->time_ns = read_u64(r);
	if (type & PERF_SAMPLE_ADDR)
		ret->sample.addr = read_u64(r);
	if (type & PERF_SAMPLE_ID)
		ret->id = read_u64(r);
	if (type & PERF_SAMPLE_STREAM_ID)
		ret->stream = read_u64(r);
	if (type & PERF_SAMPLE_CPU) {
		ret->cpu = read_u32(r);
		reader_skip(r, 4);
	}
	ret->sample.sample.weight = type & PERF_SAMPLE_PERIOD ? read_u64(r) : layout->period;
	ret->has_id = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);
	ret->has_time = type & PERF_SAMPLE_TIME;
	ret->has_cpu = type & PERF_SAMPLE_CPU;
}

static struct bytes sample_read_branches(struct reader *r, const struct perf_layout *layout)
{
	uint64_t count = read_u64(r);

	if (layout->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		read_u64(r);
	struct bytes branches = sample_read_array(r, count, sizeof(struct perf_branch_entry));
	if (layout->branch_sample_type & BRANCH_COUNTERS)
		sample_read_array(r, count, 8);
	return branches;
}

/* Registers of another ABI than the machine's own (a 32-bit task) are of no use: known stays 0. */
static void sample_read_regs(struct reader *r, const struct perf_layout *layout, uint64_t mask,
			     struct regs *ret)
{
	uint64_t abi = read_u64(r);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	struct bytes values = sample_read_array(r, (uint64_t)__builtin_popcountll(mask), 8);
	if (abi == PERF_SAMPLE_REGS_ABI_64)
		*ret = perf_regs_read(layout->isa, mask, values);
}

static void sample_read_stack(struct reader *r, struct sample *ret)
{
	uint64_t size = read_u64(r);

	if (size == 0) /* then the size that was copied is missing, too */
		return;
	struct bytes copy = read_bytes(r, size);
	uint64_t copied = read_u64(r);
	ret->stack = bytes_slice(copy, 0, copied);
	ret->stack_was_full = copied >= size;
}

/* We use none of it, but a record that is cut off here is damaged. */
static void sample_skip_tail(struct reader *r, const struct perf_layout *layout)
{
	const uint64_t words_before_regs = PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;
	const uint64_t words_after_regs = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
					  PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	uint64_t type = layout->sample_type;
	struct regs unused;

	if (type & PERF_SAMPLE_WEIGHT_TYPE) /* one word, whichever of the two was asked for */
		read_u64(r);
	reader_skip(r, 8 * (uint64_t)__builtin_popcountll(type & words_before_regs));
	if (type & PERF_SAMPLE_REGS_INTR)
		sample_read_regs(r, layout, layout->regs_intr, &unused);
	reader_skip(r, 8 * (uint64_t)__builtin_popcountll(type & words_after_regs));
	if (type & PERF_SAMPLE_AUX)
		reader_skip(r, read_u64(r));
}

/* Appends the pcs of one context; `now` is the context before the first marker. */
static size_t sample_copy_context(struct bytes ips, enum context now, enum context wanted, uint64_t *to)
{
	struct reader r = reader_of(ips);
	size_t n = 0;

	while (reader_left(&r) >= 8) {
		uint64_t ip = read_u64(&r);
		if (ip >= (uint64_t)PERF_CONTEXT_MAX)
			now = sample_context_of_marker(ip);
		else if (now == wanted)
			to[n++] = ip;
	}
	return n;
}

/*
 * The calls that had not returned, newest first: the caller is where the branch came from. A caller is given
 * as a return address; the branch gives the call itself, so step over its first byte (x86-64), or over all of
 * it (AArch64): looking up the byte before finds the call either way.
 */
static size_t sample_copy_lbr_stack(struct bytes branches, const struct perf_layout *layout, uint64_t leaf,
				    uint64_t *to)
{
	uint64_t step = layout->isa ? layout->isa->min_insn : 1;
	struct reader r = reader_of(branches);
	size_t n = 0;

	while (reader_left(&r) >= sizeof(struct perf_branch_entry)) {
		uint64_t from = read_u64(&r), target = read_u64(&r);
		reader_skip(&r, 8);
		if (n == 0)
			to[n++] = leaf ? leaf : target;
		to[n++] = from + step;
	}
	return n;
}

/* Where user code was: the sampled address itself or, for interrupted code, what the registers say. */
static uint64_t sample_user_leaf(const struct perf_record *record, const struct perf_layout *layout)
{
	const struct regs *regs = &record->sample.sample.regs;

	if (!record->sample.sample.in_kernel)
		return record->sample.ip;
	return layout->isa && regs_known(regs, layout->isa->pc) ? regs->value[layout->isa->pc] : 0;
}

static void sample_split_chains(const struct chains *chains, const struct perf_layout *layout,
				struct perf_scratch *scratch, struct perf_record *record)
{
	struct sample *sample = &record->sample.sample;
	enum context first = sample->in_kernel ? CONTEXT_KERNEL : CONTEXT_USER;
	uint64_t *kernel = scratch->pc;
	size_t n_kernel = sample_copy_context(chains->ips, first, CONTEXT_KERNEL, kernel);
	bool has_ip = layout->sample_type & PERF_SAMPLE_IP;

	if (n_kernel == 0 && sample->in_kernel && has_ip)
		kernel[n_kernel++] = record->sample.ip;

	uint64_t *user = kernel + n_kernel;
	size_t n_user = 0;
	if (layout->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		n_user = sample_copy_lbr_stack(chains->branches, layout, sample_user_leaf(record, layout),
					       user);
	if (n_user == 0) {
		n_user = sample_copy_context(chains->ips, first, CONTEXT_USER, user);
		sample->has_frame_chain = n_user > 0;
	}
	/* Neither a chain nor registers to make one from: the sampled pc alone is better than nothing. */
	bool has_pc = layout->isa && regs_known(&sample->regs, layout->isa->pc);
	if (n_user == 0 && !sample->in_kernel && !has_pc && has_ip)
		user[n_user++] = record->sample.ip;

	sample->kernel_pc = kernel;
	sample->n_kernel_pc = (uint32_t)n_kernel;
	sample->user_pc = user;
	sample->n_user_pc = (uint32_t)n_user;
}

void perf_sample_read(struct reader *r, const struct perf_layout *layout, struct perf_scratch *scratch,
		      struct perf_record *ret)
{
	uint64_t type = layout->sample_type;
	unsigned mode = ret->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct chains chains = { 0 };

	ret->kind = PERF_KIND_SAMPLE;
	sample_read_fixed_fields(r, layout, ret);
	if (type & PERF_SAMPLE_READ)
		ret->sample.counts = sample_read_counts(r, layout->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		chains.ips = sample_read_array(r, read_u64(r), 8);
	if (type & PERF_SAMPLE_RAW)
		ret->sample.raw = read_bytes(r, read_u32(r));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		chains.branches = sample_read_branches(r, layout);
	if (type & PERF_SAMPLE_REGS_USER)
		sample_read_regs(r, layout, layout->regs_user, &ret->sample.sample.regs);
	if (type & PERF_SAMPLE_STACK_USER)
		sample_read_stack(r, &ret->sample.sample);
	sample_skip_tail(r, layout);
	if (r->failed)
		return;

	if (!(layout->branch_sample_type &
	      PERF_SAMPLE_BRANCH_CALL_STACK)) /* these are not consecutive branches */
		ret->sample.sample.branches = chains.branches;
	ret->sample.sample.cpu = ret->cpu;
	ret->sample.sample.event = layout->event;
	ret->sample.sample.in_kernel = mode == PERF_RECORD_MISC_KERNEL;
	sample_split_chains(&chains, layout, scratch, ret);
}
