/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_used: what walks needed of the copied memory determines how much is copied next.
 */
#include "collector/live/perf_source_private.h"

#define HURRY_NS 2000000000ull /* after the last walk through code that is in no file */

void perf_source_stack_used(struct source *source, const struct event *event,
			    const struct perf_stack_use *used)
{
	struct perf_live *live = perf_live_of(source);
	const struct sample *sample = &event->sample;
	const struct isa *isa = source->info.isa;
	struct deep_use use = { .sp = sample->regs.value[isa->sp],
				.pc = sample->n_kernel_pc ? 0 : sample->regs.value[isa->pc],
				.n_copied = sample->n_deep,
				.is_cut_off = used->is_cut_off,
				.hint = used->elsewhere };
	struct deep_limit limit;

	if (used->has_jit)
		live->pace.hurry_until_ns = event->time_ns + HURRY_NS;
	if (live->events.probe.program && !live->events.deep.program && used->is_cut_off)
		perf_probe_deepen(&live->events.probe, sample->stack.len, PERF_STACK_MAX);
	/* A snapshot that was not filled reached the end of the stack. */
	if (!live->events.deep.program || (!sample->n_deep && !sample->stack_was_full && !use.hint))
		return;
	if (sample->n_deep)
		use.thread = sample->deep_thread;
	if (sample->n_deep && used->reach > sample->deep_start)
		use.n_needed = (used->reach - sample->deep_start + STACK_PAGE - 1) / STACK_PAGE;
	use.place = deep_place_key(use.thread ? use.thread : (uint64_t)event->pid << 32, use.sp);
	if (!deep_needs_note(live->needs, event->tid, &use, &limit))
		return;
	if (limit.hint)
		perf_deep_hint(&live->events.deep, limit.key, limit.hint);
	else
		perf_deep_limit(&live->events.deep, limit.key, &limit.n_pages);
}
