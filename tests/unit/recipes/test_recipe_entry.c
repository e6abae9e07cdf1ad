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

/* Rows of all finds, and where the rows of each begin. */
static const struct recipe_row rows[] = {
	{ 0, 0 }, { 8, 1 }, { 0, 2 }, { 0, 0 }, { 4, RECIPE_NONE }, { 0, 4 }
};
static const struct table_view rows_view = { .rows = rows, .n_rows = ARRAY_LEN(rows) };
enum { TWO_ROWS = 0, ONE_ROW = 2, GAP_ROWS = 3, OTHER_ROW = 5 };

static void add_span(struct recipe_finds *finds, unsigned kind, uint64_t start, uint32_t size, uint32_t first)
{
	uint32_t n = first == TWO_ROWS || first == GAP_ROWS ? 2 : 1;

	finds->rows = rows_view;
	vec_push(&finds->spans[kind],
		 ((struct table_span){ .start = start, .size = size, .first_row = first, .n_rows = n }));
}

static void finds_done(struct recipe_finds *finds)
{
	for (unsigned k = 0; k < SPANS_N; k++)
		vec_done(&finds->spans[k]);
	vec_done(&finds->facts);
	vec_done(&finds->places);
}

/* An empty entry with this find added, packed. */
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
	add_span(&finds, SPANS_ALONE, 0x300, 4, ONE_ROW);
	add_span(&finds, SPANS_BESIDE, 0x200, 16, ONE_ROW);
	add_span(&finds, SPANS_BESIDE, 0x100, 16, TWO_ROWS);
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

/* The CFA offset of the recipe at an address; 0: none, -1: a span without a recipe. */
static int offset_at(const struct recipe_entry *entry, unsigned spans, uint64_t vaddr)
{
	uint64_t function = 0;
	uint32_t number = table_recipe(&entry->tables[spans], vaddr, &function);
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

TEST(recipe_entry_is_queried_in_place)
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
	table_recipe(&entry.tables[SPANS_BESIDE], 0x20f, &function);
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
	CHECK_EQ(recipe_entry_add(&entry, table_recipe(&entry.tables[SPANS_BESIDE], 0x108, &function),
				  &recipes),
		 0);
	const struct rule *rule = recipe_rule(&recipes, &recipes.recipes.at[0], 30);
	CHECK(rule && rule->kind == RULE_AT_CFA);
	CHECK_EQ(rule->offset, -8);
	CHECK_EQ(recipes.recipes.at[0].trust, TRUST_PROVEN);
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_finds_facts_by_their_question)
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

TEST(recipe_entry_finds_places_by_address_and_whether_it_is_a_return_address)
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

TEST(recipe_entry_has_no_recipe_in_gaps_of_its_rows)
{
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 };

	fill(&recipes, 1);
	add_span(&finds, SPANS_ALONE, 0x100, 8, GAP_ROWS);
	pack(&finds, &recipes, &w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	CHECK_EQ(offset_at(&entry, SPANS_ALONE, 0x103), 8);
	CHECK_EQ(offset_at(&entry, SPANS_ALONE, 0x104), 0);
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_grows_and_keeps_its_old_contents)
{
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry;
	struct recipes recipes;
	struct writer w = { 0 }, more = { 0 };

	pack_some(&w);
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	fill(&recipes, 5);                                    /* different recipes with different numbers */
	add_span(&finds, SPANS_BESIDE, 0x1f8, 16, OTHER_ROW); /* overlaps an existing span */
	add_span(&finds, SPANS_BESIDE, 0x10f, 4, OTHER_ROW);  /* overlaps another one */
	add_span(&finds, SPANS_BESIDE, 0x110, 4, OTHER_ROW);
	add_span(&finds, SPANS_BESIDE, 0x80, 4, OTHER_ROW);
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
	CHECK_EQ(entry.header.n_rules, 4);
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
	add_span(&finds, SPANS_BESIDE, 0x100, 16, TWO_ROWS);
	vec_push(&finds.facts,
		 ((struct stored_fact){ .a = 5, .b = 7, .value = 70, .kind = 2, .recipe = RECIPE_NONE }));
	CHECK(!recipe_entry_pack(&entry, &finds, &recipes, &more));
	CHECK_EQ(more.len, 0);
	finds_done(&finds);
	recipes_done(&recipes);
	writer_done(&w);
}

TEST(recipe_entry_that_is_truncated_is_refused)
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

/* The result at 0x108 when a byte or number of the entry has been changed. */
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

TEST(recipe_entry_returns_no_invalid_recipe)
{
	/* Its second recipe is the one with a rule, and the first span has the first rows. */
	const size_t rule = sizeof(struct stored_recipes) + sizeof(struct packed_rule),
		     span = sizeof(struct stored_recipes) + 3 * sizeof(struct packed_rule);
	const uint8_t whole = PACKED_WHOLE, none = 0, many = 200, wide = 0xff;
	const uint32_t large = UINT32_MAX, two = 2;

	CHECK_EQ(offset_with(0, "\x03", 1), 16);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, head), &none, 1), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, head), &whole, 1), -1); /* no full recipe */
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, head), &wide, 1), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, cfa_reg), &many, 1), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, first_reg), &many, 1), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, n_words), &many, 1), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, ruled), &large, 2), -1);
	CHECK_EQ(offset_with(rule + offsetof(struct packed_rule, slots) + 5, &many, 1), -1);
	CHECK_EQ(offset_with(span + offsetof(struct table_span, n_rows), &two, 4), 16);
	CHECK_EQ(offset_with(span + offsetof(struct table_span, n_rows), &large, 4), 0);
	CHECK_EQ(offset_with(span + offsetof(struct table_span, first_row), &large, 4), 0);
}

/* An entry with one fact, whose recipe fits no packed rule. */
static void pack_whole(struct writer *ret)
{
	const struct recipe recipe = { .cfa_kind = CFA_DEREF,
				       .cfa_reg = 6,
				       .witness = WITNESS_CFI,
				       .trust = TRUST_STATED,
				       .n_rules = 2,
				       .cfa_offset = -12,
				       .cfa_addend = 4 };
	const struct rule rules[] = { { .reg = 3, .kind = RULE_REG, .from = 5 },
				      { .reg = 16, .kind = RULE_AT_CFA, .offset = -8 } };
	struct recipe_finds finds = { 0 };
	struct recipes recipes;

	fill(&recipes, 2);
	uint32_t whole = recipes_add(&recipes, &recipe, rules);
	vec_push(&finds.facts, ((struct stored_fact){ .a = 1, .kind = 1, .recipe = 0 }));
	vec_push(&finds.facts, ((struct stored_fact){ .a = 2, .kind = 1, .recipe = whole }));
	pack(&finds, &recipes, ret);
	recipes_done(&recipes);
}

/* The recipe of the fact above, added to a pool; RECIPE_NONE if a changed byte makes it invalid. */
static uint32_t whole_with(size_t at, uint8_t value, struct recipes *recipes)
{
	struct recipe_entry entry;
	struct writer w = { 0 };

	pack_whole(&w);
	w.at[at] = value;
	CHECK(recipe_entry_open(writer_bytes(&w), &entry));
	const struct stored_fact *fact = recipe_entry_fact(&entry, 1, 2, 0);
	CHECK(fact != NULL);
	uint32_t recipe = recipe_entry_add(&entry, fact->recipe, recipes);
	writer_done(&w);
	return recipe;
}

TEST(recipe_entry_stores_recipes_that_cannot_be_packed_in_full)
{
	const size_t whole = sizeof(struct stored_recipes) + 2 * sizeof(struct packed_rule),
		     rule = whole + 24;
	struct recipes recipes;

	recipes_init(&recipes);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, reserved), 1, &recipes), 0);
	CHECK_EQ(recipes.recipes.n, 1);
	const struct recipe *got = &recipes.recipes.at[0];
	CHECK(got->cfa_kind == CFA_DEREF && got->cfa_offset == -12 && got->cfa_addend == 4 &&
	      got->n_rules == 2);
	CHECK_EQ(recipes.rules.at[got->rules].from, 5);
	CHECK_EQ(recipes.rules.at[got->rules + 1].offset, -8);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, cfa_kind), 10, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, cfa_reg), 200, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, witness), 10, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, trust), 10, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, n_rules), 10, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(whole + offsetof(struct stored_recipe, rules), 200, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(rule + offsetof(struct rule, reg), 200, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(rule + offsetof(struct rule, kind), RULE_AT_EXPR, &recipes), RECIPE_NONE);
	CHECK_EQ(whole_with(rule + offsetof(struct rule, from), 200, &recipes), RECIPE_NONE);
	recipes_done(&recipes);
}
