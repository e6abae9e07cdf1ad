/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse_one: analyses one function until all assumptions about its callees are correct.
 *
 * Which registers a callee changes is computed only if a caller depends on it, which is found out while the
 * caller is analysed. The analysis then continues under the assumption that the callee preserves them, so
 * that one run finds all questions. Few functions have any (about a dozen of the thousands in libcrypto), so
 * few are analysed twice.
 */
#include "binary/flow/flow.h"
#include "binary/functions/function_private.h"

#define MAX_ROUNDS 8 /* with new questions each; two were always enough */

/* Answers all questions of the analysis. True if all assumptions were correct. */
static bool analyse_one_answer(struct functions *functions, const struct flow *flow)
{
	bool holds = true;

	for (size_t i = 0; i < flow->questions.n; i++) {
		const struct flow_question *question = &flow->questions.at[i];
		uint64_t start = functions->at[question->callee].start;
		holds &= !(functions_clobbers(functions, start) & question->kept);
	}
	return holds;
}

void functions_analyse_one(struct functions *functions, uint32_t index, struct flow *flow)
{
	unsigned round = 0;

	do {
		flow->asks_nothing = round++ == MAX_ROUNDS;
		flow_analyse(flow, index);
	} while (!analyse_one_answer(functions, flow));
}

void functions_analyse_range(struct functions *functions, uint64_t start, uint64_t end, struct flow *flow)
{
	unsigned round = 0;

	do {
		flow->asks_nothing = round++ == MAX_ROUNDS;
		flow_analyse_range(flow, start, end);
	} while (!analyse_one_answer(functions, flow));
}

void functions_analyse_alone(struct functions *functions, uint32_t index, struct flow *flow)
{
	functions_analyse_one(functions, index, flow);
	if (functions_learn_returns(functions, flow))
		functions_analyse_one(functions, index, flow);
}
