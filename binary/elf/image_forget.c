/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_forget: removes images from the registry that nobody uses any more.
 */
#include "binary/elf/image_registry_private.h"

/* What was opened or asked for in the last rounds may still be on its way to somebody. */
#define IDLE_ROUNDS 3
/* Fewer are not worth it. */
#define MANY_UNUSED 256

/* Files, the code of processes, and the names of files that could not be read. */
static bool forget_is_of_process(const struct image *image)
{
	return image->kind == IMAGE_ELF || (image->kind == IMAGE_JIT && image->pid) ||
	       (image->kind == IMAGE_UNKNOWN && image->path[0] == '/');
}

bool *images_find_unused(struct images *images, const bool *is_used)
{
	size_t n = images_count(images), n_unused = 0;
	bool *ret = alloc_zero(n + 1, sizeof(*ret));

	images->round++;
	for (size_t i = 0; i < n; i++) {
		const struct image *image = registry_look_up(images, (image_id)i);
		ret[i] = !is_used[i] && forget_is_of_process(image) &&
			 images->round - image->private->round > IDLE_ROUNDS;
		n_unused += ret[i];
	}
	if (n_unused >= MANY_UNUSED)
		return ret;
	free(ret);
	return NULL;
}

static void forget_files(struct images *images, const bool *is_unused)
{
	struct registry_file *files = images->files.at;
	size_t n = images->files.n;

	images->files.n = 0;
	slots_done(&images->by_file);
	slots_init(&images->by_file);
	for (size_t i = 0; i < n; i++) { /* what is kept moves to the front */
		struct registry_file file = files[i];
		if (!is_unused[file.image])
			registry_add_file(images, registry_file_slot(images, &file), &file);
		else if (file.kb)
			map_put(&images->kb_of, file.owner, map_find(&images->kb_of, file.owner) - file.kb);
	}
}

static void forget_pseudos(struct images *images, const bool *is_unused)
{
	const image_id *pseudos = images->pseudos.at;
	size_t n = images->pseudos.n;

	images->pseudos.n = 0;
	slots_done(&images->by_name);
	slots_init(&images->by_name);
	for (size_t i = 0; i < n; i++)
		if (!is_unused[pseudos[i]])
			registry_put_pseudo(images, pseudos[i]);
}

void images_forget(struct images *images, const bool *is_unused)
{
	pthread_mutex_lock(&images->lock);
	forget_files(images, is_unused);
	forget_pseudos(images, is_unused);
	for (image_id id = 0; id < images_count(images); id++) {
		if (!is_unused[id])
			continue;
		registry_forget_build_id(images, id);
		image_free(registry_look_up(images, id));
		registry_set(images, id, images->gone);
		vec_push(&images->free, id);
		images->n_changes++;
	}
	pthread_mutex_unlock(&images->lock);
}
