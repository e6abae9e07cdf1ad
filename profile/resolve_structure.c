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

/* Keeps the structures of images whose bytes are not at hand now, in the order of the rest. */
static void keep_image(struct profile *profile, image_id id, const struct structure *old, size_t n_old, size_t *at)
{
	while (*at < n_old && old[*at].image < id)
		structure_done((struct structure *)&old[(*at)++]);
	for (; *at < n_old && old[*at].image == id; ++*at)
		vec_push(&profile->structures, old[*at]);
}

void resolve_structures(struct profile *profile, struct images *images)
{
	struct structure *old = profile->structures.at;
	size_t n_old = profile->structures.n, at = 0;

	profile->structures.at = NULL;
	profile->structures.n = profile->structures.cap = 0;
	for (size_t from = 0, to; from < profile->functions.n; from = to) {
		image_id id = profile->functions.at[from].image;
		struct image *image = images_get(images, id);
		for (to = from; to < profile->functions.n && profile->functions.at[to].image == id; to++)
			;
		if (image && image->file.len)
			resolve_image(profile, image, from, to);
		else
			keep_image(profile, id, old, n_old, &at);
	}
	for (; at < n_old; at++)
		structure_done(&old[at]);
	free(old);
}
