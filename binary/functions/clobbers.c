/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clobbers: which registers a function changes, according to its code. Hand-written code and interprocedural
 * register allocation rely on more than the calling convention guarantees.
 */
#include "binary/flow/noreturn.h"
#include "binary/functions/function_private.h"

#define MAX_LEAF_BYTES 4096u
#define MAX_WRITES_BYTES                                                                         \
	(64u << 10)       /* the largest transforms of video codecs have some ten thousand bytes \
			   */
#define MAX_CALL_DEPTH 4u /* call depth; helpers of hand-written code call each other to a depth of two */

/* Registers an instruction writes. */
static uint64_t clobbers_written(const struct insn *insn)
{
	uint64_t mask = insn->clobbers;

	for (unsigned k = 0; k < insn->n_effects; k++) {
		const struct effect *e = &insn->effect[k];
		if (e->reg < REG_MAX && e->kind != EFFECT_PUSH && e->kind != EFFECT_STORE &&
		    e->kind != EFFECT_COMPARE)
			mask |= 1ull << e->reg;
		if (e->kind == EFFECT_EXCHANGE && e->base < REG_MAX)
			mask |= 1ull << e->base;
	}
	return mask;
}

static uint64_t clobbers_at(struct functions *functions, uint64_t vaddr, unsigned depth);

/* What one instruction, or the function that it calls, writes; everything if that cannot be determined. */
static uint64_t clobbers_of_insn(struct functions *functions, const struct function *f,
				 const struct insn *insn, unsigned depth)
{
	bool is_inside = insn->target >= f->start && insn->target < f->end;

	switch (insn->flow) {
	case FLOW_CALL:
		return clobbers_written(insn) | clobbers_at(functions, insn->target, depth);
	case FLOW_CALL_INDIRECT:
	case FLOW_JUMP_INDIRECT:
		return UINT64_MAX;
	case FLOW_JUMP:
	case FLOW_BRANCH:
		return is_inside ? clobbers_written(insn) : UINT64_MAX;
	default:
		return clobbers_written(insn);
	}
}

static uint64_t clobbers_of_code(struct functions *functions, struct function f, unsigned depth)
{
	struct bytes code = bytes_slice(image_code(functions->image, f.start), 0, f.end - f.start);
	uint64_t mask = 1ull << functions->isa->sp;

	if (f.end - f.start > MAX_LEAF_BYTES || function_is_stub(&f))
		return UINT64_MAX;
	for (uint64_t at = f.start; code.len && mask != UINT64_MAX;) {
		struct insn insn;
		if (functions->isa->decode(code, at, &insn) < 0 || insn.len == 0 || insn.len > code.len)
			return UINT64_MAX;
		mask |= clobbers_of_insn(functions, &f, &insn, depth);
		code = bytes_from(code, insn.len);
		at += insn.len;
	}
	return mask;
}

static uint64_t clobbers_at(struct functions *functions, uint64_t vaddr, unsigned depth)
{
	uint32_t index = functions_index(functions, vaddr);

	if (depth == 0 || index == FUNCTION_NONE || functions->at[index].start != vaddr)
		return UINT64_MAX;

	struct function *f = &functions->at[index];
	if (!f->clobbers) {
		uint64_t clobbers = clobbers_of_code(functions, *f, depth - 1);
		/* Some probes push the size and pop it again. */
		f->clobbers = probe_by_name(f->name) ? clobbers & ~functions->isa->probe_regs : clobbers;
	}
	return f->clobbers;
}

uint64_t functions_clobbers(struct functions *functions, uint64_t vaddr)
{
	return clobbers_at(functions, vaddr, MAX_CALL_DEPTH);
}

static bool clobbers_ends_block(const struct insn *insn)
{
	return insn->flow == FLOW_RETURN || insn->flow == FLOW_JUMP || insn->flow == FLOW_JUMP_INDIRECT ||
	       insn->flow == FLOW_STOP;
}

/* There may be a table after a return; bytes that cannot be decoded there are not code. */
static uint64_t clobbers_code_writes(const struct functions *functions, const struct function *f)
{
	struct bytes code = bytes_slice(image_code(functions->image, f->start), 0, f->end - f->start);
	uint64_t mask = 1ull << functions->isa->sp;
	bool may_be_data = false;

	if (f->end - f->start > MAX_WRITES_BYTES)
		return UINT64_MAX;
	for (uint64_t at = f->start; code.len;) {
		struct insn insn;
		bool is_code =
			functions->isa->decode(code, at, &insn) == 0 && insn.len && insn.len <= code.len;
		if (!is_code && !may_be_data)
			return UINT64_MAX;
		size_t len = is_code ? insn.len : functions->isa->min_insn;
		if (is_code) {
			mask |= clobbers_written(&insn);
			may_be_data = clobbers_ends_block(&insn);
		}
		code = bytes_from(code, len);
		at += len;
	}
	return mask;
}

uint64_t functions_writes(struct functions *functions, uint64_t vaddr)
{
	uint32_t index = functions_index(functions, vaddr);

	if (index == FUNCTION_NONE || functions->at[index].start != vaddr)
		return UINT64_MAX;
	struct function *f = &functions->at[index];
	if (!f->writes)
		f->writes = clobbers_code_writes(functions, f);
	return f->writes;
}
