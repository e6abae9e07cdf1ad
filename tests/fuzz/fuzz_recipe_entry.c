/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_recipe_entry: a stored entry about an image's code. Whatever the bytes are, results are within bounds;
 * packed again, with a new find added, they are an entry with the same results.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "recipes/recipe_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_recipe(const struct recipes *recipes, uint32_t index)
{
	if (index == RECIPE_NONE)
		return;
	const struct recipe *recipe = &recipes->recipes.at[index];
	if (recipe->witness >= WITNESS_N || recipe->cfa_kind == CFA_EXPR ||
	    recipe->rules + recipe->n_rules > recipes->rules.n)
		abort();
	recipe_reads(recipes, recipe);
}

static void ask_spans(const struct recipe_entry *entry, unsigned spans, struct recipes *recipes)
{
	for (uint32_t i = 0; i < entry->header.n_spans[spans]; i++) {
		const struct table_span *span = &entry->tables[spans].spans[i];
		for (uint64_t offset = 0; offset < 64; offset += 4) {
			uint64_t function;
			uint32_t number =
				table_recipe(&entry->tables[spans], span->start + offset, &function);
			check_recipe(recipes, recipe_entry_add(entry, number, recipes));
		}
	}
}

/* Every packed rule; one that is accepted packs to the same bytes again. */
static void ask_rules(const struct recipe_entry *entry, struct recipes *recipes)
{
	for (uint32_t i = 0; i < entry->header.n_rules; i++) {
		uint32_t recipe = recipe_entry_add(entry, i, recipes);
		check_recipe(recipes, recipe);
		if (recipe != RECIPE_NONE && packed_kind(&entry->rules[i]) != PACKED_WHOLE &&
		    memcmp(&entry->rules[i], &recipes->packed.at[recipe], sizeof(entry->rules[i])) != 0)
			abort();
	}
}

static void ask(const struct recipe_entry *entry, struct recipes *recipes)
{
	ask_rules(entry, recipes);
	for (unsigned k = 0; k < SPANS_N; k++)
		ask_spans(entry, k, recipes);
	for (uint32_t i = 0; i < entry->header.n_facts; i++) {
		const struct stored_fact *stored = &entry->facts[i];
		const struct stored_fact *fact = recipe_entry_fact(entry, stored->kind, stored->a, stored->b);
		if (fact)
			check_recipe(recipes, recipe_entry_add(entry, fact->recipe, recipes));
	}
	for (uint32_t i = 0; i < entry->header.n_places; i++) {
		const struct stored_place *place =
			recipe_entry_place(entry, entry->places[i].vaddr, entry->places[i].is_return != 0);
		if (place)
			check_recipe(recipes, recipe_entry_add(entry, place->recipe[1], recipes));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned, as in a mapped file. */
	uint8_t *copy = alloc_zero(1, size + 1);
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry, again;
	struct recipes recipes;
	struct writer packed = { 0 };

	memcpy(copy, data, size);
	recipes_init(&recipes);
	if (recipe_entry_open((struct bytes){ copy, size }, &entry)) {
		ask(&entry, &recipes);
		vec_push(&finds.facts,
			 ((struct stored_fact){
				 .a = UINT64_MAX, .b = 12345, .kind = 77, .recipe = RECIPE_NONE }));
		if (recipe_entry_pack(&entry, &finds, &recipes, &packed)) {
			if (!recipe_entry_open(writer_bytes(&packed), &again) ||
			    again.header.n_facts != entry.header.n_facts + 1)
				abort();
			ask(&again, &recipes);
		}
		vec_done(&finds.facts);
	}
	writer_done(&packed);
	recipes_done(&recipes);
	free(copy);
	return 0;
}
