/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cfi.h"

#include <elf.h>
#include <errno.h>

#include "binary/encoded.h"
#include "unwinder/cfi_state.h"

/* Compilers nest one level; hand-written code a few. */
#define MAX_REMEMBERED 32

struct program {
	const struct fde *fde;
	const struct isa *isa;
	struct recipes *recipes;
	struct recipe_rows *rows;
	struct reader code;
	uint64_t code_vaddr; /* of the reader's start */
	uint64_t at;         /* offset from the function's start */
	bool is_initial;     /* in the CIE's program: there are no places and nothing to restore yet */
	bool is_damaged;
	bool is_finished; /* went past the function's end */
	unsigned n_remembered;
	struct cfi_state state, initial;
	struct cfi_state remembered[MAX_REMEMBERED];
};

enum {
	OP_ADVANCE_LOC = 0x40, /* three operations carry an operand in their low six bits */
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_NOP = 0x00,
	OP_SET_LOC,
	OP_ADVANCE_LOC1,
	OP_ADVANCE_LOC2,
	OP_ADVANCE_LOC4,
	OP_OFFSET_EXTENDED,
	OP_RESTORE_EXTENDED,
	OP_UNDEFINED,
	OP_SAME_VALUE,
	OP_REGISTER,
	OP_REMEMBER_STATE,
	OP_RESTORE_STATE,
	OP_DEF_CFA,
	OP_DEF_CFA_REGISTER,
	OP_DEF_CFA_OFFSET,
	OP_DEF_CFA_EXPRESSION,
	OP_EXPRESSION,
	OP_OFFSET_EXTENDED_SF,
	OP_DEF_CFA_SF,
	OP_DEF_CFA_OFFSET_SF,
	OP_VAL_OFFSET,
	OP_VAL_OFFSET_SF,
	OP_VAL_EXPRESSION,
	OP_MIPS_ADVANCE_LOC8 = 0x1d,
	OP_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	OP_AARCH64_NEGATE_RA_STATE = 0x2d, /* elsewhere: GNU_window_save, meaningless on x86-64 */
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* The state up to here holds from the last place on. */
static void emit(struct program *p)
{
	uint32_t recipe = cfi_state_recipe(&p->state, p->fde, p->isa, p->recipes);

	recipe_rows_add(p->rows, (uint32_t)p->at, recipe);
}

static void advance_to(struct program *p, uint64_t at)
{
	if (p->is_initial || at < p->at) {
		p->is_damaged = true;
		return;
	}
	if (at == p->at)
		return;
	emit(p);
	p->is_finished = at >= p->fde->size || at > UINT32_MAX;
	if (!p->is_finished)
		p->at = at;
}

static void advance(struct program *p, uint64_t delta)
{
	uint64_t by, at;

	if (__builtin_mul_overflow(delta, p->fde->cie.code_align, &by) ||
	    __builtin_add_overflow(p->at, by, &at))
		p->is_damaged = true;
	else
		advance_to(p, at);
}

static void set_location(struct program *p)
{
	struct encoded_base base = { NULL, p->code_vaddr, 0, p->fde->start };
	uint64_t vaddr = read_encoded(&p->code, p->fde->cie.address_encoding, &base);

	advance_to(p, vaddr - p->fde->start);
}

static int64_t factored(const struct program *p, int64_t offset)
{
	return (int64_t)((uint64_t)offset * (uint64_t)p->fde->cie.data_align);
}

static void set_rule(struct program *p, uint64_t reg, struct cfi_rule rule)
{
	/* Registers we do not follow (vector registers, flags) may have rules: they tell us nothing. */
	if (reg < REG_MAX)
		p->state.rules[reg] = rule;
}

static void set_offset(struct program *p, uint64_t reg, uint8_t kind, int64_t offset)
{
	set_rule(p, reg, (struct cfi_rule){ .kind = kind, .offset = offset });
}

static void set_expression(struct program *p, uint64_t reg, uint8_t kind)
{
	struct bytes expr = read_bytes(&p->code, read_uleb(&p->code));

	set_rule(p, reg, (struct cfi_rule){ .kind = kind, .expr = expr });
}

static void restore(struct program *p, uint64_t reg)
{
	if (p->is_initial)
		p->is_damaged = true;
	else if (reg < REG_MAX)
		p->state.rules[reg] = p->initial.rules[reg];
}

static void set_cfa(struct program *p, uint64_t reg, int64_t offset)
{
	p->state.cfa = (struct cfi_cfa){ .kind = CFA_REG, .reg = reg, .offset = offset };
}

static void remember(struct program *p)
{
	if (p->n_remembered == MAX_REMEMBERED)
		p->is_damaged = true;
	else
		p->remembered[p->n_remembered++] = p->state;
}

static void recall(struct program *p)
{
	if (p->n_remembered == 0)
		p->is_damaged = true;
	else
		p->state = p->remembered[--p->n_remembered];
}

static void negate_ra_state(struct program *p)
{
	if (p->isa->elf_machine == EM_AARCH64)
		p->state.ra_is_signed = !p->state.ra_is_signed;
}

/* One operation with its operands behind it. */
static void long_op(struct program *p, uint8_t op)
{
	struct reader *r = &p->code;
	uint64_t reg;

	switch (op) {
	case OP_NOP:
		break;
	case OP_SET_LOC:
		set_location(p);
		break;
	case OP_ADVANCE_LOC1:
		advance(p, read_u8(r));
		break;
	case OP_ADVANCE_LOC2:
		advance(p, read_u16(r));
		break;
	case OP_ADVANCE_LOC4:
		advance(p, read_u32(r));
		break;
	case OP_MIPS_ADVANCE_LOC8:
		advance(p, read_u64(r));
		break;
	case OP_OFFSET_EXTENDED:
		reg = read_uleb(r);
		set_offset(p, reg, RULE_AT_CFA, factored(p, (int64_t)read_uleb(r)));
		break;
	case OP_OFFSET_EXTENDED_SF:
		reg = read_uleb(r);
		set_offset(p, reg, RULE_AT_CFA, factored(p, read_sleb(r)));
		break;
	case OP_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = read_uleb(r);
		set_offset(p, reg, RULE_AT_CFA, factored(p, (int64_t)-read_uleb(r)));
		break;
	case OP_VAL_OFFSET:
		reg = read_uleb(r);
		set_offset(p, reg, RULE_IS_CFA, factored(p, (int64_t)read_uleb(r)));
		break;
	case OP_VAL_OFFSET_SF:
		reg = read_uleb(r);
		set_offset(p, reg, RULE_IS_CFA, factored(p, read_sleb(r)));
		break;
	case OP_RESTORE_EXTENDED:
		restore(p, read_uleb(r));
		break;
	case OP_UNDEFINED:
		set_rule(p, read_uleb(r), (struct cfi_rule){ .kind = RULE_UNDEFINED });
		break;
	case OP_SAME_VALUE:
		set_rule(p, read_uleb(r), (struct cfi_rule){ .kind = RULE_SAME });
		break;
	case OP_REGISTER:
		reg = read_uleb(r);
		set_rule(p, reg, (struct cfi_rule){ .kind = RULE_REG, .from = read_uleb(r) });
		break;
	case OP_EXPRESSION:
		set_expression(p, read_uleb(r), RULE_AT_EXPR);
		break;
	case OP_VAL_EXPRESSION:
		set_expression(p, read_uleb(r), RULE_IS_EXPR);
		break;
	case OP_REMEMBER_STATE:
		remember(p);
		break;
	case OP_RESTORE_STATE:
		recall(p);
		break;
	case OP_DEF_CFA:
		reg = read_uleb(r);
		set_cfa(p, reg, (int64_t)read_uleb(r));
		break;
	case OP_DEF_CFA_SF:
		reg = read_uleb(r);
		set_cfa(p, reg, factored(p, read_sleb(r)));
		break;
	case OP_DEF_CFA_REGISTER:
		set_cfa(p, read_uleb(r), p->state.cfa.offset);
		break;
	case OP_DEF_CFA_OFFSET:
		set_cfa(p, p->state.cfa.reg, (int64_t)read_uleb(r));
		break;
	case OP_DEF_CFA_OFFSET_SF:
		set_cfa(p, p->state.cfa.reg, factored(p, read_sleb(r)));
		break;
	case OP_DEF_CFA_EXPRESSION:
		p->state.cfa.kind = CFA_EXPR;
		p->state.cfa.expr = read_bytes(r, read_uleb(r));
		break;
	case OP_GNU_ARGS_SIZE:
		read_uleb(r);
		break;
	case OP_AARCH64_NEGATE_RA_STATE:
	case OP_AARCH64_NEGATE_RA_STATE_WITH_PC:
		negate_ra_state(p);
		break;
	default:
		p->is_damaged = true;
	}
}

static void run(struct program *p, struct bytes code, uint64_t vaddr)
{
	p->code = reader_of(code);
	p->code_vaddr = vaddr;
	while (reader_left(&p->code) && !p->is_damaged && !p->is_finished) {
		uint8_t op = read_u8(&p->code), low = op & 0x3f;
		switch (op & 0xc0) {
		case OP_ADVANCE_LOC:
			advance(p, low);
			break;
		case OP_OFFSET:
			set_offset(p, low, RULE_AT_CFA, factored(p, (int64_t)read_uleb(&p->code)));
			break;
		case OP_RESTORE:
			restore(p, low);
			break;
		default:
			long_op(p, op);
		}
		p->is_damaged |= p->code.failed;
	}
}

int cfi_compile(const struct fde *fde, const struct isa *isa, struct recipes *recipes,
		struct recipe_rows *ret)
{
	struct program p;

	/* The remembered states stay uninitialised: they are large, and most programs use one or none. */
	p.fde = fde;
	p.isa = isa;
	p.recipes = recipes;
	p.rows = ret;
	p.at = 0;
	p.is_damaged = p.is_finished = false;
	p.n_remembered = 0;
	cfi_state_init(&p.state);

	p.is_initial = true;
	run(&p, fde->cie.program, 0);
	p.initial = p.state;
	p.is_initial = false;
	if (!p.is_damaged)
		run(&p, fde->program, fde->program_vaddr);
	if (p.is_damaged) {
		recipe_rows_add(ret, (uint32_t)p.at, RECIPE_NONE);
		return -EBADMSG;
	}
	if (!p.is_finished)
		emit(&p);
	return 0;
}
