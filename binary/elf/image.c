/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image: opens and reads one ELF file. The only file that uses libelf.
 *
 * libelf reads the headers; segment and section contents are taken from the file's bytes, with bounds checks.
 */
#include "binary/elf/image.h"

#include <errno.h>
#include <gelf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file_map.h"
#include "binary/elf/image_private.h"

#define MAX_FILE (8ull << 30) /* even programs with full debug information are smaller */
#define MAX_SECTIONS 65536
#define MAX_SEGMENTS 256     /* each is looked at in every search for an address; programs have 15 */
#define MAX_SECTION_NAME 256 /* real ones have 30 characters */
#define MAX_NOTES (1u << 20) /* bytes of notes in which a build-id is searched */

struct image *image_new(enum image_kind kind, const char *path)
{
	struct image *image = alloc_zero(1, sizeof(*image));

	image->kind = kind;
	image->path = alloc_text(path);
	image->private = alloc_zero(1, sizeof(*image->private));
	pthread_mutex_init(&image->private->lock, NULL);
	return image;
}

static void image_unpacked_free(struct unpacked *unpacked)
{
	if (!unpacked)
		return;
	inflater_free(unpacked->inflater);
	pthread_mutex_destroy(&unpacked->lock);
	if (unpacked->release)
		unpacked->release((struct bytes){ unpacked->at, unpacked->len });
	else
		free(unpacked->at);
	free(unpacked);
}

void image_free(struct image *image)
{
	if (!image)
		return;

	struct image_private *private = image->private;
	for (size_t i = 0; private->unpacked && i < image->n_sections; i++)
		image_unpacked_free(private->unpacked[i]);
	free(private->unpacked);
	free(private->segments);
	free(private->sections);
	if (private->is_mapped)
		file_unmap(private->map, private->map_len);
	else
		free(private->map);
	pthread_mutex_destroy(&private->lock);
	free(private);
	free(image->path);
	free(image);
}

static void image_freep(struct image **image)
{
	image_free(*image);
}

int image_refuse(struct diag *diag, int error, const char *path, const char *why)
{
	diag_set(diag, error, "cannot read image '%s'", path);
	diag_why(diag, "%s", why);
	return error;
}

static int image_read_file(int fd, void *to, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = pread(fd, (char *)to + at, size - at, (off_t)at);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ENODATA; /* became shorter while it was read */
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int image_load_file(struct image *image, int fd, size_t size, size_t read_limit)
{
	struct image_private *private = image->private;
	int error = 0;

	private->map_len = size;
	private->is_mapped = size > read_limit && file_map(fd, size, &image->is_changed, &private->map) == 0;
	if (!private->is_mapped) {
		private->map = malloc(size);
		if (!private->map)
			return -ENOMEM;
		error = image_read_file(fd, private->map, size);
	}
	image->file = (struct bytes){ private->map, size };
	return error;
}

static void image_read_segments(struct image *image, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	n = n < MAX_SEGMENTS ? n : MAX_SEGMENTS;
	image->private->segments = alloc_zero(n, sizeof(struct segment));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(elf, (int)i, &p))
			break;
		image->private->segments[image->n_segments++] = image_segment_of(&p);
	}
	image->segments = image->private->segments;
}

static void image_read_sections(struct image *image, Elf *elf)
{
	size_t n, names;

	if (elf_getshdrnum(elf, &n) < 0 || elf_getshdrstrndx(elf, &names) < 0)
		return;
	n = n < MAX_SECTIONS ? n : MAX_SECTIONS;
	image->private->sections = alloc_zero(n, sizeof(struct section));
	image->private->unpacked = alloc_zero(n, sizeof(struct unpacked *));
	for (size_t i = 0; i < n; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		GElf_Shdr s;
		if (!scn || !gelf_getshdr(scn, &s))
			break;
		const char *name = elf_strptr(elf, names, s.sh_name);
		image->private->sections[image->n_sections++] =
			(struct section){ name ? name : "", s.sh_type,   s.sh_link, s.sh_info,   s.sh_flags,
					  s.sh_addr,        s.sh_offset, s.sh_size, s.sh_entsize };
	}
	image->sections = image->private->sections;
}

/* elf_strptr points into libelf's memory, which is freed with the handle: point into the file instead. */
static void image_own_section_names(struct image *image, Elf *elf)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0 || names >= image->n_sections)
		return;
	struct bytes table =
		bytes_slice(image->file, image->sections[names].offset, image->sections[names].size);
	for (size_t i = 0; i < image->n_sections; i++) {
		GElf_Shdr s;
		struct section *section = &image->private->sections[i];
		section->name = "";
		if (!gelf_getshdr(elf_getscn(elf, i), &s))
			continue;
		struct reader r = reader_of(bytes_slice(table, s.sh_name, MAX_SECTION_NAME));
		section->name = read_cstr(&r);
	}
}

/* Notes may overlap: each byte that is read counts. */
static struct build_id image_build_id_in(const struct image *image, uint64_t offset, uint64_t size,
					 uint64_t *left)
{
	struct bytes notes = bytes_slice(image->file, offset, size < *left ? size : *left);

	*left -= notes.len;
	return build_id_from_notes(notes);
}

static struct build_id image_find_build_id(const struct image *image)
{
	struct build_id id = { 0 };
	uint64_t left = MAX_NOTES;

	for (size_t i = 0; i < image->n_segments && !id.len; i++)
		if (image->segments[i].type == PT_NOTE)
			id = image_build_id_in(image, image->segments[i].offset, image->segments[i].file_size,
					       &left);
	for (size_t i = 0; i < image->n_sections && !id.len; i++)
		if (image->sections[i].type == SHT_NOTE)
			id = image_build_id_in(image, image->sections[i].offset, image->sections[i].size,
					       &left);
	return id;
}

static int image_parse_elf(struct image *image, struct diag *diag)
{
	elf_version(EV_CURRENT);

	/* Cast: libelf does not write to an image that is only read. */
	Elf *elf = elf_memory((char *)(uintptr_t)image->file.at, image->file.len);
	GElf_Ehdr header;
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
		elf_end(elf);
		return image_refuse(diag, -ENOEXEC, image->path, "it is not an ELF file");
	}
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
		elf_end(elf);
		return image_refuse(diag, -ENOEXEC, image->path, "it is not a 64-bit little-endian ELF file");
	}
	image->elf_machine = header.e_machine;
	image->elf_type = header.e_type;
	image->entry = header.e_entry;
	image->private->n_headers = header.e_shnum;
	image_read_segments(image, elf);
	image_read_sections(image, elf);
	image_own_section_names(image, elf);
	elf_end(elf);
	image->build_id = image_find_build_id(image);
	return 0;
}

static bool image_read_head(struct image *image, int fd)
{
	uint8_t head[IMAGE_HEAD];
	ssize_t n = image->private->is_mapped ? pread(fd, head, sizeof(head), 0) : 0;

	return n > 0 && image_head_read(image, (struct bytes){ head, (size_t)n });
}

void image_complete(struct image *image)
{
	struct image_private *private = image->private;

	pthread_mutex_lock(&private->lock);
	if (atomic_load(&private->is_brief)) {
		elf_version(EV_CURRENT);
		Elf *elf = elf_memory((char *)(uintptr_t)image->file.at, image->file.len);
		if (elf) {
			image_read_sections(image, elf);
			image_own_section_names(image, elf);
		}
		elf_end(elf);
		atomic_store_explicit(&private->is_brief, false, memory_order_release);
	}
	pthread_mutex_unlock(&private->lock);
}

int image_open_file(int fd, const struct stat *st, const char *path, size_t read_limit, struct image **ret,
		    struct diag *diag)
{
	if (!S_ISREG(st->st_mode))
		return image_refuse(diag, -ENOEXEC, path, "it is not a regular file");
	if (st->st_size < (off_t)sizeof(Elf64_Ehdr))
		return image_refuse(diag, -ENOEXEC, path, "it is too small to be an ELF file");
	if ((uint64_t)st->st_size > MAX_FILE)
		return image_refuse(diag, -EFBIG, path, "it is larger than 8 GB");

	CLEANUP(image_freep) struct image *image = image_new(IMAGE_ELF, path);
	image->dev = st->st_dev;
	image->inode = st->st_ino;
	image->foreign = image_file_foreign(st);
	image->writer = image_file_writer(st);
	image->owner = st->st_uid;
	image->group = st->st_gid;
	image_allow(image, (uint64_t)st->st_blocks * 512); /* holes are not counted */
	int error = image_load_file(image, fd, (size_t)st->st_size, read_limit);
	if (error < 0)
		return diag_set(diag, error, "cannot read image '%s'", path);

	atomic_init(&image->private->is_brief, image_read_head(image, fd));
	if (!image->private->is_brief && (error = image_parse_elf(image, diag)) < 0)
		return error;
	*ret = TAKE(image);
	return 0;
}

int image_open_bytes(struct bytes elf, const char *name, struct image **ret, struct diag *diag)
{
	CLEANUP(image_freep) struct image *image = image_new(IMAGE_VDSO, name);

	image_allow(image, elf.len);
	image->private->map = alloc_resize(NULL, elf.len, 1);
	image->private->map_len = elf.len;
	if (elf.len)
		memcpy(image->private->map, elf.at, elf.len);
	image->file = (struct bytes){ image->private->map, elf.len };
	int error = image_parse_elf(image, diag);
	if (error < 0)
		return error;
	*ret = TAKE(image);
	return 0;
}
