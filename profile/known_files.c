/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/known_files.h"

#include <stdlib.h>
#include <string.h>

/* Whoever chose this folder chose what is in it. */
static bool known_is_beneath(const char *path, const char *folder)
{
	size_t len = folder ? strlen(folder) : 0;

	return len > 0 && strncmp(path, folder, len) == 0 && (path[len] == '/' || folder[len - 1] == '/') &&
	       !strstr(path, "/../");
}

static bool known_is_image(const struct known_files *known, const struct stat *st)
{
	for (size_t i = 0; i < images_count(known->images); i++) {
		const struct image *image = images_peek(known->images, (image_id)i);
		if (image->inode && image->inode == st->st_ino && image->dev == st->st_dev)
			return true;
	}
	return false;
}

bool known_files_has(const void *context, const char *path, const struct stat *st)
{
	const struct known_files *known = context;

	if (known_is_beneath(path, known->search->symfs))
		return true;
	for (size_t i = 0; i < known->search->n_directories; i++)
		if (known_is_beneath(path, known->search->directories[i]))
			return true;
	for (size_t i = 0; i < known->fetched.n; i++)
		if (strcmp(path, known->fetched.at[i]) == 0)
			return true;
	return known_is_image(known, st);
}

void known_files_done(struct known_files *known)
{
	for (size_t i = 0; i < known->fetched.n; i++)
		free(known->fetched.at[i]);
	vec_done(&known->fetched);
}
