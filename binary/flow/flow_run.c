/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_run: the fixpoint over a function and the parts it absorbs.
 *
 * Leaders are instructions that have a state. Running one means stepping from it to the next leader or
 * transfer of control, and joining the resulting state into the states there. Pending leaders are in two
 * bitmaps: those reached by a jump, and those reached only by the fall-through of a call, which are run after
 * the first. If a jump later contradicts a weak state that was already propagated, the call is known not to
 * return, and the function is run again with that knowledge.
 */
#include "binary/flow/flow_private.h"

void flow_set_pending(struct flow *flow, uint32_t i, uint64_t lost, bool is_weak)
{
	uint64_t bit = 1ull << (i % 64);

	flow->private->lost.at[flow->state_of.at[i]] |= lost;
	if (is_weak) {
		flow->private->weak.at[i / 64] |= bit;
		return;
	}
	flow->private->strong.at[i / 64] |= bit;
	flow->private->weak.at[i / 64] &= ~bit;
}

/* Schedules the block that contains instruction i again. */
static void run_requeue_block(struct flow *flow, uint32_t i)
{
	for (uint32_t above = i + 1; above-- > 0;) {
		if (!(flow->flags.at[above] & INSN_LEADER))
			continue;
		if (flow->state_of.at[above] != FLOW_NONE)
			flow_set_pending(flow, above, FLOW_RUN_ALL, false);
		return;
	}
}

static void run_note_exit(struct flow *flow, uint32_t i, const struct state *state)
{
	struct flow_private *p = flow->private;
	const struct insn *insn = &flow->insns.at[i];
	bool has_own = insn->flow == FLOW_RETURN && insn->through < REG_MAX;
	unsigned through = has_own ? insn->through : flow->isa->ra;
	bool passes = state_returns_through(state, flow->isa, through);
	uint16_t *flags = &flow->flags.at[i];

	*flags = (uint16_t)((*flags & ~(INSN_EXIT_PASSES | INSN_EXIT_FAILS)) |
			    (passes ? INSN_EXIT_PASSES : INSN_EXIT_FAILS));
	if (passes || p->failed_exits.n >= 64)
		return;
	struct flow_exit exit = { i, state->reg[flow->isa->sp], VALUE_UNKNOWN };
	if (insn->flow == FLOW_RETURN)
		exit.left_frame = state_left_frame(state, flow->isa, through);
	for (size_t k = 0; k < p->failed_exits.n; k++)
		if (p->failed_exits.at[k].insn == i) {
			p->failed_exits.at[k] = exit;
			return;
		}
	vec_push(&p->failed_exits, exit);
}

/* Jumps into a part that looked like tail calls before the part was absorbed are run again. */
static void run_reconsider_exits(struct flow *flow, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < flow->flags.n; i++) {
		const struct insn *insn = &flow->insns.at[i];
		bool is_exit = flow->flags.at[i] & INSN_TAIL;
		if (!is_exit || insn->target < start || insn->target >= end)
			continue;
		flow->flags.at[i] &= (uint16_t) ~(INSN_TAIL | INSN_EXIT_PASSES | INSN_EXIT_FAILS);
		run_requeue_block(flow, i);
	}
}

/*
 * Absorbs the part that contains target. An unwind entry gives the exact bounds of a part; otherwise the code
 * before the target may belong to another function.
 */
static bool run_absorb(struct flow *flow, uint32_t index, uint64_t target)
{
	const struct function *part = &flow->facts->at[index];
	uint64_t start = part->sources & FROM_FRAME ? part->start : target;
	uint64_t next = flow_next_part(flow, start); /* a piece of it may already be here */
	uint64_t end = part->end < next ? part->end : next;

	if (!flow_add_part(flow, start, end))
		return false;
	if (start == part->start)
		vec_push(&flow->absorbed, index);
	run_reconsider_exits(flow, start, end);
	return true;
}

/*
 * Control leaves the parts. To the start of a function in entry-like state: a tail call. In any other state,
 * into code that is not called as a function: a part of this function.
 */
static void run_leave_parts(struct flow *flow, uint32_t i, uint64_t target, const struct state *state)
{
	uint32_t index = facts_index(flow->facts, target);
	bool is_entry_like = state_is_entry_like(state, flow->isa);
	const struct function *f = index == FUNCTION_NONE ? NULL : &flow->facts->at[index];
	bool is_stated = f && (f->sources & (FROM_STUB | FROM_FRAME)) &&
			 flow->is_inferred; /* a function with a stated end owns it */
	bool is_part = f && !function_is_stub(f) && !function_is_sure(f) && !is_stated;

	bool is_open = !f || (function_is_inferred(f) && target != f->start);
	bool is_tail_call =
		is_entry_like && (is_open ? flow_finds_function(flow, i, target) : target == f->start);

	bool may_absorb = !is_tail_call && !flow->private->is_guessing;

	if (may_absorb &&
	    (flow_absorb_detour(flow, i, target) ||
	     (f ? is_part && run_absorb(flow, index, target) : flow_absorb_gap(flow, target)))) {
		uint32_t to = flow_insn_at(flow, target);
		if (to != FLOW_NONE)
			flow_arrive(flow, to, state, i, false);
		return;
	}
	size_t n_targets;
	flow_jump_targets(flow, i, &n_targets);
	if (n_targets) /* an infeasible case points after the function */
		return;
	flow->flags.at[i] |= INSN_TAIL;
	if (!flow->private->is_guessing)
		run_note_exit(flow, i, state);
}

/* Control goes from instruction i to `target`, which is instruction `to` if it is in this function. */
static void run_go_on_at(struct flow *flow, uint32_t i, uint32_t to, uint64_t target,
			 const struct state *state)
{
	if (to != FLOW_NONE)
		flow_arrive(flow, to, state, i, false);
	else if (!flow_holds(flow, target)) /* otherwise the target is inside an instruction: data taken for
					       code, or overlapping code */
		run_leave_parts(flow, i, target, state);
}

static void run_go_to(struct flow *flow, uint32_t i, uint64_t target, const struct state *state)
{
	run_go_on_at(flow, i, flow_insn_at(flow, target), target, state);
}

static void run_go_directly(struct flow *flow, uint32_t i, const struct state *state)
{
	run_go_on_at(flow, i, flow_target(flow, i), flow->insns.at[i].target, state);
}

/* An address inside a block becomes a leader: the preceding block now ends there and must propagate its state
 * to it. */
static void run_make_leader(struct flow *flow, uint32_t i)
{
	bool is_inside = flow->flags.at[i] & INSN_REACHED;

	flow->flags.at[i] |= INSN_LEADER;
	if (is_inside && i > 0)
		run_requeue_block(flow, i - 1);
}

void flow_set_state(struct flow *flow, uint32_t i, const struct state *state, uint32_t from, bool is_weak)
{
	uint16_t *flags = &flow->flags.at[i];

	if (flow->state_of.at[i] == FLOW_NONE) {
		flow->state_of.at[i] = (uint32_t)flow->states.n;
		vec_reserve(&flow->states, flow->states.n + 1);
		flow->states.n++;
		vec_push(&flow->private->lost, 0);
	}
	state_copy(&flow->states.at[flow->state_of.at[i]], state);
	flow->private->first_from.at[i] = from;
	*flags &= (uint16_t) ~(INSN_WEAK | INSN_RAN | INSN_GUESS);
	if (is_weak)
		*flags |= INSN_WEAK;
	if (flow->private->is_guessing)
		*flags |= INSN_GUESS;
	flow_set_pending(flow, i, FLOW_RUN_ALL, is_weak);
}

/* In a function whose end is only inferred, a jump that looks like a tail call may be one. */
static void run_note_arrival(struct flow *flow, uint32_t to, const struct state *state, uint32_t from)
{
	bool is_tail = from != FLOW_NONE && flow->insns.at[from].flow == FLOW_JUMP &&
		       state_is_entry_like(state, flow->isa);

	flow->flags.at[to] |= is_tail ? INSN_TAIL_TARGET : INSN_OTHER_TARGET;
}

void flow_arrive(struct flow *flow, uint32_t to, const struct state *state, uint32_t from, bool is_weak)
{
	bool is_guessing = flow->private->is_guessing;

	if (to == flow->private->entry && !is_guessing) /* the entry state is given */
		return;
	if (flow->is_inferred && !is_guessing)
		run_note_arrival(flow, to, state, from);
	if (is_guessing && (flow->flags.at[to] & INSN_REACHED) && !(flow->flags.at[to] & INSN_GUESS))
		return;
	if (!(flow->flags.at[to] & INSN_LEADER))
		run_make_leader(flow, to);
	if (flow->state_of.at[to] == FLOW_NONE) {
		flow_set_state(flow, to, state, from, is_weak);
		return;
	}

	struct state *known = &flow->states.at[flow->state_of.at[to]];
	bool was_weak = flow->flags.at[to] & INSN_WEAK;
	if (is_weak != was_weak && !is_guessing && state_contradicts(known, state, flow->isa)) {
		if (is_weak)
			return;
		if ((flow->flags.at[to] & INSN_RAN) && !(flow->flags.at[to] & INSN_IMMUNE)) {
			flow->flags.at[to] |= INSN_DENIED;
			flow->private->must_restart = true;
		}
		flow_set_state(flow, to, state, from, false);
		return;
	}
	uint64_t lost = state_join(known, state);
	if (was_weak && !is_weak) {
		flow->flags.at[to] &= (uint16_t)~INSN_WEAK;
		flow_set_pending(flow, to, FLOW_RUN_ALL, false);
	} else if (lost) {
		flow_set_pending(flow, to, lost, was_weak && !(flow->flags.at[to] & INSN_RAN));
	}
}

/*
 * If a and b are equal, what is known about one is known about the other: the end of a stack-probing loop.
 * False if they cannot be equal: then this edge is not taken (yet).
 */
static bool run_refine_equal(const struct effect *compare, struct state *state)
{
	value a = state->reg[compare->base], b = state->reg[compare->reg];
	if (a == VALUE_UNKNOWN)
		state_set(state, compare->base, b);
	else if (b == VALUE_UNKNOWN)
		state_set(state, compare->reg, a);
	return a == b || a == VALUE_UNKNOWN || b == VALUE_UNKNOWN || !value_is_frame(a) ||
	       !value_same_base(a, b);
}

/* False if control cannot continue with the next instruction. */
static bool run_branch(struct flow *flow, uint32_t i, struct state *state)
{
	uint8_t condition = flow->insns.at[i].condition;
	const struct effect *found = flow->uses.at[i].needs & FLOW_EQUATES ? flow_equality(flow, i) : NULL;
	struct effect compare =
		found ? *found : (struct effect){ 0 }; /* absorbing a part moves instructions */
	struct state *taken = &flow->private->taken;

	if (!found || condition == CONDITION_NOT_EQUAL) {
		run_go_directly(flow, i, state);
		return !found || run_refine_equal(&compare, state);
	}
	state_copy(taken, state);
	if (run_refine_equal(&compare, taken))
		run_go_directly(flow, i, taken);
	return true;
}

/* More was popped than the function pushed: it is an exit that also removes what the caller left on the
 * stack. */
static bool run_is_above_entry(const struct flow *flow, const struct state *state)
{
	value sp = state->reg[flow->isa->sp];

	return value_kind(sp) == VALUE_CFA && value_offset(sp) > (flow->isa->call_pushes_ra ? -8 : 0);
}

static void run_indirect_jump(struct flow *flow, uint32_t i, struct state *state)
{
	value through = transfer_jump_value(flow, i, state);
	size_t n;

	flow->flags.at[i] &= (uint16_t) ~(INSN_UNRESOLVED | INSN_TAIL);
	if (value_kind(through) == VALUE_CONST) {
		run_go_to(flow, i, (uint64_t)value_constant(through), state);
		return;
	}
	if (!jumptable_resolve(flow, i, through)) {
		if (state_is_entry_like(state, flow->isa)) {
			flow->flags.at[i] |= INSN_TAIL;
			if (!flow->private->is_guessing)
				run_note_exit(flow, i, state);
			return;
		}
		flow->flags.at[i] |= INSN_UNRESOLVED;
		if (run_is_above_entry(flow, state) && !flow->private->is_guessing)
			run_note_exit(flow, i, state);
		return;
	}
	flow_jump_targets(flow, i, &n);
	for (size_t k = 0; k < n; k++) /* the list may move: following the target may absorb a part */
		run_go_to(flow, i, flow_jump_targets(flow, i, &n)[k], state);
}

static void run_landing_pad(struct flow *flow, uint32_t i, const struct state *state)
{
	uint64_t pad = flow->pads.n ? flow_landing_pad(flow, flow->vaddrs.at[i]) : 0;

	if (pad)
		run_go_to(flow, i, pad, state);
}

/* Executes instruction i; false if control does not simply continue with the next. */
static bool run_insn(struct flow *flow, uint32_t i, struct state *state)
{
	switch ((enum insn_flow)flow->insns.at[i].flow) {
	case FLOW_CALL:
	case FLOW_CALL_INDIRECT:
		transfer(flow, i, state);
		run_landing_pad(flow, i, state);
		return flow_call_returns(flow, i);
	case FLOW_JUMP:
		run_go_directly(flow, i, state);
		return false;
	case FLOW_BRANCH:
		if (flow->uses.at[i].writes)
			transfer(flow, i, state);
		return run_branch(flow, i, state);
	case FLOW_JUMP_INDIRECT:
		run_indirect_jump(flow, i, state);
		return false;
	case FLOW_RETURN:
		if (!flow->private->is_guessing)
			run_note_exit(flow, i, state);
		return false;
	case FLOW_STOP:
		return false;
	case FLOW_NEXT:
		transfer(flow, i, state);
		return true;
	}
	return false;
}

static void run_off_end(struct flow *flow, uint32_t i, const struct state *state)
{
	uint8_t kind = flow->insns.at[i].flow;
	uint64_t next = flow->vaddrs.at[i] + flow->insns.at[i].len;

	if (kind != FLOW_CALL && kind != FLOW_CALL_INDIRECT) /* a call at the very end does not return */
		run_go_to(flow, i, next, state);
}

/* A run through one block. */
struct run {
	struct state *state;
	bool is_weak;  /* only padding since a call, or since a leader reached only by the fall-through of a
			  call */
	uint32_t call; /* the call whose return is not confirmed yet */
};

static void run_meet_insn(struct flow *flow, struct run *run, bool is_call, uint32_t i)
{
	if (run->call != FLOW_NONE)
		flow->flags.at[run->call] |= INSN_COMES_BACK;
	run->is_weak = is_call;
	run->call = is_call ? i : FLOW_NONE;
}

/* An instruction marked FLOW_CONTROL; false if the block ends with it. */
static bool run_control(struct flow *flow, uint32_t i, struct run *run)
{
	const struct insn *insn = &flow->insns.at[i];
	uint64_t next = flow->vaddrs.at[i] + insn->len;

	if (!insn->is_padding)
		run_meet_insn(flow, run, insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT, i);
	if (!run_insn(flow, i, run->state))
		return false;
	if (i + 1 < flow->insns.n && flow->vaddrs.at[i + 1] == next)
		return true;
	run_off_end(flow, i, run->state);
	return false;
}

/* A guessed state does not flow into code that is really reached. */
static bool run_stops_guess(uint16_t guess, uint16_t flags)
{
	return guess && (flags & (INSN_REACHED | INSN_GUESS)) == INSN_REACHED;
}

/* Runs instructions from i on that simply continue with the next; returns the first that does not. The last
 * of a part is never one of them. */
static uint32_t run_plain(struct flow *flow, uint32_t i, struct state *state, uint16_t guess)
{
	const struct isa_use *uses = flow->uses.at;
	uint16_t *flags = flow->flags.at;
	uint64_t heeds = flow->heeds;

	do {
		flags[i] = (uint16_t)((flags[i] & ~INSN_GUESS) | INSN_REACHED | guess);
		if (uses[i].needs & (state->known | heeds))
			transfer(flow, i, state);
		else
			state_forget(state, uses[i].writes);
		i++;
	} while (!(uses[i].needs & FLOW_CONTROL) && !(flags[i] & INSN_LEADER) &&
		 !run_stops_guess(guess, flags[i]));
	return i;
}

static void run_insns(struct flow *flow, uint32_t i, struct run *run)
{
	uint16_t guess = flow->private->is_guessing ? INSN_GUESS : 0;

	for (;;) {
		if (flow->uses.at[i].needs & FLOW_CONTROL) {
			flow->flags.at[i] =
				(uint16_t)((flow->flags.at[i] & ~INSN_GUESS) | INSN_REACHED | guess);
			if (!run_control(flow, i++, run))
				return;
		} else {
			run_meet_insn(flow, run, false, i);
			i = run_plain(flow, i, run->state, guess);
		}
		if (flow->flags.at[i] & INSN_LEADER) {
			if (run->call != FLOW_NONE)
				flow->flags.at[run->call] |= INSN_COMES_BACK;
			flow_arrive(flow, i, run->state, i - 1, run->is_weak);
			return;
		}
		if (run_stops_guess(guess, flow->flags.at[i]))
			return;
	}
}

static void run_block(struct flow *flow, uint32_t i)
{
	struct state *state = &flow->private->scratch;
	struct run run = { state, flow->flags.at[i] & INSN_WEAK, FLOW_NONE };
	uint32_t own = flow->state_of.at[i];
	uint64_t lost = flow->private->lost.at[own];

	flow->n_visits++;
	flow->private->lost.at[own] = 0;
	if (flow_run_again(flow, i, lost))
		return;
	state_copy(state, &flow->states.at[own]);
	state->slots_changed = false;
	flow->flags.at[i] |= INSN_RAN;
	run_insns(flow, i, &run);
	flow->states.at[own].slots_changed = state->slots_changed;
}

static uint32_t run_take_first(uint64_t *words, size_t n, size_t *cursor)
{
	for (size_t seen = 0; seen <= n; seen++, *cursor = *cursor + 1 < n ? *cursor + 1 : 0)
		if (words[*cursor]) {
			unsigned bit = (unsigned)__builtin_ctzll(words[*cursor]);
			words[*cursor] &= ~(1ull << bit);
			return (uint32_t)(*cursor * 64 + bit);
		}
	return FLOW_NONE;
}

/* The next weak leader that was not denied; otherwise a denied one, which nothing else reaches. */
static uint32_t run_take_weak(struct flow *flow)
{
	struct flow_private *p = flow->private;
	uint32_t i;

	while ((i = run_take_first(p->weak.at, p->weak.n, &p->weak_at)) != FLOW_NONE) {
		if (!(flow->flags.at[i] & INSN_DENIED))
			return i;
		vec_push(&p->denied, i);
	}
	while (p->denied.n) {
		i = p->denied.at[--p->denied.n];
		if (!(flow->flags.at[i] & INSN_WEAK) || (flow->flags.at[i] & INSN_RAN))
			continue; /* a jump reached it in the meantime */
		flow->flags.at[i] = (uint16_t)((flow->flags.at[i] & ~INSN_DENIED) | INSN_IMMUNE);
		return i;
	}
	return FLOW_NONE;
}

void flow_settle(struct flow *flow)
{
	struct flow_private *p = flow->private;

	p->strong_at = 0;
	p->weak_at = 0;
	flow->is_settled = false;
	for (; p->budget; p->budget--) {
		uint32_t i = run_take_first(p->strong.at, p->strong.n, &p->strong_at);
		if (i == FLOW_NONE)
			i = run_take_weak(flow);
		if (i == FLOW_NONE) {
			flow->is_settled = true;
			return;
		}
		run_block(flow, i);
	}
}
