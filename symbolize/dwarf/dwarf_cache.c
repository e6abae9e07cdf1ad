/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf/dwarf_cache.h"

#include "base/text.h"
#include "symbolize/demangle.h"
#include "symbolize/dwarf/dwarf_names.h"
#include "symbolize/file_text.h"

#define MAX_TABLES 512 /* of each kind, before all are dropped; about 10 MB */
#define MAX_NAME 65536
#define MAX_HOPS 16    /* concrete -> abstract -> specification; more is a cycle */
#define MAX_LAMBDAS 32 /* one inside the other; so is more of these */

void dwarf_cache_init(struct dwarf_cache *cache, bool demangles)
{
	*cache = (struct dwarf_cache){ .demangles = demangles };
	intern_init(&cache->strings);
}

static void drop_tables(struct dwarf_cache *cache)
{
	for (size_t i = 0; i < cache->abbrevs.n; i++)
		abbrevs_done(&cache->abbrevs.at[i]);
	for (size_t i = 0; i < cache->lines.n; i++)
		lines_done(&cache->lines.at[i]);
	vec_clear(&cache->abbrevs);
	vec_clear(&cache->lines);
	map_done(&cache->abbrevs_by_unit);
	map_done(&cache->lines_by_unit);
}

void dwarf_cache_done(struct dwarf_cache *cache)
{
	drop_tables(cache);
	vec_done(&cache->abbrevs);
	vec_done(&cache->lines);
	vec_done(&cache->origins);
	map_done(&cache->origin_by_entry);
	map_done(&cache->shown_by_linkage);
	map_done(&cache->lambda_by_entry);
	vec_done(&cache->lambdas);
	intern_done(&cache->strings);
}

void dwarf_cache_trim(struct dwarf_cache *cache)
{
	if (cache->abbrevs.n > MAX_TABLES || cache->lines.n > MAX_TABLES)
		drop_tables(cache);
}

const struct abbrevs *dwarf_cache_abbrevs(struct dwarf_cache *cache, const struct unit *unit)
{
	uint32_t index = map_find(&cache->abbrevs_by_unit, (uintptr_t)unit);

	if (index == MAP_NONE) {
		struct abbrevs abbrevs;
		abbrevs_read(unit, &abbrevs);
		index = (uint32_t)cache->abbrevs.n;
		vec_push(&cache->abbrevs, abbrevs);
		map_put(&cache->abbrevs_by_unit, (uintptr_t)unit, index);
	}
	return &cache->abbrevs.at[index];
}

struct line_table *dwarf_cache_lines(struct dwarf_cache *cache, const struct unit *unit)
{
	uint32_t index = map_find(&cache->lines_by_unit, (uintptr_t)unit);

	if (index == MAP_NONE) {
		struct line_table table;
		lines_open(unit, &table);
		index = (uint32_t)cache->lines.n;
		vec_push(&cache->lines, table);
		map_put(&cache->lines_by_unit, (uintptr_t)unit, index);
	}
	return cache->lines.at[index].program.at ? &cache->lines.at[index] : NULL;
}

uint32_t dwarf_cache_file(struct dwarf_cache *cache, const struct unit *unit, uint64_t index)
{
	const struct unit *owner = !unit->has_lines && unit->skeleton ? unit->skeleton : unit;
	struct line_table *table = dwarf_cache_lines(cache, owner);

	return table ? lines_file(table, index, &cache->strings, cache->image) : 0;
}

/* ---- names --------------------------------------------------------------------------------- */

/* What is known so far, and where to continue. */
struct chase {
	const struct dwarf *dwarf;
	uint64_t entry;
	const char *name, *linkage; /* "" = not found yet */
	uint32_t decl_file, decl_line;
	uint32_t lambda; /* index; MAP_NONE = it is not a lambda */
	const struct dwarf *lambda_dwarf;
	bool has_next;
};

static void take_attribute(struct dwarf_cache *cache, struct chase *chase, const struct unit *unit,
			   uint16_t name, const struct attribute *value)
{
	switch (name) {
	case DW_AT_name:
		if (!chase->name[0])
			chase->name = attribute_text(value, unit);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		if (!chase->linkage[0])
			chase->linkage = attribute_text(value, unit);
		break;
	case DW_AT_decl_file:
		if (!chase->decl_file)
			chase->decl_file = dwarf_cache_file(cache, unit, value->value);
		break;
	case DW_AT_decl_line:
		if (!chase->decl_line)
			chase->decl_line = (uint32_t)value->value;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		if (attribute_reference(value, unit, &chase->dwarf, &chase->entry))
			chase->has_next = true;
		break;
	default:
		break;
	}
}

static void dwarf_cache_follow(struct dwarf_cache *cache, struct chase *chase)
{
	const struct unit *unit = dwarf_unit_at(chase->dwarf, chase->entry);

	chase->has_next = false;
	if (!unit)
		return;
	const struct abbrevs *abbrevs = dwarf_cache_abbrevs(cache, unit);
	struct reader r = unit_reader(unit, chase->entry);
	const struct abbrev *abbrev = abbrevs_find(abbrevs, read_uleb(&r));
	if (!abbrev)
		return;
	for (uint32_t i = 0; i < abbrev->n_specs && !r.failed; i++) {
		const struct attribute_spec *spec = &abbrevs->specs.at[abbrev->first_spec + i];
		struct attribute value = attribute_read(&r, unit, spec);
		take_attribute(cache, chase, unit, spec->name, &value);
	}
}

static uint64_t entry_key(const struct dwarf *dwarf, uint64_t entry)
{
	return (uint64_t)dwarf->id << 44 ^ entry;
}

void dwarf_cache_add_lambda(struct dwarf_cache *cache, const struct dwarf *dwarf, uint64_t entry,
			    struct lambda lambda)
{
	uint64_t key = entry_key(dwarf, entry);

	if (map_find(&cache->lambda_by_entry, key) != MAP_NONE)
		return;
	map_put(&cache->lambda_by_entry, key, (uint32_t)cache->lambdas.n);
	vec_push(&cache->lambdas, lambda);
}

/* "f(int)::{lambda#1}::operator()" */
static uint32_t lambda_name(struct dwarf_cache *cache, const struct chase *chase)
{
	const struct lambda lambda = cache->lambdas.at[chase->lambda];
	struct text text = { 0 };
	uint32_t around = 0;

	if (cache->n_around < MAX_LAMBDAS) {
		cache->n_around++;
		around = dwarf_cache_origin(cache, chase->lambda_dwarf, lambda.procedure).name;
		cache->n_around--;
	}
	text_printf(&text, "%s::{lambda#%u}::%.*s", intern_text(&cache->strings, around), lambda.number,
		    MAX_NAME, chase->name);
	uint32_t name = file_text_add(&cache->strings, cache->image, text.at,
				      text.len < MAX_NAME ? text.len : MAX_NAME);
	text_done(&text);
	return name;
}

/* The same function is described in every unit that uses it: demangle its name once. */
static uint32_t shown_name(struct dwarf_cache *cache, uint32_t linkage)
{
	uint32_t shown = map_find(&cache->shown_by_linkage, linkage);
	struct text text = { 0 };

	if (shown != MAP_NONE)
		return shown;
	shown = linkage;
	if (cache->demangles && demangle(intern_text(&cache->strings, linkage), &text))
		shown = file_text_add(&cache->strings, cache->image, text.at, text.len);
	shown = shown ? shown : linkage;
	text_done(&text);
	map_put(&cache->shown_by_linkage, linkage, shown);
	return shown;
}

static struct origin named(struct dwarf_cache *cache, const struct chase *chase)
{
	const char *stated = chase->linkage[0] ? chase->linkage : chase->name;

	if (!chase->linkage[0] && chase->lambda != MAP_NONE && cache->demangles &&
	    strncmp(chase->name, "operator()", 10) == 0)
		return (struct origin){ .name = lambda_name(cache, chase),
					.decl_file = chase->decl_file,
					.decl_line = chase->decl_line };
	uint32_t linkage = file_text_add(&cache->strings, cache->image, stated, strnlen(stated, MAX_NAME));
	uint32_t shown = shown_name(cache, linkage);

	return (struct origin){ .name = shown,
				.linkage = shown == linkage ? 0 : linkage,
				.decl_file = chase->decl_file,
				.decl_line = chase->decl_line };
}

/* GCC gives the position of a lambda's class, but not of its function. */
static void place_lambda(struct dwarf_cache *cache, struct chase *chase)
{
	if (chase->lambda == MAP_NONE || chase->decl_file)
		return;
	struct chase class = { .dwarf = chase->lambda_dwarf,
			       .entry = cache->lambdas.at[chase->lambda].class,
			       .name = "",
			       .linkage = "" };
	dwarf_cache_follow(cache, &class);
	chase->decl_file = class.decl_file;
	chase->decl_line = class.decl_line;
}

struct origin dwarf_cache_origin(struct dwarf_cache *cache, const struct dwarf *dwarf, uint64_t entry)
{
	uint64_t key = entry_key(dwarf, entry);
	uint32_t index = map_find(&cache->origin_by_entry, key);

	if (index != MAP_NONE)
		return cache->origins.at[index];

	struct chase chase = { .dwarf = dwarf,
			       .entry = entry,
			       .name = "",
			       .linkage = "",
			       .lambda = MAP_NONE,
			       .has_next = true };
	for (int hop = 0; hop < MAX_HOPS && chase.has_next; hop++) {
		uint32_t lambda = map_find(&cache->lambda_by_entry, entry_key(chase.dwarf, chase.entry));
		if (lambda != MAP_NONE) {
			chase.lambda = lambda;
			chase.lambda_dwarf = chase.dwarf;
		}
		dwarf_cache_follow(cache, &chase);
	}
	place_lambda(cache, &chase);
	struct origin origin = named(cache, &chase);
	map_put(&cache->origin_by_entry, key, (uint32_t)cache->origins.n);
	vec_push(&cache->origins, origin);
	return origin;
}
