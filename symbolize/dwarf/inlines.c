/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines: one pass over the entries of a unit.
 *
 * The children of a function that covers none of the addresses are also visited: nested procedures and
 * methods of local classes are inside it, but their code is elsewhere.
 */
#include "symbolize/dwarf/inlines.h"

#include <string.h>

#include "base/search.h"
#include "symbolize/dwarf/dwarf_names.h"

#define MAX_DEPTH 4096         /* of entries; compilers use fewer than 200 */
#define MAX_CALLS (1u << 20)   /* inlined into one function */
#define MAX_RANGES (64u << 20) /* read in one unit: many entries may refer to one long list */
#define NO_FUNCTION UINT32_MAX

/* What the children of an entry belong to. */
struct level {
	uint32_t function;  /* index, NO_FUNCTION = none that was requested */
	uint32_t call;      /* index in it, INLINE_NONE = in the function itself */
	uint64_t procedure; /* nearest enclosing subprogram's entry, 0 = none */
	uint64_t class;     /* the entry itself, if it is a class in a procedure */
	bool is_nameless;   /* the entry itself is a class in a procedure, without a name */
	uint32_t number;    /* among those with functions in the procedure, from 1; 0 = not numbered yet */
};

struct walk {
	struct dwarf_cache *cache;
	const struct unit *unit;
	const struct image *image;
	const struct abbrevs *abbrevs;
	const uint64_t *vaddrs;
	size_t n_vaddrs;
	struct raw_functions *functions;
	VEC(struct level) levels;
	vaddr_ranges scratch;
	uint64_t n_ranges;    /* read so far */
	struct map n_lambdas; /* by procedure, so far */
};

struct pc_attributes {
	struct attribute low_pc, high_pc, ranges;
};

static bool covers_any(const struct walk *walk, const vaddr_ranges *ranges)
{
	for (size_t i = 0; i < ranges->n; i++) {
		size_t first = search_first(k, walk->n_vaddrs, walk->vaddrs[k] >= ranges->at[i].start);
		/* Functions that the linker removed often start at 0, where there is no code. */
		if (first < walk->n_vaddrs && walk->vaddrs[first] < ranges->at[i].end &&
		    image_is_executable(walk->image, ranges->at[i].start))
			return true;
	}
	return false;
}

/* Into walk->scratch. */
static void read_ranges(struct walk *walk, const struct pc_attributes *pc)
{
	vec_clear(&walk->scratch);
	if (walk->n_ranges < MAX_RANGES)
		walk->n_ranges +=
			ranges_read(walk->unit, &pc->low_pc, &pc->high_pc, &pc->ranges, &walk->scratch);
	else
		walk->functions->is_damaged = true;
}

static bool take_pc(struct pc_attributes *pc, uint16_t name, struct attribute value)
{
	if (name == DW_AT_low_pc)
		pc->low_pc = value;
	else if (name == DW_AT_high_pc)
		pc->high_pc = value;
	else if (name == DW_AT_ranges)
		pc->ranges = value;
	else
		return false;
	return true;
}

/* A class in a procedure. GCC gives that of a lambda no name. */
static void enter_local_class(struct walk *walk, const struct abbrev *abbrev, struct reader *r,
			      uint64_t entry, struct level *level)
{
	level->class = entry;
	level->is_nameless = true;
	for (uint32_t i = 0; i < abbrev->n_specs; i++)
		level->is_nameless &= walk->abbrevs->specs.at[abbrev->first_spec + i].name != DW_AT_name;
	level->number = 0;
	abbrev_skip(walk->abbrevs, abbrev, walk->unit, r);
}

/* A function in such a class. */
static void add_lambda(struct walk *walk, uint64_t entry, struct level *class)
{
	uint32_t known = class->number ? class->number : map_find(&walk->n_lambdas, class->procedure);

	if (!class->number) {
		class->number = known == MAP_NONE ? 1 : known + 1;
		map_put(&walk->n_lambdas, class->procedure, class->number);
	}
	dwarf_cache_add_lambda(walk->cache, walk->unit->dwarf, entry,
			       (struct lambda){ class->procedure, class->class, class->number });
}

/* DW_TAG_subprogram: a new function if it covers an address. */
static void enter_subprogram(struct walk *walk, const struct abbrev *abbrev, struct reader *r, uint64_t entry,
			     struct level *level)
{
	struct pc_attributes pc = { 0 };

	for (uint32_t i = 0; i < abbrev->n_specs; i++) {
		const struct attribute_spec *spec = &walk->abbrevs->specs.at[abbrev->first_spec + i];
		take_pc(&pc, spec->name, attribute_read(r, walk->unit, spec));
	}

	read_ranges(walk, &pc);
	if (covers_any(walk, &walk->scratch)) {
		struct raw_function function = { .entry = entry, .enclosing = level->procedure };
		for (size_t i = 0; i < walk->scratch.n; i++)
			vec_push(&function.ranges, walk->scratch.at[i]);
		level->function = (uint32_t)walk->functions->list.n;
		vec_push(&walk->functions->list, function);
	} else {
		level->function = NO_FUNCTION;
	}
	level->call = INLINE_NONE;
	level->procedure = entry;
}

static void take_call_attribute(struct raw_call *call, const struct unit *unit, uint16_t name,
				const struct attribute *value)
{
	switch (name) {
	case DW_AT_abstract_origin:
		if (!attribute_reference(value, unit, &call->dwarf, &call->origin))
			call->dwarf = NULL;
		break;
	case DW_AT_call_file:
		call->call_file = value->value;
		break;
	case DW_AT_call_line:
		call->call_line = (uint32_t)value->value;
		break;
	case DW_AT_call_column:
		call->call_column = (uint32_t)value->value;
		break;
	default:
		break;
	}
}

/* DW_TAG_inlined_subroutine inside a requested function. */
static void enter_inlined(struct walk *walk, const struct abbrev *abbrev, struct reader *r,
			  struct level *level)
{
	struct raw_function *function = &walk->functions->list.at[level->function];
	struct raw_call call = { .parent = level->call, .depth = 1 };
	struct pc_attributes pc = { 0 };

	for (uint32_t i = 0; i < abbrev->n_specs; i++) {
		const struct attribute_spec *spec = &walk->abbrevs->specs.at[abbrev->first_spec + i];
		struct attribute value = attribute_read(r, walk->unit, spec);
		if (!take_pc(&pc, spec->name, value))
			take_call_attribute(&call, walk->unit, spec->name, &value);
	}
	if (function->calls.n >= MAX_CALLS)
		return;
	if (level->call != INLINE_NONE)
		call.depth = function->calls.at[level->call].depth + 1;
	level->call = (uint32_t)function->calls.n;
	vec_push(&function->calls, call);

	read_ranges(walk, &pc);
	for (size_t i = 0; i < walk->scratch.n; i++)
		vec_push(&function->call_ranges, (struct raw_range){ walk->scratch.at[i].start,
								     walk->scratch.at[i].end, level->call });
}

/* One entry with its attributes. False at the end of the unit, or if it cannot be read. */
static bool inlines_step(struct walk *walk, struct reader *r)
{
	uint64_t entry = reader_offset(r);
	uint64_t code = read_uleb(r);

	if (code == 0) {
		walk->levels.n--;
		return walk->levels.n > 0 && reader_left(r) > 0;
	}
	const struct abbrev *abbrev = abbrevs_find(walk->abbrevs, code);
	if (!abbrev || r->failed) {
		walk->functions->is_damaged = true;
		return false;
	}
	struct level level = walk->levels.at[walk->levels.n - 1];
	if (level.is_nameless && abbrev->tag == DW_TAG_subprogram)
		add_lambda(walk, entry, &walk->levels.at[walk->levels.n - 1]);
	level.is_nameless = false;
	bool is_class = abbrev->tag == DW_TAG_structure_type || abbrev->tag == DW_TAG_class_type;
	if (abbrev->tag == DW_TAG_subprogram)
		enter_subprogram(walk, abbrev, r, entry, &level);
	else if (abbrev->tag == DW_TAG_inlined_subroutine && level.function != NO_FUNCTION)
		enter_inlined(walk, abbrev, r, &level);
	else if (is_class && level.procedure)
		enter_local_class(walk, abbrev, r, entry, &level);
	else
		abbrev_skip(walk->abbrevs, abbrev, walk->unit, r);

	if (r->failed || walk->levels.n >= MAX_DEPTH) {
		walk->functions->is_damaged = true;
		return false;
	}
	if (abbrev->has_children)
		vec_push(&walk->levels, level);
	return walk->levels.n > 1 && reader_left(r) > 0;
}

/* Compilers known to describe every call they inline. Others are trusted if they use the entry for it at all.
 */
static bool states_calls(const struct unit *unit, const struct abbrevs *abbrevs)
{
	static const char *const known[] = { "GNU C",      "GNU Fortran", "GNU Ada", "GNU D", "GNU GIMPLE",
					     "GNU Modula", "GNU Rust",    "clang",   "flang", "rustc" };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strstr(unit->producer, known[i]))
			return true;
	for (size_t i = 0; i < abbrevs->list.n; i++)
		if (abbrevs->list.at[i].tag == DW_TAG_inlined_subroutine)
			return true;
	return false;
}

void inlines_read(struct dwarf_cache *cache, const struct unit *unit, const struct image *image,
		  const uint64_t *vaddrs, size_t n_vaddrs, struct raw_functions *ret)
{
	struct walk walk = { .cache = cache,
			     .unit = unit,
			     .image = image,
			     .abbrevs = dwarf_cache_abbrevs(cache, unit),
			     .vaddrs = vaddrs,
			     .n_vaddrs = n_vaddrs,
			     .functions = ret };
	struct reader r = unit_reader(unit, unit->first_entry);

	*ret = (struct raw_functions){ .describes_calls = states_calls(unit, walk.abbrevs) };
	vec_push(&walk.levels, (struct level){ .function = NO_FUNCTION, .call = INLINE_NONE });
	while (inlines_step(&walk, &r))
		;
	vec_done(&walk.levels);
	vec_done(&walk.scratch);
	map_done(&walk.n_lambdas);
}

void raw_functions_done(struct raw_functions *functions)
{
	for (size_t i = 0; i < functions->list.n; i++) {
		vec_done(&functions->list.at[i].ranges);
		vec_done(&functions->list.at[i].calls);
		vec_done(&functions->list.at[i].call_ranges);
	}
	vec_done(&functions->list);
}

/* ---- nested ranges become disjoint --------------------------------------------------------- */

struct edge {
	uint64_t vaddr;
	uint32_t range;
	bool is_start;
};

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->is_start != b->is_start)
		return a->is_start ? 1 : -1; /* ranges that end here come first */
	return a->range < b->range ? -1 : a->range > b->range;
}

static void add_piece(struct function_map *map, uint64_t from, uint64_t to, uint32_t call)
{
	struct inline_range *last = map->ranges.n ? &map->ranges.at[map->ranges.n - 1] : NULL;

	if (from >= to || call == INLINE_NONE)
		return;
	if (last && last->call == call && last->end == from)
		last->end = (uint32_t)to;
	else
		vec_push(&map->ranges, (struct inline_range){ (uint32_t)from, (uint32_t)to, call });
}

/* The active ranges, outermost first; the deepest, and among equals the latest, is innermost. */
struct active {
	uint32_t range[LOCATION_MAX_DEPTH];
	size_t n;
};

static void activate(struct active *active, const struct raw_function *function, uint32_t range)
{
	uint32_t depth = function->calls.at[function->call_ranges.at[range].call].depth;
	size_t at = active->n;

	if (active->n == LOCATION_MAX_DEPTH)
		return;
	while (at > 0 &&
	       function->calls.at[function->call_ranges.at[active->range[at - 1]].call].depth > depth) {
		active->range[at] = active->range[at - 1];
		at--;
	}
	active->range[at] = range;
	active->n++;
}

static void deactivate(struct active *active, uint32_t range)
{
	size_t at = active->n;

	while (at > 0 && active->range[at - 1] != range)
		at--;
	if (at == 0)
		return;
	for (; at < active->n; at++)
		active->range[at - 1] = active->range[at];
	active->n--;
}

void inlines_flatten(const struct raw_function *function, uint64_t start, uint64_t end,
		     struct function_map *ret)
{
	VEC(struct edge) edges = { 0 };
	struct active active = { .n = 0 };
	uint64_t from = start;

	for (uint32_t i = 0; i < function->call_ranges.n; i++) {
		const struct raw_range *range = &function->call_ranges.at[i];
		uint64_t low = range->start > start ? range->start : start;
		uint64_t high = range->end < end ? range->end : end;
		if (low >= high)
			continue;
		vec_push(&edges, (struct edge){ low, i, true });
		vec_push(&edges, (struct edge){ high, i, false });
	}
	if (edges.n)
		qsort(edges.at, edges.n, sizeof(*edges.at), compare_edges);
	for (size_t i = 0; i < edges.n; i++) {
		const struct edge *edge = &edges.at[i];
		uint32_t call =
			active.n ? function->call_ranges.at[active.range[active.n - 1]].call : INLINE_NONE;
		add_piece(ret, from - start, edge->vaddr - start, call);
		from = edge->vaddr;
		if (edge->is_start)
			activate(&active, function, edge->range);
		else
			deactivate(&active, edge->range);
	}
	vec_done(&edges);
}
