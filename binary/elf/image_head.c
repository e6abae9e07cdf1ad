/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_head: what the first page of an ELF file contains: machine, segments, build-id.
 *
 * Programs link to a hundred libraries and more, most of which are never sampled. For those nothing else is
 * needed, and the section headers and their names at the end of the file need not be mapped and read.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "binary/elf/image_private.h"

#define LAST_ADDRESS (UINT64_MAX - (1u << 20)) /* the kernel has no code above this, either */

static bool image_head_has(struct bytes head, uint64_t offset, uint64_t len)
{
	return offset <= head.len && len <= head.len - offset;
}

/* Only the usual case: there are sections, they are in the file, and headers have the usual size. */
static bool image_head_is_usual(const Elf64_Ehdr *header, struct bytes head, uint64_t file_size)
{
	uint64_t sections = (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);

	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_ident[EI_VERSION] == EV_CURRENT &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum && header->e_phnum < PN_XNUM &&
	       image_head_has(head, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)) &&
	       header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shnum &&
	       header->e_shnum < SHN_LORESERVE && header->e_shstrndx < header->e_shnum &&
	       header->e_shoff % 8 == 0 && header->e_shoff <= file_size &&
	       sections <= file_size - header->e_shoff;
}

/* The first build-id, as image_find_build_id finds it; false if the first page is not enough. */
static bool image_head_find_build_id(const struct segment *segments, size_t n, struct bytes head,
				     struct build_id *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (segments[i].type != PT_NOTE)
			continue;
		if (!image_head_has(head, segments[i].offset, segments[i].file_size))
			return false;
		*ret = build_id_from_notes(bytes_slice(head, segments[i].offset, segments[i].file_size));
		if (ret->len)
			return true;
	}
	return false;
}

struct segment image_segment_of(const Elf64_Phdr *p)
{
	uint64_t room = p->p_vaddr < LAST_ADDRESS ? LAST_ADDRESS - p->p_vaddr : 0;

	if (p->p_type != PT_LOAD)
		room = UINT64_MAX;
	return (struct segment){ p->p_type,
				 p->p_flags,
				 p->p_vaddr,
				 p->p_offset,
				 p->p_filesz < room ? p->p_filesz : room,
				 p->p_memsz < room ? p->p_memsz : room };
}

static struct segment *image_head_read_segments(const Elf64_Ehdr *header, struct bytes head)
{
	struct segment *segments = alloc_zero(header->e_phnum, sizeof(*segments));

	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr p;
		memcpy(&p, head.at + header->e_phoff + i * sizeof(p), sizeof(p));
		segments[i] = image_segment_of(&p);
	}
	return segments;
}

bool image_head_read(struct image *image, struct bytes head)
{
	Elf64_Ehdr header;

	if (head.len < sizeof(header))
		return false;
	memcpy(&header, head.at, sizeof(header));
	if (!image_head_is_usual(&header, head, image->file.len))
		return false;
	struct segment *segments = image_head_read_segments(&header, head);
	if (!image_head_find_build_id(segments, header.e_phnum, head, &image->build_id)) {
		free(segments);
		return false;
	}
	image->elf_machine = header.e_machine;
	image->elf_type = header.e_type;
	image->entry = header.e_entry;
	image->segments = image->private->segments = segments;
	image->n_segments = header.e_phnum;
	image->private->n_headers = header.e_shnum;
	return true;
}
