/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/paths_plan.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "recipes/recover.h"
#include "recording/chosen.h"
#include "recording/paths_silent.h"

struct planner {
	struct paths_plan *plan;
	const struct image *image;
	const struct isa *isa;
	uint32_t number;
	bool *is_probed;  /* by block: a probe at its end tells where control goes, or that it was passed */
	bool is_complete; /* no block had to be added to them */
	bool *is_silent;  /* by block: which of them need no probe of their own */
};

/* ---- what happens between one probe and the next ------------------------------------------------------ */

/* A way ends here and cannot be counted earlier: the block gets a probe. */
static void plan_add_stop(struct planner *p, uint32_t block, struct paths_action *action)
{
	p->is_probed[block] = true;
	p->is_complete = false;
	action->expect = block;
}

/* Does the edge from a block end a way, or leave the function? */
static bool plan_ends_at(const struct ways *ways, const struct way_block *at)
{
	const struct way_edge *edge = at->n_edges ? &ways->edges.at[at->first_edge] : NULL;

	return !edge || edge->to == WAYS_NONE || edge->is_cut;
}

/*
 * Follows control from a block up to the next decision. A call may not return: a way that continues after one
 * ends where it ends.
 */
static void plan_follow(struct planner *p, uint32_t block, struct paths_action *action)
{
	const struct ways *ways = &p->plan->ways;
	bool has_call = false;

	for (;;) {
		const struct way_block *at = &ways->blocks[block];
		action->goes_to_entry |= action->end == PATHS_ENDS && block == p->plan->cfg.entry;
		action->expect = block;
		if (p->is_probed[block])
			return;
		has_call |= p->plan->cfg.blocks[block].n_calls > 0;
		if (plan_ends_at(ways, at)) {
			if (has_call || action->end != PATHS_GOES_ON) {
				plan_add_stop(p, block, action);
				return;
			}
			const struct way_edge *edge = at->n_edges ? &ways->edges.at[at->first_edge] : NULL;
			bool leaves = !edge || edge->to == WAYS_NONE;
			action->end = leaves ? PATHS_LEAVES : PATHS_ENDS;
			action->next = leaves ? 0 : ways->blocks[edge->to].start;
			if (leaves) {
				action->expect = PATHS_NOWHERE;
				return;
			}
		}
		block = ways->edges.at[at->first_edge].to;
	}
}

static struct paths_action plan_action(struct planner *p, const struct way_edge *edge)
{
	const struct ways *ways = &p->plan->ways;
	struct paths_action action = { .add = edge->add, .expect = PATHS_NOWHERE };

	if (edge->to == WAYS_NONE) {
		action.end = PATHS_LEAVES;
		return action;
	}
	if (edge->is_cut) {
		action.end = PATHS_ENDS;
		action.next = ways->blocks[edge->to].start;
	}
	plan_follow(p, edge->to, &action);
	return action;
}

/* A way that starts at a block. */
static struct paths_action plan_start(struct planner *p, uint32_t block)
{
	struct paths_action action = { 0 };

	plan_follow(p, block, &action);
	if (action.end == PATHS_ENDS) /* the first way ends before any decision: count it in time */
		plan_add_stop(p, block, &action);
	action.next = p->plan->ways.blocks[block].start;
	action.goes_to_entry = 0;
	return action;
}

/* ---- probes ------------------------------------------------------------------------------------------ */

static struct paths_probe *plan_probe(struct planner *p, uint64_t vaddr, uint32_t block)
{
	struct paths_plan *plan = p->plan;

	for (size_t i = 0; i < plan->vaddrs.n; i++)
		if (plan->vaddrs.at[i] == vaddr)
			return &plan->probes.at[i];
	vec_push(&plan->vaddrs, vaddr);
	vec_push(&plan->probes, ((struct paths_probe){ .function = p->number, .block = block }));
	return &plan->probes.at[plan->probes.n - 1];
}

/* The index of a register in struct pt_regs, in words. */
static uint32_t plan_word(const struct isa *isa, unsigned reg)
{
	static const uint8_t x86[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };

	if (isa->elf_machine != EM_X86_64)
		return reg;
	return reg < ARRAY_LEN(x86) ? x86[reg] : 0;
}

/* vaddr: 0 = unimportant. */
static int plan_refuse(struct diag *diag, uint64_t vaddr, const char *why)
{
	diag_set(diag, -ENOTSUP, "its paths cannot be counted");
	if (vaddr)
		diag_why(diag, "%s at 0x%llx", why, (unsigned long long)vaddr);
	else
		diag_why(diag, "%s", why);
	return -ENOTSUP;
}

static int plan_branch(struct planner *p, uint32_t block, struct diag *diag)
{
	const struct way_block *at = &p->plan->ways.blocks[block];
	uint64_t vaddr = p->plan->cfg.blocks[block].last;
	struct paths_probe *probe = plan_probe(p, vaddr, block);
	struct isa_branch branch;

	if (!p->isa->branch(image_code(p->image, vaddr), &branch))
		return plan_refuse(diag, vaddr, "it contains a branch of an unknown kind");
	probe->stages |= PATHS_BRANCH;
	probe->test = branch.test;
	probe->condition = branch.condition;
	probe->is_inverted = branch.is_inverted;
	probe->bit = branch.bit;
	probe->width = branch.width;
	probe->reg = branch.reg == REG_NONE ? 0 : plan_word(p->isa, branch.reg);
	for (uint32_t i = 0; i < at->n_edges; i++) {
		const struct way_edge *edge = &p->plan->ways.edges.at[at->first_edge + i];
		struct paths_action action = plan_action(p, edge);
		/* plan_action adds no probes: the pointer stays valid */
		probe->way[edge->kind == EDGE_TAKEN ? 0 : 1] = action;
	}
	return 0;
}

static void plan_switch(struct planner *p, uint32_t block)
{
	const struct way_block *at = &p->plan->ways.blocks[block];

	for (uint32_t i = 0; i < at->n_edges; i++) {
		const struct way_edge *edge = &p->plan->ways.edges.at[at->first_edge + i];
		struct paths_landing landing = { .arrival = { p->number, block, edge->to },
						 .action = plan_action(p, edge) };
		if (edge->to == WAYS_NONE)
			continue;
		plan_probe(p, p->plan->cfg.blocks[edge->to].start, edge->to)->stages |= PATHS_ARRIVAL;
		vec_push(&p->plan->arrivals, landing);
	}
}

/* The next probe does what the branch's own would have done. */
static void plan_silent(struct planner *p, uint32_t block)
{
	const struct paths_plan *plan = p->plan;
	const struct way_block *at = &plan->ways.blocks[block];

	for (uint32_t i = 0; i < at->n_edges; i++) {
		const struct way_edge *edge = &plan->ways.edges.at[at->first_edge + i];
		uint32_t next = paths_silent_next(&plan->cfg, &plan->ways, p->is_probed, edge);
		struct paths_landing landing = { .arrival = { p->number, block, next },
						 .action = plan_action(p, edge) };
		plan_probe(p, plan->cfg.blocks[next].last, next)->stages |= PATHS_ARRIVAL;
		vec_push(&p->plan->arrivals, landing);
	}
}

static void plan_pass(struct planner *p, uint32_t block)
{
	const struct way_block *at = &p->plan->ways.blocks[block];
	struct paths_action action = { .end = PATHS_LEAVES, .expect = PATHS_NOWHERE };

	if (at->n_edges)
		action = plan_action(p, &p->plan->ways.edges.at[at->first_edge]);
	struct paths_probe *probe = plan_probe(p, p->plan->cfg.blocks[block].last, block);
	probe->stages |= PATHS_PASS;
	probe->way[0] = action;
}

static void plan_begin(struct planner *p, uint32_t block, enum paths_stage stage)
{
	struct paths_action action = plan_start(p, block);
	struct paths_probe *probe = plan_probe(p, p->plan->cfg.blocks[block].start, block);

	probe->stages |= stage;
	probe->entry = action;
}

/* All probes, provided that the blocks that need one are known. */
static int plan_once(struct planner *p, struct diag *diag)
{
	struct paths_plan *plan = p->plan;

	vec_clear(&plan->probes);
	vec_clear(&plan->vaddrs);
	vec_clear(&plan->arrivals);
	p->is_complete = true;
	plan_begin(p, plan->cfg.entry, PATHS_ENTRY);
	for (uint32_t i = 0; i < plan->cfg.n_blocks; i++) {
		const struct way_block *at = &plan->ways.blocks[i];
		if (!at->n_ways)
			continue;
		if (at->is_pad)
			plan_begin(p, i, PATHS_PAD);
		if (p->is_silent[i])
			plan_silent(p, i);
		else if (at->n_edges < 2 && p->is_probed[i])
			plan_pass(p, i);
		else if (at->n_edges > 1 && plan->cfg.blocks[i].end_kind == BLOCK_SWITCHES)
			plan_switch(p, i);
		else if (at->n_edges > 1) {
			int error = plan_branch(p, i, diag);
			if (error)
				return error;
		}
	}
	return 0;
}

/* ---- frames ------------------------------------------------------------------------------------------ */

struct plan_frames {
	struct planner *p;
	const struct flow *flow;
	struct recipes recipes;
	size_t n_found;
};

static void plan_find_frame(void *context, const struct flow_point *point)
{
	struct plan_frames *frames = context;
	struct paths_plan *plan = frames->p->plan;
	uint64_t vaddr = frames->flow->vaddrs.at[point->insn];

	for (size_t i = 0; point->state && i < plan->vaddrs.n; i++) {
		if (plan->vaddrs.at[i] != vaddr)
			continue;
		uint32_t index = recover_recipe(point->state, frames->p->isa, TRUST_PROVEN, &frames->recipes);
		const struct recipe *recipe =
			index == RECIPE_NONE ? NULL : &frames->recipes.recipes.at[index];
		if (!recipe || recipe->cfa_kind != CFA_REG)
			return;
		plan->probes.at[i].cfa_reg = plan_word(frames->p->isa, recipe->cfa_reg);
		plan->probes.at[i].cfa_offset = recipe->cfa_offset;
		frames->n_found++;
		return;
	}
}

static int plan_find_frames(struct planner *p, struct flow *flow, struct diag *diag)
{
	struct plan_frames frames = { .p = p, .flow = flow };

	recipes_init(&frames.recipes);
	for (size_t i = 0; i < flow->parts.n; i++)
		flow_walk(flow, i, plan_find_frame, &frames);
	recipes_done(&frames.recipes);
	if (frames.n_found == p->plan->vaddrs.n)
		return 0;
	return plan_refuse(diag, 0, "its stack frame cannot be determined at every branch");
}

/* Between a load-exclusive and its store, every trap makes the store fail: the program would retry forever.
 */
static int plan_check_fragile(const struct planner *p, struct diag *diag)
{
	const struct paths_plan *plan = p->plan;

	for (size_t i = 0; i < plan->cfg.n_blocks; i++) {
		const struct cfg_block *block = &plan->cfg.blocks[i];
		for (uint64_t at = block->start; plan->ways.blocks[i].n_ways && at < block->end;
		     at += p->isa->min_insn) {
			size_t len = p->isa->fragile_len(image_code(p->image, at));
			for (size_t k = 0; len && k < plan->vaddrs.n; k++)
				if (plan->vaddrs.at[k] > at && plan->vaddrs.at[k] < at + len)
					return plan_refuse(diag, plan->vaddrs.at[k],
							   "a probe between a load-exclusive and its store "
							   "would keep the store from ever succeeding");
		}
		if (p->isa->min_insn ==
		    1) /* no ISA with instructions of variable length has such operations */
			return 0;
	}
	return 0;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static int plan_make(struct planner *p, struct flow *flow, struct diag *diag)
{
	struct paths_plan *plan = p->plan;
	int error = 0;

	for (uint32_t i = 0; i < plan->cfg.n_blocks; i++)
		p->is_probed[i] = plan->ways.blocks[i].n_edges > 1;
	do
		error = plan_once(p, diag);
	while (!error && !p->is_complete);
	if (!error) {
		paths_silent_find(&plan->cfg, &plan->ways, p->is_probed, plan->rates, p->is_silent);
		error = plan_once(p, diag);
	}
	if (!error && plan->probes.n > PATHS_PROBES_MAX)
		error = plan_refuse(diag, 0, "it has too many branches");
	if (!error)
		error = plan_check_fragile(p, diag);
	return error ? error : plan_find_frames(p, flow, diag);
}

/* How many probes, and how many of their hits, cost more than others. */
static void plan_count_hits(struct planner *p)
{
	struct paths_plan *plan = p->plan;

	for (size_t i = 0; i < plan->probes.n; i++) {
		double hits = plan->rates ? plan->rates[plan->probes.at[i].block] : 0;
		bool is_stepped = chosen_is_stepped(p->image, plan->vaddrs.at[i]);
		plan->n_stepped += is_stepped;
		plan->hits += hits;
		plan->stepped_hits += is_stepped ? hits : 0;
	}
}

int paths_plan_init(struct paths_plan *plan, struct functions *functions, const struct image *image,
		    const struct paths_plan_request *request, struct diag *diag)
{
	uint32_t index = functions_find(functions, request->vaddr);
	struct planner planner = {
		.plan = plan, .image = image, .isa = functions->isa, .number = request->number
	};
	struct flow flow;

	*plan = (struct paths_plan){ 0 };
	if (index == FUNCTION_NONE || functions->at[index].start != request->vaddr)
		return plan_refuse(diag, request->vaddr, "no function starts");
	flow_init(&flow, functions_facts(functions));
	functions_analyse_alone(functions, index, &flow);
	cfg_build(&plan->cfg, &flow);
	int error = ways_init(&plan->ways, &plan->cfg, diag);
	if (!error) {
		CLEANUP(freep) bool *is_probed = alloc_zero(plan->cfg.n_blocks, sizeof(*is_probed));
		CLEANUP(freep) bool *is_silent = alloc_zero(plan->cfg.n_blocks, sizeof(*is_silent));
		planner.is_probed = is_probed;
		planner.is_silent = is_silent;
		if (request->samples)
			plan->rates = paths_rates_find(request->samples, request->image, &plan->cfg);
		error = plan_make(&planner, &flow, diag);
	}
	flow_done(&flow);
	if (!error)
		plan_count_hits(&planner);
	if (error)
		paths_plan_done(plan);
	return error;
}

void paths_plan_done(struct paths_plan *plan)
{
	ways_done(&plan->ways);
	cfg_done(&plan->cfg);
	vec_done(&plan->probes);
	vec_done(&plan->vaddrs);
	vec_done(&plan->arrivals);
	free(plan->rates);
	plan->rates = NULL;
}
