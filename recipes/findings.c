/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/findings.h"

#include <stdlib.h>

#include "base/hash.h"
#include "binary/functions/function.h"
#include "recipes/recipe_entry.h"

#define MAX_UNNAMED                                                                             \
	(16u << 20) /* bytes of a file without build-id that are read in order to know it again \
		     */

/* Questions whose answers are kept one by one; stored. Those about recipes at an address begin with spans of
 * rows. */
enum {
	FACT_BESIDE = SPANS_BESIDE,
	FACT_ALONE = SPANS_ALONE,
	FACT_MARKED,
	FACT_KEPT,
	FACT_LEADS,
	FACT_NAME,
	FACT_STUB_NAME,
	FACT_HAS_NAME,
	FACT_FINDING, /* the first of enum finding; the others follow */
};

/* A function that analysis_rows may be asked for. */
struct told {
	uint64_t vaddr;
	bool is_alone;
};

struct findings {
	struct image *image;
	struct frames *frames;     /* NULL before they are asked for */
	struct analysis *analysis; /* too */
	struct recipes *recipes;
	struct store *store; /* NULL = nothing is kept */
	struct store_key key;
	struct bytes bytes; /* of the entry */
	struct recipe_entry entry;
	struct bytes index; /* of functions, for the analysis */
	uint32_t *numbers;  /* of its recipes in the pool + 1; 0 = not added yet */
	VEC(struct told) told;
	struct map told_starts[SPANS_N];
	struct recipe_finds finds; /* what is new; spans only while it is saved */
	struct map asked;          /* questions of facts, each as one number */
	struct map asked_places;
};

/* What another program, or another build of this one, has found out does not count: the analysis may be
 * another. */
static bool find_key(const struct image *image, struct store_key *ret)
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

struct findings *findings_new(struct image *image, struct recipes *recipes, struct store *store)
{
	struct findings *findings = alloc_zero(1, sizeof(*findings));

	findings->image = image;
	findings->recipes = recipes;
	if (store && find_key(image, &findings->key)) {
		findings->store = store;
		findings->bytes = store_get(store, &findings->key);
		recipe_entry_open(findings->bytes, &findings->entry);
		findings->numbers = alloc_zero(findings->entry.header.n_recipes, sizeof(*findings->numbers));
	}
	return findings;
}

void findings_free(struct findings *findings)
{
	if (!findings)
		return;
	analysis_free(findings->analysis);
	frames_free(findings->frames);
	store_release(findings->bytes);
	store_release(findings->index);
	free(findings->numbers);
	vec_done(&findings->told);
	for (unsigned k = 0; k < SPANS_N; k++)
		map_done(&findings->told_starts[k]);
	vec_done(&findings->finds.facts);
	vec_done(&findings->finds.places);
	map_done(&findings->asked);
	map_done(&findings->asked_places);
	free(findings);
}

struct functions *findings_functions(struct findings *findings)
{
	return findings->analysis ? analysis_functions(findings->analysis) : NULL;
}

uint64_t findings_analysed(const struct findings *findings)
{
	return findings->analysis ? analysis_count(findings->analysis) : 0;
}

static struct store_key index_key(const struct findings *findings)
{
	return (struct store_key){ "functions",
				   FUNCTION_PACK_VERSION,
				   { findings->key.id[0], findings->key.id[1] } };
}

const struct frames *findings_frames(struct findings *findings)
{
	if (!findings->frames)
		findings->frames = frames_read(findings->image);
	return findings->frames;
}

/* When there is no way round it. */
static struct analysis *analysis_of(struct findings *findings)
{
	struct store_key key = index_key(findings);

	if (findings->analysis)
		return findings->analysis;
	findings->analysis = analysis_new(findings->image, findings_frames(findings), findings->recipes);
	if (findings->store) {
		findings->index = store_get(findings->store, &key);
		analysis_use_index(findings->analysis, findings->index);
	}
	return findings->analysis;
}

/* ---- answers one by one -------------------------------------------------------------------- */

static bool find_fact(const struct findings *findings, uint32_t kind, uint64_t a, uint64_t b, uint64_t *ret)
{
	const struct stored_fact *fact = recipe_entry_fact(&findings->entry, kind, a, b);

	if (fact)
		*ret = fact->value;
	return fact != NULL;
}

/* Every process has its own table of addresses, and asks anew. */
static bool is_new(struct map *asked, uint64_t question)
{
	size_t n = asked->n;

	map_put(asked, question, 1);
	return asked->n != n;
}

static void note(struct findings *findings, struct stored_fact fact)
{
	if (findings->store && is_new(&findings->asked, hash_u64(hash_u64(fact.kind) + fact.a) + fact.b))
		vec_push(&findings->finds.facts, fact);
}

static uint64_t keep_fact(struct findings *findings, uint32_t kind, uint64_t a, uint64_t b, uint64_t value)
{
	note(findings, (struct stored_fact){ a, b, value, kind, RECIPE_NONE });
	return value;
}

uint64_t findings_kept(struct findings *findings, uint64_t vaddr)
{
	uint64_t known;

	if (find_fact(findings, FACT_KEPT, vaddr, 0, &known))
		return known;
	return keep_fact(findings, FACT_KEPT, vaddr, 0, analysis_kept(analysis_of(findings), vaddr));
}

bool findings_leads_only_to(struct findings *findings, uint64_t from, uint64_t to)
{
	uint64_t known;

	if (find_fact(findings, FACT_LEADS, from, to, &known))
		return known;
	return keep_fact(findings, FACT_LEADS, from, to,
			 analysis_leads_only_to(analysis_of(findings), from, to));
}

uint64_t findings_name(struct findings *findings, uint64_t vaddr)
{
	uint64_t known;

	if (find_fact(findings, FACT_NAME, vaddr, 0, &known))
		return known;
	return keep_fact(findings, FACT_NAME, vaddr, 0, analysis_name(analysis_of(findings), vaddr));
}

uint64_t findings_stub_name(struct findings *findings, uint64_t vaddr)
{
	uint64_t known;

	if (find_fact(findings, FACT_STUB_NAME, vaddr, 0, &known))
		return known;
	return keep_fact(findings, FACT_STUB_NAME, vaddr, 0,
			 analysis_stub_name(analysis_of(findings), vaddr));
}

bool findings_has_name(struct findings *findings, uint64_t vaddr, uint64_t name)
{
	uint64_t known;

	if (find_fact(findings, FACT_HAS_NAME, vaddr, name, &known))
		return known;
	return keep_fact(findings, FACT_HAS_NAME, vaddr, name,
			 analysis_has_name(analysis_of(findings), vaddr, name));
}

bool findings_find(struct findings *findings, enum finding what, uint64_t a, uint64_t b, bool *ret)
{
	uint64_t known = 0;
	bool is_known = find_fact(findings, FACT_FINDING + what, a, b, &known);

	*ret = known;
	return is_known;
}

bool findings_keep(struct findings *findings, enum finding what, uint64_t a, uint64_t b, bool value)
{
	return keep_fact(findings, FACT_FINDING + what, a, b, value);
}

/* ---- recipes ------------------------------------------------------------------------------- */

/* RECIPE_NONE also if the number names none. */
static uint32_t recipe_of(struct findings *findings, uint32_t number)
{
	if (number >= findings->entry.header.n_recipes)
		return RECIPE_NONE;
	if (!findings->numbers[number])
		findings->numbers[number] = recipe_entry_add(&findings->entry, number, findings->recipes) + 1;
	return findings->numbers[number] - 1;
}

/* ret_function is left alone where no function is known. */
static bool find_recipe(struct findings *findings, uint32_t kind, uint64_t vaddr, uint32_t *ret,
			uint64_t *ret_function)
{
	const struct stored_fact *fact = recipe_entry_fact(&findings->entry, kind, vaddr, 0);

	if (!fact)
		return false;
	*ret = recipe_of(findings, fact->recipe);
	if (fact->value != UINT64_MAX)
		*ret_function = fact->value;
	return true;
}

/* With all of its function, if the rows of that are what it is from. An answer that is left out for that is
 * asked for again. */
static void note_recipe(struct findings *findings, bool is_alone, uint64_t vaddr, uint32_t recipe,
			uint64_t function)
{
	struct map *starts = &findings->told_starts[is_alone];
	struct analysed analysed;

	if (recipe != RECIPE_NONE && map_find(starts, function) != MAP_NONE)
		return;
	if (recipe == RECIPE_NONE || !analysis_rows(findings->analysis, vaddr, is_alone, &analysed)) {
		note(findings,
		     (struct stored_fact){ vaddr, 0, function, is_alone ? FACT_ALONE : FACT_BESIDE, recipe });
		return;
	}
	map_put(starts, analysed.start, 1);
	vec_push(&findings->told, (struct told){ vaddr, is_alone });
}

uint32_t findings_recipe(struct findings *findings, uint64_t vaddr, bool is_alone, uint64_t *ret_function)
{
	uint32_t recipe;
	uint64_t function = UINT64_MAX;

	/* One answer may be another than that of the rows, where it was given before they were there. */
	if (find_recipe(findings, is_alone ? FACT_ALONE : FACT_BESIDE, vaddr, &recipe, ret_function))
		return recipe;
	recipe = recipe_of(findings, recipe_entry_at(&findings->entry, is_alone, vaddr, ret_function));
	if (recipe != RECIPE_NONE)
		return recipe;
	recipe = analysis_recipe(analysis_of(findings), vaddr, is_alone, &function);
	if (function != UINT64_MAX)
		*ret_function = function;
	if (findings->store)
		note_recipe(findings, is_alone, vaddr, recipe, function);
	return recipe;
}

uint32_t findings_marked_recipe(struct findings *findings, uint64_t vaddr, uint64_t *ret_function)
{
	uint32_t recipe;
	uint64_t function = UINT64_MAX;

	if (find_recipe(findings, FACT_MARKED, vaddr, &recipe, ret_function))
		return recipe;
	recipe = analysis_marked_recipe(analysis_of(findings), vaddr, &function);
	if (function != UINT64_MAX)
		*ret_function = function;
	note(findings, (struct stored_fact){ vaddr, 0, function, FACT_MARKED, recipe });
	return recipe;
}

/* ---- places -------------------------------------------------------------------------------- */

enum { IS_ROOT = 1, IS_BETWEEN = 2, ENDS_THREAD = 4, IS_TRAMPOLINE = 8 };

bool findings_place(struct findings *findings, uint64_t vaddr, bool is_return, struct place *ret)
{
	const struct stored_place *stored = recipe_entry_place(&findings->entry, vaddr, is_return);
	struct recipe_pair pair;

	if (!stored || stored->call > CALL_UNKNOWN)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(pair.recipe); i++) {
		pair.recipe[i] = recipe_of(findings, stored->recipe[i]);
		if (pair.recipe[i] == RECIPE_NONE && stored->recipe[i] != RECIPE_NONE)
			return false;
	}
	*ret = (struct place){ .recipes = pair,
			       .function = stored->function,
			       .call_target = stored->call_target,
			       .call = stored->call,
			       .has_code = true,
			       .is_root = stored->flags & IS_ROOT,
			       .is_between = stored->flags & IS_BETWEEN,
			       .ends_thread = stored->flags & ENDS_THREAD,
			       .is_trampoline = stored->flags & IS_TRAMPOLINE,
			       .has_wants = stored->wants != 0,
			       .wants = stored->wants };
	return true;
}

/* Expressions are bytes of the image. */
static bool has_expression(const struct recipes *recipes, uint32_t index)
{
	const struct recipe *recipe = index == RECIPE_NONE ? NULL : &recipes->recipes.at[index];
	const struct rule *rules = recipe ? recipes->rules.at + recipe->rules : NULL;
	bool found = recipe && recipe->cfa_kind == CFA_EXPR;

	for (unsigned i = 0; recipe && i < recipe->n_rules && !found; i++)
		found = rules[i].kind == RULE_AT_EXPR || rules[i].kind == RULE_IS_EXPR;
	return found;
}

void findings_keep_place(struct findings *findings, uint64_t vaddr, bool is_return, const struct place *place)
{
	const uint32_t *recipe = place->recipes.recipe;
	unsigned flags = (place->is_root ? IS_ROOT : 0u) | (place->is_between ? IS_BETWEEN : 0u) |
			 (place->ends_thread ? ENDS_THREAD : 0u) |
			 (place->is_trampoline ? IS_TRAMPOLINE : 0u);

	if (!findings->store || !is_new(&findings->asked_places, vaddr << 1 | is_return) ||
	    has_expression(findings->recipes, recipe[0]) || has_expression(findings->recipes, recipe[1]))
		return;
	vec_push(&findings->finds.places, (struct stored_place){ .vaddr = vaddr,
								 .function = place->function,
								 .call_target = place->call_target,
								 .wants = place->wants,
								 .recipe = { recipe[0], recipe[1] },
								 .is_return = is_return,
								 .call = place->call,
								 .flags = (uint8_t)flags });
}

/* ---- keeping ------------------------------------------------------------------------------- */

static void gather_spans(struct findings *findings)
{
	for (size_t i = 0; i < findings->told.n; i++) {
		const struct told *told = &findings->told.at[i];
		struct analysed analysed;
		if (!analysis_rows(findings->analysis, told->vaddr, told->is_alone, &analysed) ||
		    analysed.end - analysed.start > UINT32_MAX)
			continue;
		vec_push(&findings->finds.spans[told->is_alone],
			 (struct recipe_span){ analysed.start, (uint32_t)(analysed.end - analysed.start),
					       analysed.n_rows, analysed.rows });
	}
}

/* Others may have added to the entry since it was read. */
void findings_save(struct findings *findings)
{
	struct recipe_finds *finds = &findings->finds;
	struct recipe_entry entry;
	struct writer w = { 0 };

	if (!findings->store || findings->image->is_changed ||
	    findings->told.n + finds->facts.n + finds->places.n == 0)
		return;
	struct store_key key = index_key(findings);
	if (findings->analysis)
		store_put(findings->store, &key, analysis_index(findings->analysis));
	struct bytes bytes = store_get(findings->store, &findings->key);
	recipe_entry_open(bytes, &entry);
	gather_spans(findings);
	if (recipe_entry_pack(&entry, finds, findings->recipes, &w))
		store_put(findings->store, &findings->key, writer_bytes(&w));
	store_release(bytes);
	writer_done(&w);
	for (unsigned k = 0; k < SPANS_N; k++)
		vec_done(&finds->spans[k]);
	vec_clear(&finds->facts);
	vec_clear(&finds->places);
	vec_clear(&findings->told);
}
