/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_entry.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/sort.h"

#define MAX_BYTES \
	(64ull    \
	 << 20) /* of an entry: the rows of all functions of the largest compilers are a third of that */

_Static_assert(sizeof(struct stored_recipes) == 32 && sizeof(struct stored_recipe) == 20 &&
		       sizeof(struct rule) == 8 && sizeof(struct stored_span) == 24 &&
		       sizeof(struct recipe_row) == 8 && sizeof(struct stored_fact) == 32 &&
		       sizeof(struct stored_place) == 48,
	       "the layout is stored: raise RECIPE_ENTRY_VERSION");

/* ---- reading ------------------------------------------------------------------------------- */

/* Every array starts where one of 8-byte numbers may. */
static const void *take(struct reader *r, uint64_t count, size_t size)
{
	const void *at = read_bytes(r, count * size).at;

	reader_skip(r, -reader_offset(r) & 7u);
	return at;
}

bool recipe_entry_open(struct bytes bytes, struct recipe_entry *ret)
{
	struct reader r = reader_of(bytes);
	const struct stored_recipes *header = take(&r, 1, sizeof(*header));

	*ret = (struct recipe_entry){ 0 };
	if (r.failed)
		return false;
	struct recipe_entry entry = { .header = *header };
	entry.recipes = take(&r, header->n_recipes, sizeof(*entry.recipes));
	entry.rules = take(&r, header->n_rules, sizeof(*entry.rules));
	for (unsigned k = 0; k < SPANS_N; k++)
		entry.spans[k] = take(&r, header->n_spans[k], sizeof(*entry.spans[k]));
	entry.rows = take(&r, header->n_rows, sizeof(*entry.rows));
	entry.facts = take(&r, header->n_facts, sizeof(*entry.facts));
	entry.places = take(&r, header->n_places, sizeof(*entry.places));
	if (r.failed || reader_left(&r))
		return false;
	*ret = entry;
	return true;
}

static bool has_rows(const struct recipe_entry *entry, const struct stored_span *span)
{
	return span->first_row <= entry->header.n_rows &&
	       span->n_rows <= entry->header.n_rows - span->first_row;
}

uint32_t recipe_entry_at(const struct recipe_entry *entry, unsigned spans, uint64_t vaddr,
			 uint64_t *ret_function)
{
	const struct stored_span *all = entry->spans[spans];
	size_t behind = search_first(i, entry->header.n_spans[spans], all[i].start > vaddr);
	const struct stored_span *span = behind ? &all[behind - 1] : NULL;

	if (!span || vaddr - span->start >= span->size || !has_rows(entry, span))
		return RECIPE_NONE;
	uint32_t number = recipe_rows_find(entry->rows + span->first_row, span->n_rows, vaddr - span->start);
	if (number != RECIPE_NONE)
		*ret_function = span->start;
	return number;
}

static int compare_questions(const struct stored_fact *x, const struct stored_fact *y)
{
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

const struct stored_fact *recipe_entry_fact(const struct recipe_entry *entry, uint32_t kind, uint64_t a,
					    uint64_t b)
{
	const struct stored_fact question = { .a = a, .b = b, .kind = kind };
	size_t n = entry->header.n_facts;
	size_t at = search_first(i, n, compare_questions(&entry->facts[i], &question) >= 0);

	return at < n && compare_questions(&entry->facts[at], &question) == 0 ? &entry->facts[at] : NULL;
}

static int compare_places(const struct stored_place *x, const struct stored_place *y)
{
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->is_return - y->is_return;
}

const struct stored_place *recipe_entry_place(const struct recipe_entry *entry, uint64_t vaddr,
					      bool is_return)
{
	const struct stored_place question = { .vaddr = vaddr, .is_return = is_return };
	size_t n = entry->header.n_places;
	size_t at = search_first(i, n, compare_places(&entry->places[i], &question) >= 0);

	return at < n && compare_places(&entry->places[at], &question) == 0 ? &entry->places[at] : NULL;
}

static bool is_rule(const struct rule *rule)
{
	if (rule->reg >= REG_MAX)
		return false;
	if (rule->kind == RULE_REG || rule->kind == RULE_AT_REG)
		return rule->from < REG_MAX;
	return rule->kind == RULE_SAME || rule->kind == RULE_UNDEFINED || rule->kind == RULE_AT_CFA ||
	       rule->kind == RULE_IS_CFA;
}

static bool is_recipe(const struct recipe_entry *entry, const struct stored_recipe *r)
{
	bool is_kind = r->cfa_kind == CFA_NONE ||
		       ((r->cfa_kind == CFA_REG || r->cfa_kind == CFA_DEREF) && r->cfa_reg < REG_MAX);

	if (!is_kind || r->witness >= WITNESS_N || r->trust > TRUST_PROVEN || r->n_rules > RECIPE_MAX_RULES ||
	    r->rules > entry->header.n_rules || r->n_rules > entry->header.n_rules - r->rules)
		return false;
	for (unsigned i = 0; i < r->n_rules; i++) {
		const struct rule *rule = &entry->rules[r->rules + i];
		if (!is_rule(rule) || (i > 0 && rule[-1].reg >= rule->reg))
			return false;
	}
	return true;
}

uint32_t recipe_entry_add(const struct recipe_entry *entry, uint32_t number, struct recipes *recipes)
{
	const struct stored_recipe *r = number < entry->header.n_recipes ? &entry->recipes[number] : NULL;

	if (!r || !is_recipe(entry, r))
		return RECIPE_NONE;
	struct recipe recipe = { .cfa_kind = r->cfa_kind,
				 .cfa_reg = r->cfa_reg,
				 .witness = r->witness,
				 .trust = r->trust,
				 .is_signal_frame = r->is_signal_frame != 0,
				 .ra_is_signed = r->ra_is_signed != 0,
				 .n_rules = r->n_rules,
				 .cfa_offset = r->cfa_offset,
				 .cfa_addend = r->cfa_addend };
	return recipes_add(recipes, &recipe, &entry->rules[r->rules]);
}

/* ---- writing ------------------------------------------------------------------------------- */

struct packing {
	const struct recipe_entry *old;
	const struct recipes *pool;
	struct recipes recipes;         /* of the new entry */
	uint32_t *from_old, *from_pool; /* numbers of recipes in the new entry + 1; 0 = not added yet */
	VEC(struct stored_span) spans[SPANS_N];
	VEC(struct recipe_row) rows;
	VEC(struct stored_fact) facts;
	VEC(struct stored_place) places;
	bool is_full;
};

static uint32_t number_of_old(struct packing *p, uint32_t recipe)
{
	if (recipe >= p->old->header.n_recipes)
		return RECIPE_NONE;
	if (!p->from_old[recipe])
		p->from_old[recipe] = recipe_entry_add(p->old, recipe, &p->recipes) + 1;
	return p->from_old[recipe] - 1; /* what makes no sense is tried again, and is none again */
}

static uint32_t number_of_new(struct packing *p, uint32_t recipe)
{
	if (recipe == RECIPE_NONE)
		return RECIPE_NONE;
	if (!p->from_pool[recipe]) {
		const struct recipe *r = &p->pool->recipes.at[recipe];
		p->from_pool[recipe] = recipes_add(&p->recipes, r, &p->pool->rules.at[r->rules]) + 1;
	}
	return p->from_pool[recipe] - 1;
}

typedef uint32_t (*number_of)(struct packing *p, uint32_t recipe);

static void add_span(struct packing *p, unsigned spans, struct recipe_span span, number_of number)
{
	struct stored_span stored = { .start = span.start,
				      .size = span.size,
				      .first_row = (uint32_t)p->rows.n,
				      .n_rows = span.n_rows };

	p->is_full |= p->rows.n + span.n_rows > MAX_BYTES / sizeof(*span.rows);
	if (p->is_full)
		return;
	vec_reserve(&p->rows, p->rows.n + span.n_rows);
	for (uint32_t i = 0; i < span.n_rows; i++)
		p->rows.at[p->rows.n++] =
			(struct recipe_row){ span.rows[i].start, number(p, span.rows[i].recipe) };
	vec_push(&p->spans[spans], stored);
}

static void add_old_span(struct packing *p, unsigned spans, const struct stored_span *span)
{
	if (has_rows(p->old, span))
		add_span(p, spans,
			 (struct recipe_span){ span->start, span->size, span->n_rows,
					       p->old->rows + span->first_row },
			 number_of_old);
}

/* Behind the last span that was added, and in front of the next old one? */
static bool has_room(const struct packing *p, unsigned spans, const struct recipe_span *span,
		     const struct stored_span *next)
{
	size_t n = p->spans[spans].n;
	const struct stored_span *last = n ? &p->spans[spans].at[n - 1] : NULL;

	return (!last || span->start >= last->start + last->size) &&
	       (!next || span->start + span->size <= next->start);
}

/* How many are new. */
static size_t merge_spans(struct packing *p, unsigned spans, struct recipe_finds *finds)
{
	const struct stored_span *old = p->old->spans[spans], *end = old + p->old->header.n_spans[spans];
	size_t n_new = 0;

	sort_by_u64(finds->spans[spans].at, finds->spans[spans].n, sizeof(*finds->spans[spans].at));
	for (size_t i = 0; i < finds->spans[spans].n; i++) {
		const struct recipe_span *span = &finds->spans[spans].at[i];
		while (old < end && old->start <= span->start)
			add_old_span(p, spans, old++);
		if (!has_room(p, spans, span, old < end ? old : NULL))
			continue;
		add_span(p, spans, *span, number_of_new);
		n_new++;
	}
	while (old < end)
		add_old_span(p, spans, old++);
	return n_new;
}

static int by_question(const void *left, const void *right)
{
	return compare_questions(left, right);
}

static void add_fact(struct packing *p, const struct stored_fact *fact, number_of number)
{
	vec_push(&p->facts, *fact);
	p->facts.at[p->facts.n - 1].recipe = number(p, fact->recipe);
}

static bool is_last(const struct packing *p, const struct stored_fact *fact)
{
	return p->facts.n && compare_questions(&p->facts.at[p->facts.n - 1], fact) == 0;
}

/* How many are new. */
static size_t merge_facts(struct packing *p, struct recipe_finds *finds)
{
	const struct stored_fact *old = p->old->facts, *end = old + p->old->header.n_facts;
	size_t n_new = 0;

	if (finds->facts.n)
		qsort(finds->facts.at, finds->facts.n, sizeof(*finds->facts.at), by_question);
	for (size_t i = 0; i < finds->facts.n; i++) {
		const struct stored_fact *fact = &finds->facts.at[i];
		while (old < end && compare_questions(old, fact) <= 0)
			add_fact(p, old++, number_of_old);
		if (is_last(p, fact))
			continue;
		add_fact(p, fact, number_of_new);
		n_new++;
	}
	while (old < end)
		add_fact(p, old++, number_of_old);
	return n_new;
}

static int by_place(const void *left, const void *right)
{
	return compare_places(left, right);
}

static void add_place(struct packing *p, const struct stored_place *place, number_of number)
{
	struct stored_place added = *place;

	for (size_t i = 0; i < ARRAY_LEN(added.recipe); i++)
		added.recipe[i] = number(p, place->recipe[i]);
	vec_push(&p->places, added);
}

/* How many are new. */
static size_t merge_places(struct packing *p, struct recipe_finds *finds)
{
	const struct stored_place *old = p->old->places, *end = old + p->old->header.n_places;
	size_t n_new = 0;

	sort_by_u64_then(finds->places.at, finds->places.n, sizeof(*finds->places.at), by_place);
	for (size_t i = 0; i < finds->places.n; i++) {
		const struct stored_place *place = &finds->places.at[i];
		while (old < end && compare_places(old, place) <= 0)
			add_place(p, old++, number_of_old);
		if (p->places.n && compare_places(&p->places.at[p->places.n - 1], place) == 0)
			continue;
		add_place(p, place, number_of_new);
		n_new++;
	}
	while (old < end)
		add_place(p, old++, number_of_old);
	return n_new;
}

static void put(struct writer *w, const void *at, size_t count, size_t size)
{
	write_bytes(w, (struct bytes){ at, count * size });
	write_space(w, -w->len & 7u);
}

static void put_recipes(struct writer *w, const struct recipes *recipes)
{
	for (size_t i = 0; i < recipes->recipes.n; i++) {
		const struct recipe *r = &recipes->recipes.at[i];
		struct stored_recipe stored = { .cfa_kind = r->cfa_kind,
						.cfa_reg = r->cfa_reg,
						.witness = r->witness,
						.trust = r->trust,
						.is_signal_frame = r->is_signal_frame,
						.ra_is_signed = r->ra_is_signed,
						.n_rules = r->n_rules,
						.cfa_offset = r->cfa_offset,
						.cfa_addend = r->cfa_addend,
						.rules = r->rules };
		write_bytes(w, (struct bytes){ (const uint8_t *)&stored, sizeof(stored) });
	}
	write_space(w, -w->len & 7u);
	put(w, recipes->rules.at, recipes->rules.n, sizeof(*recipes->rules.at));
}

static void write_entry(const struct packing *p, struct writer *w)
{
	struct stored_recipes header = { .n_recipes = (uint32_t)p->recipes.recipes.n,
					 .n_rules = (uint32_t)p->recipes.rules.n,
					 .n_rows = (uint32_t)p->rows.n,
					 .n_facts = (uint32_t)p->facts.n,
					 .n_places = (uint32_t)p->places.n };

	for (unsigned k = 0; k < SPANS_N; k++)
		header.n_spans[k] = (uint32_t)p->spans[k].n;
	put(w, &header, 1, sizeof(header));
	put_recipes(w, &p->recipes);
	for (unsigned k = 0; k < SPANS_N; k++)
		put(w, p->spans[k].at, p->spans[k].n, sizeof(*p->spans[k].at));
	put(w, p->rows.at, p->rows.n, sizeof(*p->rows.at));
	put(w, p->facts.at, p->facts.n, sizeof(*p->facts.at));
	put(w, p->places.at, p->places.n, sizeof(*p->places.at));
}

static void packing_done(struct packing *p)
{
	recipes_done(&p->recipes);
	free(p->from_old);
	free(p->from_pool);
	for (unsigned k = 0; k < SPANS_N; k++)
		vec_done(&p->spans[k]);
	vec_done(&p->rows);
	vec_done(&p->facts);
	vec_done(&p->places);
}

bool recipe_entry_pack(const struct recipe_entry *entry, struct recipe_finds *finds,
		       const struct recipes *recipes, struct writer *ret)
{
	struct packing p = { .old = entry, .pool = recipes };
	size_t n_new = 0;

	recipes_init(&p.recipes);
	p.from_old = alloc_zero(entry->header.n_recipes + 1u, sizeof(*p.from_old));
	p.from_pool = alloc_zero(recipes->recipes.n + 1, sizeof(*p.from_pool));
	for (unsigned k = 0; k < SPANS_N; k++)
		n_new += merge_spans(&p, k, finds);
	n_new += merge_facts(&p, finds) + merge_places(&p, finds);
	bool is_small = p.facts.n < MAX_BYTES / sizeof(struct stored_fact) &&
			p.places.n < MAX_BYTES / sizeof(struct stored_place);
	bool is_wanted = n_new && !p.is_full && is_small;
	if (is_wanted)
		write_entry(&p, ret);
	packing_done(&p);
	return is_wanted;
}
