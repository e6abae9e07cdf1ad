/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "binary/symbols.h"
#include "profile/resolve_structure.h"

/* A place whose function is asked for. */
struct place {
	image_id image;
	uint64_t vaddr; /* of the instruction: inside the call for return addresses */
};

static struct place place_of(const struct cct_node *node)
{
	return (struct place){ node->image, node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0) };
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Every place of the tree in order, those in no image left out. */
static struct place *places_of(const struct cct *cct, size_t *ret_n)
{
	struct place *places = alloc_zero(cct->nodes.n, sizeof(*places));
	size_t n = 0;

	for (size_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++)
		if (cct->nodes.at[i].image != IMAGE_NONE)
			places[n++] = place_of(&cct->nodes.at[i]);
	qsort(places, n, sizeof(*places), compare_places);
	*ret_n = n;
	return places;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "libfoo.so+0x1234": one map for each address of which nothing is known. */
static struct function_map unknown_map(struct profile *profile, struct place place)
{
	const char *path = intern_text(&profile->strings, profile->images.at[place.image].path);
	CLEANUP(freep) char *name = alloc_printf("%s+0x%llx", base_name(path), (unsigned long long)place.vaddr);

	return (struct function_map){ .image = place.image,
				      .vaddr = place.vaddr,
				      .size = 1,
				      .name = intern_add(&profile->strings, name),
				      .parent_vaddr = place.vaddr };
}

static struct function_map symbol_map(struct profile *profile, image_id image, const struct symbol *symbol,
				      uint64_t vaddr)
{
	uint64_t size = symbol->size;

	if (vaddr - symbol->vaddr >= size) /* unsized: it reaches at least as far as it was sampled */
		size = vaddr - symbol->vaddr + 1;
	return (struct function_map){ .image = image,
				      .vaddr = symbol->vaddr,
				      .size = size,
				      .name = intern_add(&profile->strings, symbol->name),
				      .parent_vaddr = symbol->vaddr,
				      .source = MAP_FROM_SYMBOL };
}

static struct function_map kernel_map(struct profile *profile, image_id image, uint64_t vaddr)
{
	return (struct function_map){ .image = image,
				      .vaddr = vaddr,
				      .size = 1,
				      .name = intern_add(&profile->strings, "[kernel]"),
				      .parent_vaddr = vaddr };
}

/* Appends the map, or stretches the last one if it is the same function. */
static void add_map(struct profile *profile, struct function_map map)
{
	struct function_map *last = profile->functions.n ? &profile->functions.at[profile->functions.n - 1] : NULL;

	if (last && last->image == map.image && last->vaddr == map.vaddr) {
		if (map.size > last->size)
			last->size = map.size;
		return;
	}
	if (last && last->image == map.image && last->vaddr + last->size > map.vaddr)
		last->size = map.vaddr - last->vaddr; /* symbols that overlap: the later start wins */
	vec_push(&profile->functions, map);
}

static void resolve_image(struct profile *profile, struct image *image, const struct place *places, size_t n)
{
	struct symbols *symbols = image && image->file.len ? symbols_read(image) : NULL;
	image_id id = places[0].image;

	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol = symbols ? symbols_find(symbols, places[i].vaddr) : NULL;
		if (symbol)
			add_map(profile, symbol_map(profile, id, symbol, places[i].vaddr));
		else if (profile->images.at[id].kind == IMAGE_KERNEL)
			add_map(profile, kernel_map(profile, id, places[i].vaddr));
		else
			add_map(profile, unknown_map(profile, places[i]));
	}
	symbols_free(symbols);
}

static void count_unresolved(struct profile *profile)
{
	profile->quality.unsymbolized = profile->quality.without_lines = 0;
	for (size_t i = 0; i < profile->cct.values.n; i++) {
		const struct cct_value *value = &profile->cct.values.at[i];
		struct place place = place_of(&profile->cct.nodes.at[value->node]);
		if (value->metric != 0)
			continue;
		const struct function_map *map = profile_function(profile, place.image, place.vaddr);
		const struct line_row *row = map ? function_map_line(map, (uint32_t)(place.vaddr - map->vaddr)) : NULL;
		if (!map || map->source == MAP_FROM_NOTHING)
			profile->quality.unsymbolized += value->value;
		if (!row || row->line == 0)
			profile->quality.without_lines += value->value;
	}
}

static void forget(struct profile *profile)
{
	for (size_t i = 0; i < profile->functions.n; i++)
		function_map_done(&profile->functions.at[i]);
	vec_clear(&profile->functions);
}

int resolve(struct profile *profile, struct images *images, const struct resolve_options *options,
	    struct diag *diag)
{
	size_t n;
	CLEANUP(freep) struct place *places = places_of(&profile->cct, &n);

	(void)options;
	(void)diag;
	forget(profile);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && places[end].image == places[i].image; end++)
			;
		resolve_image(profile, images_get(images, places[i].image), places + i, end - i);
	}
	resolve_structures(profile, images);
	count_unresolved(profile);
	profile->run.is_resolved = 1;
	return 0;
}
