/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/cycles.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define TRACE_ROUNDS 8 /* of a loop, in proportion to its paths */
#define TRACE_INSNS 400
#define LOOP_SAMPLES 25 /* that a loop must have for a result */
#define LOOPS_AGREE 0.2
#define LOST_LEAST 0.05 /* of what is needed: less is no loss */

/* ---- time by block ------------------------------------------------------------------------------------ */

static void cycles_add_time(const struct cycles_input *input, struct cycles *c)
{
	const struct annotation *a = input->annotation;

	for (size_t i = 0; i < a->codes.n; i++)
		for (size_t k = 0; k < a->codes.at[i].n; k++) {
			const struct annotated_insn *insn = &a->insns.at[a->codes.at[i].first + k];
			uint32_t block = cfg_find(input->cfg, a->codes.at[i].map->vaddr + insn->offset);
			if (block == UINT32_MAX)
				continue;
			c->blocks.at[block].samples += insn->self[0];
			c->blocks.at[block].spent += (double)insn->self[input->metric] * input->unit;
			c->samples += insn->self[0];
		}
}

/* ---- executions --------------------------------------------------------------------------------------- */

static void cycles_take_executions(struct cycles *c)
{
	for (uint32_t i = 0; i < c->blocks.n; i++) {
		enum confidence confidence;
		c->blocks.at[i].executions = frequency_of(&c->frequency, i, &confidence);
		c->blocks.at[i].confidence = (uint8_t)confidence;
	}
}

static void cycles_find_executions(const struct cycles_input *input, struct cycles *c)
{
	size_t n = c->blocks.n;
	CLEANUP(freep) double *cycles = alloc_zero(n + 1, sizeof(*cycles));
	CLEANUP(freep) double *best = alloc_zero(n + 1, sizeof(*best));
	CLEANUP(freep) double *counts = alloc_zero(n + 1, sizeof(*counts));
	CLEANUP(freep) uint64_t *samples = alloc_zero(n + 1, sizeof(*samples));
	struct frequency_input from = { input->cfg, cycles, samples, best };

	for (size_t i = 0; i < n; i++) {
		cycles[i] = c->blocks.at[i].spent;
		best[i] = c->blocks.at[i].best;
		samples[i] = c->blocks.at[i].samples;
		counts[i] = input->counts ? cycles_counts_of(input->counts, input->cfg->blocks[i].start) : -1;
	}
	if (!input->counts)
		frequency_estimate(&c->frequency, &from);
	else if (input->counts->is_relative)
		frequency_scale(&c->frequency, &from, counts);
	else
		frequency_take(&c->frequency, counts, CONFIDENCE_EXACT);
	cycles_take_executions(c);
}

static void cycles_sum_loops(struct cycles *c)
{
	vec_clear(&c->loops);
	for (size_t i = 0; i < c->forest.loops.n; i++) {
		const struct cycles_cost *header = &c->blocks.at[c->forest.loops.at[i].header];
		vec_push(&c->loops, ((struct cycles_cost){ .executions = header->executions,
							   .confidence = header->confidence }));
	}
	for (uint32_t i = 0; i < c->blocks.n; i++)
		for (uint32_t loop = c->forest.innermost.at[i]; loop != LOOP_NONE;
		     loop = c->forest.loops.at[loop].parent) {
			c->loops.at[loop].samples += c->blocks.at[i].samples;
			c->loops.at[loop].spent += c->blocks.at[i].spent;
		}
}

/* ---- best cases --------------------------------------------------------------------------------------- */

static struct bytes cycles_code(const struct cycles_input *input, uint32_t block)
{
	const struct cfg_block *at = &input->cfg->blocks[block];

	return bytes_slice(image_code(input->image, at->start), 0, at->end - at->start);
}

/* Of every block that was seen, and of its neighbours, by itself. */
static void cycles_best_blocks(const struct cycles_input *input, struct cycles *c)
{
	size_t n_blocks = input->cfg->n_blocks, n = 0;
	CLEANUP(freep) struct mca_region *regions = alloc_zero(n_blocks + 1, sizeof(*regions));
	CLEANUP(freep) struct bytes *codes = alloc_zero(n_blocks + 1, sizeof(*codes));
	CLEANUP(freep) uint32_t *block_of = alloc_zero(n_blocks + 1, sizeof(*block_of));

	for (uint32_t i = 0; i < n_blocks; i++) {
		codes[i] = cycles_code(input, i);
		if (c->frequency.class_of[i] == FREQUENCY_NONE || !codes[i].len)
			continue;
		block_of[n] = i;
		regions[n++] = (struct mca_region){ .blocks = &codes[i],
						    .n = 1,
						    .n_insns = input->cfg->blocks[i].n_insns };
	}
	if (mca_run(input->mca, regions, n, &c->mca_failed) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		c->blocks.at[block_of[i]].best = regions[i].cycles;
		c->blocks.at[block_of[i]].culprits |= regions[i].is_partial ? CULPRIT_MODEL : 0;
	}
}

/* A walk through an innermost loop that takes each branch as often as it was taken. */
struct trace {
	const struct cycles_input *input;
	const struct cycles *c;
	uint32_t loop;
	double *credits; /* by edge of the cfg */
	VEC(struct bytes) codes;
	uint32_t n_insns, n_rounds;
};

static uint32_t trace_next(struct trace *t, uint32_t block)
{
	const struct cfg *cfg = t->input->cfg;
	const struct cfg_block *at = &cfg->blocks[block];
	uint32_t best = UINT32_MAX;
	double sum = 0;

	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = at->first_edge; i < at->first_edge + at->n_edges; i++) {
			uint32_t to = cfg->edges[i].to;
			if (cfg->edges[i].kind == EDGE_LANDING_PAD ||
			    t->c->forest.innermost.at[to] != t->loop)
				continue;
			double often = frequency_of_edge(&t->c->frequency, block, to);
			often = often < 0 ? 1 : often + 1e-9;
			if (!pass) {
				sum += often;
				continue;
			}
			t->credits[i] += often / sum;
			if (best == UINT32_MAX || t->credits[i] > t->credits[best])
				best = i;
		}
	if (best == UINT32_MAX)
		return UINT32_MAX;
	t->credits[best] -= 1;
	return cfg->edges[best].to;
}

static void trace_loop(struct trace *t)
{
	uint32_t header = t->c->forest.loops.at[t->loop].header, block = header;

	while (block != UINT32_MAX && t->n_rounds < TRACE_ROUNDS) {
		struct bytes code = cycles_code(t->input, block);
		vec_push(&t->codes, code);
		t->n_insns += t->input->cfg->blocks[block].n_insns;
		block = trace_next(t, block);
		t->n_rounds += block == header;
		if (t->n_insns > TRACE_INSNS && (block == header || t->n_insns > 10 * TRACE_INSNS))
			return;
	}
}

/* Loops without others in them, as a whole: what overlaps from one block to the next counts. */
static void cycles_best_inner(const struct cycles_input *input, struct cycles *c)
{
	size_t n = c->loops.n;
	CLEANUP(freep) struct trace *traces = alloc_zero(n + 1, sizeof(*traces));
	CLEANUP(freep) struct mca_region *regions = alloc_zero(n + 1, sizeof(*regions));
	CLEANUP(freep) double *credits = alloc_zero(input->cfg->n_edges + 1, sizeof(*credits));
	CLEANUP(freep) bool *has_inner = alloc_zero(n + 1, sizeof(*has_inner));

	for (size_t i = 0; i < n; i++)
		if (c->forest.loops.at[i].parent != LOOP_NONE)
			has_inner[c->forest.loops.at[i].parent] = true;
	for (uint32_t i = 0; i < n; i++) {
		traces[i] = (struct trace){ .input = input, .c = c, .loop = i, .credits = credits };
		if (!has_inner[i] && c->loops.at[i].samples)
			trace_loop(&traces[i]);
		if (traces[i].n_rounds)
			regions[i] = (struct mca_region){ .blocks = traces[i].codes.at,
							  .n = traces[i].codes.n,
							  .n_insns = traces[i].n_insns };
	}
	if (mca_run(input->mca, regions, n, &c->mca_failed) >= 0)
		for (size_t i = 0; i < n; i++)
			if (traces[i].n_rounds)
				c->loops.at[i].best = regions[i].cycles / traces[i].n_rounds;
	for (size_t i = 0; i < n; i++)
		vec_done(&traces[i].codes);
}

/*
 * Counts of which only the proportions are known, and loops whose best case is: the loop that takes the
 * fewest cycles for what it needs tells how often all of it was executed. Better than single blocks, whose
 * samples may stand in the next.
 */
static void cycles_scale_by_loops(struct cycles *c)
{
	double lowest = 0;
	unsigned n_near = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->loops.n; i++) {
			const struct cycles_cost *loop = &c->loops.at[i];
			double needs = loop->best * loop->executions;
			if (loop->samples < LOOP_SAMPLES || !(needs > 0))
				continue;
			double times = loop->spent / needs;
			n_near += pass && times < lowest * (1 + LOOPS_AGREE);
			if (!pass && (!(lowest > 0) || times < lowest))
				lowest = times;
		}
	if (!(lowest > 0))
		return;
	frequency_multiply(&c->frequency, lowest, n_near > 1 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	cycles_take_executions(c);
	for (size_t i = 0; i < c->loops.n; i++) {
		c->loops.at[i].executions *= lowest;
		c->loops.at[i].confidence = c->blocks.at[c->forest.loops.at[i].header].confidence;
	}
}

/* Loops around others: their own blocks, and the loops in them, as often as those were executed. */
static void cycles_best_outer(struct cycles *c)
{
	size_t n = c->loops.n;
	CLEANUP(freep) double *needs = alloc_zero(n + 1, sizeof(*needs));

	for (uint32_t i = 0; i < c->blocks.n; i++)
		if (c->forest.innermost.at[i] != LOOP_NONE)
			needs[c->forest.innermost.at[i]] += c->blocks.at[i].executions * c->blocks.at[i].best;
	for (size_t i = n; i-- > 0;) {
		struct cycles_cost *loop = &c->loops.at[i];
		uint32_t parent = c->forest.loops.at[i].parent;
		if (loop->best > 0)
			needs[i] = loop->best * loop->executions;
		else if (loop->executions > 0)
			loop->best = needs[i] / loop->executions;
		if (parent != LOOP_NONE)
			needs[parent] += needs[i];
	}
}

/* ---- what is lost ------------------------------------------------------------------------------------- */

double cycles_each(const struct cycles_cost *cost)
{
	return cost->executions > 0 && cost->confidence != CONFIDENCE_NONE ? cost->spent / cost->executions
									   : -1;
}

static bool cycles_is_lost(const struct cycles_cost *cost)
{
	return cost->samples && cost->best > 0 && cycles_each(cost) > cost->best * (1 + LOST_LEAST);
}

static void cycles_find_culprits(const struct cycles_input *input, struct cycles *c)
{
	struct culprit_code code = { input->cfg, input->image, input->isa };

	for (uint32_t i = 0; i < c->blocks.n; i++) {
		struct cycles_cost *block = &c->blocks.at[i];
		uint32_t loop = c->forest.innermost.at[i];
		uint8_t unknown = block->culprits & CULPRIT_MODEL;
		uint8_t all = block->samples ? culprits_find(&code, &c->frequency, i) | unknown : 0;
		block->culprits = cycles_is_lost(block) ? all : 0;
		for (; loop != LOOP_NONE; loop = c->forest.loops.at[loop].parent)
			if (cycles_is_lost(&c->loops.at[loop]))
				c->loops.at[loop].culprits |= all;
	}
}

/* ---- ways --------------------------------------------------------------------------------------------- */

static void cycles_find_ways(const struct cycles_input *input, struct cycles *c)
{
	const struct cycles_counts *counts = input->counts;
	CLEANUP(freep) double *passes = alloc_zero(c->blocks.n + 1, sizeof(*passes)); /* by block */
	double spent = 0, executed = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < counts->ways.n; i++) {
			const struct cycles_way *way = &counts->ways.at[i];
			struct way_cost cost = { 0 };
			for (size_t k = 0; k < way->n_blocks; k++) {
				uint32_t block =
					cfg_find(c->cfg, counts->way_blocks.at[way->first_block + k]);
				if (block == UINT32_MAX)
					continue;
				double share = pass && passes[block] > 0 ? way->count / passes[block] : 0;
				passes[block] += pass ? 0 : way->count;
				cost.spent += share * c->blocks.at[block].spent;
				cost.samples += share * (double)c->blocks.at[block].samples;
				cost.n_insns += c->cfg->blocks[block].n_insns;
			}
			if (pass)
				vec_push(&c->ways, cost);
			spent += cost.spent;
			executed += pass ? way->count * cost.n_insns : 0;
		}
	for (size_t i = 0; i < c->ways.n; i++)
		c->ways.at[i].is_dense = c->ways.at[i].spent * executed >
					 spent * counts->ways.at[i].count * c->ways.at[i].n_insns;
}

void cycles_find(const struct cycles_input *input, struct cycles *ret)
{
	*ret = (struct cycles){ .cfg = input->cfg };
	for (size_t i = 0; i < input->cfg->n_blocks; i++)
		vec_push(&ret->blocks, ((struct cycles_cost){ 0 }));
	frequency_init(&ret->frequency, input->cfg);
	loops_find_in(input->cfg, &ret->forest);
	cycles_add_time(input, ret);
	if (input->mca)
		cycles_best_blocks(input, ret);
	cycles_find_executions(input, ret);
	cycles_sum_loops(ret);
	if (input->mca && !ret->mca_failed.error)
		cycles_best_inner(input, ret);
	if (input->counts && input->counts->is_relative)
		cycles_scale_by_loops(ret);
	cycles_best_outer(ret);
	cycles_find_culprits(input, ret);
	if (input->counts)
		cycles_find_ways(input, ret);
}

void cycles_done(struct cycles *cycles)
{
	frequency_done(&cycles->frequency);
	loop_forest_done(&cycles->forest);
	vec_done(&cycles->blocks);
	vec_done(&cycles->loops);
	vec_done(&cycles->ways);
}
