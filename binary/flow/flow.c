/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow: the analysis of one function: from the entry to the fixpoint, repeated if a call turned out not to
 * return or if the caller left words above the return address; then the verdict.
 */
#include "binary/flow/flow_private.h"

#define LARGE_FUNCTION 50000 /* instructions; 7 MB */
#define MAX_RESTARTS 6       /* each finds more calls that do not return; two were always enough */
#define MAX_BIAS 64          /* bytes a lazy-binding resolver finds above its return address */

void flow_init(struct flow *flow, const struct code_facts *facts)
{
	memset(flow, 0, sizeof(*flow));
	flow->facts = facts;
	flow->isa = facts->isa;
	flow->private = alloc_zero(1, sizeof(*flow->private));
}

void flow_done(struct flow *flow)
{
	struct flow_private *p = flow->private;

	if (!p)
		return;
	vec_done(&flow->parts);
	vec_done(&flow->insns);
	vec_done(&flow->uses);
	vec_done(&flow->vaddrs);
	vec_done(&flow->goes_to);
	vec_done(&flow->flags);
	vec_done(&flow->state_of);
	vec_done(&flow->states);
	vec_done(&flow->loads);
	vec_done(&flow->targets);
	vec_done(&flow->tables);
	vec_done(&flow->table_targets);
	vec_done(&flow->absorbed);
	vec_done(&flow->questions);
	vec_done(&flow->pads);
	vec_done(&p->part_order);
	vec_done(&p->lost);
	vec_done(&p->strong);
	vec_done(&p->weak);
	vec_done(&p->first_from);
	vec_done(&p->denied);
	vec_done(&p->failed_exits);
	map_done(&p->load_of);
	map_done(&p->target_of);
	map_done(&p->table_of);
	map_done(&p->question_of);
	free(p);
	flow->private = NULL;
}

void flow_shrink(struct flow *flow)
{
	const struct code_facts *facts = flow->facts;

	if (flow->insns.n <= LARGE_FUNCTION)
		return;
	flow_done(flow);
	flow_init(flow, facts);
}

const struct state *flow_state(const struct flow *flow, uint32_t leader)
{
	if (leader >= flow->state_of.n || flow->state_of.at[leader] == FLOW_NONE)
		return NULL;
	return &flow->states.at[flow->state_of.at[leader]];
}

uint32_t flow_next(const struct flow *flow, uint32_t i, uint16_t wanted)
{
	const uint16_t *flags = flow->flags.at;
	uint64_t four = wanted * 0x0001000100010001ull, word;

	for (; i + 4 <= flow->flags.n; i += 4) {
		memcpy(&word, flags + i, sizeof(word));
		if (word & four)
			break;
	}
	for (; i < flow->flags.n; i++)
		if (flags[i] & wanted)
			return i;
	return FLOW_NONE;
}

void flow_step(struct flow *flow, uint32_t i, struct state *state)
{
	const struct isa_use *use = &flow->uses.at[i];

	if (use->needs & (state->known | flow->heeds | FLOW_CONTROL))
		transfer(flow, i, state);
	else
		state_forget(state, use->writes);
}

bool flow_call_returns(const struct flow *flow, uint32_t i)
{
	const struct insn *insn = &flow->insns.at[i];
	uint64_t next = flow->vaddrs.at[i] + insn->len;

	if (flow->flags.at[i] & INSN_NO_RETURN)
		return false;
	if (insn->flow == FLOW_CALL && insn->target != next)
		return facts_returns(flow->facts, flow->goes_to.at[i], insn->target);
	if (insn->flow == FLOW_CALL_INDIRECT && insn->slot)
		return facts_slot_returns(flow->facts, insn->slot);
	return true;
}

uint64_t flow_landing_pad(const struct flow *flow, uint64_t call)
{
	for (size_t i = 0; i < flow->pads.n; i++)
		if (call >= flow->pads.at[i].start && call < flow->pads.at[i].end)
			return flow->pads.at[i].pad;
	return 0;
}

static void flow_forget_states(struct flow *flow)
{
	if (flow->states.n == 0) /* nothing has run yet */
		return;
	for (size_t i = 0; i < flow->insns.n; i++) {
		flow->state_of.at[i] = FLOW_NONE;
		flow->flags.at[i] &= INSN_LEADER | INSN_BAD | INSN_NO_RETURN | INSN_DENIED | INSN_IMMUNE;
	}
	memset(flow->private->strong.at, 0, flow->private->strong.n * 8);
	memset(flow->private->weak.at, 0, flow->private->weak.n * 8);
	vec_clear(&flow->states);
	vec_clear(&flow->private->lost);
	vec_clear(&flow->private->failed_exits);
	vec_clear(&flow->private->denied);
}

static void flow_set_entry(struct flow *flow, uint32_t i)
{
	struct state entry;

	state_enter(&entry, flow->isa, flow->bias);
	if (flow->private->ra_is_pushed)
		state_store(&entry, value_cfa(-8), 8, value_entry(flow->isa->ra));
	if (flow->private->wants_arguments)
		state_enter_arguments(&entry, flow->isa);
	flow->flags.at[i] |= INSN_LEADER;
	flow_set_state(flow, i, &entry, FLOW_NONE, false);
}

void flow_run_from(struct flow *flow, const struct flow_entries *entries)
{
	flow->private->entry = entries->n == 1 ? entries->at[0] : FLOW_NONE;
	for (int round = 0; round <= MAX_RESTARTS; round++) {
		flow_forget_states(flow);
		flow->private->must_restart = false;
		for (unsigned k = 0; k < entries->n; k++)
			flow_set_entry(flow, entries->at[k]);
		flow_settle(flow);
		if (!flow->private->must_restart)
			return;
	}
}

static void flow_run_from_entry(struct flow *flow)
{
	flow_run_from(flow, &(struct flow_entries){ .at = { 0 }, .n = 1 });
}

/* Every exit fails, all with sp too high by the same amount: that many bytes were above the return address.
 */
static int32_t flow_find_bias(const struct flow *flow)
{
	const struct flow_private *p = flow->private;
	int32_t ra_size = flow->isa->call_pushes_ra ? 8 : 0, bias = 0;

	for (size_t i = 0; i < flow->flags.n; i++)
		if (flow->flags.at[i] & INSN_EXIT_PASSES)
			return 0;
	for (size_t k = 0; k < p->failed_exits.n; k++) {
		value sp = p->failed_exits.at[k].sp;
		int64_t d = (int64_t)value_offset(sp) + ra_size;
		if (value_kind(sp) != VALUE_CFA || d <= 0 || d > MAX_BIAS || (bias && d != bias))
			return 0;
		bias = (int32_t)d;
	}
	return bias;
}

/* No return is an ordinary one, and every one at which the frame pointer is known to be that of the caller's
 * frame agrees where that is. */
static value flow_find_left_frame(const struct flow *flow)
{
	const struct flow_private *p = flow->private;
	value found = VALUE_UNKNOWN;

	for (uint32_t i = 0; (i = flow_next(flow, i, INSN_EXIT_PASSES)) != FLOW_NONE; i++)
		if (flow->insns.at[i].flow == FLOW_RETURN)
			return VALUE_UNKNOWN;
	for (size_t k = 0; k < p->failed_exits.n; k++) {
		bool still_fails = flow->flags.at[p->failed_exits.at[k].insn] & INSN_EXIT_FAILS;
		value frame = still_fails ? p->failed_exits.at[k].left_frame : VALUE_UNKNOWN;
		if (frame != VALUE_UNKNOWN && found != VALUE_UNKNOWN && frame != found)
			return VALUE_UNKNOWN;
		found = frame != VALUE_UNKNOWN ? frame : found;
	}
	return found;
}

static void flow_judge(struct flow *flow)
{
	const uint16_t exits = INSN_EXIT_PASSES | INSN_EXIT_FAILS | INSN_UNRESOLVED | INSN_TAIL;
	bool has_exit = false, has_failed = false;

	flow->returns = false;
	for (uint32_t i = 0; (i = flow_next(flow, i, exits)) != FLOW_NONE; i++) {
		uint16_t flags = flow->flags.at[i];
		bool is_tail = flags & INSN_TAIL;
		const struct insn *insn = &flow->insns.at[i];
		has_exit |= (flags & (INSN_EXIT_PASSES | INSN_EXIT_FAILS)) != 0;
		has_failed |= (flags & INSN_EXIT_FAILS) != 0;
		if (!(flags & INSN_REACHED) || (flags & INSN_GUESS))
			continue;
		if (insn->flow == FLOW_RETURN || (flags & INSN_UNRESOLVED))
			flow->returns = true;
		else if (is_tail && insn->flow == FLOW_JUMP_INDIRECT)
			flow->returns |= !insn->slot || facts_slot_returns(flow->facts, insn->slot);
		else if (is_tail)
			flow->returns |= insn->flow == FLOW_NEXT ||
					 facts_returns(flow->facts, facts_index(flow->facts, insn->target),
						       insn->target);
	}
	flow->verdict = has_failed ? FLOW_FAILS : has_exit ? FLOW_PASSES : FLOW_EXITLESS;
	flow->left_frame = has_failed ? flow_find_left_frame(flow) : VALUE_UNKNOWN;
}

/* Is there an exit, and is every exit correct? A jump with unknown target is an exit only if it looks like
 * one. */
static bool flow_has_good_exits(const struct flow *flow)
{
	uint16_t all = 0;

	for (size_t i = 0; i < flow->flags.n; i++)
		all |= flow->flags.at[i];
	return (all & INSN_EXIT_PASSES) && !(all & INSN_EXIT_FAILS);
}

/*
 * Keeps the bias only if it makes every exit correct. If calls push nothing, the words above are arguments
 * that the function pops; or a lazy PLT has pushed the return address, which is then taken from there.
 */
static void flow_try_bias(struct flow *flow)
{
	struct flow_private *p = flow->private;

	flow_run_from_entry(flow);
	if (!flow_has_good_exits(flow) && !flow->isa->call_pushes_ra && flow->bias >= 16) {
		p->ra_is_pushed = true;
		flow_run_from_entry(flow);
	}
	if (flow_has_good_exits(flow))
		return;
	flow->bias = 0;
	p->ra_is_pushed = false;
	flow_run_from_entry(flow);
}

/*
 * At some exit a register is lost. If it was lost by a store on an infeasible path, ignoring such stores
 * makes every exit correct, which is sufficient proof.
 */
static void flow_try_protected(struct flow *flow)
{
	flow->private->protects_saves = true;
	flow_run_from_entry(flow);
	flow_judge(flow);
	if (flow->verdict != FLOW_FAILS)
		return;
	flow->private->protects_saves = false;
	flow_run_from_entry(flow);
	flow_judge(flow);
}

/*
 * Hand-written code relies on helpers to preserve certain registers. If every exit is correct under the
 * assumption that they do, they do.
 */
static void flow_try_trusting(struct flow *flow)
{
	uint64_t kept = flow->private->kept_regs & ~flow->isa->callee_saved &
			~(1ull << flow->isa->sp | 1ull << flow->isa->ra);

	if (!kept)
		return;
	flow->private->trusts_calls = true;
	flow_run_from_entry(flow);
	flow_judge(flow);
	if (flow->verdict == FLOW_PASSES)
		return;
	flow->private->trusts_calls = false;
	flow_run_from_entry(flow);
	flow_judge(flow);
}

/* The prologues of an interpreter are kept as its entries only if every exit is correct then. */
static void flow_try_threads(struct flow *flow)
{
	struct flow_private *p = flow->private;
	uint32_t jump = flow_find_threads(flow);

	if (jump == FLOW_NONE)
		return;
	p->piece_jump = jump;
	flow->is_threaded = flow_run_threaded(flow, jump, &p->piece);
	flow_judge(flow);
	if (flow->is_threaded && flow->verdict == FLOW_PASSES)
		return;
	flow->is_threaded = false;
	flow_run_from_entry(flow);
	flow_judge(flow);
}

static void flow_clear(struct flow *flow, uint32_t function)
{
	struct flow_private *p = flow->private;

	flow->function = function;
	flow->verdict = FLOW_REFUSED;
	flow->returns = true;
	flow->bias = 0;
	flow->left_frame = VALUE_UNKNOWN;
	flow->n_visits = 0;
	vec_clear(&flow->parts);
	vec_clear(&p->part_order);
	vec_clear(&flow->insns);
	vec_clear(&flow->uses);
	vec_clear(&flow->vaddrs);
	vec_clear(&flow->goes_to);
	vec_clear(&flow->flags);
	vec_clear(&flow->state_of);
	vec_clear(&flow->states);
	vec_clear(&flow->loads);
	vec_clear(&flow->targets);
	vec_clear(&flow->tables);
	vec_clear(&flow->table_targets);
	vec_clear(&flow->absorbed);
	vec_clear(&flow->questions);
	vec_clear(&flow->pads);
	vec_clear(&p->lost);
	vec_clear(&p->strong);
	vec_clear(&p->weak);
	vec_clear(&p->first_from);
	vec_clear(&p->failed_exits);
	if (p->load_of.n)
		map_done(&p->load_of);
	if (p->target_of.n)
		map_done(&p->target_of);
	if (p->table_of.n)
		map_done(&p->table_of);
	if (p->question_of.n)
		map_done(&p->question_of);
	p->kept_regs = 0;
	p->size_regs = 0;
	p->wants_constants = false;
	p->wants_arguments = false;
	p->ra_is_pushed = false;
	flow->heeds = 0;
	p->budget = 0;
	p->is_guessing = false;
	flow->is_threaded = false;
	p->entry = 0;
	p->protects_saves = false;
	p->trusts_calls = false;
}

static void flow_analyse_code(struct flow *flow, uint64_t start, uint64_t end)
{
	if (!flow_add_part(flow, start, end))
		return;
	flow_run_from_entry(flow);
	flow->bias = flow_find_bias(flow);
	if (flow->bias)
		flow_try_bias(flow);
	flow_judge(flow);
	if (flow->verdict == FLOW_FAILS)
		flow_try_protected(flow);
	if (flow->verdict == FLOW_FAILS)
		flow_try_trusting(flow);
	flow_try_threads(flow);
	if (!flow->skips_guesses)
		flow_guess(flow);
}

void flow_analyse(struct flow *flow, uint32_t function)
{
	const struct function *f = &flow->facts->at[function];

	flow_clear(flow, function);
	flow->is_inferred = function_is_inferred(f);
	flow_analyse_code(flow, f->start, f->end);
}

void flow_analyse_range(struct flow *flow, uint64_t start, uint64_t end)
{
	flow_clear(flow, FUNCTION_NONE);
	flow->is_inferred = true;
	flow_analyse_code(flow, start, end);
}

void flow_walk(struct flow *flow, size_t part, flow_point_visitor visit, void *context)
{
	const struct flow_part *p = &flow->parts.at[part];
	struct state state;
	bool is_running = false;

	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		uint16_t flags = flow->flags.at[i];
		const struct state *own = flags & INSN_LEADER ? flow_state(flow, i) : NULL;

		if (own)
			state_copy(&state, own);
		is_running = (own || is_running) && (flags & INSN_REACHED);
		visit(context, &(struct flow_point){ i, is_running ? &state : NULL, flags & INSN_GUESS });
		if (is_running)
			flow_step(flow, i, &state);
		if (flow->insns.at[i].flow == FLOW_JUMP || flow->insns.at[i].flow == FLOW_RETURN)
			is_running = false;
	}
}
