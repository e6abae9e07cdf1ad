/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/tables.h"

#include <stdlib.h>
#include <string.h>

#include "recipes/cfi.h"

#define EXAMPLES_PER_FUNCTION 2 /* for each cause */
#define MAX_AHEAD 64            /* instructions of a prologue */

/* What was already compared: cold code may be reached from two functions. One bit per byte of an unwind
 * entry's code. */
struct seen {
	uint64_t start, end;
	uint64_t *bits;
};

/* The table's row at an instruction, and whether control continues from there. */
struct stated_point {
	uint64_t next; /* the address after it; 0 = control does not continue */
	uint32_t stated;
	value cfa, ra;
	bool is_late, is_settled; /* settled: correct, or an error of the table */
};

struct verifier {
	struct functions *functions;
	const struct frames *frames;
	const struct verify_options *options;
	struct verify_result *result;
	VEC(struct seen) seen; /* per executable segment */
	/* Of the current function: */
	struct flow *flow;
	enum trust trust;
	unsigned n_examples[CAUSE_N];
	/* Of the current unwind entry: */
	struct fde fde;
	struct recipe_rows stated;
	bool has_fde;
	uint32_t last_own;
	struct stated_point last; /* the previous instruction */
	uint32_t contradicted;    /* a row of this function that contradicts itself */
};

/* True the first time. */
static bool see(struct verifier *v, uint64_t vaddr)
{
	for (size_t i = 0; i < v->seen.n; i++) {
		struct seen *s = &v->seen.at[i];
		if (vaddr < s->start || vaddr >= s->end)
			continue;
		uint64_t bit = 1ull << ((vaddr - s->start) % 64), *word = &s->bits[(vaddr - s->start) / 64];
		bool is_new = !(*word & bit);
		*word |= bit;
		return is_new;
	}
	return false;
}

static void prepare_seen(struct verifier *v)
{
	const struct image *image = v->functions->image;

	for (size_t i = 0; i < image->n_segments; i++) {
		uint64_t start = image->segments[i].vaddr;
		size_t len = image_code(image, start).len;
		if (len)
			vec_push(&v->seen,
				 ((struct seen){ start, start + len, alloc_zero(len / 64 + 1, 8) }));
	}
}

/* The compiler's rows around vaddr, compiled once per entry. */
static bool enter_fde(struct verifier *v, uint64_t vaddr)
{
	if (v->has_fde && vaddr >= v->fde.start && vaddr - v->fde.start < v->fde.size)
		return true;
	v->has_fde = false;
	if (frames_find(v->frames, vaddr, &v->fde) < 0)
		return false;
	vec_clear(&v->stated.rows);
	cfi_compile(&v->fde, v->functions->isa, &v->result->store, &v->stated);
	v->has_fde = true;
	return true;
}

/* --- the cause of a difference ---------------------------------------------------------------- */

bool verify_cause_is_table(enum verify_cause cause)
{
	return cause == CAUSE_LATE || cause == CAUSE_EARLY || cause == CAUSE_ENTRY ||
	       cause == CAUSE_OTHER_FRAME;
}

static bool is_same_cfa_rule(const struct recipes *recipes, uint32_t left, uint32_t right)
{
	const struct recipe *a = &recipes->recipes.at[left], *b = &recipes->recipes.at[right];

	return left == right || (a->cfa_kind == b->cfa_kind && a->cfa_reg == b->cfa_reg &&
				 a->cfa_offset == b->cfa_offset && a->cfa_kind != CFA_EXPR);
}

/*
 * A frame has one CFA and one return address. If the table's rule does not change but an instruction changes
 * its value, the rule was wrong before or is wrong now.
 */
static bool is_late(const struct verifier *v, const struct flow_point *point, uint32_t stated,
		    const struct agree_result *r)
{
	const struct stated_point *last = &v->last;
	bool is_leader = v->flow->flags.at[point->insn] & INSN_LEADER;
	bool is_proven = v->flow->verdict == FLOW_PASSES && !point->is_guess;

	/* The row is relative to the frame pointer, which is the caller's again; at an entry and at an exit,
	 * only one rule is correct. */
	bool is_exit = v->flow->flags.at[point->insn] & INSN_EXIT_PASSES;
	if (is_proven && (r->is_callers_fp || is_exit || (point->insn == 0 && !v->flow->bias)))
		return true;
	if (is_proven && v->contradicted != RECIPE_NONE &&
	    is_same_cfa_rule(&v->result->store, v->contradicted, stated))
		return true;
	if (last->next != v->flow->vaddrs.at[point->insn] || !last->is_settled)
		return false;
	if (last->cfa != r->cfa && is_same_cfa_rule(&v->result->store, last->stated, stated))
		return value_kind(r->cfa) == VALUE_CFA || !is_leader;
	return last->stated == stated && (last->is_late || (last->ra != r->ra && !is_leader));
}

/* Where the return address is saved according to the compiler's row, relative to the CFA; false if it is not.
 */
static bool stated_slot(const struct verifier *v, uint32_t stated, value *ret)
{
	const struct recipes *recipes = &v->result->store;
	const struct rule *rule = recipe_rule(recipes, &recipes->recipes.at[stated], v->functions->isa->ra);

	if (!rule || rule->kind != RULE_AT_CFA)
		return false;
	*ret = value_cfa(rule->offset);
	return true;
}

/*
 * The row has the return address in a slot of the frame, while it is still in its register and a later
 * instruction stores it to exactly that slot: this is a proof, even in functions without an exit.
 */
static bool is_early(const struct verifier *v, const struct flow_point *point, uint32_t stated,
		     const struct agree_result *r)
{
	struct flow *flow = v->flow;
	value entry = value_entry(v->functions->isa->ra), slot;
	struct state state;

	if (r->cfa != value_cfa(0) || point->state->reg[v->functions->isa->ra] != entry ||
	    !stated_slot(v, stated, &slot))
		return false;
	state_copy(&state, point->state);
	for (uint32_t i = point->insn; i < point->insn + MAX_AHEAD && i + 1 < flow->insns.n; i++) {
		const struct insn *insn = &flow->insns.at[i];
		if (insn->flow != FLOW_NEXT || flow->vaddrs.at[i + 1] != flow->vaddrs.at[i] + insn->len)
			return false;
		flow_step(flow, i, &state);
		if (state_load(&state, slot) == entry)
			return true;
	}
	return false;
}

/* The row is relative to a register that this very instruction copies to the stack pointer:
 * __builtin_eh_return. */
static bool is_switch(const struct verifier *v, const struct flow_point *point, uint32_t stated)
{
	const struct insn *insn = flow_insn(v->flow, point->insn);
	const struct effect *e = &insn->effect[0];
	const struct recipe *r = &v->result->store.recipes.at[stated];

	return insn->n_effects && e->kind == EFFECT_SET && e->reg == v->functions->isa->sp &&
	       r->cfa_kind == CFA_REG && e->base == r->cfa_reg && r->cfa_reg != e->reg &&
	       r->cfa_reg != v->functions->isa->fp;
}

static enum verify_cause find_cause(const struct verifier *v, const struct flow_point *point, uint32_t stated,
				    const struct agree_result *r)
{
	bool is_proven = v->flow->verdict == FLOW_PASSES && !point->is_guess;

	if (r->is_other_frame || is_switch(v, point, stated))
		return CAUSE_OTHER_FRAME;
	if (v->flow->bias && r->cfa == value_cfa(-v->flow->bias))
		return CAUSE_ENTRY;
	if (v->flow->verdict != FLOW_FAILS && !point->is_guess && is_early(v, point, stated, r))
		return CAUSE_EARLY;
	if (is_late(v, point, stated, r))
		return CAUSE_LATE;
	return is_proven ? CAUSE_UNKNOWN : CAUSE_ANALYSIS;
}

static void remember(struct verifier *v, const struct flow_point *point, uint32_t stated,
		     const struct agree_result *r, enum verify_cause cause)
{
	const struct insn *insn = &v->flow->insns.at[point->insn];
	bool runs_on = insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH;
	bool differs = r->cfa_ra == AGREE_DIFFERS;

	v->last = (struct stated_point){ .next = runs_on ? v->flow->vaddrs.at[point->insn] + insn->len : 0,
					 .stated = stated,
					 .cfa = r->cfa,
					 .ra = r->ra,
					 .is_late = differs && cause == CAUSE_LATE,
					 .is_settled = differs ? verify_cause_is_table(cause)
							       : r->cfa_ra != AGREE_NONE };
	if (v->last.is_late)
		v->contradicted = stated;
}

/* --- counting --------------------------------------------------------------------------------- */

static void count_registers(struct verifier *v, const struct agree_result *r, bool is_table)
{
	for (uint64_t left = v->functions->isa->callee_saved; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		bool differs = r->regs_differ >> reg & 1, is_none = r->regs_none >> reg & 1;
		v->result->regs[reg].differ += differs;
		v->result->regs[reg].set_aside += differs && is_table;
		v->result->regs[reg].none += is_none;
		v->result->regs[reg].agree_form += !differs && !is_none;
	}
}

static void keep_example(struct verifier *v, const struct verify_example *example)
{
	if (v->n_examples[example->cause] == EXAMPLES_PER_FUNCTION ||
	    v->result->examples.n >= v->options->max_examples)
		return;
	v->n_examples[example->cause]++;
	vec_push(&v->result->examples, *example);
}

static void count_result(struct verifier *v, const struct agree_result *r, bool is_guess,
			 struct verify_example *example)
{
	struct verify_result *result = v->result;
	bool is_right = r->cfa_ra == AGREE_FORM || r->cfa_ra == AGREE_VALUE;
	bool differs = r->cfa_ra == AGREE_DIFFERS;
	bool is_table = differs && verify_cause_is_table(example->cause);

	result->instructions++;
	result->cfa_ra.agree_form += r->cfa_ra == AGREE_FORM;
	result->cfa_ra.agree_value += r->cfa_ra == AGREE_VALUE;
	result->cfa_ra.differ += differs;
	result->cfa_ra.set_aside += is_table;
	result->cfa_ra.none += r->cfa_ra == AGREE_NONE;
	result->guessed += is_guess;
	result->guessed_right += is_guess && is_right;
	count_registers(v, r, is_table);
	if (differs)
		result->causes[example->cause]++;
	if (is_right && !r->regs_differ)
		return;
	example->agreement = (uint8_t)r->cfa_ra;
	example->regs_differ = r->regs_differ;
	keep_example(v, example);
}

/* The compiler's recipe at vaddr; RECIPE_NONE if there is none to compare with. */
static uint32_t stated_at(struct verifier *v, uint64_t vaddr)
{
	if (!enter_fde(v, vaddr) || v->fde.cie.is_signal_frame) /* the trampoline is a template */
		return RECIPE_NONE;

	uint32_t stated = recipe_rows_find(v->stated.rows.at, v->stated.rows.n, vaddr - v->fde.start);
	if (stated != RECIPE_NONE && v->options->seed)
		stated = v->options->seed(v->options->seed_context, vaddr, stated, &v->result->store);
	return stated;
}

static void compare_point(void *context, const struct flow_point *point)
{
	struct verifier *v = context;
	const struct isa *isa = v->functions->isa;
	uint64_t vaddr = v->flow->vaddrs.at[point->insn];
	struct agree_result r;

	uint32_t stated = point->state && see(v, vaddr) ? stated_at(v, vaddr) : RECIPE_NONE;
	if (stated == RECIPE_NONE) {
		v->last.next = 0;
		return;
	}
	uint32_t own = recover_recipe(point->state, isa, point->is_guess ? TRUST_GUESS : v->trust,
				      &v->result->store);
	agree_check(point->state, isa, &v->result->store, stated, own, &r);
	v->result->rows += own != v->last_own;
	v->last_own = own;
	enum verify_cause cause =
		r.cfa_ra == AGREE_DIFFERS ? find_cause(v, point, stated, &r) : CAUSE_UNKNOWN;
	remember(v, point, stated, &r, cause);
	count_result(v, &r, point->is_guess,
		     &(struct verify_example){ .vaddr = vaddr,
					       .function = v->flow->vaddrs.at[0],
					       .stated = stated,
					       .own = own,
					       .cause = (uint8_t)cause });
}

/* Parts that belong to another function are compared there. */
static bool is_own_part(const struct verifier *v, uint32_t function, size_t part)
{
	uint32_t index = functions_index(v->functions, v->flow->parts.at[part].start);

	return part == 0 || index == FUNCTION_NONE || v->functions->at[index].parent == function;
}

static void compare_function(struct verifier *v, uint32_t function, struct flow *flow)
{
	struct verify_result *result = v->result;

	functions_analyse_one(v->functions, function, flow);
	v->flow = flow;
	v->trust = recover_trust(flow);
	memset(v->n_examples, 0, sizeof(v->n_examples));
	v->last.next = 0;
	v->contradicted = RECIPE_NONE;
	for (size_t part = 0; part < flow->parts.n; part++) {
		v->last_own = RECIPE_NONE;
		if (is_own_part(v, function, part))
			flow_walk(flow, part, compare_point, v);
	}
	v->flow = NULL;
	result->functions++;
	result->passed += flow->verdict == FLOW_PASSES;
	result->failed += flow->verdict == FLOW_FAILS;
	result->exitless += flow->verdict == FLOW_EXITLESS;
	result->refused += flow->verdict == FLOW_REFUSED;
}

static bool is_stub_at(const struct functions *functions, uint64_t vaddr)
{
	uint32_t index = functions_index(functions, vaddr);

	return index != FUNCTION_NONE && (functions->at[index].sources & FROM_STUB);
}

/* Code that no function reached, except for padding: the analysis has no result there. */
static void count_unreached(struct verifier *v)
{
	const struct isa *isa = v->functions->isa;
	struct agree_result none = { .cfa_ra = AGREE_NONE, .regs_none = isa->callee_saved };
	struct fde fde;

	for (size_t i = 0; i < frames_count(v->frames); i++) {
		if (frames_get(v->frames, i, &fde) < 0 || is_stub_at(v->functions, fde.start))
			continue;
		struct bytes code = bytes_slice(image_code(v->functions->image, fde.start), 0, fde.size);
		memset(v->n_examples, 0, sizeof(v->n_examples));
		for (uint64_t at = fde.start; code.len;) {
			struct insn insn;
			if (isa->decode(code, at, &insn) < 0 || insn.len == 0 || insn.len > code.len)
				break;
			uint32_t stated = insn.is_padding || !see(v, at) ? RECIPE_NONE : stated_at(v, at);
			if (stated != RECIPE_NONE)
				count_result(v, &none, false,
					     &(struct verify_example){ .vaddr = at,
								       .function = fde.start,
								       .stated = stated,
								       .own = RECIPE_NONE });
			code = bytes_from(code, insn.len);
			at += insn.len;
		}
	}
}

static bool is_named(const struct functions *functions, uint64_t vaddr)
{
	const struct symbol *symbol = functions->symbols ? symbols_find(functions->symbols, vaddr) : NULL;

	return symbol && symbol->vaddr == vaddr && !strstr(symbol->name, ".cold");
}

/*
 * Is this unwind entry the start of a function: does its first row describe the state at an entry, and is it
 * aligned like a function, unless there is other evidence?
 */
static bool states_function(struct verifier *v, const struct fde *fde)
{
	const struct isa *isa = v->functions->isa;
	struct recipe_rows rows = { 0 };
	bool is_function = false;
	bool is_aligned = !isa->call_pushes_ra || fde->start % 16 == 0;

	if (!is_aligned && !functions_is_called(v->functions, fde->start) &&
	    !is_named(v->functions, fde->start))
		return false;
	cfi_compile(fde, isa, &v->result->store, &rows);
	uint32_t first = recipe_rows_find(rows.rows.at, rows.rows.n, 0);
	if (first != RECIPE_NONE) {
		const struct recipe *r = &v->result->store.recipes.at[first];
		is_function = r->cfa_kind == CFA_REG && r->cfa_reg == isa->sp &&
			      r->cfa_offset == (isa->call_pushes_ra ? 8 : 0);
	}
	vec_done(&rows.rows);
	return is_function;
}

/* Compares the starts found without symbols and unwind entries with those in the unwind entries. */
static void judge_starts(struct verifier *v)
{
	struct verify_result *result = v->result;
	const struct functions *functions = v->functions;
	struct fde fde;

	for (size_t i = 0; i < frames_count(v->frames); i++) {
		if (frames_get(v->frames, i, &fde) < 0 || !image_is_code(functions->image, fde.start))
			continue;
		uint32_t index = functions_index(functions, fde.start);
		if (is_stub_at(functions, fde.start) || !states_function(v, &fde))
			continue;
		bool is_part = index != FUNCTION_NONE && functions->at[index].parent != FUNCTION_NONE;
		result->starts_true++;
		result->starts_found +=
			index != FUNCTION_NONE && functions->at[index].start == fde.start && !is_part;
	}
	for (size_t i = 0; i < functions->n; i++) {
		const struct function *f = &functions->at[i];
		if ((f->sources & FROM_STUB) || f->kind == FUNCTION_PART ||
		    frames_find(v->frames, f->start, &fde) < 0)
			continue;
		result->starts_claimed++;
		result->starts_wrong += fde.start != f->start;
	}
}

/* The facts are final: compares each function with its parts. */
static void compare_all(struct verifier *v)
{
	struct flow flow;

	flow_init(&flow, functions_facts(v->functions));
	for (uint32_t i = 0; i < v->functions->n; i++) {
		const struct function *f = &v->functions->at[i];
		if (f->kind != FUNCTION_STUB && f->kind != FUNCTION_STUB_HEAD && f->parent == FUNCTION_NONE)
			compare_function(v, i, &flow);
	}
	flow_done(&flow);
}

void verify_recipes(struct image *image, const struct symbols *symbols, const struct frames *frames,
		    const struct verify_options *options, struct verify_result *ret)
{
	struct function_options hide = {
		.hide_symbols = options->no_starts,
		.hide_frames = options->no_starts,
		.hide_dynamic = options->no_dynamic,
	};
	struct verifier v = { .frames = frames, .options = options, .result = ret };

	memset(ret, 0, sizeof(*ret));
	recipes_init(&ret->store);
	v.functions = functions_new(image, symbols, frames, &hide);
	if (!v.functions)
		return;
	prepare_seen(&v);
	functions_analyse(v.functions, NULL, NULL);
	compare_all(&v);
	count_unreached(&v);
	if (options->no_starts)
		judge_starts(&v);
	ret->recipes = ret->store.recipes.n;
	for (size_t i = 0; i < v.seen.n; i++)
		free(v.seen.at[i].bits);
	vec_done(&v.seen);
	vec_done(&v.stated.rows);
	functions_free(v.functions);
}

void verify_result_done(struct verify_result *result)
{
	vec_done(&result->examples);
	recipes_done(&result->store);
}
