/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "base/sort.h"

#define MAX_BYTES (64ull << 20) /* of an entry: all rows of the largest compilers take a third of that */

_Static_assert(sizeof(struct stored_recipes) == 32 && sizeof(struct stored_recipe) == 20 &&
		       sizeof(struct rule) == 8 && sizeof(struct stored_fact) == 32 &&
		       sizeof(struct stored_place) == 48,
	       "the layout is stored: raise RECIPE_ENTRY_VERSION");

/* ---- reading ------------------------------------------------------------------------------- */

/* Every array is aligned to 8 bytes. */
static const void *entry_read(struct reader *r, uint64_t count, size_t size)
{
	const void *at = read_bytes(r, count * size).at;

	reader_skip(r, -reader_offset(r) & 7u);
	return at;
}

bool recipe_entry_open(struct bytes bytes, struct recipe_entry *ret)
{
	struct reader r = reader_of(bytes);
	const struct stored_recipes *header = entry_read(&r, 1, sizeof(*header));

	*ret = (struct recipe_entry){ 0 };
	if (r.failed)
		return false;
	struct recipe_entry entry = { .header = *header };
	entry.rules = entry_read(&r, header->n_rules, sizeof(*entry.rules));
	entry.wholes = entry_read(&r, header->n_wholes, sizeof(*entry.wholes));
	entry.whole_rules = entry_read(&r, header->n_whole_rules, sizeof(*entry.whole_rules));
	for (unsigned k = 0; k < SPANS_N; k++) {
		entry.tables[k].n_spans = header->n_spans[k];
		entry.tables[k].spans = entry_read(&r, header->n_spans[k], sizeof(*entry.tables[k].spans));
	}
	const struct recipe_row *rows = entry_read(&r, header->n_rows, sizeof(*rows));
	for (unsigned k = 0; k < SPANS_N; k++) {
		entry.tables[k].n_rows = header->n_rows;
		entry.tables[k].rows = rows;
	}
	entry.facts = entry_read(&r, header->n_facts, sizeof(*entry.facts));
	entry.places = entry_read(&r, header->n_places, sizeof(*entry.places));
	if (r.failed || reader_left(&r))
		return false;
	*ret = entry;
	return true;
}

static int entry_compare_questions(const struct stored_fact *x, const struct stored_fact *y)
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
	size_t at = search_first(i, n, entry_compare_questions(&entry->facts[i], &question) >= 0);

	return at < n && entry_compare_questions(&entry->facts[at], &question) == 0 ? &entry->facts[at]
										    : NULL;
}

static int entry_compare_places(const struct stored_place *x, const struct stored_place *y)
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
	size_t at = search_first(i, n, entry_compare_places(&entry->places[i], &question) >= 0);

	return at < n && entry_compare_places(&entry->places[at], &question) == 0 ? &entry->places[at] : NULL;
}

static bool entry_is_rule(const struct rule *rule)
{
	if (rule->reg >= REG_MAX)
		return false;
	if (rule->kind == RULE_REG || rule->kind == RULE_AT_REG)
		return rule->from < REG_MAX;
	return rule->kind == RULE_SAME || rule->kind == RULE_UNDEFINED || rule->kind == RULE_AT_CFA ||
	       rule->kind == RULE_IS_CFA;
}

static bool entry_is_recipe(const struct recipe_entry *entry, const struct stored_recipe *r)
{
	bool is_kind = r->cfa_kind == CFA_NONE ||
		       ((r->cfa_kind == CFA_REG || r->cfa_kind == CFA_DEREF) && r->cfa_reg < REG_MAX);

	if (!is_kind || r->witness >= WITNESS_N || r->trust > TRUST_PROVEN || r->n_rules > RECIPE_MAX_RULES ||
	    r->rules > entry->header.n_whole_rules || r->n_rules > entry->header.n_whole_rules - r->rules)
		return false;
	for (unsigned i = 0; i < r->n_rules; i++) {
		const struct rule *rule = &entry->whole_rules[r->rules + i];
		if (!entry_is_rule(rule) || (i > 0 && rule[-1].reg >= rule->reg))
			return false;
	}
	return true;
}

static uint32_t entry_add_whole(const struct recipe_entry *entry, uint32_t whole, struct recipes *recipes)
{
	const struct stored_recipe *r = whole < entry->header.n_wholes ? &entry->wholes[whole] : NULL;

	if (!r || !entry_is_recipe(entry, r))
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
	return recipes_add(recipes, &recipe, &entry->whole_rules[r->rules]);
}

uint32_t recipe_entry_add(const struct recipe_entry *entry, uint32_t number, struct recipes *recipes)
{
	const struct packed_rule *packed = number < entry->header.n_rules ? &entry->rules[number] : NULL;
	struct rule rules[PACKED_MAX_SLOTS];
	struct recipe recipe;

	if (packed && packed_kind(packed) == PACKED_WHOLE)
		return entry_add_whole(entry, packed->whole, recipes);
	if (!packed || !packed_rule_unpack(packed, &recipe, rules))
		return RECIPE_NONE;
	return recipes_add(recipes, &recipe, rules);
}

/* ---- writing ------------------------------------------------------------------------------- */

struct packing {
	const struct recipe_entry *old;
	const struct recipes *pool;
	struct recipes recipes;         /* of the new entry */
	uint32_t *from_old, *from_pool; /* numbers of recipes in the new entry + 1; 0 = not added yet */
	VEC(struct table_span) spans[SPANS_N];
	VEC(struct recipe_row) rows;
	VEC(struct stored_fact) facts;
	VEC(struct stored_place) places;
	bool is_full;
};

static uint32_t entry_number_of_old(struct packing *p, uint32_t recipe)
{
	if (recipe >= p->old->header.n_rules)
		return RECIPE_NONE;
	if (!p->from_old[recipe])
		p->from_old[recipe] = recipe_entry_add(p->old, recipe, &p->recipes) + 1;
	return p->from_old[recipe] - 1; /* an invalid one is tried again, with the same result */
}

static uint32_t entry_number_of_new(struct packing *p, uint32_t recipe)
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

static void entry_add_span(struct packing *p, unsigned kind, const struct table_span *span,
			   const struct table_view *view, number_of number)
{
	const struct recipe_row *rows = table_rows(view, span);

	if (!rows)
		return;
	p->is_full |= p->rows.n + span->n_rows > MAX_BYTES / sizeof(*rows);
	if (p->is_full)
		return;
	struct table_span added = { .start = span->start,
				    .size = span->size,
				    .first_row = (uint32_t)p->rows.n,
				    .n_rows = span->n_rows };
	vec_reserve(&p->rows, p->rows.n + span->n_rows);
	for (uint32_t i = 0; i < span->n_rows; i++)
		p->rows.at[p->rows.n++] = (struct recipe_row){ rows[i].start, number(p, rows[i].recipe) };
	vec_push(&p->spans[kind], added);
}

/* Is it after the last span that was added, and before the next old one? */
static bool entry_has_room(const struct packing *p, unsigned kind, const struct table_span *span,
			   const struct table_span *next)
{
	size_t n = p->spans[kind].n;
	const struct table_span *last = n ? &p->spans[kind].at[n - 1] : NULL;

	return (!last || span->start >= last->start + last->size) &&
	       (!next || span->start + span->size <= next->start);
}

/* Returns how many are new. */
static size_t entry_merge_spans(struct packing *p, unsigned kind, struct recipe_finds *finds)
{
	const struct table_view *view = &p->old->tables[kind];
	const struct table_span *old = view->spans, *end = old + view->n_spans;
	size_t n_new = 0;

	sort_by_u64(finds->spans[kind].at, finds->spans[kind].n, sizeof(*finds->spans[kind].at));
	for (size_t i = 0; i < finds->spans[kind].n; i++) {
		const struct table_span *span = &finds->spans[kind].at[i];
		while (old < end && old->start <= span->start)
			entry_add_span(p, kind, old++, view, entry_number_of_old);
		if (!entry_has_room(p, kind, span, old < end ? old : NULL))
			continue;
		entry_add_span(p, kind, span, &finds->rows, entry_number_of_new);
		n_new++;
	}
	while (old < end)
		entry_add_span(p, kind, old++, view, entry_number_of_old);
	return n_new;
}

static int entry_by_question(const void *left, const void *right)
{
	return entry_compare_questions(left, right);
}

static int entry_by_place(const void *left, const void *right)
{
	return entry_compare_places(left, right);
}

static void entry_add_fact(struct packing *p, const void *record, number_of number)
{
	struct stored_fact fact = *(const struct stored_fact *)record;

	fact.recipe = number(p, fact.recipe);
	vec_push(&p->facts, fact);
}

static void entry_add_place(struct packing *p, const void *record, number_of number)
{
	struct stored_place place = *(const struct stored_place *)record;

	for (size_t i = 0; i < ARRAY_LEN(place.recipe); i++)
		place.recipe[i] = number(p, place.recipe[i]);
	vec_push(&p->places, place);
}

/* Sorted records of one size: those of the old entry and the new ones. */
struct merging {
	const char *old;
	size_t n_old;
	const char *new;
	size_t n_new, size;
	int (*compare)(const void *, const void *);
	void (*add)(struct packing *p, const void *record, number_of number);
};

/* Of two answers to one question, keeps the older one. Returns how many are new. */
static size_t entry_merge_records(struct packing *p, const struct merging *m)
{
	const char *old = m->old, *end = old + m->n_old * m->size;
	const char *last = NULL;
	size_t n_new = 0;

	for (size_t i = 0; i < m->n_new; i++) {
		const char *record = m->new + i * m->size;
		for (; old < end && m->compare(old, record) <= 0; old += m->size)
			m->add(p, last = old, entry_number_of_old);
		if (last && m->compare(last, record) == 0)
			continue;
		m->add(p, last = record, entry_number_of_new);
		n_new++;
	}
	for (; old < end; old += m->size)
		m->add(p, old, entry_number_of_old);
	return n_new;
}

static size_t entry_merge_facts(struct packing *p, struct recipe_finds *finds)
{
	struct merging m = { .old = (const char *)p->old->facts,
			     .n_old = p->old->header.n_facts,
			     .new = (const char *)finds->facts.at,
			     .n_new = finds->facts.n,
			     .size = sizeof(*finds->facts.at),
			     .compare = entry_by_question,
			     .add = entry_add_fact };

	if (finds->facts.n)
		qsort(finds->facts.at, finds->facts.n, m.size, entry_by_question);
	return entry_merge_records(p, &m);
}

static size_t entry_merge_places(struct packing *p, struct recipe_finds *finds)
{
	struct merging m = { .old = (const char *)p->old->places,
			     .n_old = p->old->header.n_places,
			     .new = (const char *)finds->places.at,
			     .n_new = finds->places.n,
			     .size = sizeof(*finds->places.at),
			     .compare = entry_by_place,
			     .add = entry_add_place };

	sort_by_u64_then(finds->places.at, finds->places.n, m.size, entry_by_place);
	return entry_merge_records(p, &m);
}

static void entry_write(struct writer *w, const void *at, size_t count, size_t size)
{
	write_bytes(w, (struct bytes){ at, count * size });
	write_space(w, -w->len & 7u);
}

/* Rules as in memory, except for the numbers of whole recipes, which are those of the entry. Returns how many
 * are whole. */
static uint32_t entry_write_rules(const struct recipes *recipes, struct writer *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < recipes->packed.n; i++) {
		struct packed_rule packed = recipes->packed.at[i];
		if (packed_kind(&packed) == PACKED_WHOLE)
			packed.whole = n++;
		write_bytes(w, (struct bytes){ (const uint8_t *)&packed, sizeof(packed) });
	}
	return n;
}

/* Returns how many rules they have. */
static uint32_t entry_write_wholes(const struct recipes *recipes, struct writer *w)
{
	struct writer rules = { 0 };
	uint32_t n_rules = 0;

	for (size_t i = 0; i < recipes->recipes.n; i++) {
		const struct recipe *r = &recipes->recipes.at[i];
		if (packed_kind(&recipes->packed.at[i]) != PACKED_WHOLE)
			continue;
		struct stored_recipe stored = { .cfa_kind = r->cfa_kind,
						.cfa_reg = r->cfa_reg,
						.witness = r->witness,
						.trust = r->trust,
						.is_signal_frame = r->is_signal_frame,
						.ra_is_signed = r->ra_is_signed,
						.n_rules = r->n_rules,
						.cfa_offset = r->cfa_offset,
						.cfa_addend = r->cfa_addend,
						.rules = n_rules };
		write_bytes(w, (struct bytes){ (const uint8_t *)&stored, sizeof(stored) });
		write_bytes(&rules, (struct bytes){ (const uint8_t *)&recipes->rules.at[r->rules],
						    r->n_rules * sizeof(struct rule) });
		n_rules += r->n_rules;
	}
	write_space(w, -w->len & 7u);
	write_bytes(w, writer_bytes(&rules));
	writer_done(&rules);
	return n_rules;
}

static void entry_write_entry(const struct packing *p, struct writer *w)
{
	struct stored_recipes header = { .n_rules = (uint32_t)p->recipes.packed.n,
					 .n_rows = (uint32_t)p->rows.n,
					 .n_facts = (uint32_t)p->facts.n,
					 .n_places = (uint32_t)p->places.n };
	size_t at = w->len;

	write_space(w, sizeof(header));
	header.n_wholes = entry_write_rules(&p->recipes, w);
	header.n_whole_rules = entry_write_wholes(&p->recipes, w);
	for (unsigned k = 0; k < SPANS_N; k++) {
		header.n_spans[k] = (uint32_t)p->spans[k].n;
		entry_write(w, p->spans[k].at, p->spans[k].n, sizeof(*p->spans[k].at));
	}
	memcpy(w->at + at, &header, sizeof(header));
	entry_write(w, p->rows.at, p->rows.n, sizeof(*p->rows.at));
	entry_write(w, p->facts.at, p->facts.n, sizeof(*p->facts.at));
	entry_write(w, p->places.at, p->places.n, sizeof(*p->places.at));
}

static void entry_packing_done(struct packing *p)
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
	p.from_old = alloc_zero(entry->header.n_rules + 1u, sizeof(*p.from_old));
	p.from_pool = alloc_zero(recipes->recipes.n + 1, sizeof(*p.from_pool));
	for (unsigned k = 0; k < SPANS_N; k++)
		n_new += entry_merge_spans(&p, k, finds);
	n_new += entry_merge_facts(&p, finds) + entry_merge_places(&p, finds);
	bool is_small = p.facts.n < MAX_BYTES / sizeof(struct stored_fact) &&
			p.places.n < MAX_BYTES / sizeof(struct stored_place);
	bool is_wanted = n_new && !p.is_full && is_small;
	if (is_wanted)
		entry_write_entry(&p, ret);
	entry_packing_done(&p);
	return is_wanted;
}
