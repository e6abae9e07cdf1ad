/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_blocked: the call paths of threads that were already waiting when sampling began. The kernel has their
 * user registers and its own part of the stack, and their memory can be read. If they have not run meanwhile,
 * these make a complete sample; only the scheduler's own frames are missing, which the kernel leaves out.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collector/bpf/bpf_blocked.h"
#include "collector/live/perf_source_private.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"
#include "collector/record/perf_regs.h"

#define STACK_MOST (256u << 10) /* bytes copied per thread */
#define STACKS_MOST (32u << 20) /* ... and in total */

struct blocked_places {
	struct blocked_threads threads;
	VEC(uint8_t *) stacks; /* by thread; NULL = left out */
	VEC(size_t) lens;
	size_t n_bytes;
	struct map by_tid; /* -> its event in perf_live.before */
};

void blocked_places_free(struct blocked_places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->stacks.n; i++)
		free(places->stacks.at[i]);
	vec_done(&places->stacks);
	vec_done(&places->lens);
	vec_done(&places->threads.at);
	map_done(&places->by_tid);
	free(places);
}

/* ---- registers ---------------------------------------------------------------------------------- */

/* The index in struct pt_regs of each register in the kernel's mask. */
static const uint8_t x86_words[] = {
	10, 5,  11, 12, 13, 14, 4, 19, /* ax bx cx dx si di bp sp */
	16, 18, 17, 20,                /* ip flags cs ss */
	9,  8,  7,  6,  3,  2,  1, 0,  /* r8-r15 */
};
#define X86_WORDS 21

static struct regs blocked_regs(const struct isa *isa, const struct blocked_thread *thread)
{
	uint64_t values[BLOCKED_REGS];

	memcpy(values, thread->regs, sizeof(values)); /* AArch64 has them in the order of the mask */
	for (size_t i = 0; isa->elf_machine == EM_X86_64 && i < ARRAY_LEN(x86_words); i++)
		values[i] = thread->regs[x86_words[i]];
	return perf_regs_read(isa, perf_regs_mask(isa), (struct bytes){ (uint8_t *)values, sizeof(values) });
}

/* ---- stacks ------------------------------------------------------------------------------------- */

/* The copy of one thread's stack, or NULL. */
static uint8_t *blocked_copy(struct perf_live *live, const struct event *waits,
			     const struct blocked_thread *thread, size_t *ret_len)
{
	const struct isa *isa = live->source.info.isa;
	uint64_t sp = blocked_regs(isa, thread).value[isa->sp];
	uint64_t want = stack_tops_clip(live->tops, waits->tid, waits->time_ns, sp, STACK_MOST);
	uint8_t *stack = want ? alloc_zero(want, 1) : NULL;
	ssize_t got = stack ? envoy_read_memory(waits->pid, sp, stack, want) : 0;

	if (got <= 0) {
		free(stack);
		return NULL;
	}
	*ret_len = (size_t)got;
	return stack;
}

static void blocked_copy_all(struct perf_live *live, struct blocked_places *places)
{
	for (size_t i = 0; i < places->threads.at.n; i++) {
		const struct blocked_thread *thread = &places->threads.at.at[i];
		uint32_t at = map_find(&places->by_tid, thread->tid);
		size_t len = 0;
		uint8_t *stack = at != MAP_NONE && places->n_bytes < STACKS_MOST
					 ? blocked_copy(live, &live->before.at[at], thread, &len)
					 : NULL;
		places->n_bytes += len;
		vec_push(&places->stacks, stack);
		vec_push(&places->lens, len);
	}
}

/* Drops threads that have run meanwhile: their registers and their stack may not belong together. */
static void blocked_check(struct blocked_places *places, const struct bpf_blocked *program)
{
	struct blocked_threads again = { 0 };
	struct map switches = { 0 };

	bpf_blocked_read(program, &again);
	for (size_t i = 0; i < again.at.n; i++)
		map_put(&switches, again.at.at[i].tid, (uint32_t)again.at.at[i].n_switches);
	for (size_t i = 0; i < places->stacks.n; i++) {
		const struct blocked_thread *thread = &places->threads.at.at[i];
		if (map_find(&switches, thread->tid) != (uint32_t)thread->n_switches) {
			free(places->stacks.at[i]);
			places->stacks.at[i] = NULL;
		}
	}
	map_done(&switches);
	vec_done(&again.at);
}

/* ---- samples ------------------------------------------------------------------------------------ */

static void blocked_add_samples(struct perf_live *live, const struct blocked_places *places)
{
	for (size_t i = 0; i < places->stacks.n; i++) {
		const struct blocked_thread *thread = &places->threads.at.at[i];
		if (!places->stacks.at[i])
			continue;
		struct event *waits = &live->before.at[map_find(&places->by_tid, thread->tid)];
		struct event event = {
			.kind = EVENT_SAMPLE, .time_ns = waits->time_ns, .pid = waits->pid, .tid = waits->tid
		};
		waits->sw.is_placed = true;
		event.sample.event = (uint32_t)live->events.wait_attr;
		event.sample.weight = 1;
		event.sample.in_kernel = true;
		event.sample.regs = blocked_regs(live->source.info.isa, thread);
		event.sample.stack = (struct bytes){ places->stacks.at[i], places->lens.at[i] };
		event.sample.stack_was_full = places->lens.at[i] == STACK_MOST;
		event.sample.kernel_pc = (const uint64_t *)thread->frames;
		event.sample.n_kernel_pc = (uint32_t)thread->n_frames;
		vec_push(&live->before, event); /* the last one is delivered first */
	}
}

void perf_live_place_waiting(struct perf_live *live)
{
	bool is_x86 = live->source.info.isa->elf_machine == EM_X86_64;
	struct blocked_options options = { .n_regs = is_x86 ? X86_WORDS : BLOCKED_REGS };
	bool can_be = live->before.n && !live->places && perf_waits_number_alike(&live->events.waits);
	struct bpf_blocked *program = can_be ? bpf_blocked_open(&options) : NULL;

	if (!program)
		return;
	struct blocked_places *places = live->places = alloc_zero(1, sizeof(*places));
	for (size_t i = 0; i < live->before.n; i++) {
		map_put(&places->by_tid, (uint64_t)live->before.at[i].tid, (uint32_t)i);
		bpf_blocked_want(program, live->before.at[i].tid);
	}
	if (bpf_blocked_read(program, &places->threads) == 0) {
		blocked_copy_all(live, places);
		blocked_check(places, program);
		blocked_add_samples(live, places);
	}
	bpf_blocked_close(program);
}
