/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id: the build-id of an image, and what else identifies a file.
 */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "binary/elf/image.h"

#define MAX_HASHED (1ull << 30) /* a second; holes of a file take as long as its bytes */

struct build_id build_id_from_notes(struct bytes notes)
{
	struct reader r = reader_of(notes);
	struct build_id id = { 0 };

	while (reader_left(&r) >= 12) {
		uint32_t name_len = read_u32(&r), desc_len = read_u32(&r), type = read_u32(&r);
		struct bytes name = read_bytes(&r, name_len);
		reader_skip(&r, -name_len & 3u);
		struct bytes desc = read_bytes(&r, desc_len);
		if (r.failed)
			break;
		if (type == NT_GNU_BUILD_ID && name.len == 4 && memcmp(name.at, "GNU", 4) == 0 && desc.len) {
			id.len = (uint8_t)(desc.len < BUILD_ID_MAX ? desc.len : BUILD_ID_MAX);
			memcpy(id.bytes, desc.at, id.len);
			break;
		}
		reader_skip(&r, -desc_len & 3u);
	}
	return id;
}

/* The first object is the program itself. */
static int build_id_read_program(struct dl_phdr_info *object, size_t size, void *context)
{
	struct build_id *ret = context;

	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum && !ret->len; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		if (segment->p_type == PT_NOTE)
			*ret = build_id_from_notes((struct bytes){
				(const uint8_t *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz });
	}
	return 1;
}

struct build_id build_id_own(void)
{
	struct build_id id = { 0 };

	dl_iterate_phdr(build_id_read_program, &id);
	return id;
}

/* A build-id is the linker's hash of the contents; later changes of the file are visible in its headers. */
uint64_t image_identity(const struct image *image)
{
	uint64_t hash = hash_u64(image->file.len);

	if (image->foreign)
		return hash_u64(hash ^ image->foreign);
	if (!image->build_id.len && image->file.len > MAX_HASHED)
		return hash_u64(hash ^ (uintptr_t)image ^ clock_now_ns());
	if (!image->build_id.len)
		return hash_bulk(image->file);
	hash = hash_u64(hash ^ hash_bytes((struct bytes){ image->build_id.bytes, image->build_id.len }));
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct section *s = &image->sections[i];
		hash = hash_u64(hash ^ s->offset);
		hash = hash_u64(hash ^ s->size ^ s->flags << 48);
	}
	return hash;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

void build_id_format(const struct build_id *id, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < id->len; i++) {
		*text++ = digits[id->bytes[i] >> 4];
		*text++ = digits[id->bytes[i] & 15];
	}
	*text = '\0';
}
