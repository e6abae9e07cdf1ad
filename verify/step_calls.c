/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/step_calls.h"

/* Frame i, counted from the outermost one. */
static uint64_t step_call_of(const struct step_truth *truth, size_t i)
{
	return truth->calls.at[truth->calls.n - 1 - i];
}

static void step_calls_count(struct step_calls *calls, const struct step_truth *truth, size_t n_same)
{
	for (size_t i = 0; i < truth->calls.n; i++) {
		bool is_new = i >= calls->last_calls.n || calls->last_calls.at[i] != step_call_of(truth, i);
		calls->n_new += is_new;
		calls->n_found += is_new && i >= n_same;
		calls->n_wrong += !is_new && i >= n_same;
	}
}

void step_calls_add(struct step_calls *calls, const struct step_truth *truth, const struct stack *stack)
{
	if (!activations_take(&calls->last, stack))
		return;
	size_t n_said = activations_meet(&calls->last, stack);
	if (calls->last_calls.n)
		step_calls_count(calls, truth, truth->calls.n - n_said);
	vec_clear(&calls->last_calls);
	for (size_t i = 0; i < truth->calls.n; i++)
		vec_push(&calls->last_calls, step_call_of(truth, i));
}

void step_calls_forget(struct step_calls *calls)
{
	activations_done(&calls->last);
	vec_clear(&calls->last_calls);
}

void step_calls_done(struct step_calls *calls)
{
	step_calls_forget(calls);
	vec_done(&calls->last_calls);
}
