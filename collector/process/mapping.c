/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping: opens what was mapped. Nothing here blocks: a file is checked before it is opened, and only
 * regular files are opened.
 */
#include "collector/process/mapping.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"

#define VDSO_MAX (1u << 20) /* a vdso has a few pages */
/* Bytes for the names of files that cannot be read: any process can make names without end. */
#define NAMES_MAX (32u << 20)
#define NAME_COST 512 /* for one of them, without the name itself */

/*
 * The image of a file, and where its part that was mapped last belongs: the same part again in nearly all
 * processes. Together, because on a busy machine nothing that is looked up here is still in the CPU's caches.
 */
struct mapped_file {
	image_id image;
	bool is_placed, is_executable; /* is_placed: offset and vaddr are known */
	uint64_t offset, vaddr;        /* in the file; in the image */
	char *path;                    /* of the mapping */
	struct mapping_file file;
};

struct mapper {
	struct images *images; /* borrowed */
	const struct mapper_ops *ops;
	void *context;
	struct map by_file; /* hash of the kernel's description -> files */
	VEC(struct mapped_file) files;
	struct mapped_file passing; /* one that is not remembered */
	image_id vdso;
	size_t names; /* bytes */
};

struct mapper *mapper_new_with(struct images *images, const struct mapper_ops *ops, void *context)
{
	struct mapper *mapper = alloc_zero(1, sizeof(*mapper));

	mapper->images = images;
	mapper->ops = ops;
	mapper->context = context;
	mapper->vdso = IMAGE_NONE;
	return mapper;
}

static size_t mapping_name_cost(const struct image *image)
{
	return image->kind == IMAGE_UNKNOWN && image->path[0] ? NAME_COST + strlen(image->path) : 0;
}

void mapper_forget(struct mapper *mapper)
{
	for (size_t i = 0; i < mapper->files.n; i++)
		free(mapper->files.at[i].path);
	vec_clear(&mapper->files);
	map_done(&mapper->by_file);
	mapper->by_file = (struct map){ 0 };
	mapper->names = 0;
	for (image_id id = 0; id < images_count(mapper->images); id++)
		mapper->names += mapping_name_cost(images_peek(mapper->images, id));
}

void mapper_free(struct mapper *mapper)
{
	if (!mapper)
		return;
	mapper_forget(mapper);
	map_done(&mapper->by_file);
	vec_done(&mapper->files);
	free(mapper);
}

/* ---- where the image lies ------------------------------------------------------------------- */

bool mapping_bias(const struct image *image, uint64_t start, uint64_t file_offset, bool is_executable,
		  uint64_t *ret)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		uint64_t slack = s->vaddr & 0xffff; /* unlike segments, mappings start at a page */
		uint64_t first = s->offset > slack ? s->offset - slack : 0;
		if (s->type != PT_LOAD || file_offset < first ||
		    file_offset - first >= s->file_size + (s->offset - first))
			continue;
		bool is_inside = file_offset >= s->offset;
		bool is_alike = !!(s->flags & PF_X) == is_executable;
		if (!best || (is_alike && (is_inside || !!(best->flags & PF_X) != is_executable)))
			best = s;
	}
	if (!best)
		return false;
	*ret = start - (best->vaddr - best->offset + file_offset);
	return true;
}

/* ---- opening what was mapped ---------------------------------------------------------------- */

/* A path inside another process's root: links in it must not lead out of that root. */
static int mapping_look_inside(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* A readable descriptor for a regular file that was opened with O_PATH; otherwise -1. */
static int mapping_open_regular(int looked_at, struct stat *ret)
{
	char path[64];

	if (looked_at < 0 || fstat(looked_at, ret) < 0 || !S_ISREG(ret->st_mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", looked_at);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/*
 * The device is not compared: on btrfs and overlayfs, maps and stat report different ones. Two different
 * files with the same name and inode number are too rare to give up all of btrfs for.
 */
static bool mapping_is_same_inode(const struct mapping_file *file, const struct stat *st)
{
	return file->inode != 0 && file->inode == st->st_ino;
}

static bool mapping_is_same_image(const struct mapper *mapper, const struct mapping_file *file, image_id id)
{
	return build_id_equal(&images_peek(mapper->images, id)->build_id, &file->build_id);
}

/* Closes looked_at. */
static image_id mapping_take_image(struct mapper *mapper, int looked_at, bool is_certain,
				   const struct mapping_file *file, const char *path)
{
	CLEANUP(close_fd) int look = looked_at;
	struct stat st;
	CLEANUP(close_fd) int fd = mapping_open_regular(look, &st);
	struct diag diag = { 0 };
	image_id id;

	if (fd < 0)
		return IMAGE_NONE;
	if (!is_certain && !file->build_id.len && !mapping_is_same_inode(file, &st))
		return IMAGE_NONE;
	if (images_open_fd(mapper->images, fd, path, &id, &diag) < 0)
		return IMAGE_NONE;
	if (!is_certain && file->build_id.len && !mapping_is_same_image(mapper, file, id))
		return IMAGE_NONE;
	return id;
}

int mapping_open_inside(int root, const char *path)
{
	CLEANUP(close_fd) int look = mapping_look_inside(root, path);
	struct stat st;

	return mapping_open_regular(look, &st);
}

static image_id mapping_open_file(void *context, pid_t pid, const struct mapping_file *file,
				  const struct mapping *m, const char *path)
{
	struct mapper *mapper = context;
	pid_t tid = file->tid ? file->tid : pid;
	char name[128];
	image_id id = IMAGE_NONE;

	snprintf(name, sizeof(name), "/proc/%d/root", tid);
	CLEANUP(close_fd) int root = envoy_open(tid, name);
	if (root >= 0)
		id = mapping_take_image(mapper, mapping_look_inside(root, path), false, file, path);
	if (id != IMAGE_NONE)
		return id;
	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", tid, (unsigned long long)m->start,
		 (unsigned long long)m->start + m->len);
	id = mapping_take_image(mapper, envoy_open(tid, name), true, file, path);
	if (id != IMAGE_NONE)
		return id;
	snprintf(name, sizeof(name), "/proc/%d/exe", tid);
	id = mapping_take_image(mapper, envoy_open(tid, name), false, file, path);
	if (id != IMAGE_NONE)
		return id;
	return mapping_take_image(mapper, open(path, O_PATH | O_CLOEXEC), false, file, path);
}

/* All 64-bit processes have the same one, so ours is used if the process is gone. */
static image_id mapping_open_vdso(void *context, pid_t pid, const struct mapping_file *file,
				  const struct mapping *m)
{
	struct mapper *mapper = context;
	size_t len = m->len < VDSO_MAX ? (size_t)m->len : VDSO_MAX;
	struct diag diag = { 0 };

	if (mapper->vdso != IMAGE_NONE)
		return mapper->vdso;

	CLEANUP(freep) uint8_t *bytes = alloc_zero(1, len + 1);
	ssize_t n = envoy_read_memory(file->tid ? file->tid : pid, m->start, bytes, len);
	if (n <= 0)
		n = target_read_memory(getpid(), getauxval(AT_SYSINFO_EHDR), bytes, len);
	if (n <= 0 || images_open_memory(mapper->images, (struct bytes){ bytes, (size_t)n }, "[vdso]",
					 &mapper->vdso, &diag) < 0)
		mapper->vdso = images_add_pseudo(mapper->images, IMAGE_UNKNOWN, "[vdso]", NULL);
	return mapper->vdso;
}

static const struct mapper_ops live_ops = { mapping_open_file, mapping_open_vdso };

struct mapper *mapper_new(struct images *images)
{
	struct mapper *mapper = mapper_new_with(images, &live_ops, NULL);

	mapper->context = mapper;
	return mapper;
}

/* ---- resolving ----------------------------------------------------------------------------- */

static bool mapping_is_file(const char *path)
{
	static const char *const not_files[] = { "//anon", "/dev/zero", "/SYSV", "/anon_hugepage", "/[aio]" };

	if (path[0] != '/')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(not_files); i++)
		if (strncmp(path, not_files[i], strlen(not_files[i])) == 0)
			return false;
	return true;
}

#define EVENT_NAME_LEN 15 /* events have at most this much of a name that is not a path */

/* Code that the kernel maps into processes, and that is not an ELF file: its whole name. NULL if it is
 * something else. */
static const char *mapping_kernel_page(const char *path)
{
	static const char *const names[] = { "[vsyscall]", "[uprobes]", "[uprobes-trampoline]", "[sigpage]",
					     "[vectors]" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(path, names[i]) == 0 ||
		    (strlen(path) == EVENT_NAME_LEN && strncmp(path, names[i], EVENT_NAME_LEN) == 0))
			return names[i];
	return NULL;
}

static uint64_t mapping_key_of(const struct mapping_file *file, const char *path)
{
	uint64_t key = hash_bytes((struct bytes){ (const uint8_t *)path, strlen(path) });

	if (file->build_id.len)
		return key ^ hash_bytes((struct bytes){ file->build_id.bytes, file->build_id.len });
	return key ^ hash_u64(file->inode ^ (uint64_t)file->major << 52 ^ (uint64_t)file->minor << 40);
}

/* Who makes a file can choose its path and build-id such that the hash is that of another file. */
static bool mapping_is_same_file(const struct mapped_file *known, const struct mapping_file *file,
				 const char *path)
{
	bool is_same = file->build_id.len
			       ? build_id_equal(&known->file.build_id, &file->build_id)
			       : !known->file.build_id.len && known->file.inode == file->inode &&
					 known->file.major == file->major && known->file.minor == file->minor;

	return is_same && strcmp(known->path, path) == 0;
}

/* With the build-id, the kernel does not report which file it is. In another mount namespace, anybody can put
 * a file of any build-id at any path. */
static bool mapping_may_be_another(const struct mapper *mapper, const struct mapping_file *file, image_id id)
{
	return file->build_id.len && images_peek(mapper->images, id)->foreign;
}

static struct mapped_file *mapping_remember(struct mapper *mapper, const struct mapping_file *file,
					    const char *path, image_id id)
{
	if (mapping_may_be_another(mapper, file, id)) {
		mapper->passing = (struct mapped_file){ .image = id };
		return &mapper->passing;
	}
	map_put(&mapper->by_file, mapping_key_of(file, path), (uint32_t)mapper->files.n);
	vec_push(&mapper->files,
		 ((struct mapped_file){ .image = id, .path = alloc_text(path), .file = *file }));
	return &mapper->files.at[mapper->files.n - 1];
}

/* NULL if it is not available. */
static struct mapped_file *mapping_find_file(struct mapper *mapper, pid_t pid,
					     const struct mapping_file *file, const struct mapping *m)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(m->path), cut = sizeof(deleted) - 1;
	uint32_t known = map_find(&mapper->by_file, mapping_key_of(file, m->path));

	if (known != MAP_NONE && mapping_is_same_file(&mapper->files.at[known], file, m->path))
		return &mapper->files.at[known];
	bool is_deleted = len > cut && strcmp(m->path + len - cut, deleted) == 0;
	CLEANUP(freep) char *path = alloc_text_n(m->path, is_deleted ? len - cut : len);
	image_id id = mapper->ops->open_file(mapper->context, pid, file, m, path);
	if (id == IMAGE_NONE) /* failures are not remembered: another process may show the file */
		return NULL;
	return mapping_remember(mapper, file, m->path, id);
}

static void mapping_set_unknown(struct mapper *mapper, const struct mapping_file *file, const char *name,
				struct mapping *m)
{
	uint64_t before = images_count(mapper->images) + images_changes(mapper->images);
	bool is_named = mapper->names < NAMES_MAX;

	m->image = images_add_pseudo(mapper->images, IMAGE_UNKNOWN, is_named ? name : "[other files]",
				     is_named && file->build_id.len ? &file->build_id : NULL);
	if (images_count(mapper->images) + images_changes(mapper->images) > before)
		mapper->names += mapping_name_cost(images_peek(mapper->images, m->image));
	m->bias = m->start - m->file_offset;
}

/* Code in anonymous memory. One image per process: its addresses are valid only there. */
static void mapping_set_jit(struct mapper *mapper, pid_t pid, struct mapping *m)
{
	char name[64];

	snprintf(name, sizeof(name), "[jit of process %d]", pid);
	m->image = images_add_jit(mapper->images, name, pid);
	m->bias = 0;
}

/* False if no part of the image was mapped. */
static bool mapping_place(const struct mapper *mapper, struct mapped_file *file, struct mapping *m)
{
	const struct image *image = images_peek(mapper->images, file->image);

	if (image->kind != IMAGE_ELF && image->kind != IMAGE_VDSO)
		return true;
	if (!mapping_bias(image, m->start, m->file_offset, m->is_executable, &m->bias))
		return false;
	file->is_placed = true;
	file->is_executable = m->is_executable;
	file->offset = m->file_offset;
	file->vaddr = m->start - m->bias;
	return true;
}

static bool mapping_is_as_before(const struct mapped_file *file, const struct mapping *m)
{
	return file->is_placed && file->offset == m->file_offset && file->is_executable == m->is_executable;
}

/* False if it is not available. */
static bool mapping_resolve_file(struct mapper *mapper, pid_t pid, const struct mapping_file *file,
				 struct mapping *m)
{
	struct mapped_file *found = mapping_find_file(mapper, pid, file, m);

	if (!found && strncmp(m->path, "/memfd:", 7) == 0) {
		mapping_set_jit(mapper, pid, m);
		return true;
	}
	if (!found)
		return false;
	m->image = found->image;
	if (!mapping_is_as_before(found, m))
		return mapping_place(mapper, found, m);
	m->bias = m->start - found->vaddr;
	return true;
}

static bool mapping_resolve_vdso(struct mapper *mapper, pid_t pid, const struct mapping_file *file,
				 struct mapping *m)
{
	struct mapped_file vdso = { 0 };

	m->file_offset = 0;
	vdso.image = m->image = mapper->ops->open_vdso(mapper->context, pid, file, m);
	return m->image != IMAGE_NONE && mapping_place(mapper, &vdso, m);
}

bool mapper_resolve(struct mapper *mapper, pid_t pid, const struct mapping_file *file, struct mapping *m)
{
	const char *page = mapping_kernel_page(m->path);
	bool is_known = !page;

	m->image = IMAGE_NONE;
	m->bias = 0;
	if (mapping_is_file(m->path))
		is_known = mapping_resolve_file(mapper, pid, file, m);
	else if (strcmp(m->path, "[vdso]") == 0)
		is_known = mapping_resolve_vdso(mapper, pid, file, m);
	else if (m->is_executable && !page)
		mapping_set_jit(mapper, pid, m);
	if (!is_known)
		mapping_set_unknown(mapper, file, page ? page : m->path, m);
	return is_known;
}
