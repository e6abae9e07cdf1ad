/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perfdata/perf_images.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/process/target.h"

#define VDSO_MAX (64u << 10) /* a vdso has a few pages */

/* The result for a file that code was mapped from. */
enum outcome { FOUND, UNCHECKED, MISSING, DIFFERENT };

struct tally {
	size_t n;
	char *first; /* an example for the message */
};

struct perf_images {
	struct images *images;
	const struct perf_header *header;
	const struct isa *isa;
	struct mapper *mapper;
	int root;        /* symfs; -1 if it cannot be opened */
	int cache;       /* ~/.debug; -1 if there is none */
	struct map seen; /* hash of path and build-id -> outcome */
	struct map lost; /* the same, for files that are not images here: a program may map such a file a
			    hundred times */
	struct tally tally[DIFFERENT + 1];
};

/* ---- candidates ----------------------------------------------------------------------------- */

/* Without a build-id, the inode number is a hint: most recordings are read where they were made. */
static enum outcome perf_images_judge(const struct perf_images *finder, const struct image *image,
				      const struct mapping_file *file)
{
	if (image->elf_machine != finder->isa->elf_machine)
		return DIFFERENT;
	if (file->build_id.len)
		return build_id_equal(&image->build_id, &file->build_id) ? FOUND : DIFFERENT;
	return file->inode && file->inode == image->inode ? FOUND : UNCHECKED;
}

/* Closes fd. */
static image_id perf_images_take(struct perf_images *finder, int fd, const char *path,
				 const struct mapping_file *file, enum outcome *outcome)
{
	CLEANUP(close_fd) int opened = fd;
	struct diag diag;
	image_id id;

	if (opened < 0)
		return IMAGE_NONE;
	*outcome = DIFFERENT;
	if (images_open_fd(finder->images, opened, path, &id, &diag) < 0)
		return IMAGE_NONE;
	*outcome = perf_images_judge(finder, images_peek(finder->images, id), file);
	return *outcome == DIFFERENT ? IMAGE_NONE : id;
}

/* perf keeps a copy of what it recorded in ~/.debug/.build-id/ab/cdef.../elf (or .../vdso). */
static int perf_images_open_cached(const struct perf_images *finder, const struct build_id *id,
				   const char *name)
{
	char hex[2 * BUILD_ID_MAX + 1], path[sizeof(".build-id//") + sizeof(hex) + 16];

	if (finder->cache < 0 || id->len < 2)
		return -1;
	build_id_format(id, hex);
	snprintf(path, sizeof(path), ".build-id/%.2s/%s/%s", hex, hex + 2, name);
	return mapping_open_inside(finder->cache, path);
}

static uint64_t perf_images_key_of(const char *path, const struct build_id *id)
{
	return hash_bytes((struct bytes){ (const uint8_t *)path, strlen(path) }) ^
	       hash_bytes((struct bytes){ id->bytes, id->len });
}

static void perf_images_count(struct perf_images *finder, const char *path, uint64_t key,
			      enum outcome outcome)
{
	struct tally *tally = &finder->tally[outcome];

	if (map_find(&finder->seen, key) != MAP_NONE)
		return;
	map_put(&finder->seen, key, outcome);
	if (tally->n++ == 0)
		tally->first = alloc_text(path);
}

static image_id perf_images_look_for(struct perf_images *finder, const struct mapping_file *file,
				     const char *path, enum outcome *outcome)
{
	image_id id = perf_images_take(finder, mapping_open_inside(finder->root, path), path, file, outcome);

	if (id == IMAGE_NONE)
		id = perf_images_take(finder, perf_images_open_cached(finder, &file->build_id, "elf"), path,
				      file, outcome);
	return id;
}

static image_id perf_images_open_file(void *context, pid_t pid, const struct mapping_file *file,
				      const struct mapping *mapping, const char *path)
{
	struct perf_images *finder = context;
	uint64_t key = perf_images_key_of(path, &file->build_id);
	uint32_t lost = map_find(&finder->lost, key);
	enum outcome outcome = lost == MAP_NONE ? MISSING : (enum outcome)lost;

	(void)pid;
	image_id id = lost == MAP_NONE ? perf_images_look_for(finder, file, path, &outcome) : IMAGE_NONE;
	if (id == IMAGE_NONE && lost == MAP_NONE)
		map_put(&finder->lost, key, outcome);
	bool is_file = strncmp(path, "/memfd:", 7) != 0; /* it was memory, and is gone */
	if (mapping->is_executable && is_file)
		perf_images_count(finder, path, key, outcome);
	return id;
}

/* This machine's own vdso is used if it is known to be the same. */
static image_id perf_images_open_own_vdso(struct perf_images *finder, const struct mapping_file *file)
{
	CLEANUP(freep) uint8_t *bytes = alloc_zero(1, VDSO_MAX);
	ssize_t n = target_read_memory(getpid(), getauxval(AT_SYSINFO_EHDR), bytes, VDSO_MAX);
	struct bytes elf = { bytes, n > 0 ? (size_t)n : 0 };
	struct diag diag;
	image_id id;

	if (images_open_memory(finder->images, elf, "[vdso]", &id, &diag) < 0)
		return IMAGE_NONE;
	return perf_images_judge(finder, images_peek(finder->images, id), file) == FOUND ? id : IMAGE_NONE;
}

static image_id perf_images_open_vdso(void *context, pid_t pid, const struct mapping_file *file,
				      const struct mapping *mapping)
{
	struct perf_images *finder = context;
	enum outcome unused;

	(void)pid;
	(void)mapping;
	if (file->build_id.len == 0)
		return IMAGE_NONE;
	image_id id = perf_images_open_own_vdso(finder, file);
	if (id != IMAGE_NONE)
		return id;
	return perf_images_take(finder, perf_images_open_cached(finder, &file->build_id, "vdso"), "[vdso]",
				file, &unused);
}

/* ---- the finder ----------------------------------------------------------------------------- */

static const struct mapper_ops recorded_ops = { perf_images_open_file, perf_images_open_vdso };

static int perf_images_open_perf_cache(void)
{
	const char *home = getenv("HOME");
	CLEANUP(freep) char *path = alloc_printf("%s/.debug", home ? home : "");

	return home ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

struct perf_images *perf_images_new(struct images *images, const struct perf_header *header,
				    const struct isa *isa, const char *symfs)
{
	struct perf_images *finder = alloc_zero(1, sizeof(*finder));

	finder->images = images;
	finder->header = header;
	finder->isa = isa;
	finder->root = open(symfs ? symfs : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	finder->cache = perf_images_open_perf_cache();
	finder->mapper = mapper_new_with(images, &recorded_ops, finder);
	return finder;
}

void perf_images_free(struct perf_images *finder)
{
	if (!finder)
		return;
	for (size_t i = 0; i < ARRAY_LEN(finder->tally); i++)
		free(finder->tally[i].first);
	mapper_free(finder->mapper);
	map_done(&finder->seen);
	map_done(&finder->lost);
	close_fd(&finder->root);
	close_fd(&finder->cache);
	free(finder);
}

void perf_images_resolve(struct perf_images *finder, const struct perf_record *record,
			 struct mapping *mapping)
{
	struct mapping_file file = {
		.inode = record->mmap.inode,
		.major = record->mmap.major,
		.minor = record->mmap.minor,
		.build_id = record->mmap.build_id,
	};
	const struct build_id *stated = perf_header_build_id(finder->header, mapping->path);

	if (file.build_id.len == 0 && stated)
		file.build_id = *stated;
	mapper_resolve(finder->mapper, record->pid, &file, mapping);
}

void perf_images_notes(const struct perf_images *finder, struct source_info *ret)
{
	const struct tally *missing = &finder->tally[MISSING], *different = &finder->tally[DIFFERENT];
	const struct tally *unchecked = &finder->tally[UNCHECKED];

	if (missing->n + different->n)
		vec_push(&ret->notes, alloc_printf("some binaries on this machine are not the recorded ones: "
						   "%zu differ, %zu are missing, for example '%s'",
						   different->n, missing->n,
						   different->n ? different->first : missing->first));
	/* If perf lists any build-ids, it lists those of all sampled binaries. */
	if (unchecked->n && finder->header->build_ids.n == 0)
		vec_push(&ret->notes,
			 alloc_printf(
				 "the recording has no build-ids for %zu of its binaries, for example '%s'; "
				 "the files on this machine may be different ones",
				 unchecked->n, unchecked->first));
}
