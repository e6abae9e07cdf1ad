/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/culprits.h"

#include <stddef.h>

#define PAGE_BITS 12
#define ONE_SIDED 0.02 /* a branch that goes the other way less often is assumed to be predicted */

const char *culprit_name(enum culprit culprit)
{
	switch (culprit) {
	case CULPRIT_DATA:
		return "loads (data cache or TLB)";
	case CULPRIT_STORE:
		return "stores (store buffer)";
	case CULPRIT_BRANCH:
		return "branch mispredictions";
	case CULPRIT_CODE:
		return "instruction cache or TLB";
	case CULPRIT_DIVIDE:
		return "divisions with slow operands";
	case CULPRIT_MODEL:
		return "instructions unknown to llvm-mca";
	}
	return "";
}

/* What one instruction may cause. */
static uint8_t culprits_of_insn(const struct isa *isa, struct bytes code, const struct insn *insn)
{
	uint8_t found = 0;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		uint8_t kind = insn->effect[i].kind;
		if (kind == EFFECT_LOAD || kind == EFFECT_POP)
			found |= CULPRIT_DATA;
		if (kind == EFFECT_STORE || kind == EFFECT_PUSH)
			found |= CULPRIT_STORE;
	}
	struct bytes own = bytes_slice(code, 0, insn->len);
	if (isa->accesses(own) && !found) /* of registers without effects */
		found |= isa->stored_width(own) ? CULPRIT_STORE : CULPRIT_DATA | CULPRIT_STORE;
	if (insn->flow == FLOW_JUMP_INDIRECT || insn->flow == FLOW_CALL_INDIRECT)
		found |= CULPRIT_BRANCH;
	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT)
		found |= CULPRIT_CODE;
	if (isa_is_division(isa, own))
		found |= CULPRIT_DIVIDE;
	return found;
}

/* Is the block reached from another page? */
static bool culprits_is_far(const struct cfg *cfg, const struct frequency *f, uint32_t block)
{
	uint64_t page = cfg->blocks[block].start >> PAGE_BITS;

	if ((cfg->blocks[block].end - 1) >> PAGE_BITS != page)
		return true;
	for (uint32_t i = f->in.first[block]; i < f->in.first[block + 1]; i++) {
		uint32_t from = f->edges.at[f->in.at[i]].from;
		if (from == FREQUENCY_NONE || cfg->blocks[from].last >> PAGE_BITS != page)
			return true;
	}
	return false;
}

/* Does it end in an unpredictable branch, or begin after one? */
static bool culprits_branches(const struct frequency *f, uint32_t block)
{
	double own = frequency_of(f, block, NULL);
	uint32_t n = f->out.first[block + 1] - f->out.first[block];

	for (uint32_t i = f->out.first[block]; n > 1 && i < f->out.first[block + 1]; i++) {
		const struct frequency_class *class = &f->classes.at[f->edges.at[f->out.at[i]].class];
		double share = own > 0 ? class->executions / own : 0.5;
		if (class->confidence == CONFIDENCE_NONE || (share > ONE_SIDED && share < 1 - ONE_SIDED))
			return true;
	}
	return false;
}

uint8_t culprits_find(const struct culprit_code *from, const struct frequency *f, uint32_t block)
{
	const struct cfg_block *at = &from->cfg->blocks[block];
	uint8_t found = 0;
	struct insn insn;

	for (uint64_t vaddr = at->start; vaddr < at->end; vaddr += insn.len) {
		struct bytes code = image_code(from->image, vaddr);
		if (from->isa->decode(code, vaddr, &insn) < 0 || !insn.len)
			break;
		found |= culprits_of_insn(from->isa, code, &insn);
	}
	if (culprits_branches(f, block))
		found |= CULPRIT_BRANCH;
	for (uint32_t i = f->in.first[block]; i < f->in.first[block + 1]; i++) {
		uint32_t before = f->edges.at[f->in.at[i]].from;
		if (before != FREQUENCY_NONE && culprits_branches(f, before))
			found |= CULPRIT_BRANCH;
	}
	if (culprits_is_far(from->cfg, f, block))
		found |= CULPRIT_CODE;
	return found;
}
