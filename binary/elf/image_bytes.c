/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_bytes: access to the contents of an image: bytes by address, sections by name, decompressed once.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/compress.h"
#include "binary/elf/image_private.h"

#define LARGE_PAGE (2u << 20)
#define DECOMPRESS_LIMIT (4ull << 30) /* one section; debug info of the largest programs is close to this */

static struct bytes image_bytes_of_segment(const struct image *image, uint64_t vaddr, uint32_t flags)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && (s->flags & flags) == flags && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->file_size)
			return bytes_from(bytes_slice(image->file, s->offset, s->file_size),
					  vaddr - s->vaddr);
	}
	return (struct bytes){ 0 };
}

struct bytes image_bytes(const struct image *image, uint64_t vaddr)
{
	return image_bytes_of_segment(image, vaddr, 0);
}

struct bytes image_code(const struct image *image, uint64_t vaddr)
{
	return image_bytes_of_segment(image, vaddr, PF_X);
}

bool image_is_code(const struct image *image, uint64_t vaddr)
{
	return image_code(image, vaddr).len > 0;
}

uint64_t image_code_end(const struct image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct section *s = &image->sections[i];
		if ((s->flags & SHF_EXECINSTR) && vaddr >= s->vaddr && vaddr - s->vaddr < s->size)
			return s->vaddr + s->size;
	}
	return vaddr + image_code(image, vaddr).len;
}

bool image_is_executable(const struct image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && (s->flags & PF_X) && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->mem_size)
			return true;
	}
	return false;
}

const struct section *image_section(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->n_sections; i++)
		if (strcmp(image->sections[i].name, name) == 0)
			return &image->sections[i];
	return NULL;
}

/* Old style: a section named .zdebug_* that starts with "ZLIB" and a big-endian size. */
static bool image_bytes_is_old_compressed(const struct section *section, struct bytes raw)
{
	return strncmp(section->name, ".zdebug", 7) == 0 && raw.len > 12 && memcmp(raw.at, "ZLIB", 4) == 0;
}

/* A section's contents as in the file. */
struct package {
	enum { PLAIN, ZLIB, ZSTD, STRANGE } kind;
	struct bytes body;
	uint64_t size; /* decompressed, as stated */
};

static struct package image_bytes_package_of(const struct section *section, struct bytes raw)
{
	struct package package = { PLAIN, raw, raw.len };
	struct reader r = reader_of(raw);

	if (image_bytes_is_old_compressed(section, raw)) {
		uint64_t size = 0;
		for (int i = 4; i < 12; i++)
			size = size << 8 | raw.at[i];
		return (struct package){ ZLIB, bytes_from(raw, 12), size };
	}
	if (!(section->flags & SHF_COMPRESSED))
		return package;
	uint32_t type = read_u32(&r);
	reader_skip(&r, 4);
	package.size = read_u64(&r);
	reader_skip(&r, 8);
	package.body = read_bytes(&r, reader_left(&r));
	/* ELFCOMPRESS_ZSTD, 2, is newer than Debian 12's elf.h. */
	package.kind = r.failed ? STRANGE : type == ELFCOMPRESS_ZLIB ? ZLIB : type == 2 ? ZSTD : STRANGE;
	return package;
}

/*
 * Memory for many bytes, in huge pages if possible: page faults on small ones take a sixth of the time of
 * decompressing into them. NULL if there is less memory than a file claims to need.
 */
static uint8_t *image_bytes_make_room(size_t size)
{
	size_t rounded = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	void *room;

	if (size < LARGE_PAGE / 2)
		return malloc(size);
	if (posix_memalign(&room, LARGE_PAGE, rounded) != 0)
		return NULL;
	madvise(room, rounded, MADV_HUGEPAGE);
	return room;
}

static struct unpacked *image_bytes_unpacked_new(struct image *image, const struct package *package)
{
	struct unpacked *unpacked = alloc_zero(1, sizeof(*unpacked));
	struct buffer whole = { 0 };

	pthread_mutex_init(&unpacked->lock, NULL);
	if (package->size > DECOMPRESS_LIMIT || package->kind == STRANGE || !image_take(image, package->size))
		return unpacked;
	if (package->kind == ZLIB && inflate_is_possible(package->body.len, (size_t)package->size)) {
		unpacked->at = image_bytes_make_room(
			(size_t)package->size +
			1); /* the file may claim more than it has: then it cannot be read */
		unpacked->size = unpacked->at ? (size_t)package->size : 0;
		unpacked->inflater =
			unpacked->at ? inflater_new(package->body, unpacked->at, unpacked->size) : NULL;
	} else if (package->kind == ZSTD &&
		   decompress_zstd(package->body, (size_t)package->size, &whole) == 0) {
		unpacked->at = whole.at;
		unpacked->len = unpacked->size = whole.len;
	}
	return unpacked;
}

static struct unpacked *image_bytes_unpacked_of(struct image *image, size_t index,
						const struct package *package)
{
	struct image_private *private = image->private;

	pthread_mutex_lock(&private->lock);
	if (!private->unpacked[index])
	private->unpacked[index] = image_bytes_unpacked_new(image, package);
	pthread_mutex_unlock(&private->lock);
	return private->unpacked[index];
}

static struct bytes image_bytes_unpack(struct unpacked *unpacked, uint64_t len)
{
	pthread_mutex_lock(&unpacked->lock);
	if (unpacked->inflater && unpacked->len < len) {
		unpacked->len =
			inflater_run(unpacked->inflater, len < unpacked->size ? (size_t)len : unpacked->size);
		if (unpacked->len == 0 || unpacked->len == unpacked->size)
			inflater_free(TAKE(unpacked->inflater));
	}
	struct bytes bytes = { unpacked->at, unpacked->len };
	pthread_mutex_unlock(&unpacked->lock);
	return bytes;
}

struct bytes image_section_start(struct image *image, const struct section *section, uint64_t len)
{
	struct package package =
		image_bytes_package_of(section, bytes_slice(image->file, section->offset, section->size));

	if (section->type == SHT_NOBITS)
		return (struct bytes){ 0 };
	return package.kind == PLAIN
		       ? package.body
		       : image_bytes_unpack(image_bytes_unpacked_of(
						    image, (size_t)(section - image->sections), &package),
					    len);
}

bool image_section_lend(struct image *image, const struct section *section, struct bytes bytes,
			void (*release)(struct bytes bytes))
{
	struct image_private *private = image->private;
	size_t index = (size_t)(section - image->sections);
	struct unpacked *unpacked = alloc_zero(1, sizeof(*unpacked));

	*unpacked = (struct unpacked){
		.at = (uint8_t *)bytes.at, .len = bytes.len, .size = bytes.len, .release = release
	};
	pthread_mutex_init(&unpacked->lock, NULL);
	pthread_mutex_lock(&private->lock);
	bool is_first = !private->unpacked[index];
	if (is_first)
	private->unpacked[index] = TAKE(unpacked);
	pthread_mutex_unlock(&private->lock);
	free(unpacked);
	return is_first;
}

struct bytes image_section_bytes(struct image *image, const struct section *section)
{
	return image_section_start(image, section, UINT64_MAX);
}

uint64_t image_section_size(const struct image *image, const struct section *section)
{
	return section->type == SHT_NOBITS
		       ? 0
		       : image_bytes_package_of(section,
						bytes_slice(image->file, section->offset, section->size))
				 .size;
}

struct bytes image_named_bytes(struct image *image, const char *name)
{
	const struct section *section = image_section(image, name);

	return section ? image_section_bytes(image, section) : (struct bytes){ 0 };
}

uint64_t image_vaddr_of_offset(const struct image *image, uint64_t offset)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && offset >= s->offset && offset - s->offset < s->file_size)
			return s->vaddr + (offset - s->offset);
	}
	return UINT64_MAX;
}

const struct segment *image_segment(const struct image *image, uint32_t type)
{
	for (size_t i = 0; i < image->n_segments; i++)
		if (image->segments[i].type == type)
			return &image->segments[i];
	return NULL;
}

bool image_dynamic(const struct image *image, int64_t tag, uint64_t *ret)
{
	const struct segment *dynamic = image_segment(image, PT_DYNAMIC);

	if (!dynamic)
		return false;
	struct reader r = reader_of(bytes_slice(image->file, dynamic->offset, dynamic->file_size));
	while (reader_left(&r) >= 16) {
		int64_t found = (int64_t)read_u64(&r);
		uint64_t value = read_u64(&r);
		if (found == DT_NULL)
			break;
		if (found == tag) {
			*ret = value;
			return true;
		}
	}
	return false;
}

const char *image_name(const struct image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash && slash[1] ? slash + 1 : image->path;
}
