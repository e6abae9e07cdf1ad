/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/verify.h"

#include <stdlib.h>
#include <string.h>

#include "unwinder/cfi.h"

#define EXAMPLES_PER_INTERVAL 2

/* The outcome of one interval. A function may be analysed again: the last outcome counts. */
struct tally {
	uint32_t instructions, rows;
	uint32_t form, value, differ, none;
	uint32_t blamed_analysis, blamed_cfi, guessed, guessed_right;
	uint16_t reg_differ[16], reg_none[16]; /* by position in the callee-saved mask */
	uint8_t n_examples, verdict;
	bool is_counted;
	struct verify_example example[EXAMPLES_PER_INTERVAL];
};

struct verifier {
	struct functions *functions;
	const struct frames *frames;
	const struct verify_options *options;
	struct verify_result *result;
	struct tally *tallies; /* one per function */
	size_t n_tallies;
	/* Of the interval being compared: */
	struct flow *flow;
	struct tally *tally;
	enum trust trust;
	struct fde fde;
	struct recipe_rows stated;
	bool has_fde;
	uint32_t last_own;
};

/* The compiler's rows around vaddr, compiled once per entry. */
static bool enter_fde(struct verifier *v, uint64_t vaddr)
{
	if (v->has_fde && vaddr >= v->fde.start && vaddr - v->fde.start < v->fde.size)
		return true;
	v->has_fde = false;
	if (frames_find(v->frames, vaddr, &v->fde) < 0)
		return false;
	vec_clear(&v->stated.rows);
	cfi_compile(&v->fde, v->flow->isa, &v->result->store, &v->stated);
	v->has_fde = true;
	return true;
}

static void count_registers(struct verifier *v, const struct agree_result *r)
{
	unsigned position = 0;

	for (uint64_t left = v->flow->isa->callee_saved; left && position < 16; left &= left - 1, position++) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		v->tally->reg_differ[position] = (uint16_t)(v->tally->reg_differ[position] + (r->regs_differ >> reg & 1));
		v->tally->reg_none[position] = (uint16_t)(v->tally->reg_none[position] + (r->regs_none >> reg & 1));
	}
}

static void keep_example(struct verifier *v, const struct recover_point *point, uint32_t stated, uint32_t own,
			 const struct agree_result *r, enum verify_blame blame)
{
	if (v->tally->n_examples == EXAMPLES_PER_INTERVAL)
		return;
	v->tally->example[v->tally->n_examples++] = (struct verify_example){
		.vaddr = v->flow->vaddrs.at[point->insn], .function = v->flow->vaddrs.at[0], .stated = stated, .own = own,
		.regs_differ = r->regs_differ, .agreement = (uint8_t)r->cfa_ra, .blame = (uint8_t)blame };
}

static void count_result(struct verifier *v, const struct recover_point *point, uint32_t stated, uint32_t own,
			 const struct agree_result *r)
{
	struct tally *t = v->tally;
	bool is_right = r->cfa_ra == AGREE_FORM || r->cfa_ra == AGREE_VALUE;
	enum verify_blame blame = point->is_guess || v->flow->verdict != FLOW_PASSES ? BLAME_ANALYSIS : BLAME_CFI;

	t->instructions++;
	t->form += r->cfa_ra == AGREE_FORM;
	t->value += r->cfa_ra == AGREE_VALUE;
	t->differ += r->cfa_ra == AGREE_DIFFERS;
	t->none += r->cfa_ra == AGREE_NONE;
	t->guessed += point->is_guess;
	t->guessed_right += point->is_guess && is_right;
	count_registers(v, r);
	if (r->cfa_ra == AGREE_DIFFERS) {
		t->blamed_analysis += blame == BLAME_ANALYSIS;
		t->blamed_cfi += blame == BLAME_CFI;
	}
	if (!is_right || r->regs_differ)
		keep_example(v, point, stated, own, r, blame);
}

static void compare_point(void *context, const struct recover_point *point)
{
	struct verifier *v = context;
	uint64_t vaddr = v->flow->vaddrs.at[point->insn];
	struct agree_result r = { .cfa_ra = AGREE_NONE, .regs_none = v->flow->isa->callee_saved };
	uint32_t own = RECIPE_NONE;

	if (!point->state && v->flow->insns.at[point->insn].is_padding)
		return;
	if (!enter_fde(v, vaddr) || v->fde.cie.is_signal_frame) /* the trampoline is a template */
		return;
	uint32_t stated = recipe_rows_find(v->stated.rows.at, v->stated.rows.n, vaddr - v->fde.start);
	if (stated != RECIPE_NONE && v->options->seed)
		stated = v->options->seed(v->options->seed_context, vaddr, stated, &v->result->store);
	if (stated == RECIPE_NONE)
		return;
	if (point->state) {
		own = recover_recipe(point->state, v->flow->isa, point->is_guess ? TRUST_GUESS : v->trust, &v->result->store);
		agree_check(point->state, v->flow->isa, &v->result->store, stated, own, &r);
	}
	v->tally->rows += own != v->last_own;
	v->last_own = own;
	count_result(v, point, stated, own, &r);
}

static void compare_flow(void *context, uint32_t function, struct flow *flow)
{
	struct verifier *v = context;

	v->flow = flow;
	v->trust = recover_trust(flow);
	for (size_t part = 0; part < flow->parts.n; part++) {
		uint32_t index = functions_index(v->functions, flow->parts.at[part].start);
		if (index == FUNCTION_NONE || v->functions->at[index].start != flow->parts.at[part].start)
			continue;
		if (part > 0 && v->functions->at[index].parent != function)
			continue;
		v->tally = &v->tallies[index];
		*v->tally = (struct tally){ .verdict = (uint8_t)flow->verdict, .is_counted = true };
		v->last_own = RECIPE_NONE;
		recover_walk(flow, part, compare_point, v);
	}
}

static void add_tally(struct verify_result *result, const struct tally *t, const struct isa *isa, size_t max_examples)
{
	unsigned position = 0;

	result->functions++;
	result->instructions += t->instructions;
	result->passed += t->verdict == FLOW_PASSES;
	result->failed += t->verdict == FLOW_FAILS;
	result->exitless += t->verdict == FLOW_EXITLESS;
	result->refused += t->verdict == FLOW_REFUSED;
	result->cfa_ra.agree_form += t->form;
	result->cfa_ra.agree_value += t->value;
	result->cfa_ra.differ += t->differ;
	result->cfa_ra.none += t->none;
	result->blame[BLAME_ANALYSIS] += t->blamed_analysis;
	result->blame[BLAME_CFI] += t->blamed_cfi;
	result->guessed += t->guessed;
	result->guessed_right += t->guessed_right;
	result->rows += t->rows;
	result->functions_differing_passed += t->verdict == FLOW_PASSES && t->blamed_cfi;
	for (uint64_t left = isa->callee_saved; left && position < 16; left &= left - 1, position++) {
		struct verify_counts *c = &result->regs[__builtin_ctzll(left)];
		c->differ += t->reg_differ[position];
		c->none += t->reg_none[position];
		c->agree_form += t->instructions - t->reg_differ[position] - t->reg_none[position];
	}
	for (unsigned k = 0; k < t->n_examples && result->examples.n < max_examples; k++)
		vec_push(&result->examples, t->example[k]);
}

/* Is this unwind entry the start of a function, as the compiler's first row has it? */
static bool states_function(struct verifier *v, const struct fde *fde)
{
	const struct isa *isa = v->functions->isa;
	struct recipe_rows rows = { 0 };
	bool is_function = false;

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

/* Starts found without symbols and unwind entries, against those the unwind entries state. */
static void judge_starts(struct verifier *v)
{
	struct verify_result *result = v->result;
	const struct functions *functions = v->functions;
	struct fde fde;

	for (size_t i = 0; i < frames_count(v->frames); i++) {
		if (frames_get(v->frames, i, &fde) < 0 || !image_is_code(functions->image, fde.start))
			continue;
		uint32_t index = functions_index(functions, fde.start);
		bool is_stub = index != FUNCTION_NONE && (functions->at[index].sources & FROM_STUB);
		if (is_stub || !states_function(v, &fde))
			continue;
		bool is_part = index != FUNCTION_NONE && functions->at[index].parent != FUNCTION_NONE;
		result->starts_true++;
		result->starts_found += index != FUNCTION_NONE && functions->at[index].start == fde.start && !is_part;
	}
	for (size_t i = 0; i < functions->n; i++) {
		const struct function *f = &functions->at[i];
		if ((f->sources & FROM_STUB) || f->kind == FUNCTION_PART || frames_find(v->frames, f->start, &fde) < 0)
			continue;
		result->starts_claimed++;
		result->starts_wrong += fde.start != f->start;
	}
}

void verify_recipes(struct image *image, const struct symbols *symbols, const struct frames *frames,
		    const struct verify_options *options, struct verify_result *ret)
{
	struct function_options hide = {
		.hide_symbols = options->no_starts, .hide_frames = options->no_starts, .hide_dynamic = options->no_dynamic,
	};
	struct verifier v = { .frames = frames, .options = options, .result = ret };

	memset(ret, 0, sizeof(*ret));
	recipes_init(&ret->store);
	v.functions = functions_new(image, symbols, frames, &hide);
	if (!v.functions)
		return;
	functions_survey(v.functions);
	v.n_tallies = v.functions->n;
	v.tallies = alloc_zero(v.n_tallies + 1, sizeof(*v.tallies));
	functions_analyse(v.functions, compare_flow, &v);
	for (size_t i = 0; i < v.n_tallies; i++)
		if (v.tallies[i].is_counted)
			add_tally(ret, &v.tallies[i], v.functions->isa, options->max_examples);
	if (options->no_starts)
		judge_starts(&v);
	ret->recipes = ret->store.recipes.n;
	vec_done(&v.stated.rows);
	free(v.tallies);
	functions_free(v.functions);
}

void verify_result_done(struct verify_result *result)
{
	vec_done(&result->examples);
	recipes_done(&result->store);
}
