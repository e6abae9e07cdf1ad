/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse: analyses every function of an image, in the order that decides which function owns which part:
 * first what is certainly a function, then what is pointed to, then what is not jumped into, then the rest.
 * If a function turns out not to return, its callers are analysed again. Therefore functions without a return
 * instruction are analysed first, so that few callers have to be repeated.
 */
#include "binary/flow/flow.h"
#include "binary/functions/function_private.h"

#include <stdlib.h>

#include "base/search.h"

#define MAX_ROUNDS 8 /* chains of functions that do not return; three were always enough */

#define RANK_FIRST 0
#define N_RANKS 11
#define RANK_NONE 255

struct call_pair {
	uint32_t callee, caller;
};

struct analysis {
	struct functions *functions;
	struct flow flow;
	flow_visitor visit;
	void *context;
	VEC(struct call_pair)
	calls; /* to callees of which it was not known whether they return when the caller was analysed */
	VEC(uint32_t) queue;
	uint32_t first, end; /* functions of the window */
	uint8_t *ranks;      /* for each of them: lower is analysed first; RANK_NONE: not at all */
	bool *is_queued;     /* for each of them: it is in the queue */
	struct analyse_options options;
};

static void analyse_note_callee(struct analysis *a, uint32_t caller, uint32_t callee, uint64_t target)
{
	if (callee != FUNCTION_NONE && a->functions->at[callee].start == target &&
	    !function_is_stub(&a->functions->at[callee]) && a->functions->at[callee].returns != RETURNS_NEVER)
		vec_push(&a->calls, ((struct call_pair){ callee, caller }));
}

static void analyse_note_callees(struct analysis *a, uint32_t caller)
{
	const struct flow *flow = &a->flow;

	for (uint32_t i = 0; (i = flow_next(flow, i, INSN_TAIL | INSN_COMES_BACK)) != FLOW_NONE; i++) {
		bool is_tail = flow->flags.at[i] & INSN_TAIL;
		bool comes_back = flow->flags.at[i] & INSN_COMES_BACK;
		const struct insn *insn = &flow->insns.at[i];
		if (insn->flow == FLOW_CALL && comes_back)
			analyse_note_callee(a, caller, flow->goes_to.at[i], insn->target);
		else if (is_tail && insn->target)
			analyse_note_callee(a, caller, functions_index(a->functions, insn->target),
					    insn->target);
	}
}

/* The parts that this function absorbed belong to it, unless another had them first. */
static void analyse_own_parts(struct analysis *a, uint32_t owner)
{
	struct functions *functions = a->functions;

	for (size_t k = 0; k < a->flow.absorbed.n; k++) {
		struct function *part = &functions->at[a->flow.absorbed.at[k]];
		if (part->parent != FUNCTION_NONE && part->parent != owner)
			continue;
		part->kind = FUNCTION_PART;
		if (part->parent == FUNCTION_NONE)
			vec_push(&functions->private->owned, a->flow.absorbed.at[k]);
		part->parent = owner;
	}
}

static void analyse_function(struct analysis *a, uint32_t index)
{
	functions_analyse_one(a->functions, index, &a->flow);

	struct function *f = &a->functions->at[index];
	bool returns = a->flow.returns || a->flow.verdict == FLOW_REFUSED;
	f->is_analysed = true;
	if (f->returns != RETURNS_NEVER)
		f->returns = returns ? RETURNS : RETURNS_NEVER;
	analyse_own_parts(a, index);
	analyse_note_callees(a, index);
	if (a->visit)
		a->visit(a->context, index, &a->flow);
}

/* A function with stated bounds that contains no return: its callers depend on how it ends. */
static bool analyse_lacks_return(const struct function *f)
{
	return function_is_sure(f) && !function_is_inferred(f) && !f->holds_return;
}

static unsigned analyse_rank_of(const struct functions *functions, const struct function *f)
{
	unsigned class = 3;

	if (analyse_lacks_return(f))
		return RANK_FIRST;
	if (function_is_sure(f))
		class = 0;
	else if (functions_looks_partial(functions, f))
		class = 4;
	else if (f->sources & FROM_POINTER)
		class = 1;
	else if (!evidence_has(functions, EVIDENCE_JUMPED, f->start))
		class = 2;
	return RANK_FIRST + 1 + class * 2 + (f->start % 16 != 0);
}

static void analyse_rank_all(struct analysis *a)
{
	const struct functions *functions = a->functions;
	struct vaddr_range window = a->options.window;

	a->first = (uint32_t)search_first(i, functions->n, functions->at[i].start >= window.start);
	a->end = (uint32_t)search_first_in(i, a->first, functions->n, functions->at[i].start >= window.end);
	a->ranks = alloc_zero(a->end - a->first + 1, sizeof(*a->ranks));
	a->is_queued = alloc_zero(a->end - a->first + 1, sizeof(*a->is_queued));
	for (uint32_t i = a->first; i < a->end; i++) {
		const struct function *f = &functions->at[i];
		bool is_wanted = !function_is_stub(f) && !f->is_analysed &&
				 (!a->options.only_inferred || function_is_inferred(f));
		a->ranks[i - a->first] = is_wanted ? (uint8_t)analyse_rank_of(functions, f) : RANK_NONE;
	}
}

static void analyse_rank(struct analysis *a, unsigned wanted)
{
	for (uint32_t i = a->first; i < a->end; i++) {
		const struct function *f = &a->functions->at[i];
		if (a->ranks[i - a->first] == wanted && f->parent == FUNCTION_NONE && !f->is_analysed)
			analyse_function(a, i);
	}
}

/* Callers of functions that turned out not to return. */
static void analyse_queue_callers(struct analysis *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->queue.n; i++)
		a->is_queued[a->queue.at[i] - a->first] = false;
	vec_clear(&a->queue);
	for (size_t i = 0; i < a->calls.n; i++) {
		struct call_pair pair = a->calls.at[i];
		if (a->functions->at[pair.callee].returns != RETURNS_NEVER) {
			a->calls.at[kept++] = pair;
			continue;
		}
		if (!a->is_queued[pair.caller - a->first])
			vec_push(&a->queue, pair.caller);
		a->is_queued[pair.caller - a->first] = true;
	}
	a->calls.n = kept;
}

/* Functions that are analysed again release the parts they had absorbed. */
static void analyse_release_parts(struct analysis *a)
{
	struct functions_private *p = a->functions->private;
	size_t kept = 0;

	for (size_t i = 0; i < p->owned.n; i++) {
		struct function *part = &p->list.at[p->owned.at[i]];
		if (part->parent >= a->first && part->parent < a->end &&
		    a->is_queued[part->parent - a->first])
			part->parent = FUNCTION_NONE;
		else
			p->owned.at[kept++] = p->owned.at[i];
	}
	p->owned.n = kept;
}

static void analyse_again(struct analysis *a)
{
	analyse_release_parts(a);
	for (size_t i = 0; i < a->queue.n; i++)
		if (a->functions->at[a->queue.at[i]].parent == FUNCTION_NONE)
			analyse_function(a, a->queue.at[i]);
}

/* All ranks below `end`, until no caller was analysed under the wrong assumption that a callee returns. */
static void analyse_ranks(struct analysis *a, unsigned end)
{
	for (unsigned r = 0; r < end; r++)
		analyse_rank(a, r);
	for (unsigned round = 0; round < MAX_ROUNDS; round++) {
		analyse_queue_callers(a);
		if (a->queue.n == 0)
			break;
		analyse_again(a);
		for (unsigned r = 0; r < end; r++) /* parts that lost their owner */
			analyse_rank(a, r);
	}
}

void functions_analyse(struct functions *functions, flow_visitor visit, void *context)
{
	functions_survey(functions);
	for (size_t i = 0; i < functions->n; i++)
		functions->at[i].is_analysed = false;
	functions_analyse_some(functions, (struct analyse_options){ .window = { 0, UINT64_MAX } }, visit,
			       context);
}

void functions_analyse_some(struct functions *functions, struct analyse_options options, flow_visitor visit,
			    void *context)
{
	struct analysis a = {
		.functions = functions, .visit = visit, .context = context, .options = options
	};

	flow_init(&a.flow, functions_facts(functions));
	a.flow.skips_guesses = options.skips_guesses;
	analyse_rank_all(&a);
	analyse_ranks(&a, RANK_FIRST + 1);
	analyse_ranks(&a, N_RANKS);
	flow_done(&a.flow);
	vec_done(&a.calls);
	vec_done(&a.queue);
	free(a.ranks);
	free(a.is_queued);
}
