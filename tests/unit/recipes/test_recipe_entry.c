/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_entry.h"

#include "tests/test.h"

/* A pool with recipes "cfa=reg7+8", "+16" and so on; the odd ones have a rule. */
static void fill(struct recipes *recipes, unsigned n)
{
	const struct rule rule = { .reg = 30, .kind = RULE_AT_CFA, .offset = -8 };

	recipes_init(recipes);
	for (unsigned i = 0; i < n; i++) {
		struct recipe recipe = { .cfa_kind = CFA_REG,
					 .cfa_reg = 7,
					 .witness = WITNESS_ANALYSIS,
					 .trust = TRUST_PROVEN,
					 .n_rules = i % 2,
					 .cfa_offset = (int32_t)(8 * (i + 1)) };
		CHECK_EQ(recipes_add(recipes, &recipe, &rule), i);
	}
}

static const struct recipe_row two_rows[] = { { 0, 0 }, { 8, 1 } }, one_row[] = { { 0, 2 } },
			       gap_row[] = { { 0, 0 }, { 4, RECIPE_NONE } };

static void finds_done(struct recipe_finds *finds)
{
	for (unsigned k = 0; k < SPANS_N; k++)
		vec_done(&finds->spans[k]);
	vec_done(&finds->facts);
	vec_done(&finds->places);
}

/* What joins an entry that holds nothing, packed. */
static void pack(struct recipe_finds *finds, const struct recipes *recipes, struct writer *ret)
{
	struct recipe_entry none = { 0 };

	CHECK(recipe_entry_pack(&none, finds, recipes, ret));
	finds_done(finds);
}

static void pack_some(struct writer *ret)
{
	struct recipe_finds finds = { 0 };
	struct recipes recipes;

	fill(&recipes, 3);
	vec_push(&finds.spans[SPANS_ALONE], ((struct recipe_span){ 0x300, 4, 1, one_row }));
	vec_push(&finds.spans[SPANS_BESIDE], ((struct recipe_span){ 0x200, 16, 1, one_row }));
	vec_push(&finds.spans[SPANS_BESIDE], ((struct recipe_span){ 0x100, 16, 2, two_rows }));
	vec_push(&finds.facts,
		 ((struct stored_fact){ .a = 5, .b = 7, .value = 70, .kind = 2, .recipe = RECIPE_NONE }));
	vec_push(&finds.facts, ((struct stored_fact){ .a = 5, .b = 6, .value = 60, .kind = 2, .recipe = 1 }));
	vec_push(&finds.places,
		 ((struct stored_place){
			 .vaddr = 0x104, .function = 0x100, .recipe = { 1, 2 }, .is_return = 1 }));
	vec_push(&finds.places,
		 ((struct stored_place){
			 .vaddr = 0x104, .function = 0x100, .recipe = { 0, RECIPE_NONE }, .wants = 5 }));
	pack(&finds, &recipes, ret);
	recipes_done(&recipes);
}

/* The offset of the CFA of the recipe at an address; 0 = none there, -1 = a span, but no recipe. */
static int offset_at(const struct recipe_entry *entry, unsigned spans, uint64_t vaddr)
{
	uint64_t function = 0;
	uint32_t number = recipe_entry_at(entry, spans, vaddr, &function);
	struct recipes recipes;

	if (number == RECIPE_NONE)
		return 0;
	recipes_init(&recipes);
	uint32_t added = recipe_entry_add(entry, number, &recipes);
	int offset = added == RECIPE_NONE ? -1 : recipes.recipes.at[added].cfa_offset;
	recipes_done(&recipes);
	CHECK(function <= vaddr);
	return offset;
}

TEST(recipe_entry_answers_from_where_it_lies)
{
	struct recipe_entry entry;
	struct writer w = { 0 };
	uint64_t function = 0;

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0xff), 0);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x107), 8);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x108), 16);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x110), 0);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x20f), 24);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x300), 0);
	CHECK_EQ(offset_at(&entry, SPANS_ALONE, 0x303), 24);
	recipe_entry_at(&entry, SPANS_BESIDE, 0x20f, &function);
	CHECK_EQ(function, 0x200);
	writer_done(&w);
}

TEST(recipe_entry_keeps_a_recipe_with_its_rules)
{
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 };
	uint64_t function;

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	recipes_init(&recipes);
	CHECK_EQ(recipe_entry_add(&entry, recipe_entry_at(&entry, SPANS_BESIDE, 0x108, &function), &recipes),
		 0);
	const struct rule *rule = recipe_rule(&recipes, &recipes.recipes.at[0], 30);
	CHECK(rule && rule->kind == RULE_AT_CFA);
	CHECK_EQ(rule->offset, -8);
	CHECK_EQ(recipes.recipes.at[0].trust, TRUST_PROVEN);
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_knows_facts_by_their_question)
{
	struct recipe_entry entry;
	struct writer w = { 0 };

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	const struct stored_fact *fact = recipe_entry_fact(&entry, 2, 5, 6);
	CHECK(fact && fact->value == 60 && fact->recipe != RECIPE_NONE);
	fact = recipe_entry_fact(&entry, 2, 5, 7);
	CHECK(fact && fact->value == 70 && fact->recipe == RECIPE_NONE);
	CHECK(!recipe_entry_fact(&entry, 1, 5, 6));
	CHECK(!recipe_entry_fact(&entry, 2, 4, 6));
	CHECK(!recipe_entry_fact(&entry, 2, 5, 8));
	writer_done(&w);
}

TEST(recipe_entry_knows_places_by_address_and_whether_one_returns_there)
{
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 };

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	const struct stored_place *place = recipe_entry_place(&entry, 0x104, true),
				  *other = recipe_entry_place(&entry, 0x104, false);
	CHECK(place && other && place != other);
	CHECK_EQ(other->wants, 5);
	CHECK_EQ(other->recipe[1], RECIPE_NONE);
	recipes_init(&recipes);
	CHECK_EQ(recipe_entry_add(&entry, place->recipe[1], &recipes), 0);
	CHECK_EQ(recipes.recipes.at[0].cfa_offset, 24);
	CHECK(!recipe_entry_place(&entry, 0x103, false));
	CHECK(!recipe_entry_place(&entry, 0x105, false));
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_says_nothing_where_its_rows_do_not)
{
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 };

	fill(&recipes, 1);
	vec_push(&finds.spans[SPANS_ALONE], ((struct recipe_span){ 0x100, 8, 2, gap_row }));
	pack(&finds, &recipes, &w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	CHECK_EQ(offset_at(&entry, SPANS_ALONE, 0x103), 8);
	CHECK_EQ(offset_at(&entry, SPANS_ALONE, 0x104), 0);
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_grows_and_keeps_what_was_there)
{
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 }, more = { 0 };

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	fill(&recipes, 5); /* other numbers for other recipes */
	const struct recipe_row rows[] = { { 0, 4 } };
	vec_push(&finds.spans[SPANS_BESIDE], ((struct recipe_span){ 0x1f8, 16, 1, rows })); /* overlaps one */
	vec_push(&finds.spans[SPANS_BESIDE],
		 ((struct recipe_span){ 0x10f, 4, 1, rows })); /* and this another */
	vec_push(&finds.spans[SPANS_BESIDE], ((struct recipe_span){ 0x110, 4, 1, rows }));
	vec_push(&finds.spans[SPANS_BESIDE], ((struct recipe_span){ 0x80, 4, 1, rows }));
	vec_push(&finds.facts,
		 ((struct stored_fact){ .a = 5, .b = 6, .value = 61, .kind = 2, .recipe = RECIPE_NONE }));
	vec_push(&finds.facts, ((struct stored_fact){ .a = 5, .b = 6, .value = 62, .kind = 1, .recipe = 4 }));
	vec_push(&finds.places, ((struct stored_place){ .vaddr = 0x104, .function = 1, .recipe = { 0, 0 } }));
	vec_push(&finds.places,
		 ((struct stored_place){ .vaddr = 0x103, .function = 2, .recipe = { 4, RECIPE_NONE } }));
	CHECK(recipe_entry_pack(&entry, &finds, &recipes, &more));
	CHECK(recipe_entry_open(writer_bytes(&more), &entry));
	CHECK_EQ(recipe_entry_place(&entry, 0x104, false)->function, 0x100);
	CHECK_EQ(recipe_entry_place(&entry, 0x103, false)->function, 2);
	CHECK_EQ(entry.header.n_places, 3);
	CHECK_EQ(entry.header.n_spans[SPANS_BESIDE], 4);
	CHECK_EQ(entry.header.n_recipes, 4);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x80), 40);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x108), 16);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x110), 40);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x1f8), 0);
	CHECK_EQ(offset_at(&entry, SPANS_BESIDE, 0x200), 24);
	CHECK_EQ(offset_at(&entry, SPANS_ALONE, 0x300), 24);
	CHECK_EQ(recipe_entry_fact(&entry, 2, 5, 6)->value, 60);
	CHECK_EQ(recipe_entry_fact(&entry, 1, 5, 6)->value, 62);
	CHECK_EQ(entry.header.n_facts, 3);
	finds_done(&finds);
	recipes_done(&recipes);
	writer_done(&w);
	writer_done(&more);
}

TEST(recipe_entry_is_not_packed_when_nothing_is_new)
{
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 }, more = { 0 };

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	fill(&recipes, 3);
	vec_push(&finds.spans[SPANS_BESIDE], ((struct recipe_span){ 0x100, 16, 2, two_rows }));
	vec_push(&finds.facts,
		 ((struct stored_fact){ .a = 5, .b = 7, .value = 70, .kind = 2, .recipe = RECIPE_NONE }));
	CHECK(!recipe_entry_pack(&entry, &finds, &recipes, &more));
	CHECK_EQ(more.len, 0);
	finds_done(&finds);
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_is_none_when_it_was_cut)
{
	struct recipe_entry entry;
	struct writer w = { 0 };

	pack_some(&w);
	for (size_t len = 0; len < w.len; len++) {
		CHECK(!recipe_entry_open((struct bytes){ w.at, len }, &entry));
		CHECK_EQ(entry.header.n_facts, 0);
	}
	writer_done(&w);
}

/* What is at 0x108 when a byte or number of the entry has been changed. */
static int offset_with(size_t at, const void *value, size_t len)
{
	struct recipe_entry entry;
	struct writer w = { 0 };

	pack_some(&w);
	memcpy(w.at + at, value, len);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	int offset = offset_at(&entry, SPANS_BESIDE, 0x108);
	writer_done(&w);
	return offset;
}

TEST(recipe_entry_names_no_recipe_that_makes_no_sense)
{
	/* Its second recipe is the one with a rule; the rule is the first, and the first span has the first
	 * rows. */
	const size_t recipe = sizeof(struct stored_recipes) + sizeof(struct stored_recipe),
		     rule = sizeof(struct stored_recipes) + 64, span = rule + sizeof(struct rule);
	const uint8_t ten = 10, many = 200;
	const uint32_t large = UINT32_MAX, two = 2;

	CHECK_EQ(offset_with(0, "\x03", 1), 16);
	CHECK_EQ(offset_with(recipe + offsetof(struct stored_recipe, cfa_kind), &ten, 1), -1);
	CHECK_EQ(offset_with(recipe + offsetof(struct stored_recipe, cfa_reg), &many, 1), -1);
	CHECK_EQ(offset_with(recipe + offsetof(struct stored_recipe, witness), &ten, 1), -1);
	CHECK_EQ(offset_with(recipe + offsetof(struct stored_recipe, trust), &ten, 1), -1);
	CHECK_EQ(offset_with(recipe + offsetof(struct stored_recipe, n_rules), &ten, 1), -1);
	CHECK_EQ(offset_with(recipe + offsetof(struct stored_recipe, rules), &large, 4), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct rule, reg), &many, 1), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct rule, kind), &ten, 1), -1);
	CHECK_EQ(offset_with(span + offsetof(struct stored_span, n_rows), &two, 4), 16);
	CHECK_EQ(offset_with(span + offsetof(struct stored_span, n_rows), &large, 4), 0);
	CHECK_EQ(offset_with(span + offsetof(struct stored_span, first_row), &large, 4), 0);
}
