/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/policy.h"

#include <errno.h>

#include "tests/test.h"
#include "tests/unit/unwinder/test_isa.h"

static uint32_t add(struct recipes *recipes, enum witness witness, enum trust trust, bool is_outermost)
{
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = 7,
				 .cfa_offset = 8,
				 .n_rules = 1,
				 .witness = (uint8_t)witness,
				 .trust = (uint8_t)trust };
	struct rule ra = { .reg = 16, .kind = is_outermost ? RULE_UNDEFINED : RULE_AT_CFA, .offset = -8 };

	return recipes_add(recipes, &recipe, &ra);
}

struct witnesses {
	struct recipes recipes;
	uint32_t proven, guess, cfi, outermost;
};

static struct witnesses witnesses(void)
{
	struct witnesses w;

	recipes_init(&w.recipes);
	w.proven = add(&w.recipes, WITNESS_ANALYSIS, TRUST_PROVEN, false);
	w.guess = add(&w.recipes, WITNESS_ANALYSIS, TRUST_GUESS, false);
	w.cfi = add(&w.recipes, WITNESS_CFI, TRUST_STATED, false);
	w.outermost = add(&w.recipes, WITNESS_CFI, TRUST_STATED, true);
	return w;
}

#define CHECK_CHOICE(mode, analysis, cfi_, first, second)                                              \
	do {                                                                                           \
		struct recipe_pair pair_ = recipe_choose(&w.recipes, &test_x86, mode, analysis, cfi_); \
		CHECK_EQ(pair_.recipe[0], first);                                                      \
		CHECK_EQ(pair_.recipe[1], second);                                                     \
	} while (0)

TEST(policy_prefers_proven_analysis)
{
	struct witnesses w = witnesses();

	CHECK_CHOICE(UNWIND_AUTO, w.proven, w.cfi, w.proven, w.cfi);
	CHECK_CHOICE(UNWIND_AUTO, w.guess, w.cfi, w.cfi, w.guess);
	recipes_done(&w.recipes);
}

TEST(policy_uses_the_only_witness)
{
	struct witnesses w = witnesses();

	CHECK_CHOICE(UNWIND_AUTO, RECIPE_NONE, w.cfi, w.cfi, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_AUTO, w.guess, RECIPE_NONE, w.guess, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_AUTO, RECIPE_NONE, RECIPE_NONE, RECIPE_NONE, RECIPE_NONE);
	recipes_done(&w.recipes);
}

TEST(policy_trusts_cfi_about_outermost_frames)
{
	struct witnesses w = witnesses();

	CHECK_CHOICE(UNWIND_AUTO, w.proven, w.outermost, w.outermost, RECIPE_NONE);
	recipes_done(&w.recipes);
}

TEST(policy_does_not_trust_cfi_about_the_target_frame_of_a_context_switch)
{
	struct witnesses w = witnesses();
	struct recipe recipe = {
		.cfa_kind = CFA_REG, .cfa_reg = 5, .n_rules = 1, .witness = WITNESS_CFI, .trust = TRUST_STATED
	};
	struct rule ra = { .reg = 16, .kind = RULE_REG, .from = 1 };
	uint32_t ahead = recipes_add(&w.recipes, &recipe, &ra);

	CHECK_CHOICE(UNWIND_AUTO, w.guess, ahead, w.guess, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_AUTO, RECIPE_NONE, ahead, RECIPE_NONE, RECIPE_NONE);
	recipe.cfa_reg = 7; /* vfork keeps its return address in a register, too */
	uint32_t beside = recipes_add(&w.recipes, &recipe, &ra);
	CHECK_CHOICE(UNWIND_AUTO, w.guess, beside, beside, w.guess);
	recipes_done(&w.recipes);
}

TEST(policy_uses_one_witness_on_request)
{
	struct witnesses w = witnesses();

	CHECK_CHOICE(UNWIND_CFI, w.proven, w.cfi, w.cfi, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_CFI, w.proven, RECIPE_NONE, RECIPE_NONE, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_ANALYSIS, w.guess, w.cfi, w.guess, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_ANALYSIS, w.proven, w.outermost, w.proven, RECIPE_NONE);
	CHECK_CHOICE(UNWIND_FP, w.proven, w.cfi, RECIPE_NONE, RECIPE_NONE);
	recipes_done(&w.recipes);
}

TEST(unwind_modes_have_names)
{
	enum unwind_mode mode;

	CHECK_EQ(unwind_mode_parse("cfi", &mode), 0);
	CHECK_EQ(mode, UNWIND_CFI);
	CHECK_EQ(unwind_mode_parse("dwarf", &mode), -EINVAL);
}
