/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/kept.h"

#include <stdlib.h>

#include "base/hash.h"
#include "binary/functions/function.h"

#define MAX_UNNAMED (16u << 20) /* bytes of a file without build-id that are hashed to identify it */

/* Results of another program, or of another build of this one, are not used: the analysis may differ. */
static bool kept_find_key(const struct image *image, struct store_key *ret)
{
	struct build_id own = build_id_own();
	bool is_known = image->build_id.len || image->file.len <= MAX_UNNAMED;

	if (image->kind != IMAGE_ELF || !own.len || !is_known || image->is_changed)
		return false;
	*ret = (struct store_key){ "recipes",
				   RECIPE_ENTRY_VERSION,
				   { image_identity(image),
				     hash_bytes((struct bytes){ own.bytes, own.len }) } };
	return true;
}

static struct store_key kept_index_key(const struct kept *kept)
{
	return (struct store_key){ "functions", FUNCTION_PACK_VERSION, { kept->key.id[0], kept->key.id[1] } };
}

void kept_init(struct kept *kept, struct image *image, struct recipes *recipes, struct store *store)
{
	*kept = (struct kept){ .image = image, .recipes = recipes };
	if (!store || !kept_find_key(image, &kept->key))
		return;
	kept->store = store;
	kept->bytes = store_get(store, &kept->key);
	recipe_entry_open(kept->bytes, &kept->entry);
	kept->numbers = alloc_zero(kept->entry.header.n_rules, sizeof(*kept->numbers));
}

void kept_done(struct kept *kept)
{
	store_release(kept->bytes);
	store_release(kept->index);
	free(kept->numbers);
	vec_done(&kept->facts);
	vec_done(&kept->places);
	map_done(&kept->by_question);
	map_done(&kept->by_address);
	vec_done(&kept->early);
	map_done(&kept->by_return);
	vec_done(&kept->functions);
	for (unsigned k = 0; k < SPANS_N; k++)
		map_done(&kept->starts[k]);
}

struct bytes kept_index(struct kept *kept)
{
	struct store_key key = kept_index_key(kept);

	if (kept->store && !kept->index.len)
		kept->index = store_get(kept->store, &key);
	return kept->index;
}

/* The number in the pool of a recipe of the entry. Also RECIPE_NONE if there is no such number. */
static uint32_t kept_number(struct kept *kept, uint32_t number)
{
	if (number >= kept->entry.header.n_rules)
		return RECIPE_NONE;
	if (!kept->numbers[number])
		kept->numbers[number] = recipe_entry_add(&kept->entry, number, kept->recipes) + 1;
	return kept->numbers[number] - 1;
}

/* ---- facts ------------------------------------------------------------------------------------- */

static uint64_t kept_question_hash(uint32_t kind, uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(kind) + a) + b;
}

static bool kept_stored_answer(struct kept *kept, uint32_t kind, uint64_t a, uint64_t b, struct answer *ret)
{
	const struct stored_fact *fact = recipe_entry_fact(&kept->entry, kind, a, b);

	if (fact)
		*ret = (struct answer){ .number = fact->value, .recipe = kept_number(kept, fact->recipe) };
	return fact != NULL;
}

bool kept_fact(struct kept *kept, uint32_t kind, uint64_t a, uint64_t b, struct answer *ret)
{
	uint32_t index = map_find(&kept->by_question, kept_question_hash(kind, a, b));
	const struct stored_fact *fact = index == MAP_NONE ? NULL : &kept->facts.at[index];

	if (!fact || fact->kind != kind || fact->a != a || fact->b != b)
		return kept_stored_answer(kept, kind, a, b, ret);
	*ret = (struct answer){ .number = fact->value, .recipe = fact->recipe };
	return true;
}

/* Of two questions with the same hash, the first is kept. */
void kept_add_fact(struct kept *kept, uint32_t kind, uint64_t a, uint64_t b, const struct answer *answer)
{
	uint64_t hash = kept_question_hash(kind, a, b);

	if (map_find(&kept->by_question, hash) != MAP_NONE)
		return;
	map_put(&kept->by_question, hash, (uint32_t)kept->facts.n);
	vec_push(&kept->facts, (struct stored_fact){ a, b, answer->number, kind, answer->recipe });
}

/* ---- recipes ----------------------------------------------------------------------------------- */

/* A single answer may differ from that of the rows, if it was given before the rows existed. */
bool kept_recipe(struct kept *kept, uint32_t kind, bool is_alone, uint64_t vaddr, struct answer *ret)
{
	uint64_t function = UINT64_MAX;

	if (kept_stored_answer(kept, kind, vaddr, 0, ret))
		return true;
	uint32_t recipe = kept_number(kept, table_recipe(&kept->entry.tables[is_alone], vaddr, &function));
	if (recipe == RECIPE_NONE)
		return false;
	*ret = (struct answer){ .number = function, .recipe = recipe };
	return true;
}

/* An answer that is left out because its function is stored will be computed again. */
void kept_add_recipe(struct kept *kept, uint32_t kind, bool is_alone, uint64_t vaddr,
		     const struct answer *answer, struct analysis *analysis)
{
	struct map *starts = &kept->starts[is_alone];
	struct table_span span;

	if (!kept->store || (answer->recipe != RECIPE_NONE && map_find(starts, answer->number) != MAP_NONE))
		return;
	if (answer->recipe == RECIPE_NONE || !analysis_span(analysis, vaddr, is_alone, &span)) {
		kept_add_fact(kept, kind, vaddr, 0, answer);
		return;
	}
	map_put(starts, span.start, 1);
	vec_push(&kept->functions, (struct kept_function){ vaddr, is_alone });
}

/* ---- places ------------------------------------------------------------------------------------ */

enum {
	IS_ROOT = 1,
	IS_BETWEEN = 2,
	ENDS_THREAD = 4,
	IS_TRAMPOLINE = 8,
	LEAVES_STACK = 16,
	HAS_GOROUTINE = 32,
	LOSES_REGS = 64,
};

static struct place kept_place_of(const struct stored_place *stored, struct recipe_pair recipes)
{
	return (struct place){ .recipes = recipes,
			       .function = stored->function,
			       .call_target = stored->call_target,
			       .call = stored->call,
			       .has_code = true,
			       .is_root = stored->flags & IS_ROOT,
			       .is_between = stored->flags & IS_BETWEEN,
			       .ends_thread = stored->flags & ENDS_THREAD,
			       .is_trampoline = stored->flags & IS_TRAMPOLINE,
			       .leaves_stack = stored->flags & LEAVES_STACK,
			       .has_goroutine = stored->flags & HAS_GOROUTINE,
			       .loses_regs = stored->flags & LOSES_REGS,
			       .has_wants = stored->wants != 0,
			       .wants = stored->wants };
}

static bool kept_stored_place(struct kept *kept, uint64_t vaddr, bool is_return, struct place *ret)
{
	const struct stored_place *stored = recipe_entry_place(&kept->entry, vaddr, is_return);
	struct recipe_pair pair;

	if (!stored || stored->call > CALL_CONTINUED)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(pair.recipe); i++) {
		pair.recipe[i] = kept_number(kept, stored->recipe[i]);
		if (pair.recipe[i] == RECIPE_NONE && stored->recipe[i] != RECIPE_NONE)
			return false;
	}
	*ret = kept_place_of(stored, pair);
	return true;
}

bool kept_place(struct kept *kept, uint64_t vaddr, bool is_return, struct place *ret)
{
	uint32_t index = map_find(&kept->by_address, vaddr << 1 | is_return);
	const struct stored_place *known = index == MAP_NONE ? NULL : &kept->places.at[index];

	if (!known || known->vaddr != vaddr)
		return kept_stored_place(kept, vaddr, is_return, ret);
	*ret = kept_place_of(known, (struct recipe_pair){ { known->recipe[0], known->recipe[1] } });
	return true;
}

static struct stored_place kept_pack_place(uint64_t vaddr, bool is_return, const struct place *place)
{
	unsigned flags = (place->is_root ? IS_ROOT : 0u) | (place->is_between ? IS_BETWEEN : 0u) |
			 (place->ends_thread ? ENDS_THREAD : 0u) |
			 (place->is_trampoline ? IS_TRAMPOLINE : 0u) |
			 (place->leaves_stack ? LEAVES_STACK : 0u) |
			 (place->has_goroutine ? HAS_GOROUTINE : 0u) | (place->loses_regs ? LOSES_REGS : 0u);

	return (struct stored_place){ .vaddr = vaddr,
				      .function = place->function,
				      .call_target = place->call_target,
				      .wants = place->wants,
				      .recipe = { place->recipes.recipe[0], place->recipes.recipe[1] },
				      .is_return = is_return,
				      .call = place->call,
				      .flags = (uint8_t)flags };
}

void kept_add_place(struct kept *kept, uint64_t vaddr, bool is_return, const struct place *place)
{
	uint64_t key = vaddr << 1 | is_return;

	if (map_find(&kept->by_address, key) != MAP_NONE)
		return;
	map_put(&kept->by_address, key, (uint32_t)kept->places.n);
	vec_push(&kept->places, kept_pack_place(vaddr, is_return, place));
}

bool kept_early_place(struct kept *kept, uint64_t vaddr, struct place *ret)
{
	uint32_t index = map_find(&kept->by_return, vaddr);
	const struct stored_place *known = index == MAP_NONE ? NULL : &kept->early.at[index];

	if (!known)
		return false;
	*ret = kept_place_of(known, (struct recipe_pair){ { known->recipe[0], known->recipe[1] } });
	ret->is_early = true;
	return true;
}

void kept_add_early_place(struct kept *kept, uint64_t vaddr, const struct place *place)
{
	if (map_find(&kept->by_return, vaddr) != MAP_NONE)
		return;
	map_put(&kept->by_return, vaddr, (uint32_t)kept->early.n);
	vec_push(&kept->early, kept_pack_place(vaddr, true, place));
}

/* ---- the store --------------------------------------------------------------------------------- */

/* Expressions are bytes of the image. */
static bool kept_has_expression(const struct recipes *recipes, uint32_t index)
{
	const struct recipe *recipe = index == RECIPE_NONE ? NULL : &recipes->recipes.at[index];
	const struct rule *rules = recipe ? recipes->rules.at + recipe->rules : NULL;
	bool found = recipe && recipe->cfa_kind == CFA_EXPR;

	for (unsigned i = 0; recipe && i < recipe->n_rules && !found; i++)
		found = rules[i].kind == RULE_AT_EXPR || rules[i].kind == RULE_IS_EXPR;
	return found;
}

static void kept_gather_finds(struct kept *kept, struct analysis *analysis, struct recipe_finds *ret)
{
	struct table_span span;

	for (size_t i = kept->n_saved_facts; i < kept->facts.n; i++)
		vec_push(&ret->facts, kept->facts.at[i]);
	for (size_t i = kept->n_saved_places; i < kept->places.n; i++) {
		const struct stored_place *place = &kept->places.at[i];
		if (!kept_has_expression(kept->recipes, place->recipe[0]) &&
		    !kept_has_expression(kept->recipes, place->recipe[1]))
			vec_push(&ret->places, *place);
	}
	for (size_t i = 0; i < kept->functions.n; i++) {
		const struct kept_function *function = &kept->functions.at[i];
		if (analysis_span(analysis, function->vaddr, function->is_alone, &span))
			vec_push(&ret->spans[function->is_alone], span);
	}
	if (analysis)
		ret->rows = table_view_of(analysis_table(analysis));
}

static void kept_finds_done(struct recipe_finds *finds)
{
	for (unsigned k = 0; k < SPANS_N; k++)
		vec_done(&finds->spans[k]);
	vec_done(&finds->facts);
	vec_done(&finds->places);
}

/* Others may have added to the entry since it was read. */
void kept_save(struct kept *kept, struct analysis *analysis)
{
	bool is_new = kept->functions.n || kept->n_saved_facts < kept->facts.n ||
		      kept->n_saved_places < kept->places.n;
	struct recipe_finds finds = { 0 };
	struct recipe_entry entry;
	struct writer w = { 0 };

	if (!kept->store || kept->image->is_changed || !is_new)
		return;
	struct store_key key = kept_index_key(kept);
	if (analysis)
		store_put(kept->store, &key, analysis_index(analysis));
	struct bytes bytes = store_get(kept->store, &kept->key);
	recipe_entry_open(bytes, &entry);
	kept_gather_finds(kept, analysis, &finds);
	if (recipe_entry_pack(&entry, &finds, kept->recipes, &w))
		store_put(kept->store, &kept->key, writer_bytes(&w));
	store_release(bytes);
	writer_done(&w);
	kept_finds_done(&finds);
	kept->n_saved_facts = kept->facts.n;
	kept->n_saved_places = kept->places.n;
	vec_clear(&kept->functions);
}
