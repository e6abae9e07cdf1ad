/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse_one: one function, analysed until all that was assumed of its callees holds.
 *
 * Which registers a callee changes is worked out only when a caller depends on it, and that is found out
 * while the caller is analysed. The analysis then goes on as if the callee left them alone, so that one run
 * finds all questions. Few functions have any (a dozen of the thousands in libcrypto), so few are analysed
 * twice.
 */
#include "binary/flow/flow.h"
#include "binary/functions/function_private.h"

#define MAX_ROUNDS 8 /* with new questions each; two were enough everywhere */

/* Answers what the analysis asked, all of it. True if everything is as it was assumed. */
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
