/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/coverage.h"

#include "base/search.h"

void coverage_init(struct coverage *coverage, struct functions *functions, struct vaddr_range window)
{
	*coverage = (struct coverage){ .functions = functions, .window = window };
}

void coverage_done(struct coverage *coverage)
{
	vec_done(&coverage->ranges);
	vec_done(&coverage->reaches);
	map_done(&coverage->by_start);
}

void coverage_functions(const struct coverage *coverage, size_t *ret_first, size_t *ret_end)
{
	const struct functions *functions = coverage->functions;
	const struct vaddr_range window = coverage->window;

	*ret_first = search_first(i, functions->n, functions->at[i].end > window.start);
	*ret_end = search_first_in(i, *ret_first, functions->n, functions->at[i].start >= window.end);
}

static struct coverage_reach coverage_reach_of(struct coverage *coverage, const struct flow *flow)
{
	struct coverage_reach reach = { .first = (uint32_t)coverage->ranges.n };
	struct vaddr_range open = { 0, 0 };

	for (uint32_t i = 0; i < flow->insns.n; i++) {
		uint64_t at = flow->vaddrs.at[i], end = at + flow->insns.at[i].len;
		if (!(flow->flags.at[i] & INSN_REACHED) || (flow->flags.at[i] & INSN_GUESS))
			continue;
		if (open.end == at) {
			open.end = end;
			continue;
		}
		if (open.end)
			vec_push(&coverage->ranges, open);
		open = (struct vaddr_range){ at, end };
	}
	if (open.end)
		vec_push(&coverage->ranges, open);
	reach.n = (uint32_t)coverage->ranges.n - reach.first;
	return reach;
}

void coverage_note(struct coverage *coverage, const struct flow *flow)
{
	struct coverage_reach reach = coverage_reach_of(coverage, flow);

	for (uint32_t i = 0; i < flow->parts.at[0].n; i++)
		if (flow->flags.at[i] & INSN_REACHED)
			reach.end = flow->vaddrs.at[i] + flow->insns.at[i].len;
	map_put(&coverage->by_start, flow->parts.at[0].start, (uint32_t)coverage->reaches.n);
	vec_push(&coverage->reaches, reach);
}

static void coverage_cover(struct coverage *coverage, const struct coverage_reach *reach)
{
	for (uint32_t k = 0; k < reach->n; k++) {
		const struct vaddr_range *range = &coverage->ranges.at[reach->first + k];
		evidence_add_range(coverage->functions, EVIDENCE_COVERED, range->start, range->end);
	}
}

void coverage_add(struct coverage *coverage, const struct flow *flow)
{
	struct coverage_reach reach = coverage_reach_of(coverage, flow);

	coverage_cover(coverage, &reach);
}

static void coverage_clear(struct coverage *coverage)
{
	struct functions_private *p = coverage->functions->private;

	for (size_t i = 0; i < p->text.n; i++) {
		const struct text_range *range = &p->text.at[i];
		uint64_t start =
			range->start > coverage->window.start ? range->start : coverage->window.start;
		uint64_t end = range->end < coverage->window.end ? range->end : coverage->window.end;
		if (start < end)
			evidence_uncover(range, start, end);
	}
}

void coverage_apply(struct coverage *coverage)
{
	struct functions *functions = coverage->functions;
	size_t first, end;

	coverage_clear(coverage);
	coverage_functions(coverage, &first, &end);
	for (size_t i = first; i < end; i++) {
		struct function *f = &functions->at[i];
		uint32_t index = map_find(&coverage->by_start, f->start);
		if (!function_is_inferred(f))
			evidence_add_range(functions, EVIDENCE_COVERED, f->start, f->end);
		if (index == MAP_NONE)
			continue;
		const struct coverage_reach *reach = &coverage->reaches.at[index];
		bool is_open = function_is_inferred(f) && !(f->sources & FROM_FILL);
		if (is_open && reach->end > f->start && reach->end < f->end)
			f->end = reach->end;
		coverage_cover(coverage, reach);
	}
}
