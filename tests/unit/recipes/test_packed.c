/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/packed.h"

#include <string.h>

#include "recipes/recipe.h"
#include "tests/test.h"

static const struct recipe plain = { .cfa_kind = CFA_REG,
				     .cfa_reg = 7,
				     .witness = WITNESS_ANALYSIS,
				     .trust = TRUST_PROVEN,
				     .cfa_offset = 64 };

static struct rule at_cfa(uint8_t reg, int32_t offset)
{
	return (struct rule){ .reg = reg, .kind = RULE_AT_CFA, .offset = offset };
}

static bool is_same(const struct recipe *a, const struct rule *a_rules, const struct recipe *b,
		    const struct rule *b_rules)
{
	bool same = a->cfa_kind == b->cfa_kind && a->cfa_reg == b->cfa_reg && a->witness == b->witness &&
		    a->trust == b->trust && a->is_signal_frame == b->is_signal_frame &&
		    a->ra_is_signed == b->ra_is_signed && a->n_rules == b->n_rules &&
		    a->cfa_offset == b->cfa_offset && a->cfa_addend == b->cfa_addend;

	for (unsigned i = 0; same && i < a->n_rules; i++)
		same = a_rules[i].reg == b_rules[i].reg && a_rules[i].kind == b_rules[i].kind &&
		       a_rules[i].offset == b_rules[i].offset && a_rules[i].from == b_rules[i].from;
	return same;
}

/* Can it be packed, and is it the same when unpacked? */
static bool fits(struct recipe recipe, const struct rule *rules, unsigned n)
{
	struct packed_rule packed;
	struct rule got_rules[PACKED_MAX_SLOTS];
	struct recipe got;

	recipe.n_rules = (uint8_t)n;
	packed = packed_rule_of(&recipe, rules, 12345);
	if (packed_kind(&packed) == PACKED_WHOLE) {
		CHECK_EQ(packed.whole, 12345);
		CHECK(!packed_rule_unpack(&packed, &got, got_rules));
		return false;
	}
	CHECK(packed_rule_unpack(&packed, &got, got_rules));
	CHECK(is_same(&recipe, rules, &got, got_rules));
	for (unsigned i = n, slot = 0; i-- > 0;) {
		bool has_slot = rules[i].kind == RULE_AT_CFA;
		CHECK_EQ(packed_saved(&packed) >> rules[i].reg & 1, has_slot);
		if (!has_slot)
			continue;
		CHECK_EQ(packed_low(&packed) + (int32_t)packed_slot(&packed, slot++), rules[i].offset);
		CHECK(rules[i].offset >= packed_low(&packed) && rules[i].offset + 8 <= packed_high(&packed));
	}
	CHECK_EQ(packed_cfa(&packed), recipe.cfa_offset);
	CHECK(!n || packed_last_reg(&packed) == rules[n - 1].reg);
	CHECK_EQ(packed_witness(&packed), recipe.witness);
	return true;
}

TEST(packed_rules_represent_what_compilers_generate)
{
	/* x86-64: a frame pointer, all saved registers, the return address (16); AArch64: x19 to x30. */
	const struct rule x86[] = { at_cfa(3, -56),  at_cfa(6, -16),  at_cfa(12, -48), at_cfa(13, -40),
				    at_cfa(14, -32), at_cfa(15, -24), at_cfa(16, -8) };
	struct rule a64[12];

	for (uint8_t i = 0; i < 10; i++)
		a64[i] = at_cfa((uint8_t)(19 + i), -80 + 8 * i);
	a64[10] = at_cfa(29, -96);
	a64[11] = at_cfa(30, -88);
	CHECK(fits(plain, x86, ARRAY_LEN(x86)));
	CHECK(fits(plain, a64, ARRAY_LEN(a64)));
	CHECK(fits(plain, NULL, 0));
	struct recipe is_signed = plain;
	is_signed.ra_is_signed = true;
	is_signed.cfa_offset = -32768 * 8;
	CHECK(fits(is_signed, a64 + 10, 2));
}

TEST(packed_rules_represent_leaf_functions)
{
	struct rule rules[] = { at_cfa(19, -32), at_cfa(20, -24), { .reg = 30, .kind = RULE_SAME } };

	CHECK(fits(plain, rules, 3));
	CHECK(fits(plain, rules + 2, 1));
	rules[1].kind = RULE_SAME; /* only the last rule may be RULE_SAME */
	rules[1].offset = 0;
	CHECK(fits(plain, rules, 2));
	CHECK(!fits(plain, rules, 3));
}

TEST(recipes_that_do_not_fit_are_not_packed)
{
	const struct rule far[] = { at_cfa(3, -200), at_cfa(16, -72) },
			  near[] = { at_cfa(3, -200), at_cfa(16, -80) };
	const struct rule regs[] = { at_cfa(2, -16), at_cfa(18, -8) }, odd = at_cfa(3, -12),
			  large = at_cfa(3, -32769 * 8), order[] = { at_cfa(16, -8), at_cfa(6, -16) };
	struct rule other = at_cfa(3, -8), many[13];
	struct recipe recipe = plain;

	CHECK(fits(plain, near, 2));
	CHECK(!fits(plain, far, 2));
	CHECK(!fits(plain, regs, 2));
	CHECK(!fits(plain, order, 2));
	CHECK(!fits(plain, &odd, 1));
	CHECK(!fits(plain, &large, 1));
	for (uint8_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = at_cfa(i, -8 * i);
	CHECK(fits(plain, many, 12));
	CHECK(!fits(plain, many, 13));
	for (uint8_t kind = 0; kind <= RULE_IS_EXPR; kind++) {
		other.kind = kind;
		CHECK_EQ(fits(plain, &other, 1), kind == RULE_AT_CFA); /* RULE_SAME must have offset 0 */
	}
	for (uint8_t kind = 0; kind <= CFA_EXPR; kind++) {
		recipe.cfa_kind = kind;
		CHECK_EQ(fits(recipe, NULL, 0), kind == CFA_REG);
	}
	recipe = plain;
	recipe.is_signal_frame = true;
	CHECK(!fits(recipe, NULL, 0));
	recipe = plain;
	recipe.cfa_offset = 32768 * 8;
	CHECK(!fits(recipe, NULL, 0));
	recipe.cfa_offset = 12;
	CHECK(!fits(recipe, NULL, 0));
}

TEST(invalid_packed_rules_are_refused)
{
	const struct rule rules[] = { at_cfa(3, -24), at_cfa(6, -16), at_cfa(16, -8) };
	struct rule got_rules[PACKED_MAX_SLOTS];
	struct recipe recipe = plain, got;
	unsigned n_taken = 0;

	recipe.n_rules = 3;
	struct packed_rule good = packed_rule_of(&recipe, rules, 0);
	for (unsigned at = 0; at < sizeof(good); at++)
		for (unsigned value = 0; value < 256; value++) {
			struct packed_rule bad = good;
			((uint8_t *)&bad)[at] = (uint8_t)value;
			if (!packed_rule_unpack(&bad, &got, got_rules))
				continue;
			struct packed_rule again = packed_rule_of(&got, got_rules, 0);
			CHECK(memcmp(&again, &bad, sizeof(bad)) == 0);
			CHECK(got.witness < WITNESS_N && got.trust <= TRUST_PROVEN && got.cfa_reg < REG_MAX);
			for (unsigned i = 0; i < got.n_rules; i++)
				CHECK(got_rules[i].reg < REG_MAX);
			n_taken++;
		}
	CHECK(n_taken > 500 && n_taken < 16 * 256 / 2);
}

TEST(recipes_are_packed_when_added)
{
	const struct rule rule = at_cfa(16, -8);
	struct recipe recipe = plain, other = plain;
	struct recipes recipes;

	recipes_init(&recipes);
	recipe.n_rules = 1;
	other.cfa_kind = CFA_DEREF;
	uint32_t a = recipes_add(&recipes, &recipe, &rule), b = recipes_add(&recipes, &other, NULL);
	CHECK_EQ(recipes_add(&recipes, &recipe, &rule), a);
	CHECK_EQ(recipes.packed.n, 2);
	CHECK_EQ(packed_kind(&recipes.packed.at[a]), PACKED_SLOTS);
	CHECK_EQ(packed_low(&recipes.packed.at[a]), -8);
	CHECK_EQ(packed_kind(&recipes.packed.at[b]), PACKED_WHOLE);
	CHECK_EQ(recipes.packed.at[b].whole, b);
	recipes_done(&recipes);
}
