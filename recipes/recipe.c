/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"

/* ---- the pool: each recipe once --------------------------------------------------------------- */

void recipes_init(struct recipes *recipes)
{
	*recipes = (struct recipes){ 0 };
	slots_init(&recipes->slots);
	vec_reserve(&recipes->rules, 64); /* never NULL: a recipe without rules also points into it */
}

void recipes_done(struct recipes *recipes)
{
	vec_done(&recipes->recipes);
	vec_done(&recipes->packed);
	vec_done(&recipes->rules);
	vec_done(&recipes->exprs);
	arena_done(&recipes->expr_bytes);
	map_done(&recipes->expr_index);
	slots_done(&recipes->slots);
	*recipes = (struct recipes){ 0 };
}

/* Field by field: padding must be ignored. */
static uint64_t recipe_hash(const struct recipe *r, const struct rule *rules)
{
	uint64_t h = (uint64_t)r->cfa_kind | (uint64_t)r->cfa_reg << 8 | (uint64_t)r->witness << 16 |
		     (uint64_t)r->trust << 24 | (uint64_t)r->n_rules << 32 |
		     (uint64_t)r->is_signal_frame << 40 | (uint64_t)r->ra_is_signed << 41;

	h = hash_u64(h) ^ hash_u64((uint64_t)(uint32_t)r->cfa_offset << 32 | (uint32_t)r->cfa_addend);
	h = hash_u64(h + r->cfa_expr);
	for (unsigned i = 0; i < r->n_rules; i++) {
		const struct rule *rule = &rules[i];
		uint64_t kind = rule->reg | (uint64_t)rule->kind << 8 | (uint64_t)rule->from << 16;
		h = (h ^ (kind << 32 | rule->expr)) * 0xd6e8feb86659fd93u; /* odd, with its bits spread */
		h ^= h >> 32;
	}
	return h;
}

static bool recipe_rule_equal(const struct rule *a, const struct rule *b)
{
	return a->reg == b->reg && a->kind == b->kind && a->from == b->from && a->expr == b->expr;
}

static bool recipe_equal(const struct recipe *a, const struct rule *a_rules, const struct recipe *b,
			 const struct rule *b_rules)
{
	if (a->cfa_kind != b->cfa_kind || a->cfa_reg != b->cfa_reg || a->witness != b->witness ||
	    a->trust != b->trust || a->is_signal_frame != b->is_signal_frame ||
	    a->ra_is_signed != b->ra_is_signed || a->n_rules != b->n_rules ||
	    a->cfa_offset != b->cfa_offset || a->cfa_addend != b->cfa_addend || a->cfa_expr != b->cfa_expr)
		return false;
	for (unsigned i = 0; i < a->n_rules; i++)
		if (!recipe_rule_equal(&a_rules[i], &b_rules[i]))
			return false;
	return true;
}

/* A recipe to look for; its rules are not in the pool yet. */
struct recipe_key {
	const struct recipe *recipe;
	const struct rule *rules;
};

static bool recipe_same(const void *owner, uint32_t index, const void *looked_for)
{
	const struct recipes *recipes = owner;
	const struct recipe_key *key = looked_for;
	const struct recipe *other = &recipes->recipes.at[index];

	return recipe_equal(key->recipe, key->rules, other, &recipes->rules.at[other->rules]);
}

static uint64_t recipe_hash_at(const void *owner, uint32_t index)
{
	const struct recipes *recipes = owner;
	const struct recipe *r = &recipes->recipes.at[index];

	return recipe_hash(r, &recipes->rules.at[r->rules]);
}

uint32_t recipes_add(struct recipes *recipes, const struct recipe *r, const struct rule *rules)
{
	struct recipe_key key = { r, rules };
	size_t slot = slots_find(&recipes->slots, recipe_hash(r, rules), recipe_same, recipes, &key);

	if (recipes->slots.at[slot] != SLOT_FREE)
		return recipes->slots.at[slot];

	uint32_t index = (uint32_t)recipes->recipes.n;
	struct recipe added = *r;
	added.rules = (uint32_t)recipes->rules.n;
	for (unsigned i = 0; i < r->n_rules; i++)
		vec_push(&recipes->rules, rules[i]);
	vec_push(&recipes->recipes, added);
	vec_push(&recipes->packed, packed_rule_of(r, rules, index));
	slots_put(&recipes->slots, slot, index, recipe_hash_at, recipes);
	return index;
}

uint32_t recipes_add_expr(struct recipes *recipes, struct bytes expr)
{
	uint64_t key = hash_bytes(expr);
	uint32_t known = map_find(&recipes->expr_index, key);

	if (known != MAP_NONE && bytes_equal(recipes->exprs.at[known], expr))
		return known;
	uint32_t index = (uint32_t)recipes->exprs.n;
	const char *copy = arena_text(&recipes->expr_bytes, (const char *)expr.at, expr.len);
	vec_push(&recipes->exprs, ((struct bytes){ (const uint8_t *)copy, expr.len }));
	recipes->n_expr_bytes += expr.len;
	map_put(&recipes->expr_index, key, index);
	return index;
}

const struct rule *recipe_rule(const struct recipes *recipes, const struct recipe *recipe, unsigned reg)
{
	const struct rule *rules = &recipes->rules.at[recipe->rules];

	for (unsigned i = 0; i < recipe->n_rules; i++)
		if (rules[i].reg == reg)
			return &rules[i];
	return NULL;
}

uint64_t recipe_reads(const struct recipes *recipes, const struct recipe *recipe)
{
	const struct rule *rules = recipes->rules.at + recipe->rules;
	uint64_t mask =
		recipe->cfa_kind == CFA_REG || recipe->cfa_kind == CFA_DEREF ? 1ull << recipe->cfa_reg : 0;

	for (unsigned i = 0; i < recipe->n_rules; i++)
		if (rules[i].kind == RULE_REG || rules[i].kind == RULE_AT_REG)
			mask |= 1ull << rules[i].from;
	return mask;
}

uint64_t recipe_saved(const struct recipes *recipes, const struct recipe *recipe)
{
	const struct rule *rules = recipes->rules.at + recipe->rules;
	uint64_t mask = 0;

	for (unsigned i = 0; i < recipe->n_rules; i++)
		if (rules[i].kind == RULE_AT_CFA || rules[i].kind == RULE_AT_REG ||
		    rules[i].kind == RULE_AT_EXPR)
			mask |= 1ull << rules[i].reg;
	return mask;
}

uint64_t recipe_lost(const struct recipes *recipes, const struct recipe *recipe)
{
	const struct rule *rules = recipes->rules.at + recipe->rules;
	uint64_t mask = 0;

	for (unsigned i = 0; i < recipe->n_rules; i++)
		if (rules[i].kind == RULE_UNDEFINED)
			mask |= 1ull << rules[i].reg;
	return mask;
}

/* ---- rows --------------------------------------------------------------------------------------- */

uint32_t recipe_rows_find(const struct recipe_row *rows, size_t n, uint64_t offset)
{
	size_t behind = search_first(i, n, rows[i].start > offset);

	return behind ? rows[behind - 1].recipe : RECIPE_NONE;
}

void recipe_rows_add(struct recipe_rows *rows, uint32_t start, uint32_t recipe)
{
	struct recipe_row *last = rows->rows.n ? &rows->rows.at[rows->rows.n - 1] : NULL;

	if (last && last->start == start)
		last->recipe = recipe;
	else if (!last || last->recipe != recipe)
		vec_push(&rows->rows, ((struct recipe_row){ start, recipe }));
}

/* ---- text --------------------------------------------------------------------------------------- */

static const char *recipe_reg_name(const struct isa *isa, unsigned reg)
{
	return reg < isa->n_regs ? isa->reg_names[reg] : "?";
}

static void recipe_format_cfa(struct text *text, const struct recipe *r, const struct isa *isa)
{
	switch ((enum cfa_kind)r->cfa_kind) {
	case CFA_NONE:
		text_printf(text, "cfa=none");
		break;
	case CFA_REG:
		text_printf(text, "cfa=%s%+d", recipe_reg_name(isa, r->cfa_reg), r->cfa_offset);
		break;
	case CFA_DEREF:
		text_printf(text, "cfa=*(%s%+d)", recipe_reg_name(isa, r->cfa_reg), r->cfa_offset);
		if (r->cfa_addend)
			text_printf(text, "%+d", r->cfa_addend);
		break;
	case CFA_EXPR:
		text_printf(text, "cfa=exp");
		break;
	}
}

static void recipe_format_rule(struct text *text, const struct rule *rule, const struct isa *isa)
{
	text_printf(text, " %s=", rule->reg == isa->ra ? "ra" : recipe_reg_name(isa, rule->reg));
	switch ((enum rule_kind)rule->kind) {
	case RULE_SAME:
		text_printf(text, "same");
		break;
	case RULE_UNDEFINED:
		text_printf(text, "undefined");
		break;
	case RULE_AT_CFA:
		text_printf(text, "c%+d", rule->offset);
		break;
	case RULE_IS_CFA:
		text_printf(text, "v%+d", rule->offset);
		break;
	case RULE_REG:
		text_printf(text, "%s", recipe_reg_name(isa, rule->from));
		break;
	case RULE_AT_REG:
		text_printf(text, "*(%s%+d)", recipe_reg_name(isa, rule->from), rule->offset);
		break;
	case RULE_AT_EXPR:
		text_printf(text, "exp");
		break;
	case RULE_IS_EXPR:
		text_printf(text, "vexp");
		break;
	}
}

size_t recipe_format(const struct recipes *recipes, uint32_t index, const struct isa *isa, char *text,
		     size_t size)
{
	struct text out = { 0 };

	if (index >= recipes->recipes.n) {
		text_printf(&out, "none");
	} else {
		const struct recipe *r = &recipes->recipes.at[index];
		recipe_format_cfa(&out, r, isa);
		for (unsigned i = 0; i < r->n_rules; i++)
			recipe_format_rule(&out, &recipes->rules.at[r->rules + i], isa);
		if (r->ra_is_signed)
			text_printf(&out, " signed");
		if (r->is_signal_frame)
			text_printf(&out, " signal");
	}
	size_t len = out.len;
	if (size) {
		size_t n = len < size - 1 ? len : size - 1;
		memcpy(text, out.at, n);
		text[n] = '\0';
	}
	text_done(&out);
	return len;
}

const char *witness_name(enum witness witness)
{
	static const char *const names[] = { "none", "analysis", "cfi", "template", "fp" };

	return (unsigned)witness < ARRAY_LEN(names) ? names[witness] : "?";
}

const char *trust_name(enum trust trust)
{
	static const char *const names[] = { "guess", "stated", "proven" };

	return (unsigned)trust < ARRAY_LEN(names) ? names[trust] : "?";
}
