/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/needed.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static const char usual[] =
	"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib/x86_64-linux-gnu:"
	"/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/local/lib64:/usr/local/lib:/lib:/usr/lib";

struct needed {
	struct images *images;
	needed_paths *to;
};

/* ---- one name ----------------------------------------------------------------------------------------- */

static bool needed_has(const needed_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (strcmp(paths->at[i], path) == 0)
			return true;
	return false;
}

static bool needed_try(const struct needed *needed, const char *path)
{
	CLEANUP(freep) char *real = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;

	if (!real)
		return false;
	if (!needed_has(needed->to, real) && needed->to->n < NEEDED_MAX)
		vec_push(needed->to, TAKE(real));
	return true;
}

/* In one of the folders of a list; "$ORIGIN" in it is the folder of the file itself. */
static bool needed_try_folders(const struct needed *needed, const char *folders, const char *origin,
			       const char *name)
{
	for (const char *at = folders; at && *at; at += *at == ':') {
		size_t len = strcspn(at, ":"), skipped = 0;
		if (strncmp(at, "$ORIGIN", 7) == 0)
			skipped = 7;
		else if (strncmp(at, "${ORIGIN}", 9) == 0)
			skipped = 9;
		size_t n_origin =
			skipped ? (size_t)(strrchr(origin, '/') ? strrchr(origin, '/') - origin : 0) : 0;
		CLEANUP(freep)
		char *path = alloc_printf("%.*s%.*s/%s", (int)n_origin, origin,
					  (int)(len > skipped ? len - skipped : 0), at + skipped, name);
		if (needed_try(needed, path))
			return true;
		at += len;
	}
	return false;
}

static void needed_add(const struct needed *needed, const struct image *by, const char *folders,
		       const char *name)
{
	if (strchr(name, '/')) {
		needed_try(needed, name);
		return;
	}
	if (!needed_try_folders(needed, folders, by->path, name) &&
	    !needed_try_folders(needed, getenv("LD_LIBRARY_PATH"), by->path, name))
		needed_try_folders(needed, usual, by->path, name);
}

/* ---- one file ----------------------------------------------------------------------------------------- */

/* A string in the file; NULL if it is not terminated. */
static const char *needed_text(struct bytes strings, uint64_t offset)
{
	if (offset >= strings.len || !memchr(strings.at + offset, 0, strings.len - offset))
		return NULL;
	return (const char *)strings.at + offset;
}

static struct bytes needed_segment(const struct image *image, uint32_t type)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		struct bytes bytes = s->type == type ? image_bytes(image, s->vaddr) : (struct bytes){ 0 };
		if (bytes.len)
			return (struct bytes){ bytes.at,
					       bytes.len < s->file_size ? bytes.len : s->file_size };
	}
	return (struct bytes){ 0 };
}

static void needed_look(const struct needed *needed, const struct image *image)
{
	struct bytes dynamic = needed_segment(image, PT_DYNAMIC), strings = { 0 };
	const char *folders = NULL;
	Elf64_Dyn entry;

	for (size_t at = 0; at + sizeof(entry) <= dynamic.len; at += sizeof(entry)) {
		memcpy(&entry, dynamic.at + at, sizeof(entry));
		if (entry.d_tag == DT_STRTAB)
			strings = image_bytes(image, entry.d_un.d_ptr);
	}
	for (size_t at = 0; at + sizeof(entry) <= dynamic.len; at += sizeof(entry)) {
		memcpy(&entry, dynamic.at + at, sizeof(entry));
		if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
			folders = needed_text(strings, entry.d_un.d_val);
	}
	for (size_t at = 0; at + sizeof(entry) <= dynamic.len; at += sizeof(entry)) {
		memcpy(&entry, dynamic.at + at, sizeof(entry));
		const char *name = entry.d_tag == DT_NEEDED ? needed_text(strings, entry.d_un.d_val) : NULL;
		if (name)
			needed_add(needed, image, folders, name);
	}
}

void needed_find(struct images *images, image_id file, needed_paths *ret)
{
	struct needed needed = { images, ret };
	CLEANUP(freep) char *preloaded = getenv("LD_PRELOAD") ? alloc_text(getenv("LD_PRELOAD")) : NULL;
	const char *loader = needed_text(needed_segment(images_get(images, file), PT_INTERP), 0);
	char *rest = NULL;

	if (loader) /* for musl, it is the C library */
		needed_try(&needed, loader);
	for (char *name = preloaded ? strtok_r(preloaded, ": ", &rest) : NULL; name;
	     name = strtok_r(NULL, ": ", &rest))
		needed_add(&needed, images_get(images, file), NULL, name);
	needed_look(&needed, images_get(images, file));
	for (size_t i = 0; i < ret->n; i++) {
		struct diag ignored = { 0 };
		image_id image;
		if (images_open(images, ret->at[i], &image, &ignored) >= 0)
			needed_look(&needed, images_get(images, image));
	}
}
