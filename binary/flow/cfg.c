/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg: blocks and edges of an analysed function.
 */
#include "binary/flow/cfg.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "binary/flow/flow.h"

struct builder {
	const struct flow *flow;
	VEC(struct cfg_block) blocks;
	VEC(uint32_t) first_insn; /* of each block */
	VEC(struct cfg_edge) edges;
	VEC(struct cfg_call) calls;
	VEC(struct cfg_access) accesses;
	VEC(struct cfg_part) parts;
};

const char *edge_kind_name(enum edge_kind kind)
{
	static const char *const names[] = { "next", "jump", "taken", "not-taken", "table", "landing-pad" };

	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

const char *block_end_name(enum block_end end)
{
	static const char *const names[] = { "runs-on",    "jumps",   "branches",   "switches",
					     "unresolved", "returns", "tail-calls", "stops" };

	return (size_t)end < sizeof(names) / sizeof(names[0]) ? names[end] : "?";
}

void cfg_done(struct cfg *cfg)
{
	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->calls);
	free(cfg->accesses);
	free(cfg->parts);
	*cfg = (struct cfg){ 0 };
}

uint32_t cfg_find(const struct cfg *cfg, uint64_t vaddr)
{
	size_t at = search_first(i, cfg->n_blocks, cfg->blocks[i].end > vaddr);

	return at < cfg->n_blocks && cfg->blocks[at].start <= vaddr ? (uint32_t)at : UINT32_MAX;
}

static bool cfg_is_call(const struct insn *insn)
{
	return insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT;
}

/* Calls end a block only if they do not return. */
static bool cfg_ends_block(const struct flow *flow, uint32_t i)
{
	const struct insn *insn = &flow->insns.at[i];

	return insn->flow != FLOW_NEXT && (!cfg_is_call(insn) || !flow_call_returns(flow, i));
}

static enum block_end cfg_end_kind(const struct flow *flow, uint32_t i)
{
	const struct insn *insn = &flow->insns.at[i];
	uint16_t flags = flow->flags.at[i];
	size_t n_targets;

	switch ((enum insn_flow)insn->flow) {
	case FLOW_JUMP:
		return flags & INSN_TAIL ? BLOCK_TAIL_CALLS : BLOCK_JUMPS;
	case FLOW_BRANCH:
		return BLOCK_BRANCHES;
	case FLOW_JUMP_INDIRECT:
		flow_jump_targets(flow, i, &n_targets);
		return flags & INSN_TAIL ? BLOCK_TAIL_CALLS : n_targets ? BLOCK_SWITCHES : BLOCK_UNRESOLVED;
	case FLOW_RETURN:
		return BLOCK_RETURNS;
	case FLOW_STOP:
		return BLOCK_STOPS;
	case FLOW_CALL:
	case FLOW_CALL_INDIRECT:
		return flow_call_returns(flow, i) ? BLOCK_RUNS_ON : BLOCK_STOPS;
	case FLOW_NEXT:
		break;
	}
	return BLOCK_RUNS_ON;
}

static void cfg_add_call(struct builder *b, uint32_t i)
{
	const struct flow *flow = b->flow;
	const struct insn *insn = &flow->insns.at[i];
	struct cfg_call call = {
		.vaddr = flow->vaddrs.at[i],
		.return_vaddr = flow->vaddrs.at[i] + insn->len,
		.target = insn->flow == FLOW_CALL ? insn->target : 0,
		.does_not_return = !flow_call_returns(flow, i),
	};

	vec_push(&b->calls, call);
}

/* One block from instruction i; returns the next one. */
static uint32_t cfg_add_block(struct builder *b, uint32_t i, uint32_t end)
{
	const struct flow *flow = b->flow;
	struct cfg_block block = {
		.start = flow->vaddrs.at[i],
		.first_call = (uint32_t)b->calls.n,
		.is_reached = flow->flags.at[i] & INSN_REACHED,
		.is_guess = flow->flags.at[i] & INSN_GUESS,
	};

	vec_push(&b->first_insn, i);
	for (;; i++) {
		bool is_last =
			i + 1 >= end || cfg_ends_block(flow, i) || (flow->flags.at[i + 1] & INSN_LEADER);
		block.n_insns++;
		block.n_padding =
			flow->insns.at[i].is_padding ? (uint8_t)(block.n_padding + flow->insns.at[i].len) : 0;
		if (cfg_is_call(&flow->insns.at[i]))
			cfg_add_call(b, i);
		if (is_last)
			break;
	}
	block.n_calls = (uint32_t)b->calls.n - block.first_call;
	block.last = flow->vaddrs.at[i];
	block.end = block.last + flow->insns.at[i].len;
	block.end_kind = (uint8_t)cfg_end_kind(flow, i);
	if (block.end_kind == BLOCK_TAIL_CALLS && flow->insns.at[i].flow == FLOW_JUMP)
		block.tail_target = flow->insns.at[i].target;
	vec_push(&b->blocks, block);
	return i + 1;
}

static void cfg_add_edge(struct builder *b, const struct cfg *cfg, struct cfg_block *from, uint64_t target,
			 enum edge_kind kind)
{
	uint32_t to = cfg_find(cfg, target);

	if (to == UINT32_MAX || cfg->blocks[to].start != target)
		return;
	for (uint32_t k = from->first_edge; k < b->edges.n; k++)
		if (b->edges.at[k].to == to && b->edges.at[k].kind == kind)
			return;
	vec_push(&b->edges, ((struct cfg_edge){ to, (uint8_t)kind }));
}

static void cfg_add_edges(struct builder *b, const struct cfg *cfg, size_t index)
{
	struct cfg_block *block = &b->blocks.at[index];
	const struct flow *flow = b->flow;
	uint32_t first = b->first_insn.at[index], last = first + block->n_insns - 1;
	const struct insn *insn = &flow->insns.at[last];
	size_t n_targets;
	const uint64_t *targets = flow_jump_targets(flow, last, &n_targets);

	block->first_edge = (uint32_t)b->edges.n;
	if (!block->is_reached) /* padding before a loop is not an entry */
		return;
	if (block->end_kind == BLOCK_RUNS_ON)
		cfg_add_edge(b, cfg, block, block->end, EDGE_NEXT);
	if (block->end_kind == BLOCK_JUMPS)
		cfg_add_edge(b, cfg, block, insn->target, EDGE_JUMP);
	if (block->end_kind == BLOCK_BRANCHES) {
		cfg_add_edge(b, cfg, block, insn->target, EDGE_TAKEN);
		cfg_add_edge(b, cfg, block, block->end, EDGE_NOT_TAKEN);
	}
	for (size_t k = 0; block->end_kind == BLOCK_SWITCHES && k < n_targets; k++)
		cfg_add_edge(b, cfg, block, targets[k], EDGE_TABLE);
	for (uint32_t i = first; flow->pads.n && i <= last; i++)
		if (cfg_is_call(&flow->insns.at[i]))
			cfg_add_edge(b, cfg, block, flow_landing_pad(flow, flow->vaddrs.at[i]),
				     EDGE_LANDING_PAD);
	block->n_edges = (uint32_t)b->edges.n - block->first_edge;
}

/* Properties of a loop's instructions: vector arithmetic, atomic operations and, if it is one block, loads
 * and stores. */
static void cfg_note_loop(struct builder *b, size_t index)
{
	const struct flow *flow = b->flow;
	const struct isa *isa = flow->isa;
	struct cfg_block *block = &b->blocks.at[index];
	uint32_t first = b->first_insn.at[index], last = first + block->n_insns - 1;
	struct bytes code = image_code(flow->facts->image, block->start);
	bool is_loop =
		flow->insns.at[last].flow == FLOW_BRANCH && flow->insns.at[last].target == block->start;

	block->first_access = (uint32_t)b->accesses.n;
	for (uint32_t i = first; i <= last; i++) {
		struct bytes insn = bytes_from(code, flow->vaddrs.at[i] - block->start);
		unsigned width = isa->packed_width(insn), stored = width ? 0 : isa->stored_width(insn);
		unsigned accesses = is_loop ? isa->accesses(insn) : 0;
		block->n_packed += width > 0;
		block->n_numbers += !width && isa->takes_number && isa->takes_number(insn);
		block->packed_width = width > block->packed_width ? (uint8_t)width : block->packed_width;
		block->stored_width = stored > block->stored_width ? (uint8_t)stored : block->stored_width;
		if (isa->is_atomic(insn))
			block->atomic = flow->vaddrs.at[i];
		if (accesses)
			vec_push(&b->accesses, ((struct cfg_access){ flow->vaddrs.at[i], accesses }));
	}
	block->n_accesses = (uint32_t)b->accesses.n - block->first_access;
}

/* Every block of a loop is between the ends of a backward edge. Most code is not in a loop. */
static void cfg_note_loops(struct builder *b)
{
	int32_t *change = alloc_zero(b->blocks.n + 1, sizeof(*change)), depth = 0;

	for (size_t from = 0; from < b->blocks.n; from++)
		for (uint32_t e = 0; e < b->blocks.at[from].n_edges; e++) {
			uint32_t to = b->edges.at[b->blocks.at[from].first_edge + e].to;
			if (to > from)
				continue;
			change[to]++;
			change[from + 1]--;
		}
	for (size_t i = 0; i < b->blocks.n; i++) {
		depth += change[i];
		if (depth > 0)
			cfg_note_loop(b, i);
	}
	free(change);
}

static int cfg_compare_parts(const void *left, const void *right)
{
	const struct flow_part *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void cfg_add_blocks(struct builder *b)
{
	size_t n = b->flow->parts.n;
	struct flow_part *parts = alloc_zero(n + 1, sizeof(*parts));

	memcpy(parts, b->flow->parts.at, n * sizeof(*parts));
	qsort(parts, n, sizeof(*parts), cfg_compare_parts);
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = parts[k].first, end = i + parts[k].n; i < end;)
			i = cfg_add_block(b, i, end);
	free(parts);
}

void cfg_build(struct cfg *cfg, const struct flow *flow)
{
	struct builder b = { .flow = flow };

	*cfg = (struct cfg){ 0 };
	for (size_t k = 0; k < flow->parts.n; k++)
		vec_push(&b.parts, ((struct cfg_part){ flow->parts.at[k].start, flow->parts.at[k].end }));
	if (flow->parts.n)
		cfg_add_blocks(&b);
	cfg->blocks = b.blocks.at;
	cfg->n_blocks = b.blocks.n;
	for (size_t k = 0; k < b.blocks.n; k++)
		cfg_add_edges(&b, cfg, k);
	cfg_note_loops(&b);
	cfg->edges = b.edges.at;
	cfg->n_edges = b.edges.n;
	cfg->calls = b.calls.at;
	cfg->n_calls = b.calls.n;
	cfg->accesses = b.accesses.at;
	cfg->n_accesses = b.accesses.n;
	cfg->parts = b.parts.at;
	cfg->n_parts = b.parts.n;
	cfg->function = flow->parts.n ? flow->parts.at[0].start : 0;
	cfg->entry = cfg_find(cfg, cfg->function);
	vec_done(&b.first_insn);
}
