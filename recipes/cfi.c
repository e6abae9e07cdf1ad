/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/cfi.h"

#include <elf.h>
#include <errno.h>

#include "binary/cfi/encoded.h"
#include "recipes/cfi_state.h"

/* Compilers nest one level; hand-written code a few. */
#define MAX_REMEMBERED 32
#define MAX_EXPRESSION \
	256 /* bytes; those of compilers have about twenty, and all are compared for every row */

struct program {
	const struct fde *fde;
	const struct isa *isa;
	struct recipes *recipes;
	struct recipe_rows *rows;
	struct reader code;
	uint64_t code_vaddr; /* of the reader's start */
	uint64_t at;         /* offset from the function's start */
	bool is_initial;     /* in the CIE's program: there are no locations and nothing to restore yet */
	bool is_damaged;
	bool is_finished; /* went past the end of the function */
	unsigned n_remembered;
	struct cfi_state state, initial;
	struct cfi_state remembered[MAX_REMEMBERED];
};

/* The current state is valid from the last location on. */
static void cfi_emit(struct program *p)
{
	uint32_t recipe = cfi_state_recipe(&p->state, p->fde, p->isa, p->recipes);

	recipe_rows_add(p->rows, (uint32_t)p->at, recipe);
}

/* The operands of one operation; which of them exist depends on the operation. */
struct operands {
	uint64_t reg, from;
	int64_t n; /* an offset in bytes, a distance, an address */
	struct bytes block;
};

/* ---- moving on ---------------------------------------------------------------------------------- */

static void cfi_move_to(struct program *p, uint64_t at)
{
	if (p->is_initial || at < p->at) {
		p->is_damaged = true;
		return;
	}
	if (at == p->at)
		return;
	cfi_emit(p);
	p->is_finished = at >= p->fde->size || at > UINT32_MAX;
	if (!p->is_finished)
		p->at = at;
}

static void cfi_advance(struct program *p, const struct operands *o)
{
	uint64_t by, at;

	if (__builtin_mul_overflow((uint64_t)o->n, p->fde->cie.code_align, &by) ||
	    __builtin_add_overflow(p->at, by, &at))
		p->is_damaged = true;
	else
		cfi_move_to(p, at);
}

static void cfi_set_location(struct program *p, const struct operands *o)
{
	cfi_move_to(p, (uint64_t)o->n - p->fde->start);
}

/* ---- rules of registers ------------------------------------------------------------------------- */

static void cfi_set_rule(struct program *p, uint64_t reg, struct cfi_rule rule)
{
	/* Registers that are not tracked (vector registers, flags) may have rules, which are ignored. */
	if (reg >= REG_MAX)
		return;
	p->state.rules[reg] = rule;
	p->state.given |= 1ull << reg;
}

static void cfi_save_at_cfa(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_AT_CFA, .offset = o->n });
}

static void cfi_value_is_cfa(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_IS_CFA, .offset = o->n });
}

static void cfi_keep_in_register(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_REG, .from = o->from });
}

static void cfi_save_at_expression(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_AT_EXPR, .expr = o->block });
}

static void cfi_value_is_expression(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_IS_EXPR, .expr = o->block });
}

static void cfi_lose(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_UNDEFINED });
}

static void cfi_keep(struct program *p, const struct operands *o)
{
	cfi_set_rule(p, o->reg, (struct cfi_rule){ .kind = RULE_SAME });
}

static void cfi_restore(struct program *p, const struct operands *o)
{
	if (p->is_initial)
		p->is_damaged = true;
	else if (o->reg < REG_MAX)
		p->state.rules[o->reg] = p->initial.rules[o->reg];
}

/* ---- the CFA, and whole states ------------------------------------------------------------------ */

static void cfi_set_cfa(struct program *p, const struct operands *o)
{
	p->state.cfa = (struct cfi_cfa){ .kind = CFA_REG, .reg = o->reg, .offset = o->n };
}

static void cfi_set_cfa_register(struct program *p, const struct operands *o)
{
	p->state.cfa.kind = CFA_REG;
	p->state.cfa.reg = o->reg;
}

static void cfi_set_cfa_offset(struct program *p, const struct operands *o)
{
	p->state.cfa.kind = CFA_REG;
	p->state.cfa.offset = o->n;
}

static void cfi_set_cfa_expression(struct program *p, const struct operands *o)
{
	p->state.cfa.kind = CFA_EXPR;
	p->state.cfa.expr = o->block;
}

static void cfi_remember_state(struct program *p, const struct operands *o)
{
	(void)o;
	if (p->n_remembered == MAX_REMEMBERED)
		p->is_damaged = true;
	else
		p->remembered[p->n_remembered++] = p->state;
}

static void cfi_restore_state(struct program *p, const struct operands *o)
{
	(void)o;
	if (p->n_remembered == 0)
		p->is_damaged = true;
	else
		p->state = p->remembered[--p->n_remembered];
}

/* On x86-64 this number means something that does not exist there. */
static void cfi_negate_ra_state(struct program *p, const struct operands *o)
{
	(void)o;
	if (p->isa->elf_machine == EM_AARCH64)
		p->state.ra_is_signed = !p->state.ra_is_signed;
}

static void cfi_ignore(struct program *p, const struct operands *o)
{
	(void)p;
	(void)o;
}

/* ---- operations --------------------------------------------------------------------------------- */

/*
 * operands, in order: r register, f the register it is in, u unsigned number, o offset in data units, s the
 * same with a sign, m the same negated, 1 2 4 8 number of so many bytes, a address, b block
 */
struct op {
	const char *operands;
	void (*run)(struct program *p, const struct operands *o);
};

#define OP_WITH_OPERAND 0xc0 /* these bits: one of three operations with six bits of operand */
#define OP_ADVANCE 0x40
#define OP_OFFSET 0x80
#define OP_RESTORE 0xc0

static const struct op ops[] = {
	[0x00] = { "", cfi_ignore }, /* nop */
	[0x01] = { "a", cfi_set_location },
	[0x02] = { "1", cfi_advance },
	[0x03] = { "2", cfi_advance },
	[0x04] = { "4", cfi_advance },
	[0x05] = { "ro", cfi_save_at_cfa },
	[0x06] = { "r", cfi_restore },
	[0x07] = { "r", cfi_lose }, /* undefined */
	[0x08] = { "r", cfi_keep }, /* same value */
	[0x09] = { "rf", cfi_keep_in_register },
	[0x0a] = { "", cfi_remember_state },
	[0x0b] = { "", cfi_restore_state },
	[0x0c] = { "ru", cfi_set_cfa },
	[0x0d] = { "r", cfi_set_cfa_register },
	[0x0e] = { "u", cfi_set_cfa_offset },
	[0x0f] = { "b", cfi_set_cfa_expression },
	[0x10] = { "rb", cfi_save_at_expression },
	[0x11] = { "rs", cfi_save_at_cfa },
	[0x12] = { "rs", cfi_set_cfa },
	[0x13] = { "s", cfi_set_cfa_offset },
	[0x14] = { "ro", cfi_value_is_cfa },
	[0x15] = { "rs", cfi_value_is_cfa },
	[0x16] = { "rb", cfi_value_is_expression },
	[0x1d] = { "8", cfi_advance },        /* MIPS */
	[0x2c] = { "", cfi_negate_ra_state }, /* AArch64, with a pc */
	[0x2d] = { "", cfi_negate_ra_state }, /* AArch64; elsewhere GNU window save */
	[0x2e] = { "u", cfi_ignore },         /* GNU: size of pushed arguments */
	[0x2f] = { "rm", cfi_save_at_cfa },   /* GNU: negative offset */
};

static int64_t cfi_factored(const struct program *p, uint64_t offset)
{
	return (int64_t)(offset * (uint64_t)p->fde->cie.data_align);
}

static void cfi_read_operand(struct program *p, char kind, struct operands *ret)
{
	struct encoded_base base = { NULL, p->code_vaddr, 0, p->fde->start };
	struct reader *r = &p->code;

	switch (kind) {
	case 'r':
		ret->reg = read_uleb(r);
		break;
	case 'f':
		ret->from = read_uleb(r);
		break;
	case 'u':
		ret->n = (int64_t)read_uleb(r);
		break;
	case 'o':
		ret->n = cfi_factored(p, read_uleb(r));
		break;
	case 's':
		ret->n = cfi_factored(p, (uint64_t)read_sleb(r));
		break;
	case 'm':
		ret->n = cfi_factored(p, -read_uleb(r));
		break;
	case 'a':
		ret->n = (int64_t)read_encoded(r, p->fde->cie.address_encoding, &base);
		break;
	case 'b':
		ret->block = read_bytes(r, read_uleb(r));
		p->is_damaged |= ret->block.len > MAX_EXPRESSION;
		break;
	default:
		ret->n = (int64_t)read_uint(r, (unsigned)(kind - '0'));
	}
}

static const struct op *cfi_read_op(struct program *p, struct operands *ret)
{
	static const struct op advance_op = { "", cfi_advance }, offset_op = { "o", cfi_save_at_cfa },
			       restore_op = { "", cfi_restore };
	uint8_t code = read_u8(&p->code);

	*ret = (struct operands){ .reg = code & 0x3f, .n = code & 0x3f };
	switch (code & OP_WITH_OPERAND) {
	case OP_ADVANCE:
		return &advance_op;
	case OP_OFFSET:
		return &offset_op;
	case OP_RESTORE:
		return &restore_op;
	default:
		return code < ARRAY_LEN(ops) && ops[code].run ? &ops[code] : NULL;
	}
}

static void cfi_run(struct program *p, struct bytes code, uint64_t vaddr)
{
	p->code = reader_of(code);
	p->code_vaddr = vaddr;
	while (reader_left(&p->code) && !p->is_damaged && !p->is_finished) {
		struct operands operands;
		const struct op *op = cfi_read_op(p, &operands);
		for (const char *kind = op ? op->operands : ""; *kind; kind++)
			cfi_read_operand(p, *kind, &operands);
		p->is_damaged |= !op || p->code.failed;
		if (!p->is_damaged)
			op->run(p, &operands);
	}
}

int cfi_compile(const struct fde *fde, const struct isa *isa, struct recipes *recipes,
		struct recipe_rows *ret)
{
	struct program p;

	/* The remembered states remain uninitialised: they are large, and most programs use one or none. */
	p.fde = fde;
	p.isa = isa;
	p.recipes = recipes;
	p.rows = ret;
	p.at = 0;
	p.is_damaged = p.is_finished = false;
	p.n_remembered = 0;
	cfi_state_init(&p.state);

	p.is_initial = true;
	cfi_run(&p, fde->cie.program, 0);
	p.initial = p.state;
	p.is_initial = false;
	if (!p.is_damaged)
		cfi_run(&p, fde->program, fde->program_vaddr);
	if (p.is_damaged) {
		recipe_rows_add(ret, (uint32_t)p.at, RECIPE_NONE);
		return -EBADMSG;
	}
	if (!p.is_finished)
		cfi_emit(&p);
	return 0;
}
