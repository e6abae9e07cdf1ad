/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_structure.h"

#include "structure/structurer.h"

/* Only whole functions: a part's code belongs to its function's structure. */
static bool has_structure(const struct function_map *map)
{
	return map->parent_vaddr == map->vaddr && map->size > 1;
}

static void resolve_image(struct profile *profile, struct image *image, size_t from, size_t to)
{
	const struct function_map *maps = profile->functions.at + from;
	struct structurer *structurer = structurer_new(image);

	for (size_t i = 0; structurer && i < to - from; i++) {
		struct structure structure;
		if (!has_structure(&maps[i]))
			continue;
		if (structurer_build(structurer, maps[i].vaddr, maps, to - from, &profile->strings, NULL, &structure) &&
		    structure.scopes.n > 1) {
			structure.image = maps[i].image;
			vec_push(&profile->structures, structure);
		} else {
			structure_done(&structure);
		}
	}
	structurer_free(structurer);
}

void resolve_structures(struct profile *profile, struct images *images)
{
	for (size_t i = 0; i < profile->structures.n; i++)
		structure_done(&profile->structures.at[i]);
	vec_clear(&profile->structures);
	for (size_t from = 0, to; from < profile->functions.n; from = to) {
		image_id id = profile->functions.at[from].image;
		struct image *image = images_get(images, id);
		for (to = from; to < profile->functions.n && profile->functions.at[to].image == id; to++)
			;
		if (image && image->file.len)
			resolve_image(profile, image, from, to);
	}
}
