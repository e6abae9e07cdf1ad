/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_bytes: looking inside an image: bytes by address, sections by name, decompressed once.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "binary/image_private.h"

#define DECOMPRESS_LIMIT (4ull << 30) /* one section; debug info of the largest programs is near this */

static struct bytes segment_bytes(const struct image *image, uint64_t vaddr, uint32_t flags)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && (s->flags & flags) == flags && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->file_size)
			return bytes_from(bytes_slice(image->file, s->offset, s->file_size), vaddr - s->vaddr);
	}
	return (struct bytes){ 0 };
}

struct bytes image_bytes(const struct image *image, uint64_t vaddr)
{
	return segment_bytes(image, vaddr, 0);
}

struct bytes image_code(const struct image *image, uint64_t vaddr)
{
	return segment_bytes(image, vaddr, PF_X);
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
		if (s->type == PT_LOAD && (s->flags & PF_X) && vaddr >= s->vaddr && vaddr - s->vaddr < s->mem_size)
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
static bool is_old_compressed(const struct section *section, struct bytes raw)
{
	return strncmp(section->name, ".zdebug", 7) == 0 && raw.len > 12 && memcmp(raw.at, "ZLIB", 4) == 0;
}

static int decompress(const struct section *section, struct bytes raw, struct buffer *ret)
{
	if (is_old_compressed(section, raw))
		return decompress_zlib(bytes_from(raw, 12), DECOMPRESS_LIMIT, ret);

	struct reader r = reader_of(raw);
	uint32_t type = read_u32(&r);
	reader_skip(&r, 4);
	uint64_t size = read_u64(&r);
	reader_skip(&r, 8);
	struct bytes body = read_bytes(&r, reader_left(&r));
	if (r.failed || size > DECOMPRESS_LIMIT)
		return -EBADMSG;
	if (type == ELFCOMPRESS_ZLIB)
		return decompress_zlib(body, (size_t)size, ret);
	if (type == 2) /* ELFCOMPRESS_ZSTD, younger than Debian 12's elf.h */
		return decompress_zstd(body, (size_t)size, ret);
	return -EBADMSG;
}

struct bytes image_section_bytes(struct image *image, const struct section *section)
{
	struct bytes raw = bytes_slice(image->file, section->offset, section->size);
	size_t index = (size_t)(section - image->sections);

	if (section->type == SHT_NOBITS)
		return (struct bytes){ 0 };
	if (!(section->flags & SHF_COMPRESSED) && !is_old_compressed(section, raw))
		return raw;

	struct buffer *kept = &image->private->decompressed[index];
	pthread_mutex_lock(&image->private->lock);
	if (!kept->at && decompress(section, raw, kept) < 0)
		*kept = (struct buffer){ alloc_zero(1, 1), 0 }; /* damaged: remember it as empty */
	pthread_mutex_unlock(&image->private->lock);
	return (struct bytes){ kept->at, kept->len };
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
