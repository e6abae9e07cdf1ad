/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe.h"

#include "tests/test.h"
#include "tests/unit/unwinder/test_isa.h"

static const struct rule ra_at_minus_8 = { .reg = 16, .kind = RULE_AT_CFA, .offset = -8 };

static struct recipe plain(int32_t offset)
{
	return (struct recipe){ .cfa_kind = CFA_REG,
				.cfa_reg = 7,
				.cfa_offset = offset,
				.n_rules = 1,
				.witness = WITNESS_CFI,
				.trust = TRUST_STATED };
}

TEST(recipes_are_stored_once)
{
	struct recipes recipes;
	struct recipe first = plain(8), second = plain(16);

	recipes_init(&recipes);
	uint32_t a = recipes_add(&recipes, &first, &ra_at_minus_8),
		 b = recipes_add(&recipes, &second, &ra_at_minus_8);
	CHECK(a != b);
	CHECK_EQ(recipes_add(&recipes, &first, &ra_at_minus_8), a);
	CHECK_EQ(recipes.recipes.n, 2);
	recipes_done(&recipes);
}

TEST(recipes_are_found_again_after_the_table_grew)
{
	struct recipes recipes;

	recipes_init(&recipes);
	for (int32_t i = 0; i < 5000; i++) {
		struct recipe r = plain(i);
		CHECK_EQ(recipes_add(&recipes, &r, &ra_at_minus_8), i);
	}
	for (int32_t i = 0; i < 5000; i++) {
		struct recipe r = plain(i);
		CHECK_EQ(recipes_add(&recipes, &r, &ra_at_minus_8), i);
	}
	recipes_done(&recipes);
}

TEST(recipes_of_different_witnesses_are_different)
{
	struct recipes recipes;
	struct recipe cfi = plain(8), analysis = plain(8);

	recipes_init(&recipes);
	analysis.witness = WITNESS_ANALYSIS;
	CHECK(recipes_add(&recipes, &cfi, &ra_at_minus_8) !=
	      recipes_add(&recipes, &analysis, &ra_at_minus_8));
	recipes_done(&recipes);
}

TEST(recipe_is_formatted_as_one_line)
{
	struct recipes recipes;
	struct rule rules[] = { { .reg = 3, .kind = RULE_AT_REG, .from = 6, .offset = -40 },
				{ .reg = 6, .kind = RULE_AT_CFA, .offset = -16 },
				ra_at_minus_8 };
	struct recipe r = { .cfa_kind = CFA_DEREF, .cfa_reg = 6, .cfa_offset = -8, .n_rules = 3 };
	char text[128], cut[8];

	recipes_init(&recipes);
	uint32_t index = recipes_add(&recipes, &r, rules);
	CHECK_EQ(recipe_format(&recipes, index, &test_x86, text, sizeof(text)), strlen(text));
	CHECK_STR(text, "cfa=*(rbp-8) rbx=*(rbp-40) rbp=c-16 ra=c-8");
	recipe_format(&recipes, index, &test_x86, cut, sizeof(cut));
	CHECK_STR(cut, "cfa=*(r");
	recipe_format(&recipes, RECIPE_NONE, &test_x86, text, sizeof(text));
	CHECK_STR(text, "none");
	recipes_done(&recipes);
}

TEST(recipe_rows_are_valid_until_the_next_one)
{
	struct recipe_rows rows = { 0 };

	recipe_rows_add(&rows, 0, 5);
	recipe_rows_add(&rows, 4, 5);
	recipe_rows_add(&rows, 8, 6);
	recipe_rows_add(&rows, 8, 7);
	CHECK_EQ(rows.rows.n, 2);
	CHECK_EQ(recipe_rows_find(rows.rows.at, rows.rows.n, 7), 5);
	CHECK_EQ(recipe_rows_find(rows.rows.at, rows.rows.n, 8), 7);
	CHECK_EQ(recipe_rows_find(rows.rows.at, rows.rows.n, 1000), 7);
	CHECK_EQ(recipe_rows_find(rows.rows.at, 0, 0), RECIPE_NONE);
	vec_done(&rows.rows);
}
