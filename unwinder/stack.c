/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/stack.h"

#include "base/bytes.h"

const char *stack_end_name(enum stack_end end)
{
	static const char *const names[] = {
		[STACK_COMPLETE] = "complete",
		[STACK_NO_IMAGE] = "no_image",
		[STACK_NO_RECIPE] = "no_recipe",
		[STACK_BAD_READ] = "bad_read",
		[STACK_NO_PROGRESS] = "no_progress",
		[STACK_INVALID_STEP] = "invalid_step",
		[STACK_SNAPSHOT_ENDED] = "snapshot_ended",
		[STACK_TOO_DEEP] = "too_deep",
		[STACK_NO_USER_REGS] = "no_user_regs",
	};

	_Static_assert(ARRAY_LEN(names) == STACK_END_N, "every end has a name");
	return (unsigned)end < ARRAY_LEN(names) ? names[end] : "?";
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = { "invalid", "likely", "valid" };

	return (unsigned)verdict < ARRAY_LEN(names) ? names[verdict] : "?";
}

void stack_clear(struct stack *stack)
{
	vec_clear(&stack->frames);
	stack->n_kernel = stack->n_shared = stack->n_same = 0;
	stack->is_new_inside = false;
	stack->has_callee = false;
	stack->serial = stack->shared_serial = stack->reach = stack->elsewhere = 0;
	stack->has_jit = false;
	stack->end = STACK_NO_USER_REGS;
}

void stack_done(struct stack *stack)
{
	vec_done(&stack->frames);
	*stack = (struct stack){ 0 };
}
