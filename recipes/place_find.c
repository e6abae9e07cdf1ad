/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/stub.h"
#include "recipes/behind.h"
#include "recipes/knowledge_private.h"
#include "recipes/template.h"

#define CALL_MAX 16 /* bytes before a return address that can belong to its call */

static void place_find_call(const struct knowledge *knowledge, const struct image *image, uint64_t vaddr,
			    struct place *ret)
{
	struct bytes before = { 0 };
	struct insn call = { 0 };

	/* Near the start of a segment there are fewer bytes. */
	for (uint64_t n = CALL_MAX; n >= 2 && !before.len; n--)
		if (vaddr >= n)
			before = bytes_slice(image_code(image, vaddr - n), 0, n);
	if (!before.len || !knowledge->isa->ends_in_call) {
		ret->call = CALL_UNKNOWN;
		return;
	}
	if (!knowledge->isa->ends_in_call(before, vaddr, &call)) {
		before = bytes_slice(image_code(image, vaddr - MADE_CALL_MAX), 0, MADE_CALL_MAX);
		bool is_made =
			before.len == MADE_CALL_MAX && template_is_made_call(knowledge->isa, before, vaddr);
		ret->call = is_made ? CALL_INDIRECT : CALL_NONE;
		return;
	}
	ret->call = call.flow == FLOW_CALL ? CALL_DIRECT : CALL_INDIRECT;
	ret->call_target = call.target;
}

static uint32_t place_ask_analysis(struct knowledge *knowledge, struct code *code, uint64_t vaddr,
				   bool has_cfi, struct place *ret)
{
	bool is_alone = !has_cfi || knowledge->mode == UNWIND_ANALYSIS;
	struct answer answer = { .number = VADDR_NONE, .recipe = RECIPE_NONE };

	if (knowledge->mode == UNWIND_CFI || knowledge->mode == UNWIND_FP)
		return RECIPE_NONE;
	knowledge_ask_code(knowledge, is_alone ? ASK_RECIPE_ALONE : ASK_RECIPE_BESIDE, code, vaddr, 0,
			   &answer);
	if (ret->function == VADDR_NONE)
		ret->function = answer.number;
	return answer.recipe;
}

/* Registers that its recipes read and that a callee need not preserve. sp is known from the previous step. */
static void place_find_wants(const struct knowledge *knowledge, struct place *ret)
{
	const struct recipe_pair *pair = &ret->recipes;
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_LEN(pair->recipe); i++)
		if (pair->recipe[i] != RECIPE_NONE)
			mask |= recipe_reads(&knowledge->recipes,
					     &knowledge->recipes.recipes.at[pair->recipe[i]]);
	ret->wants = mask & ~(knowledge->isa->callee_saved | 1ull << knowledge->isa->sp);
	ret->has_wants = ret->wants != 0;
}

static uint32_t place_near_recipe(struct knowledge *knowledge, struct code *code, uint64_t vaddr,
				  struct place *ret)
{
	struct answer answer = { .number = VADDR_NONE, .recipe = RECIPE_NONE };

	knowledge_ask_code(knowledge, ASK_NEAR_RECIPE, code, vaddr, 0, &answer);
	if (answer.number != VADDR_NONE)
		ret->function = answer.number;
	return answer.recipe;
}

/* Does it tell the caller's registers, but not its sp? */
static bool place_lacks_sp(const struct knowledge *knowledge, uint32_t recipe)
{
	const struct recipes *recipes = &knowledge->recipes;

	return recipe != RECIPE_NONE &&
	       recipe_lost(recipes, &recipes->recipes.at[recipe]) >> knowledge->isa->sp & 1;
}

/*
 * If no function is known, the code itself may help: nearby code, the code ahead up to its return, or the
 * prologue before. Nearby code is tried first where calls push return addresses, which are then not analysed
 * ahead: code after a call that does not return would be taken for the caller's. And it is tried first close
 * behind the entry point, where it shows which code still belongs to that.
 */
static uint32_t place_find_ahead(struct knowledge *knowledge, struct code *code, uint64_t vaddr,
				 bool is_return, struct place *ret)
{
	bool is_wanted = knowledge->mode == UNWIND_AUTO || knowledge->mode == UNWIND_ANALYSIS;
	bool is_pushed = knowledge->isa->call_pushes_ra;
	bool is_near_first = is_pushed || template_is_entry(code->image, code->frames, vaddr - is_return);
	uint32_t recipe = RECIPE_NONE, near = RECIPE_NONE;

	if (!is_wanted || !knowledge->isa->decode)
		return RECIPE_NONE;
	if (is_near_first)
		recipe = place_near_recipe(knowledge, code, vaddr - is_return, ret);
	if (recipe == RECIPE_NONE && !(is_return && is_pushed))
		recipe = ahead_recipe(knowledge->ahead, knowledge_code, code->image, vaddr, is_return,
				      &knowledge->recipes);
	if (!is_near_first && (recipe == RECIPE_NONE || place_lacks_sp(knowledge, recipe)))
		near = place_near_recipe(knowledge, code, vaddr - is_return, ret);
	if (near != RECIPE_NONE)
		recipe = near;
	if (recipe == RECIPE_NONE && !is_pushed)
		recipe = behind_recipe(knowledge->isa, knowledge_code, code->image, vaddr, is_return,
				       &knowledge->recipes);
	return recipe;
}

/* Is the recipe only a guess that the return address is in a register which a call has overwritten since? */
static bool place_is_spent(const struct knowledge *knowledge, uint32_t recipe, bool is_return)
{
	if (recipe == RECIPE_NONE)
		return true;
	const struct recipe *it = &knowledge->recipes.recipes.at[recipe];
	const struct rule *ra = recipe_rule(&knowledge->recipes, it, knowledge->isa->ra);

	return is_return && !knowledge->isa->call_pushes_ra && it->trust == TRUST_GUESS &&
	       (!ra || ra->kind == RULE_SAME);
}

/*
 * A function that saves registers which no caller relies on is left by an exception (__builtin_eh_return):
 * before it returns, it stores there what the handler expects, and the caller's values are lost. On x86-64
 * only the unwind entry shows this: code that pushes such a register mostly just allocates stack.
 */
static bool place_is_eh_return(const struct knowledge *knowledge, uint32_t recipe)
{
	const struct isa *isa = knowledge->isa;
	uint64_t kept = isa->callee_saved | 1ull << isa->ra | 1ull << isa->sp;

	return recipe != RECIPE_NONE &&
	       recipe_saved(&knowledge->recipes, &knowledge->recipes.recipes.at[recipe]) & ~kept;
}

/*
 * Handwritten code may overwrite a callee-saved register that its unwind entry says it keeps (swapcontext
 * saves r12 only in the context that it leaves): the entry is right about the caller, not about its
 * registers.
 */
static bool place_overwrites(const struct knowledge *knowledge, uint32_t analysis, uint32_t cfi)
{
	const struct recipes *recipes = &knowledge->recipes;

	return analysis != RECIPE_NONE && cfi != RECIPE_NONE &&
	       recipe_lost(recipes, &recipes->recipes.at[analysis]) &
		       ~recipe_lost(recipes, &recipes->recipes.at[cfi]) & knowledge->isa->callee_saved;
}

#define INNER_MIN 1024 /* bytes; entries that cover several subroutines are larger */

/* Unwind entries are valid at calls: there, no number of requests makes an analysis worth its cost. Not so
 * in handwritten code whose entry also covers its subroutines: see place_doubt_entry. */
static bool place_can_wait(const struct knowledge *knowledge, struct code *code, struct table_span *entry,
			   bool is_return)
{
	if (is_return)
		return knowledge->patience > 1 && (entry->size < INNER_MIN || !code_has_inner(code, entry));
	return entry->n_looks < knowledge->patience && ++entry->n_looks < knowledge->patience;
}

/*
 * Is the unwind entry trusted for now (knowledge_set_patience)? Not if the answer about the code need not be
 * computed, nor if the entry alone says nothing. vaddr: of the call, if is_return.
 */
static bool place_take_entry(struct knowledge *knowledge, struct code *code, struct table_span *entry,
			     uint64_t vaddr, bool is_return, uint32_t cfi, struct place *ret)
{
	struct answer known;

	if (knowledge->mode != UNWIND_AUTO || !place_can_wait(knowledge, code, entry, is_return) ||
	    knowledge_find_answer(knowledge, ASK_RECIPE_BESIDE, code, vaddr, 0, &known))
		return false;
	ret->recipes = recipe_choose(&knowledge->recipes, knowledge->isa, knowledge->mode, RECIPE_NONE, cfi);
	ret->is_exact = code_entry_is_exact(code, entry);
	return ret->recipes.recipe[0] != RECIPE_NONE;
}

/* A stub is recognised by its bytes; if no unwind entry says more, it comes first. */
static void place_find_recipes(struct knowledge *knowledge, struct code *code, uint64_t vaddr, bool is_return,
			       struct place *ret)
{
	uint32_t stub = RECIPE_NONE, cfi = RECIPE_NONE, analysis = RECIPE_NONE;
	struct table_span *function = code_entry(code, vaddr);

	if (!function && stub_home(code->image, vaddr, &vaddr))
		function = code_entry(code, vaddr);
	if (function) {
		ret->function = function->start;
		cfi = code_entry_recipe(code, function, vaddr);
	}
	if ((cfi == RECIPE_NONE || knowledge->mode == UNWIND_ANALYSIS) && knowledge->mode != UNWIND_FP)
		stub = template_stub(code->image, knowledge->isa, vaddr, &knowledge->recipes, &ret->function);
	if (stub != RECIPE_NONE) {
		ret->recipes.recipe[0] = stub;
		return;
	}
	ret->is_early =
		cfi != RECIPE_NONE && place_take_entry(knowledge, code, function, vaddr, is_return, cfi, ret);
	if (!ret->is_early) {
		analysis = place_ask_analysis(knowledge, code, vaddr, cfi != RECIPE_NONE, ret);
		ret->recipes =
			recipe_choose(&knowledge->recipes, knowledge->isa, knowledge->mode, analysis, cfi);
	}
	ret->loses_regs = place_is_eh_return(knowledge, analysis) || place_is_eh_return(knowledge, cfi) ||
			  place_overwrites(knowledge, analysis, cfi);
	place_find_wants(knowledge, ret);
}

/*
 * An unwind entry for code that is called from inside it is a weak witness: in its subroutines, and where its
 * frame is set up and released, its row does not describe the frame. There the code comes first. For calls
 * made here, the code only shows where the return address was; if that has been overwritten since, the
 * entry's row would skip a caller.
 */
static void place_doubt_entry(struct knowledge *knowledge, struct code *code, uint64_t vaddr, bool is_return,
			      struct place *ret)
{
	uint64_t at = vaddr - is_return;
	uint32_t stated = ret->recipes.recipe[0];
	struct table_span *entry =
		knowledge->mode == UNWIND_AUTO && stated != RECIPE_NONE &&
				knowledge->recipes.recipes.at[stated].witness == WITNESS_CFI
			? code_entry(code, at)
			: NULL;

	if (!entry || atomic_load_explicit(&knowledge->is_hurried, memory_order_relaxed) ||
	    !code_has_inner(code, entry))
		return;
	uint32_t inner =
		analysis_inner_recipe(code_analysis(code), entry->start, entry->start + entry->size, at);
	if (inner == RECIPE_NONE && !is_return)
		inner = ahead_recipe(knowledge->ahead, knowledge_code, code->image, vaddr, false,
				     &knowledge->recipes);
	if (inner == RECIPE_NONE)
		return;
	bool is_spent = place_is_spent(knowledge, inner, is_return) ||
			knowledge->recipes.recipes.at[inner].cfa_kind == CFA_NONE;
	ret->recipes = (struct recipe_pair){ { inner, is_spent ? RECIPE_NONE : stated } };
	place_find_wants(knowledge, ret);
}

#define MAX_EARLY 64 /* bytes from the entry to where the return address is saved at the latest */

static bool place_saves_ra(const struct isa *isa, const struct insn *insn)
{
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++)
		if (insn->effect[i].kind == EFFECT_STORE && insn->effect[i].reg == isa->ra)
			return true;
	return false;
}

/*
 * Does the unwind entry say that the return address is saved before it is? Some compilers (OCaml's) describe
 * the whole prologue at its first instruction. It was in its register at the entry, and nothing has stored it
 * since.
 */
static bool place_is_early(const struct knowledge *knowledge, struct code *code, uint64_t at, uint32_t stated)
{
	const struct recipes *recipes = &knowledge->recipes;
	const struct isa *isa = knowledge->isa;
	const struct table_span *entry = code_entry(code, at);
	uint32_t first = entry ? code_entry_recipe(code, entry, entry->start) : RECIPE_NONE;
	struct insn insn;

	if (first == RECIPE_NONE || isa->call_pushes_ra || !isa->decode || at - entry->start > MAX_EARLY)
		return false;
	const struct rule *ra = recipe_rule(recipes, &recipes->recipes.at[first], isa->ra),
			  *now = recipe_rule(recipes, &recipes->recipes.at[stated], isa->ra);
	if ((ra && ra->kind != RULE_SAME) || !now || now->kind != RULE_AT_CFA)
		return false;
	for (uint64_t pc = entry->start; pc < at; pc += insn.len)
		if (isa->decode(image_code(code->image, pc), pc, &insn) < 0 || insn.len == 0 ||
		    insn.flow != FLOW_NEXT || place_saves_ra(isa, &insn))
			return false;
	return true;
}

static void place_mend_early(const struct knowledge *knowledge, struct code *code, uint64_t at,
			     struct place *ret)
{
	struct recipe_pair *pair = &ret->recipes;
	uint32_t stated = pair->recipe[0], other = pair->recipe[1];

	if (knowledge->mode == UNWIND_AUTO && stated != RECIPE_NONE && other != RECIPE_NONE &&
	    knowledge->recipes.recipes.at[stated].witness == WITNESS_CFI &&
	    place_is_early(knowledge, code, at, stated))
		*pair = (struct recipe_pair){ { other, stated } };
}

/*
 * Does the code say something about the caller, but nothing about sp? Either it knows only the registers, or
 * it finds the frame through a copy of sp in a register that is no frame pointer.
 */
static bool place_has_unknown_sp(const struct knowledge *knowledge, uint32_t recipe)
{
	if (recipe == RECIPE_NONE)
		return false;
	const struct recipe *it = &knowledge->recipes.recipes.at[recipe];

	return it->witness == WITNESS_ANALYSIS &&
	       (place_lacks_sp(knowledge, recipe) ||
		(it->cfa_kind == CFA_REG && it->cfa_reg != knowledge->isa->sp &&
		 it->cfa_reg != knowledge->isa->fp));
}

/*
 * If sp is not known, but the code ahead finds a return address relative to it, sp is that of another stack:
 * this code switches between fibers. What it leaves has been saved; the sample belongs to what it resumes.
 */
static void place_find_resumed(struct knowledge *knowledge, struct code *code, uint64_t vaddr,
			       struct place *ret)
{
	const struct recipes *recipes = &knowledge->recipes;
	uint32_t stated = ret->recipes.recipe[0];

	if (!knowledge->isa->decode || !place_has_unknown_sp(knowledge, stated))
		return;
	uint32_t ahead = ahead_recipe(knowledge->ahead, knowledge_code, code->image, vaddr, false,
				      &knowledge->recipes);
	if (ahead == RECIPE_NONE)
		return;
	const struct recipe *it = &recipes->recipes.at[ahead];
	const struct rule *ra = recipe_rule(recipes, it, knowledge->isa->ra);
	if (it->cfa_kind == CFA_REG && it->cfa_reg == knowledge->isa->sp && ra && ra->kind == RULE_AT_CFA)
		ret->recipes = (struct recipe_pair){ { ahead, RECIPE_NONE } };
}

#define FIBER_END_INSNS 4

/* Fiber libraries make a fiber's function return to a few instructions that end the process. */
static bool place_is_fiber_end(struct knowledge *knowledge, struct code *code, uint64_t vaddr)
{
	static const char *const names[] = {
		"_exit", "_Exit", "exit", "quick_exit", "pthread_exit", "abort"
	};
	struct insn insn = { .flow = FLOW_NEXT };
	struct answer name = { 0 };

	if (!knowledge->isa->decode)
		return false;
	for (unsigned n = 0; n < FIBER_END_INSNS && insn.flow == FLOW_NEXT; n++, vaddr += insn.len)
		if (knowledge->isa->decode(image_code(code->image, vaddr), vaddr, &insn) < 0 || insn.len == 0)
			return false;
	if (insn.flow == FLOW_CALL)
		knowledge_ask_code(knowledge, ASK_NAME, code, insn.target, 0, &name);
	for (size_t i = 0; name.number && i < ARRAY_LEN(names); i++)
		if (name.number == analysis_name_number(names[i]))
			return true;
	return false;
}

/* Go's tables mark functions that may switch stacks as outermost; the code may show more. */
static void place_find_go_switch(struct knowledge *knowledge, struct code *code, uint64_t at,
				 struct place *ret)
{
	uint32_t stated = ret->recipes.recipe[0];
	uint32_t analysis = place_ask_analysis(knowledge, code, at, false, ret);

	if (analysis != RECIPE_NONE && analysis != stated)
		ret->recipes = (struct recipe_pair){ { analysis, stated } };
}

/* Once sp has been switched, nothing is known. If the code shows that it has not, this is a function like any
 * other. */
static void place_find_between(struct knowledge *knowledge, struct code *code, uint64_t at, enum go_role role,
			       struct place *ret)
{
	if (role != GO_BETWEEN && role != GO_BEGIN)
		return;
	ret->recipes = (struct recipe_pair){ { RECIPE_NONE, RECIPE_NONE } };
	if (role == GO_BEGIN)
		ret->recipes.recipe[0] = place_ask_analysis(knowledge, code, at, false, ret);
	ret->is_between = ret->recipes.recipe[0] == RECIPE_NONE;
}

/*
 * Go's table is relative to sp, which now points to another stack: the table would find whatever is there.
 * The code shows which register contains the goroutine's sp. If that stack was not copied, the caller cannot
 * be known.
 */
static void place_find_go_clock(struct knowledge *knowledge, struct code *code, uint64_t at,
				struct place *ret)
{
	ret->leaves_stack = true;
	ret->recipes =
		(struct recipe_pair){ { place_ask_analysis(knowledge, code, at, false, ret), RECIPE_NONE } };
}

/* Its last instruction jumps to where the goroutine was interrupted, and has restored everything by then. */
static void place_find_preempted(struct knowledge *knowledge, struct code *code, uint64_t at,
				 struct place *ret)
{
	const struct isa *isa = knowledge->isa;
	uint32_t found = goroutine_preempted(isa, &knowledge->recipes, ret->recipes.recipe[0]);
	struct insn insn;

	if (found == RECIPE_NONE)
		found = goroutine_preempted(isa, &knowledge->recipes, ret->recipes.recipe[1]);
	if (!isa->call_pushes_ra &&
	    (isa->decode(image_code(code->image, at), at, &insn) < 0 || insn.flow == FLOW_JUMP_INDIRECT))
		found = RECIPE_NONE;
	ret->recipes = (struct recipe_pair){ { found, RECIPE_NONE } };
	ret->is_between = found == RECIPE_NONE;
}

/* Does a function start between the entry point and this address? Without an unwind entry it has no end of
 * its own. */
static bool place_is_behind_entry(const struct code *code, uint64_t at, const struct place *place)
{
	return place->function != VADDR_NONE && place->function > code->image->entry && place->function <= at;
}

/*
 * No call precedes the return address, which is the start of a function: returning to it has taken the only
 * word that could be this function's own return address, so it has the frame that the frame pointer tells of,
 * provided that its code uses that.
 */
static void place_find_continued(struct knowledge *knowledge, struct code *code, uint64_t vaddr,
				 struct place *ret)
{
	struct answer answer = { .recipe = RECIPE_NONE };

	if (ret->call != CALL_NONE || ret->is_trampoline)
		return;
	knowledge_ask_code(knowledge, ASK_CONTINUED, code, vaddr, true, &answer);
	if (answer.recipe == RECIPE_NONE)
		return;
	ret->call = CALL_CONTINUED;
	ret->function = vaddr;
	ret->recipes = (struct recipe_pair){ { answer.recipe, RECIPE_NONE } };
	place_find_wants(knowledge, ret);
}

void place_find(struct knowledge *knowledge, struct code *code, uint64_t vaddr, bool is_return,
		struct place *ret)
{
	code_read(code);
	uint32_t signal = template_signal(code->image, knowledge->isa, vaddr, &knowledge->recipes);
	if (signal != RECIPE_NONE) {
		ret->recipes.recipe[0] = signal;
		ret->is_trampoline = true;
		return;
	}
	/*
	 * A call may be the last instruction of its function, so what is valid at the call is used. What
	 * follows it may even be the entry point, but that does not make it a root.
	 */
	uint64_t at = is_return ? vaddr - 1 : vaddr;
	place_find_recipes(knowledge, code, at, is_return, ret);
	if (!ret->is_early)
		place_doubt_entry(knowledge, code, vaddr, is_return, ret);
	if (!is_return) {
		place_mend_early(knowledge, code, at, ret);
		place_find_resumed(knowledge, code, vaddr, ret);
	}
	if (place_is_spent(knowledge, ret->recipes.recipe[0], is_return) &&
	    ret->recipes.recipe[1] == RECIPE_NONE) {
		ret->recipes.recipe[0] = place_find_ahead(knowledge, code, vaddr, is_return, ret);
		place_find_wants(knowledge, ret);
	}
	ret->is_root = at < code->entry_end && template_is_entry(code->image, code->frames, at) &&
		       !place_is_behind_entry(code, at, ret);
	enum go_role role = go_stacks_role(code->go, at);
	place_find_between(knowledge, code, at, is_return ? GO_ORDINARY : role, ret);
	if (role == GO_CLOCK)
		place_find_go_clock(knowledge, code, at, ret);
	if (role == GO_PREEMPT && (knowledge->mode == UNWIND_AUTO || knowledge->mode == UNWIND_CFI))
		place_find_preempted(knowledge, code, at, ret);
	if (role == GO_SWITCH)
		place_find_go_switch(knowledge, code, at, ret);
	ret->has_goroutine =
		is_return ? role == GO_EXIT : go_stacks_know_goroutine(code->go, knowledge->isa, at);
	if (!is_return)
		return;
	/* In a call that is the outermost frame of a goroutine, or of the runtime's own stack? */
	ret->is_root |= role == GO_EXIT || role == GO_BEGIN;
	ret->is_trampoline |= role == GO_EXIT;
	ret->ends_thread |= role == GO_SWITCH;
	place_find_call(knowledge, code->image, vaddr, ret);
	if (ret->call == CALL_NONE && (template_is_context_start(code->image, knowledge->isa, vaddr) ||
				       place_is_fiber_end(knowledge, code, vaddr)))
		ret->is_trampoline = ret->is_root = true;
	place_find_continued(knowledge, code, vaddr, ret);
	ret->ends_thread |=
		ret->call == CALL_INDIRECT && template_is_thread_start(code->image, knowledge->isa, vaddr);
}
