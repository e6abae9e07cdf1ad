/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey: one linear decode of the whole text for evidence: call targets, addresses taken, jumps from one
 * interval into another, and every data address that some instruction forms (a table must end where another
 * object begins).
 */
#include "binary/functions/function_private.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"

uint64_t *evidence_bits(const struct text_range *range, enum evidence what)
{
	switch (what) {
	case EVIDENCE_CALLED:
		return range->called;
	case EVIDENCE_TAKEN:
		return range->taken;
	case EVIDENCE_JUMPED:
		return range->jumped;
	case EVIDENCE_POINTED:
		return range->pointed;
	case EVIDENCE_COVERED:
		return range->covered;
	}
	return NULL;
}

const struct text_range *functions_text(const struct functions *functions, uint64_t vaddr)
{
	return facts_text(functions_facts(functions), vaddr);
}

void evidence_add(struct functions *functions, enum evidence what, uint64_t vaddr)
{
	const struct text_range *range = functions_text(functions, vaddr);
	uint64_t *bits = range ? evidence_bits(range, what) : NULL;

	if (bits && !text_is_between(range, vaddr))
		bits[text_bit(range, vaddr) / 64] |= 1ull << (text_bit(range, vaddr) % 64);
}

/* The bits from `at` on, up to `end`, that are in one word; and their number. */
static uint64_t survey_bits_in_word(uint64_t at, uint64_t end, uint64_t *ret_mask)
{
	uint64_t n = 64 - at % 64 < end - at ? 64 - at % 64 : end - at;

	*ret_mask = UINT64_MAX >> (64 - n) << (at % 64);
	return n;
}

void evidence_add_range(struct functions *functions, enum evidence what, uint64_t start, uint64_t end)
{
	const struct text_range *range = functions_text(functions, start);
	uint64_t *bits = range ? evidence_bits(range, what) : NULL, mask;

	end = bits && end > range->end ? range->end : end;
	if (!bits || end <= start)
		return;
	uint64_t last = text_bit(range, end - 1) + 1;
	for (uint64_t at = text_bit(range, start), n; at < last; at += n) {
		n = survey_bits_in_word(at, last, &mask);
		bits[at / 64] |= mask;
	}
}

void evidence_uncover(const struct text_range *range, uint64_t start, uint64_t end)
{
	uint64_t last = text_bit(range, end - 1) + 1, mask;

	for (uint64_t at = text_bit(range, start), n; at < last; at += n) {
		n = survey_bits_in_word(at, last, &mask);
		range->covered[at / 64] &= ~mask;
	}
}

bool evidence_has(const struct functions *functions, enum evidence what, uint64_t vaddr)
{
	const struct text_range *range = functions_text(functions, vaddr);
	const uint64_t *bits = range ? evidence_bits(range, what) : NULL;

	if (!bits || (text_is_between(range, vaddr) && what != EVIDENCE_COVERED))
		return false;
	return bits[text_bit(range, vaddr) / 64] >> (text_bit(range, vaddr) % 64) & 1;
}

bool functions_is_called(const struct functions *functions, uint64_t vaddr)
{
	return evidence_has(functions, EVIDENCE_CALLED, vaddr);
}

static void survey_make_bitmaps(struct text_range *range, unsigned min_insn)
{
	range->shift = min_insn == 4 ? 2 : 0;
	size_t words = text_bit(range, range->end) / 64 + 1;
	uint64_t *block = alloc_zero(words * 6, 8);

	range->called = block;
	range->taken = block + words;
	range->jumped = block + 2 * words;
	range->pointed = block + 3 * words;
	range->covered = block + 4 * words;
	range->frameless = block + 5 * words;
}

/* --- instructions ----------------------------------------------------------------------------- */

#define N_RECENT 1024u /* a small filter: most addresses are formed many times */

struct pass {
	struct functions *functions;
	const struct isa *isa;
	uint64_t constant[REG_MAX]; /* addresses built in two steps: adrp, add */
	uint64_t known;             /* mask */
	uint64_t sum[REG_MAX];      /* an address of code, plus something unknown */
	uint64_t summed;            /* mask */
	uint64_t start, end;        /* of the current interval; end 0 = in no interval */
	uint32_t next;              /* index of the next interval */
	uint64_t recent[N_RECENT];  /* addresses that are already in the list */
};

static void survey_note_address(struct pass *pass, uint64_t address, bool is_taken)
{
	if (address < 4096)
		return;
	if (is_taken && functions_text(pass->functions, address))
		evidence_add(pass->functions, EVIDENCE_TAKEN, address);
	uint64_t *recent = &pass->recent[address / 8 % N_RECENT];
	if (*recent != address)
		vec_push(&pass->functions->private->references, address);
	*recent = address;
}

/* Can a constant be an address? If it is not pc-relative, only in a program that is never relocated. */
static bool survey_is_address_constant(const struct pass *pass, const struct insn *insn)
{
	return insn->is_address || (pass->functions->image->elf_type == ET_EXEC && pass->isa->min_insn == 1);
}

static bool survey_writes_register(const struct effect *e)
{
	return e->reg < REG_MAX && e->kind != EFFECT_STORE && e->kind != EFFECT_PUSH &&
	       e->kind != EFFECT_COMPARE;
}

/* An effect with a known base: refers to an address, or forms one. */
static void survey_note_reference(struct pass *pass, const struct effect *e)
{
	bool is_address = e->kind == EFFECT_SET || e->kind == EFFECT_LOAD || e->kind == EFFECT_STORE;
	uint64_t address = (e->base < REG_MAX ? pass->constant[e->base] : 0) + (uint64_t)e->imm;
	/* With fixed-size instructions, adrp forms a page address, only half of an address. An offset from a
	 * complete address leads inside an object. */
	bool is_short = pass->isa->min_insn == 4;
	bool is_half = is_short && e->base == REG_NONE && address % 4096 == 0;
	bool is_inside = e->base < REG_MAX && !(is_short && pass->constant[e->base] % 4096 == 0);

	if (is_address && !is_half && !is_inside && (e->index == REG_NONE || e->kind != EFFECT_SET))
		survey_note_address(pass, address,
				    e->kind == EFFECT_SET); /* data that is read there is not code */
	if (!survey_writes_register(e))
		return;
	pass->known &= ~(1ull << e->reg);
	/* Complete addresses are recorded, and offsets from them stay inside the same object: only page
	 * addresses are worth tracking. */
	bool is_followed = !is_short || address % 4096 == 0;
	if (e->kind == EFFECT_SET && e->index == REG_NONE && e->width == 8 && is_followed) {
		pass->constant[e->reg] = address;
		pass->known |= 1ull << e->reg;
	}
}

/* An address of code and an offset: a jump there goes into an array of code. */
static void survey_note_sum(struct pass *pass, const struct effect *e)
{
	bool is_sum = e->kind == EFFECT_SET && e->base < REG_MAX && e->index < REG_MAX && !e->shift;
	uint64_t known = pass->known;

	if (e->reg < REG_MAX)
		pass->summed &= ~(1ull << e->reg);
	if (!is_sum || (known >> e->base & 1) == (known >> e->index & 1))
		return;
	uint64_t base = pass->constant[known >> e->base & 1 ? e->base : e->index];
	if (!functions_text(pass->functions, base))
		return;
	pass->sum[e->reg] = base;
	pass->summed |= 1ull << e->reg;
}

static void survey_note_effect(struct pass *pass, const struct insn *insn, const struct effect *e)
{
	bool is_known = e->base < REG_MAX && (pass->known >> e->base & 1);
	bool is_constant =
		e->base == REG_NONE && (e->kind != EFFECT_SET || survey_is_address_constant(pass, insn));

	if (survey_writes_register(e))
		survey_note_sum(pass, e);
	if (is_known || is_constant)
		survey_note_reference(pass, e);
	else if (survey_writes_register(e))
		pass->known &= ~(1ull << e->reg);
}

/* A call to the next instruction only reads the pc. */
static void survey_note_call(struct pass *pass, uint64_t behind, uint64_t target)
{
	if (target != behind)
		evidence_add(pass->functions, EVIDENCE_CALLED, target);
}

static void survey_note_flow(struct pass *pass, const struct insn *insn, uint64_t vaddr)
{
	bool is_outside = insn->target < pass->start || insn->target >= pass->end;

	if (insn->flow == FLOW_CALL)
		survey_note_call(pass, vaddr + insn->len, insn->target);
	if ((insn->flow == FLOW_JUMP || insn->flow == FLOW_BRANCH) && is_outside) {
		evidence_add(pass->functions, EVIDENCE_JUMPED, insn->target);
		vec_push(&pass->functions->private->jumps, ((struct cross_jump){ insn->target, vaddr }));
	}
	if (insn->flow == FLOW_JUMP_INDIRECT && insn->through < REG_MAX &&
	    (pass->summed >> insn->through & 1))
		vec_push(&pass->functions->private->arrays, pass->sum[insn->through]);
	pass->summed = 0;
	if (insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT)
		pass->known &= pass->isa->callee_saved;
	if ((insn->flow == FLOW_RETURN || insn->flow == FLOW_JUMP_INDIRECT) && vaddr < pass->end)
		pass->functions->at[pass->next - 1].holds_return = true;
	if (insn->flow == FLOW_RETURN || insn->flow == FLOW_JUMP || insn->flow == FLOW_JUMP_INDIRECT ||
	    insn->flow == FLOW_STOP)
		pass->known = 0; /* the following code is reached from elsewhere */
}

static void survey_note_insn(struct pass *pass, const struct insn *insn, uint64_t vaddr)
{
	for (unsigned k = 0; k < insn->n_effects; k++)
		survey_note_effect(pass, insn, &insn->effect[k]);
	pass->known &= ~insn->clobbers;
	if (insn->flow != FLOW_NEXT)
		survey_note_flow(pass, insn, vaddr);
}

/* Decoding restarts at every known start: there may be data before it. */
static void survey_enter_interval(struct pass *pass, uint64_t at)
{
	const struct functions *functions = pass->functions;

	while (pass->next < functions->n && functions->at[pass->next].start <= at) {
		pass->start = functions->at[pass->next].start;
		pass->end = functions->at[pass->next].end;
		pass->known = 0;
		pass->next++;
	}
}

/* The most common relevant instructions, without a decode: calls, and page addresses. */
static bool survey_quickly(struct pass *pass, struct bytes code, uint64_t at)
{
	const struct isa *isa = pass->isa;
	struct isa_quick quick;

	if (!isa->quick || !isa->quick(code, at, &quick))
		return false;
	if (quick.reg == REG_NONE) {
		survey_note_call(pass, at + isa->min_insn, quick.value);
		pass->known &= isa->callee_saved;
	} else {
		pass->constant[quick.reg] = quick.value;
		pass->known |= 1ull << quick.reg;
	}
	return true;
}

/* Surveys one or a few instructions at `at`; returns their length in bytes. */
static size_t survey_some(struct pass *pass, struct bytes code, uint64_t at)
{
	const struct isa *isa = pass->isa;
	struct isa_room room = { (int64_t)(pass->start - at), (int64_t)(pass->end - at) };
	size_t idle = isa->idle_len ? isa->idle_len(code, pass->known | pass->summed, room) : 0;
	struct insn insn;

	if (idle)
		return idle;
	if (survey_quickly(pass, code, at))
		return isa->min_insn;
	if (isa->decode(code, at, &insn) < 0 || insn.len == 0 || insn.len > code.len)
		return isa->min_insn < code.len ? isa->min_insn : code.len;
	survey_note_insn(pass, &insn, at);
	return insn.len;
}

static void survey_range(struct pass *pass, struct vaddr_range range)
{
	struct bytes code =
		bytes_slice(image_code(pass->functions->image, range.start), 0, range.end - range.start);

	for (uint64_t at = range.start; at < range.start + code.len;) {
		uint64_t stop = range.start + code.len;

		survey_enter_interval(pass, at);
		if (pass->next < pass->functions->n && pass->functions->at[pass->next].start < stop)
			stop = pass->functions->at[pass->next].start;
		while (at < stop)
			at += survey_some(pass, (struct bytes){ code.at + (at - range.start), stop - at },
					  at);
	}
}

/* --- all of it ------------------------------------------------------------------------------- */

static void survey_sort_references(struct functions_private *p)
{
	size_t kept = 0;

	sort_by_u64(p->references.at, p->references.n, sizeof(uint64_t));
	for (size_t i = 0; i < p->references.n; i++)
		if (kept == 0 || p->references.at[i] != p->references.at[kept - 1])
			p->references.at[kept++] = p->references.at[i];
	p->references.n = kept;
	p->facts.references = p->references.at;
	p->facts.n_references = kept;
}

static void survey_sort_jumps(struct functions_private *p)
{
	sort_by_u64(p->jumps.at, p->jumps.n, sizeof(*p->jumps.at)); /* `to` comes first */
}

bool functions_is_array(const struct functions *functions, uint64_t vaddr)
{
	const struct functions_private *p = functions->private;
	size_t at = search_first(i, p->arrays.n, p->arrays.at[i] >= vaddr);

	return at < p->arrays.n && p->arrays.at[at] == vaddr;
}

size_t functions_jumpers(const struct functions *functions, uint64_t start, uint64_t end, uint64_t *ret_from,
			 size_t max)
{
	const struct functions_private *p = functions->private;
	size_t n = 0;

	for (size_t k = search_first(i, p->jumps.n, p->jumps.at[i].to >= start);
	     k < p->jumps.n && p->jumps.at[k].to < end; k++, n++)
		if (n < max)
			ret_from[n] = p->jumps.at[k].from;
	return n;
}

void functions_apply_evidence(struct functions *functions, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct function *f = &functions->at[i];
		if (function_is_stub(f))
			continue;
		if (evidence_has(functions, EVIDENCE_CALLED, f->start))
			f->sources |= FROM_CALL;
		if (evidence_has(functions, EVIDENCE_TAKEN, f->start))
			f->sources |= FROM_ADDRESS;
		if (evidence_has(functions, EVIDENCE_POINTED, f->start))
			f->sources |= FROM_POINTER;
	}
}

static void survey_piece(struct pass *pass, struct vaddr_range piece)
{
	const struct functions *functions = pass->functions;

	pass->next = 0;
	while (pass->next < functions->n && functions->at[pass->next].end <= piece.start)
		pass->next++;
	pass->start = pass->end = pass->known = 0;
	survey_range(pass, piece);
	vec_push(&functions->private->seen, piece);
}

/* Decodes the parts of the range that were not decoded before. */
static void survey_unseen(struct pass *pass, struct vaddr_range range)
{
	struct functions_private *p = pass->functions->private;

	while (range.start < range.end) {
		uint64_t next = range.end, behind = 0;
		for (size_t i = 0; i < p->seen.n && !behind; i++) {
			const struct vaddr_range *seen = &p->seen.at[i];
			if (range.start >= seen->start && range.start < seen->end)
				behind = seen->end;
			else if (seen->start > range.start && seen->start < next)
				next = seen->start;
		}
		if (!behind)
			survey_piece(pass, (struct vaddr_range){ range.start, next });
		range.start = behind ? behind : next;
	}
}

/* Pointers in data are collected once for all of the text. */
static void survey_begin_evidence(struct functions *functions)
{
	struct functions_private *p = functions->private;

	for (size_t i = 0; i < p->text.n; i++)
		survey_make_bitmaps(&p->text.at[i], functions->isa->min_insn);
	pointers_gather(functions);
}

void functions_gather(struct functions *functions, struct vaddr_range range)
{
	struct functions_private *p = functions->private;
	struct pass pass = { .functions = functions, .isa = functions->isa };
	size_t n_seen = p->seen.n;

	if (p->text.n && !p->text.at[0].called)
		survey_begin_evidence(functions);
	for (size_t i = 0; i < p->text.n; i++) {
		const struct text_range *text = &p->text.at[i];
		uint64_t start = range.start > text->start ? range.start : text->start;
		survey_unseen(&pass,
			      (struct vaddr_range){ start, range.end < text->end ? range.end : text->end });
	}
	if (p->seen.n == n_seen)
		return;
	survey_sort_references(p);
	survey_sort_jumps(p);
	sort_by_u64(p->arrays.at, p->arrays.n, sizeof(uint64_t));
	functions_apply_evidence(functions, 0, functions->n);
}

void functions_survey(struct functions *functions)
{
	const struct vaddr_range all = { 0, UINT64_MAX };

	if (functions->is_surveyed)
		return;
	functions->is_surveyed = true;
	functions_gather(functions, all);
	functions_discover(functions, all, all);
}
