/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/walk.h"

#include "unwinder/walk_private.h"

/* One attempt to leave the current frame. */
struct attempt {
	uint32_t recipe;
	struct step_result step;
	struct pc_entry caller; /* if the step was possible */
	enum verdict verdict;
	enum stack_end end; /* why it failed, if it is neither valid nor at a root */
	bool is_root, is_good;
	const char *note;
};

static void walk_observe(const struct walk *walk, const struct attempt *attempt)
{
	struct walker *walker = walk->walker;

	if (!walker->observer)
		return;
	struct walk_step step = {
		.regs = cursor_show_regs(&walker->cursor),
		.frame = walk->stack->frames.at[walk->stack->frames.n - 1],
		.recipes = knowledge_recipes(walker->knowledge),
		.recipe = attempt->recipe,
		.cfa = attempt->recipe == RECIPE_NONE ? 0 : attempt->step.cfa,
		.ra = attempt->recipe == RECIPE_NONE ? 0 : attempt->step.ra,
		.verdict = attempt->verdict,
		.note = attempt->note,
	};
	walker->observer(walker->observer_context, &step);
}

/* ---- one attempt -------------------------------------------------------------------------------- */

static void attempt_fail(struct attempt *attempt, enum stack_end end, const char *note)
{
	attempt->end = end;
	attempt->note = note;
}

static bool walk_is_signal_frame(const struct walk *walk, uint32_t recipe)
{
	return knowledge_recipes(walk->walker->knowledge)->recipes.at[recipe].is_signal_frame;
}

/* Interpreted methods are ordered by their frame pointers; their sp may be that of compiled code. */
static bool walk_has_interpreter_progress(const struct walk *walk, const struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	uint64_t fp = 0, next = 0;

	if (!cursor_reg(&walker->cursor, walker->isa->fp, &fp))
		return false;
	return attempt->step.cfa > fp ||
	       (cursor_caller_reg(&walker->cursor, walker->isa->fp, &next) && next > fp);
}

/*
 * A function that keeps its return address in a register may have no frame at all. If it has made a call, or
 * calls push the address, only hand-written code does so (OCaml's calls of C, vfork). The caller knows
 * nothing about that register, so a walk cannot loop although sp does not change.
 */
static bool walk_may_have_no_frame(const struct walk *walk, uint32_t recipe)
{
	const struct recipes *recipes = knowledge_recipes(walk->walker->knowledge);
	const struct isa *isa = walk->walker->isa;

	if (!isa->call_pushes_ra && (walk->is_interrupted || walk->here.place.has_wants))
		return true;
	return step_ra_register(recipes, isa, &recipes->recipes.at[recipe]) != REG_NONE;
}

/* The caller's frame is above the callee's, except across a signal, which may have an alternate stack, and
 * where stacks are switched. */
static bool walk_has_progress(const struct walk *walk, const struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	uint64_t sp, next = attempt->step.cfa;

	if (walk_is_signal_frame(walk, attempt->recipe) || walk->here.place.leaves_stack ||
	    !cursor_reg(&walker->cursor, walker->isa->sp, &sp))
		return true;
	if (attempt->recipe == walker->managed[MANAGED_HOTSPOT_INTERPRETED])
		return walk_has_interpreter_progress(walk, attempt);
	if (next > sp)
		return true;
	return next == sp && attempt->step.ra != walk->here.pc &&
	       walk_may_have_no_frame(walk, attempt->recipe);
}

static void attempt_apply(struct walk *walk, struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	struct step_input input = { .isa = walker->isa,
				    .recipes = knowledge_recipes(walker->knowledge),
				    .cursor = &walker->cursor,
				    .bias = walk->here.bias,
				    .is_interrupted = walk->is_interrupted };

	walk_find_sp_from_fp(walk, attempt->recipe, &input);
	switch (step_apply(&input, attempt->recipe, &attempt->step)) {
	case STEP_OK:
		attempt->is_good = true;
		break;
	case STEP_OUTERMOST:
		attempt->is_root = true;
		attempt->note = "the recipe marks this as the outermost frame";
		break;
	case STEP_UNKNOWN:
		attempt_fail(attempt, STACK_NO_RECIPE, "the recipe needs a register that is not known here");
		break;
	case STEP_BEYOND:
		attempt_fail(attempt, STACK_SNAPSHOT_ENDED,
			     "the saved value lies beyond the copied part of the stack");
		break;
	case STEP_BAD_READ:
		attempt_fail(attempt, STACK_BAD_READ, "the saved value is in memory that cannot be read");
		break;
	}
}

/*
 * A caller written in assembly may keep what it needs to return in a register that its callees, as its author
 * knows, do not change. If no function on the stack writes the register, it still has the value: had a callee
 * that has returned changed it, nothing could restore it.
 */
static void attempt_keep_regs(const struct walk *walk, const struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	const struct place *callee = &walk->here.place, *caller = &attempt->caller.place;
	bool has_stub = caller->call == CALL_DIRECT &&
			caller->call_target != callee->function; /* which writes registers */
	bool is_called = (attempt->verdict == VERDICT_VALID && !has_stub) || caller->call == CALL_INDIRECT;

	if (!caller->wants || !cursor_lost_regs(&walker->cursor, caller->wants) ||
	    (!is_called && attempt->caller.image != walk->here.image))
		return;
	/* All of them: its own caller may need others. */
	cursor_keep(&walker->cursor, is_called ? knowledge_number(walker->knowledge, ASK_KEPT,
								  walk->here.image, callee->function, 0)
					       : knowledge_kept_since(walker->knowledge, walk->here.image,
								      caller->call_target, callee->function));
}

static bool walk_returns_to_interpreter(struct walk *walk, const struct attempt *attempt)
{
	struct walker *walker = walk->walker;

	if (!attempt->caller.is_mapped || !attempt->caller.is_jit || walker->mode != UNWIND_AUTO)
		return false;
	return managed_caller(walker->isa, &walker->cursor) == MANAGED_HOTSPOT_INTERPRETED;
}

static enum verdict attempt_judge(const struct walk *walk, struct attempt *attempt)
{
	struct callee callee = { walk->here.image, walk->here.place.function };

	return walk_judge(walk->walker, &callee, &attempt->caller);
}

static void attempt_check(struct walk *walk, struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	bool is_signal = walk_is_signal_frame(walk, attempt->recipe);

	attempt->is_good = false;
	if (!walk_has_progress(walk, attempt)) {
		attempt_fail(attempt, STACK_NO_PROGRESS, "the caller's frame does not lie above this one");
		return;
	}
	attempt->caller = *walk_look(walker, walk->space, walk->pid, attempt->step.ra, !is_signal);
	if (attempt->caller.place.is_trampoline && walk_uncover(walk, attempt->step.cfa, &attempt->step.ra))
		attempt->caller = *walk_look(walker, walk->space, walk->pid, attempt->step.ra, true);
	if (is_signal)
		attempt->verdict = attempt->caller.is_mapped ? VERDICT_VALID : VERDICT_INVALID;
	else
		attempt->verdict = attempt_judge(walk, attempt);
	if (attempt->verdict == VERDICT_INVALID && walk_returns_to_interpreter(walk, attempt))
		attempt->verdict = VERDICT_LIKELY;
	else if (attempt->verdict == VERDICT_INVALID &&
		 walk_look_again(walker, walk->space, walk->pid, &attempt->caller))
		attempt->verdict = attempt_judge(walk, attempt);
	if (attempt->verdict == VERDICT_INVALID) {
		attempt_fail(
			attempt, STACK_INVALID_STEP,
			attempt->caller.is_mapped
				? "the instruction before the return address is not a call to this function"
				: "the return address is not in executable memory");
		return;
	}
	attempt->is_good = true;
	if (is_signal)
		attempt->note = "interrupted by a signal";
	else
		attempt_keep_regs(walk, attempt);
}

static void walk_try_recipe(struct walk *walk, uint32_t recipe, struct attempt *attempt)
{
	attempt->recipe = recipe;
	attempt->verdict = VERDICT_INVALID;
	attempt->is_root = attempt->is_good = false;
	attempt->note = "";
	if (recipe == RECIPE_NONE) {
		attempt_fail(attempt, walk->here.place.has_code ? STACK_NO_RECIPE : STACK_NO_IMAGE,
			     "no unwind rule is known for this code");
	} else {
		attempt_apply(walk, attempt);
		if (attempt->is_good)
			attempt_check(walk, attempt);
		const char *start =
			!attempt->is_good && !attempt->is_root && attempt->end == STACK_INVALID_STEP
				? walk_start_note(walk, attempt->recipe, &attempt->step)
				: NULL;
		if (start) {
			attempt->is_root = true;
			attempt->note = start;
		}
	}
	walk_observe(walk, attempt);
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static void walk_push_frame(struct walk *walk)
{
	vec_push(&walk->stack->frames, walk_frame(&walk->here));
	walk->walker->stats.frames++;
}

/* Frames of managed code are recognised by their layout if analysis of the code fails; builtins in a file
 * have such frames, too. */
static bool walk_may_be_managed(const struct walk *walk)
{
	bool is_known = walk->here.place.recipes.recipe[0] != RECIPE_NONE;

	if (walk->walker->mode != UNWIND_AUTO)
		return false;
	return walk->is_interrupted ? walk->here.is_jit && !is_known : walk->here.is_jit || !is_known;
}

/* The runtime's description of the frame is metadata, read after the sample: the step is checked like any
 * other. */
static bool walk_try_stated(struct walk *walk, struct attempt *attempt)
{
	struct attempt stated;

	if (!walk->here.is_stated)
		return false;
	walk_try_recipe(walk, walk->here.place.recipes.recipe[1], &stated);
	if (stated.is_good)
		*attempt = stated;
	return stated.is_good;
}

static bool walk_try_managed(struct walk *walk, struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	enum managed_kind kind = managed_frame(walker->isa, &walker->cursor, walk->is_interrupted);
	struct attempt managed;

	if (kind == MANAGED_HOTSPOT_ENTERED)
		kind = walk_confirm_entered(walk);
	if (kind == MANAGED_NONE)
		return false;
	walk_try_recipe(walk, walker->managed[kind], &managed);
	if (managed.is_good)
		*attempt = managed;
	return managed.is_good;
}

/* Is it a step by the frame pointer out of JIT code about which nothing else is known? */
static bool walk_is_guess(const struct walk *walk, const struct attempt *attempt)
{
	return walk->here.is_jit && walk->walker->mode == UNWIND_AUTO &&
	       attempt->recipe == knowledge_frame_pointer(walk->walker->knowledge);
}

/*
 * A step by the frame pointer out of JIT code is not a guess if a nearby exit leads to the same caller from
 * sp: these are two independent witnesses. Then sp is known as well. An exit that much code shares needs no
 * other witness: guile's code does not change the frame pointer, and qemu's (x86-64) uses it for something
 * else.
 */
static void walk_confirm_frame_pointer(struct walk *walk, struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	uint64_t fp = 0, other_fp = 0;
	struct attempt other;
	bool is_shared;

	if (attempt->is_root || !walk_is_guess(walk, attempt))
		return;
	bool has_fp = attempt->is_good && cursor_caller_reg(&walker->cursor, walker->isa->fp, &fp);
	uint32_t way_out = jit_way_out(walker->jit, walk->pid, walk->here.pc, &is_shared);
	if (way_out == RECIPE_NONE || (!has_fp && !is_shared))
		return;
	walk_try_recipe(walk, way_out, &other);
	bool is_same = has_fp && other.is_good && other.step.ra == attempt->step.ra &&
		       cursor_caller_reg(&walker->cursor, walker->isa->fp, &other_fp) && other_fp == fp;
	if (is_same || (other.is_good && is_shared))
		*attempt = other;
	else
		walk_try_recipe(walk, attempt->recipe,
				attempt); /* the cursor has the registers of the last attempt */
}

/* Tries every recipe in turn; of several failures, the first one is reported. */
static void walk_try_all(struct walk *walk, struct attempt *attempt)
{
	const struct recipe_pair *pair = &walk->here.place.recipes;
	uint32_t frame_pointer = knowledge_frame_pointer(walk->walker->knowledge);
	enum unwind_mode mode = walk->walker->mode;
	bool is_known = pair->recipe[0] != RECIPE_NONE;
	struct attempt other;

	walk_try_recipe(walk, is_known || mode != UNWIND_FP ? pair->recipe[0] : frame_pointer, attempt);
	if (attempt->is_good || attempt->is_root)
		return;
	if (walk_try_stated(walk, attempt))
		return;
	if (walk_may_be_managed(walk) && walk_try_managed(walk, attempt))
		return;
	uint32_t entry = walk_find_entry_recipe(walk);
	if (entry != RECIPE_NONE)
		walk_try_recipe(walk, entry, &other);
	else if (pair->recipe[1] != RECIPE_NONE)
		walk_try_recipe(walk, walk->here.is_stated ? frame_pointer : pair->recipe[1], &other);
	else if (!is_known && mode == UNWIND_AUTO && !walk->here.place.ends_thread &&
		 !walk->here.place.is_between)
		walk_try_recipe(walk, frame_pointer, &other);
	else
		return;
	walk_confirm_frame_pointer(walk, &other);
	if (other.is_good || other.is_root)
		*attempt = other;
}

static enum stack_end walk_end_at_root(const struct walk *walk)
{
	return walk->has_guessed ? STACK_NO_RECIPE : STACK_COMPLETE;
}

/*
 * Before the end of its prologue, and in a leaf, a function's frame pointer is still its caller's: the step
 * then leads to the caller's caller. In a program that does not use frame pointers everywhere, this can
 * happen in any frame.
 */
static bool walk_may_skip(const struct walk *walk, const struct attempt *attempt)
{
	return walk->walker->mode != UNWIND_FP || (walk->is_interrupted && attempt->verdict != VERDICT_VALID);
}

static void walk_move_to_caller(struct walk *walk, const struct attempt *attempt)
{
	struct walker *walker = walk->walker;
	struct frame *frame = &walk->stack->frames.at[walk->stack->frames.n - 1];
	const struct recipe *recipe = &knowledge_recipes(walker->knowledge)->recipes.at[attempt->recipe];

	walk_tell_apart(&walk->here, attempt->step.cfa, walk_held(walk, attempt->recipe), frame);
	walk->has_lost_regs |= recipe->witness == WITNESS_FP || walk->here.place.loses_regs;
	frame->witness = recipe->witness;
	frame->verdict = (uint8_t)attempt->verdict;
	walker->stats.steps_by_witness[recipe->witness]++;
	walk->has_guessed |= recipe->witness == WITNESS_FP && walk_may_skip(walk, attempt);
	walk_note_elsewhere(walk, recipe, attempt->step.cfa);
	walk->is_interrupted = recipe->is_signal_frame;
	cursor_advance(&walker->cursor);
	walk->here = attempt->caller;
	if (walk->is_interrupted)
		walk_note_goroutine(walk);
}

/* Is the rest of the stack the same as in the thread's last one? Then it is appended. */
static bool walk_meets_last(struct walk *walk)
{
	struct walker *walker = walk->walker;
	struct recall_state state = { .pc = walk->here.pc,
				      .is_return = walk->here.is_return,
				      .is_interrupted = walk->is_interrupted,
				      .has_guessed = walk->has_guessed,
				      .is_told = walk_is_told(walk) };
	uint64_t steps[WITNESS_N];
	size_t n_before = walk->stack->frames.n;

	if (!walk->can_recall || !recalls_meet(walker->recalls, &state, walk->stack, steps))
		return false;
	walk_check_goroutine(walk, n_before);
	walker->stats.frames += walk->stack->frames.n - n_before;
	for (size_t i = 0; i < WITNESS_N; i++)
		walker->stats.steps_by_witness[i] += steps[i];
	return true;
}

static enum stack_end walk_run(struct walk *walk)
{
	struct attempt attempt;

	while (walk->stack->frames.n - walk->stack->n_kernel < STACK_MAX_FRAMES) {
		if (walk_meets_last(walk))
			return walk->stack->end;
		if (walk_plainly(walk))
			continue;
		walk_push_frame(walk);
		walk->has_jit |= walk->here.is_jit;
		if (!walk->here.is_mapped)
			return STACK_NO_IMAGE;
		if (walk->here.place.is_root) {
			walk_note_coroutine(walk);
			return walk_end_at_root(walk);
		}
		walk_try_all(walk, &attempt);
		if ((!attempt.is_good || walk_is_guess(walk, &attempt) ||
		     walk_is_doubtful(walk, &walk->here, attempt.verdict)) &&
		    walk_look_again(walk->walker, walk->space, walk->pid, &walk->here))
			walk_try_all(walk, &attempt);
		if (attempt.is_root || (!attempt.is_good && walk->here.place.ends_thread))
			return walk_end_at_root(walk);
		if (!attempt.is_good)
			return attempt.end;
		walk_move_to_caller(walk, &attempt);
	}
	return STACK_TOO_DEEP;
}

void walk_sample(struct walker *walker, struct space *space, const struct event *event, struct stack *ret)
{
	const struct sample *sample = &event->sample;
	struct walk walk = {
		.walker = walker,
		.space = space,
		.pid = event->pid,
		.stack = ret,
		.sample = sample,
		.is_interrupted = !sample->callee,
	};
	uint64_t pc;

	if (walker->depend)
		walker->depend->is_known = false;
	cursor_begin(&walker->cursor, walker->isa, event->pid, sample);
	if (!cursor_reg(&walker->cursor, walker->isa->pc, &pc)) {
		ret->end = sample->is_whole ? STACK_COMPLETE : STACK_NO_USER_REGS;
		return;
	}
	pc_table_limit(&walker->pcs);
	code_pages_tick(walker->code, event->time_ns);
	pc_table_fetch_slot(&walker->pcs, walker->next.pid, walker->next.pc);
	pc = walk_undo_break(&walk, pc);
	walk.here = *walk_look(walker, space, event->pid, pc, sample->callee != 0);
	bool has_left = walk_leave_probe(&walk, &pc), is_plain = !has_left && !sample->n_hidden;
	if (has_left)
		walk.here = *walk_look(walker, space, event->pid, pc, true);
	if (walk_is_in_exec(&walk, sample)) {
		ret->end = STACK_COMPLETE;
		return;
	}
	/* Hidden return addresses are not part of what a recall compares. */
	bool has_memory = walker->recalls && !walker->observer && is_plain && !walker->depend;
	struct recall_scope scope = { .generation = space ? space->generation : 0,
				      .epoch = code_pages_epoch(walker->code) };
	walk.can_recall = has_memory && recalls_begin(walker->recalls, event->tid, scope, &walker->cursor);
	if (walker->depend)
		depend_begin(walker->depend, &walker->cursor);
	if (walk.is_interrupted)
		walk_note_goroutine(&walk);
	ret->end = walk_run(&walk);
	if (walker->depend)
		depend_end(walker->depend, walker->isa, &walker->cursor,
			   ret->end == STACK_COMPLETE && !walk.has_jit && is_plain);
	pc_table_fetch_entry(&walker->pcs, walker->next.pid, walker->next.pc);
	ret->reach = cursor_reach(&walker->cursor);
	ret->has_jit = walk.has_jit;
	ret->elsewhere = ret->end == STACK_BAD_READ || ret->end == STACK_SNAPSHOT_ENDED ? walk.elsewhere : 0;
	if (has_memory)
		recalls_end(walker->recalls, sample, walk.has_jit, ret);
	walk_end_in_exec(&walk, pc);
}
