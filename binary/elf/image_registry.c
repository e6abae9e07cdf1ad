/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_registry: all images of a run. An image that was seen before is found without a search: a process may
 * map tens of thousands of files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file_map.h"
#include "base/file_open.h"
#include "binary/elf/image_registry_private.h"

/* Larger files are mapped instead of read: programs link to a hundred libraries, and samples need little of
 * them. */
#define READ_LIMIT (16u << 10)

#define OTHERS_MAX_KB (1u << 20) /* for the files of one other user, at most a quarter of the memory */
#define ENTRY_KB 2               /* for a file, without its bytes */

static void registry_freep(struct image **image)
{
	image_free(*image);
}

struct images *images_new(void)
{
	struct images *images = alloc_zero(1, sizeof(*images));

	pthread_mutex_init(&images->lock, NULL);
	slots_init(&images->by_file);
	slots_init(&images->by_name);
	images->gone = image_new(IMAGE_UNKNOWN, "");
	return images;
}

uint64_t images_changes(const struct images *images)
{
	return images->n_changes;
}

size_t images_count(const struct images *images)
{
	return atomic_load_explicit(&images->n, memory_order_acquire);
}

/* Block b contains the ids from (2^b - 1) first blocks on. */
static unsigned registry_block_of(image_id id, size_t *ret_index)
{
	uint64_t position = (uint64_t)id + (1u << FIRST_BLOCK_LOG2);
	unsigned log2 = 63u - (unsigned)__builtin_clzll(position);

	*ret_index = (size_t)(position - (1ull << log2));
	return log2 - FIRST_BLOCK_LOG2;
}

struct image *registry_look_up(const struct images *images, image_id id)
{
	size_t index;

	if (id >= images_count(images))
		return NULL;
	unsigned block = registry_block_of(id, &index);
	return images->blocks[block][index];
}

const struct image *images_peek(const struct images *images, image_id id)
{
	return registry_look_up(images, id);
}

struct image *images_get(const struct images *images, image_id id)
{
	struct image *image = registry_look_up(images, id);

	if (image && atomic_load_explicit(&image->private->is_brief, memory_order_acquire))
		image_complete(image);
	return image;
}

void images_free(struct images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images_count(images); i++)
		if (registry_look_up(images, (image_id)i) != images->gone)
			image_free(registry_look_up(images, (image_id)i));
	image_free(images->gone);
	vec_done(&images->free);
	for (size_t i = 0; i < ARRAY_LEN(images->blocks); i++)
		free(images->blocks[i]);
	vec_done(&images->files);
	slots_done(&images->by_file);
	map_done(&images->by_build_id);
	map_done(&images->kb_of);
	vec_done(&images->pseudos);
	slots_done(&images->by_name);
	pthread_mutex_destroy(&images->lock);
	free(images);
}

void images_rest(struct images *images)
{
	for (size_t i = 0; i < images_count(images); i++) {
		const struct image_private *private = registry_look_up(images, (image_id)i)->private;
		if (private->is_mapped)
			file_map_rest(private->map, private->map_len);
	}
}

static struct registry_file registry_file_of(const struct stat *st)
{
	return (struct registry_file){ .device = st->st_dev,
				       .inode = st->st_ino,
				       .size = st->st_size,
				       .modified = st->st_mtim,
				       .changed = st->st_ctim,
				       .image = IMAGE_NONE };
}

static bool registry_is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool registry_is_same_file(const void *owner, uint32_t index, const void *key)
{
	const struct registry_file *a = &((const struct images *)owner)->files.at[index], *b = key;

	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       registry_is_same_time(&a->modified, &b->modified) &&
	       registry_is_same_time(&a->changed, &b->changed);
}

static uint64_t registry_file_hash(const struct registry_file *file)
{
	return hash_u64(hash_u64(file->device) ^ file->inode);
}

static uint64_t registry_hash_of_file(const void *owner, uint32_t index)
{
	return registry_file_hash(&((const struct images *)owner)->files.at[index]);
}

size_t registry_file_slot(const struct images *images, const struct registry_file *file)
{
	return slots_find(&images->by_file, registry_file_hash(file), registry_is_same_file, images, file);
}

void registry_add_file(struct images *images, size_t slot, const struct registry_file *file)
{
	vec_push(&images->files, *file);
	slots_put(&images->by_file, slot, (uint32_t)images->files.n - 1, registry_hash_of_file, images);
}

static uint64_t registry_build_id_key(const struct build_id *id)
{
	return hash_bytes((struct bytes){ id->bytes, id->len });
}

void registry_set(struct images *images, image_id id, struct image *image)
{
	size_t index;
	unsigned block = registry_block_of(id, &index);

	if (!images->blocks[block])
		images->blocks[block] =
			alloc_zero((size_t)1 << (block + FIRST_BLOCK_LOG2), sizeof(*images->blocks[block]));
	images->blocks[block][index] = image;
}

static image_id registry_add(struct images *images, struct image *image)
{
	bool is_again = images->free.n > 0;
	image_id id = is_again ? images->free.at[--images->free.n] : (image_id)images_count(images);

	image->private->round = images->round;
	images->n_changes += is_again;
	registry_set(images, id, image);
	if (!is_again)
		atomic_store_explicit(&images->n, (size_t)id + 1, memory_order_release);
	return id;
}

/* It is used in this round. */
static image_id registry_touch(struct images *images, image_id id)
{
	registry_look_up(images, id)->private->round = images->round;
	return id;
}

/* A file that others can write may claim any build-id. */
static bool registry_is_known_by_build_id(const struct image *image)
{
	return image->build_id.len && !image->foreign;
}

/* An image with the same build-id and machine that is as good as this one. */
static image_id registry_find_same(const struct images *images, const struct image *image)
{
	if (!registry_is_known_by_build_id(image))
		return IMAGE_NONE;

	image_id id = map_find(&images->by_build_id, registry_build_id_key(&image->build_id));
	const struct image *other = registry_look_up(images, id);
	if (!other || other->kind != image->kind || !build_id_equal(&other->build_id, &image->build_id) ||
	    other->private->n_headers != image->private->n_headers || other->file.len != image->file.len)
		return IMAGE_NONE;
	return id;
}

void registry_forget_build_id(struct images *images, image_id id)
{
	uint64_t key = registry_build_id_key(&registry_look_up(images, id)->build_id);

	if (map_find(&images->by_build_id, key) == id)
		map_remove(&images->by_build_id, key);
}

static image_id registry_enter(struct images *images, struct image **image)
{
	image_id same = registry_find_same(images, *image);
	const struct image *added = *image;

	if (same != IMAGE_NONE)
		return registry_touch(images, same);
	image_id id = registry_add(images, TAKE(*image));
	if (registry_is_known_by_build_id(added))
		map_put(&images->by_build_id, registry_build_id_key(&added->build_id), id);
	return id;
}

/*
 * A user can make any number of files, and one in memory (tmpfs, memfd) stays there as long as we have it
 * mapped, even if its user has removed it. False if this one would be too much.
 */
static bool registry_may_keep(struct images *images, int fd, const struct stat *st,
			      struct registry_file *file)
{
	uint64_t quarter_kb = (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * (uint64_t)sysconf(_SC_PAGESIZE) >> 10;
	uint32_t known = map_find(&images->kb_of, st->st_uid), used = known == MAP_NONE ? 0 : known;
	struct statfs fs;
	bool is_in_memory = fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
	uint64_t own = ENTRY_KB + (is_in_memory ? (uint64_t)st->st_blocks / 2 : 0), kb = used + own;

	if (!image_file_foreign(st))
		return true;
	if (kb > OTHERS_MAX_KB || kb > quarter_kb)
		return false;
	file->owner = st->st_uid;
	file->kb = (uint32_t)own;
	map_put(&images->kb_of, st->st_uid, (uint32_t)kb);
	return true;
}

static int registry_open_fd(struct images *images, int fd, const char *path, size_t read_limit, image_id *ret,
			    struct diag *diag)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return diag_set(diag, -errno, "cannot read image '%s'", path);

	struct registry_file file = registry_file_of(&st);
	size_t slot = registry_file_slot(images, &file);
	if (images->by_file.at[slot] != SLOT_FREE) {
		*ret = registry_touch(images, images->files.at[images->by_file.at[slot]].image);
		return 0;
	}

	CLEANUP(registry_freep) struct image *image = NULL;
	int error = image_open_file(fd, &st, path, read_limit, &image, diag);
	if (error < 0)
		return error;
	if (!registry_may_keep(images, fd, &st, &file))
		return image_refuse(diag, -EDQUOT, path, "other files of its user take too much memory");
	*ret = file.image = registry_enter(images, &image);
	registry_add_file(images, slot, &file);
	return 0;
}

static int registry_open_locked(struct images *images, int fd, const char *path, size_t read_limit,
				image_id *ret, struct diag *diag)
{
	pthread_mutex_lock(&images->lock);
	int error = registry_open_fd(images, fd, path, read_limit, ret, diag);
	pthread_mutex_unlock(&images->lock);
	return error;
}

int images_open_fd(struct images *images, int fd, const char *path, image_id *ret, struct diag *diag)
{
	return registry_open_locked(images, fd, path, READ_LIMIT, ret, diag);
}

static int registry_open_path(struct images *images, const char *path, size_t read_limit, image_id *ret,
			      struct diag *diag)
{
	CLEANUP(close_fd) int fd = file_open(path, 0);

	if (fd == -ENOTBLK)
		return image_refuse(diag, -ENOEXEC, path, "it is not a regular file");
	if (fd < 0)
		return diag_set(diag, fd, "cannot read image '%s'", path);
	return registry_open_locked(images, fd, path, read_limit, ret, diag);
}

int images_open(struct images *images, const char *path, image_id *ret, struct diag *diag)
{
	return registry_open_path(images, path, READ_LIMIT, ret, diag);
}

int images_open_mapped(struct images *images, const char *path, image_id *ret, struct diag *diag)
{
	return registry_open_path(images, path, 0, ret, diag);
}

int images_open_memory(struct images *images, struct bytes elf, const char *name, image_id *ret,
		       struct diag *diag)
{
	CLEANUP(registry_freep) struct image *image = NULL;
	int error = image_open_bytes(elf, name, &image, diag);

	if (error < 0)
		return error;
	pthread_mutex_lock(&images->lock);
	*ret = registry_enter(images, &image);
	pthread_mutex_unlock(&images->lock);
	return 0;
}

/* ---- pseudo-images ------------------------------------------------------------------------- */

/* What identifies a pseudo-image. */
struct pseudo {
	enum image_kind kind;
	const char *name;
	const struct build_id *build_id;
	pid_t pid;
};

static uint64_t registry_pseudo_hash(const struct pseudo *pseudo)
{
	uint64_t hash = hash_bytes((struct bytes){ (const uint8_t *)pseudo->name, strlen(pseudo->name) });

	hash = hash_u64(hash ^ (uint64_t)pseudo->kind << 32 ^ (uint32_t)pseudo->pid);
	return hash_u64(hash ^ registry_build_id_key(pseudo->build_id));
}

static const struct image *registry_pseudo(const void *owner, uint32_t index)
{
	const struct images *images = owner;

	return registry_look_up(images, images->pseudos.at[index]);
}

static uint64_t registry_hash_of(const void *owner, uint32_t index)
{
	const struct image *image = registry_pseudo(owner, index);

	return registry_pseudo_hash(
		&(struct pseudo){ image->kind, image->path, &image->build_id, image->pid });
}

static bool registry_is_pseudo(const void *owner, uint32_t index, const void *key)
{
	const struct image *image = registry_pseudo(owner, index);
	const struct pseudo *pseudo = key;

	return image->kind == pseudo->kind && image->pid == pseudo->pid &&
	       build_id_equal(&image->build_id, pseudo->build_id) && strcmp(image->path, pseudo->name) == 0;
}

static size_t registry_pseudo_slot(const struct images *images, const struct pseudo *pseudo)
{
	return slots_find(&images->by_name, registry_pseudo_hash(pseudo), registry_is_pseudo, images, pseudo);
}

void registry_put_pseudo(struct images *images, image_id id)
{
	const struct image *image = registry_look_up(images, id);
	size_t slot = registry_pseudo_slot(
		images, &(struct pseudo){ image->kind, image->path, &image->build_id, image->pid });

	vec_push(&images->pseudos, id);
	slots_put(&images->by_name, slot, (uint32_t)images->pseudos.n - 1, registry_hash_of, images);
}

static image_id registry_add_pseudo(struct images *images, const struct pseudo *pseudo)
{
	size_t slot = registry_pseudo_slot(images, pseudo);

	if (images->by_name.at[slot] != SLOT_FREE)
		return registry_touch(images, images->pseudos.at[images->by_name.at[slot]]);

	struct image *image = image_new(pseudo->kind, pseudo->name);
	image->pid = pseudo->pid;
	image->build_id = *pseudo->build_id;
	image_id id = registry_add(images, image);
	registry_put_pseudo(images, id);
	return id;
}

image_id images_add_pseudo(struct images *images, enum image_kind kind, const char *name,
			   const struct build_id *build_id)
{
	static const struct build_id none;

	pthread_mutex_lock(&images->lock);
	image_id id =
		registry_add_pseudo(images, &(struct pseudo){ kind, name, build_id ? build_id : &none, 0 });
	pthread_mutex_unlock(&images->lock);
	return id;
}

image_id images_add_jit(struct images *images, const char *name, pid_t pid)
{
	static const struct build_id none;

	pthread_mutex_lock(&images->lock);
	image_id id = registry_add_pseudo(images, &(struct pseudo){ IMAGE_JIT, name, &none, pid });
	pthread_mutex_unlock(&images->lock);
	return id;
}
