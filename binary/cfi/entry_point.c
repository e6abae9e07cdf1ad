/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/cfi/entry_point.h"

#include "binary/isa/isa.h"

#define MAX_INSNS 64 /* that are decoded: entry points have about twenty */

struct scan {
	const struct isa *isa;
	uint64_t page[REG_MAX];  /* first halves of addresses (adrp) */
	uint64_t known;          /* mask */
	uint64_t formed;         /* the nearest address ahead that was formed; 0 = none */
	uint64_t limit, reached; /* the furthest address below the limit that is jumped to */
	bool runs_on;            /* from the last instruction that is not padding into the next */
};

static void scan_form(struct scan *scan, uint64_t at, uint64_t address)
{
	if (address > at && (!scan->formed || address < scan->formed))
		scan->formed = address;
}

static void scan_effect(struct scan *scan, const struct insn *insn, uint64_t at, const struct effect *e)
{
	bool is_set = e->kind == EFFECT_SET && e->index == REG_NONE && e->width == 8;
	bool is_whole = is_set && e->base == REG_NONE && insn->is_address;
	bool is_second = is_set && e->base < REG_MAX && (scan->known >> e->base & 1);
	uint64_t address = (is_second ? scan->page[e->base] : 0) + (uint64_t)e->imm;
	bool is_half = is_whole && scan->isa->min_insn == 4 && address % 4096 == 0;

	/* The return address of an emulated call is not a function. */
	if ((is_second || (is_whole && !is_half)) && e->reg != scan->isa->ra)
		scan_form(scan, at, address);
	if (e->reg >= REG_MAX || e->kind == EFFECT_STORE || e->kind == EFFECT_PUSH)
		return;
	scan->known &= ~(1ull << e->reg);
	if (is_half) {
		scan->page[e->reg] = address;
		scan->known |= 1ull << e->reg;
	}
}

static void scan_insn(struct scan *scan, const struct insn *insn, uint64_t at)
{
	for (unsigned i = 0; i < insn->n_effects && i < INSN_MAX_EFFECTS; i++)
		scan_effect(scan, insn, at, &insn->effect[i]);
	scan->known &= ~insn->clobbers;
	if ((insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH) && insn->target > scan->reached &&
	    insn->target < scan->limit)
		scan->reached = insn->target;
	if (!insn->is_padding || insn->flow != FLOW_NEXT)
		scan->runs_on = insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH;
}

uint64_t entry_point_end(const struct image *image, uint64_t limit)
{
	struct scan scan = { .isa = isa_for_machine(image->elf_machine), .limit = limit, .runs_on = true };
	uint64_t at = image->entry;
	struct insn insn;

	for (unsigned n = 0; scan.isa && n < MAX_INSNS && at < limit; n++, at += insn.len) {
		/* After a call that does not return, or a jump. */
		if (at == scan.formed && !scan.runs_on && scan.reached < at)
			return at;
		scan.formed = scan.formed > at ? scan.formed : 0;
		if (scan.isa->decode(image_code(image, at), at, &insn) < 0 || insn.len == 0)
			return limit;
		scan_insn(&scan, &insn, at);
	}
	return limit;
}
