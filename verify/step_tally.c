/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_tally: compares and counts.
 */
#include "verify/step_tally.h"

#include <stdlib.h>

const char *step_outcome_name(enum step_outcome outcome)
{
	static const char *const names[OUTCOME_N] = { "exact", "truncated", "wrong", "wrong_complete" };

	return names[outcome];
}

enum step_outcome step_judge(const struct step_truth *truth, const struct stack *stack, size_t *ret_right)
{
	const struct frame *frames = stack->frames.at + stack->n_kernel;
	size_t n = stack->frames.n - stack->n_kernel, right = 0;

	while (right < n && right < truth->pcs.n && frames[right].pc == truth->pcs.at[right])
		right++;
	*ret_right = right;
	if (stack->end == STACK_COMPLETE)
		return right == n && right == truth->pcs.n ? OUTCOME_EXACT : OUTCOME_WRONG_COMPLETE;
	return right == n ? OUTCOME_TRUNCATED : OUTCOME_WRONG;
}

static struct tally_module *module_of(struct tally *tally, image_id image)
{
	for (size_t i = 0; i < tally->modules.n; i++)
		if (tally->modules.at[i].image == image)
			return &tally->modules.at[i];
	vec_push(&tally->modules, ((struct tally_module){ .image = image }));
	return &tally->modules.at[tally->modules.n - 1];
}

static void count_place(struct tally *tally, const struct frame *last, enum step_outcome outcome,
			enum stack_end end)
{
	struct tally_place place = { .image = last ? last->image : IMAGE_NONE,
				     .vaddr = last ? last->vaddr : 0,
				     .count = 1,
				     .is_return = last && last->is_return,
				     .outcome = outcome,
				     .end = end };

	for (size_t i = 0; i < tally->places.n; i++) {
		struct tally_place *p = &tally->places.at[i];

		if (p->image != place.image || p->vaddr != place.vaddr || p->outcome != outcome ||
		    p->end != end)
			continue;
		p->count++;
		return;
	}
	vec_push(&tally->places, place);
}

enum step_outcome tally_add(struct tally *tally, const struct step_truth *truth, const struct stack *stack)
{
	const struct frame *frames = stack->frames.at + stack->n_kernel;
	size_t right, n = stack->frames.n - stack->n_kernel;
	enum step_outcome outcome = step_judge(truth, stack, &right);
	struct tally_module *module = module_of(tally, n ? frames[0].image : IMAGE_NONE);

	tally->samples++;
	tally->frames += truth->pcs.n;
	tally->by_outcome[outcome]++;
	module->samples++;
	module->by_outcome[outcome]++;
	if (outcome == OUTCOME_EXACT)
		return outcome;
	tally->by_end[stack->end]++;
	count_place(tally, right ? &frames[right - 1] : NULL, outcome, stack->end);
	return outcome;
}

static int by_samples(const void *a, const void *b)
{
	const struct tally_module *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static int by_count(const void *a, const void *b)
{
	const struct tally_place *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

void tally_sort(struct tally *tally)
{
	if (tally->modules.n)
		qsort(tally->modules.at, tally->modules.n, sizeof(tally->modules.at[0]), by_samples);
	if (tally->places.n)
		qsort(tally->places.at, tally->places.n, sizeof(tally->places.at[0]), by_count);
}

void tally_done(struct tally *tally)
{
	vec_done(&tally->modules);
	vec_done(&tally->places);
}
