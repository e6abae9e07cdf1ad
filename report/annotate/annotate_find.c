/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/annotate_find.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

struct finder {
	const struct profile *profile;
	const char *wanted;
	uint32_t metric;
	annotate_choices all;
	struct map inlined; /* name -> index in all */
};

/* The end of the name that a user would type: before parameters and bracketed suffixes. */
static size_t plain_length(const char *name)
{
	size_t len = strcspn(name, "([ ");

	return len && strncmp(name, "operator", 8) != 0 ? len : strlen(name);
}

/* The edit distance of the name, or of its last component, from what was typed. */
static size_t distance_to(const char *wanted, const char *name)
{
	char plain[TEXT_DISTANCE_MAX + 1];
	size_t len = plain_length(name);
	const char *last = plain;

	if (len > TEXT_DISTANCE_MAX)
		return TEXT_DISTANCE_MAX;
	memcpy(plain, name, len);
	plain[len] = '\0';
	for (const char *colon = strstr(plain, "::"); colon; colon = strstr(colon + 2, "::"))
		last = colon + 2;
	size_t whole = text_distance(wanted, plain), part = text_distance(wanted, last);
	return whole < part ? whole : part;
}

static void annotate_find_judge(const struct finder *f, struct annotate_choice *choice, uint32_t linkage)
{
	const char *shown = intern_text(&f->profile->strings, choice->name);
	size_t len = strlen(f->wanted), near = len > 8 ? 4 : len > 4 ? 3 : 2, distance;

	if (strcmp(shown, f->wanted) == 0 ||
	    (linkage && strcmp(intern_text(&f->profile->strings, linkage), f->wanted) == 0))
		choice->fit = FIT_WHOLE;
	else if (strncmp(shown, f->wanted, len) == 0 &&
		 (shown[len] == '(' || shown[len] == ' ' || shown[len] == '['))
		choice->fit = FIT_PLAIN;
	else if (strstr(shown, f->wanted))
		choice->fit = FIT_PART;
	else if ((distance = distance_to(f->wanted, shown)) < near)
		*choice = (struct annotate_choice){ choice->map, choice->name, choice->cost, FIT_CLOSE,
						    (unsigned)distance };
}

/* ---- candidates ----------------------------------------------------------------------------------- */

/* Every function, in the order of profile->functions; parts of functions are not choices. */
static void add_functions(struct finder *f)
{
	for (size_t i = 0; i < f->profile->functions.n; i++) {
		const struct function_map *map = &f->profile->functions.at[i];
		struct annotate_choice choice = { .map = map, .name = map->name };
		if (map->parent_vaddr == map->vaddr)
			annotate_find_judge(f, &choice, map->linkage);
		vec_push(&f->all, choice);
	}
}

/* Every name that was inlined somewhere, once. */
static void annotate_find_add_inlined(struct finder *f)
{
	for (size_t i = 0; i < f->profile->functions.n; i++) {
		const struct function_map *map = &f->profile->functions.at[i];
		for (size_t k = 0; k < map->inlines.n; k++) {
			const struct inline_call *call = &map->inlines.at[k];
			struct annotate_choice choice = { .name = call->name };
			if (map_find(&f->inlined, call->name) != MAP_NONE)
				continue;
			annotate_find_judge(f, &choice, call->linkage);
			map_put(&f->inlined, call->name, (uint32_t)f->all.n);
			vec_push(&f->all, choice);
		}
	}
}

/* The cost at an address counts for the function there and for everything inlined there. */
static void annotate_find_add_cost(struct finder *f, const struct cct_value *value)
{
	const struct cct_node *node = &f->profile->cct.nodes.at[value->node];
	uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
	const struct function_map *map = profile_function(f->profile, node->image, vaddr);
	struct location chain[LOCATION_MAX_DEPTH];

	if (!map || value->metric != f->metric)
		return;
	f->all.at[map - f->profile->functions.at].cost += value->value;
	size_t n = function_map_locate(map, (uint32_t)(vaddr - map->vaddr), chain, LOCATION_MAX_DEPTH);
	for (size_t i = 0; i < n; i++) {
		uint32_t index = chain[i].is_inlined ? map_find(&f->inlined, chain[i].function) : MAP_NONE;
		if (index != MAP_NONE)
			f->all.at[index].cost += value->value;
	}
}

static int by_fit(const void *left, const void *right)
{
	const struct annotate_choice *a = left, *b = right;

	if (a->fit != b->fit)
		return a->fit > b->fit ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

enum annotate_fit annotate_find(const struct profile *profile, const char *name, uint32_t metric,
				annotate_choices *ret)
{
	struct finder f = { .profile = profile, .wanted = name, .metric = metric };
	unsigned best = FIT_NONE;

	add_functions(&f);
	annotate_find_add_inlined(&f);
	for (size_t i = 0; i < profile->cct.values.n; i++)
		annotate_find_add_cost(&f, &profile->cct.values.at[i]);
	if (f.all.n) {
		qsort(f.all.at, f.all.n, sizeof(*f.all.at), by_fit);
		best = f.all.at[0].fit;
	}
	size_t n = 0;
	while (best > FIT_NONE && n < f.all.n && f.all.at[n].fit == best)
		n++;
	f.all.n = n;
	map_done(&f.inlined);
	*ret = f.all;
	return (enum annotate_fit)best;
}
