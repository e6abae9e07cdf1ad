/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_maker: small ELF files for tests, in memory. Each part becomes a segment and a section.
 *
 *     struct elf_part parts[] = { { ".text", 0x1000, PF_X | PF_R, code }, ... };
 *     struct image *image = elf_image(images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, parts,
 * ARRAY_LEN(parts), &id);
 */
#pragma once

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/writer.h"
#include "binary/elf/image.h"

struct elf_part {
	const char *name;
	uint64_t vaddr; /* 0: not loaded, a section only */
	uint32_t flags; /* PF_* */
	struct bytes bytes;
	uint32_t also; /* a second program header type that points here, such as PT_GNU_EH_FRAME; 0 = none */
};

enum elf_layout { ELF_WITH_SECTIONS, ELF_WITHOUT_SECTIONS };

static inline void elf_write(struct writer *w, const void *at, size_t len)
{
	write_bytes(w, (struct bytes){ at, len });
}

static inline size_t elf_count_phdrs(const struct elf_part *parts, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += (parts[i].vaddr ? 1u : 0u) + (parts[i].also ? 1u : 0u);
	return count;
}

/* Of contents that begin at start and end where the headers begin. */
static inline void elf_write_sections(struct writer *w, const struct elf_part *parts, size_t n,
				      uint64_t start)
{
	struct writer names = { 0 };
	Elf64_Shdr null = { 0 };
	uint64_t offset = start;

	elf_write(w, &null, sizeof(null));
	write_u8(&names, 0);
	for (size_t i = 0; i < n; i++) {
		Elf64_Shdr shdr = { .sh_name = (uint32_t)names.len,
				    .sh_type = SHT_PROGBITS,
				    .sh_addr = parts[i].vaddr,
				    .sh_flags = SHF_ALLOC,
				    .sh_offset = offset,
				    .sh_size = parts[i].bytes.len };
		elf_write(w, &shdr, sizeof(shdr));
		elf_write(&names, parts[i].name, strlen(parts[i].name) + 1);
		offset += parts[i].bytes.len;
	}
	Elf64_Shdr strings = { .sh_name = 0,
			       .sh_type = SHT_STRTAB,
			       .sh_size = names.len,
			       .sh_offset = offset + (n + 2) * sizeof(Elf64_Shdr) };
	elf_write(w, &strings, sizeof(strings));
	write_bytes(w, writer_bytes(&names));
	writer_done(&names);
}

/* Headers, program headers, contents, section headers, names: in this order. */
static inline void elf_make(struct writer *w, uint16_t machine, uint64_t entry, enum elf_layout layout,
			    const struct elf_part *parts, size_t n)
{
	size_t n_phdrs = elf_count_phdrs(parts, n), start = sizeof(Elf64_Ehdr) + n_phdrs * sizeof(Elf64_Phdr);
	size_t n_sections = layout == ELF_WITH_SECTIONS ? n + 2 : 0, contents = 0;
	uint64_t offset = start;

	for (size_t i = 0; i < n; i++)
		contents += parts[i].bytes.len;
	Elf64_Ehdr ehdr = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
					 EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_entry = entry,
			    .e_phoff = sizeof(ehdr),
			    .e_shoff = n_sections ? start + contents : 0,
			    .e_ehsize = sizeof(ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = (uint16_t)n_phdrs,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = (uint16_t)n_sections,
			    .e_shstrndx = (uint16_t)(n_sections ? n + 1 : 0) };
	elf_write(w, &ehdr, sizeof(ehdr));
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr phdr = { .p_type = PT_LOAD,
				    .p_flags = parts[i].flags,
				    .p_offset = offset,
				    .p_vaddr = parts[i].vaddr,
				    .p_filesz = parts[i].bytes.len,
				    .p_memsz = parts[i].bytes.len,
				    .p_align = 1 };
		if (parts[i].vaddr)
			elf_write(w, &phdr, sizeof(phdr));
		phdr.p_type = parts[i].also;
		if (parts[i].also)
			elf_write(w, &phdr, sizeof(phdr));
		offset += parts[i].bytes.len;
	}
	for (size_t i = 0; i < n; i++)
		write_bytes(w, parts[i].bytes);
	if (n_sections)
		elf_write_sections(w, parts, n, start);
}

/* NULL if the registry refuses it. */
static inline struct image *elf_image(struct images *images, const char *name, uint16_t machine,
				      uint64_t entry, enum elf_layout layout, const struct elf_part *parts,
				      size_t n, image_id *ret)
{
	struct writer w = { 0 };
	image_id id = IMAGE_NONE;

	elf_make(&w, machine, entry, layout, parts, n);
	images_open_memory(images, writer_bytes(&w), name, &id, NULL);
	writer_done(&w);
	if (ret)
		*ret = id;
	return images_get(images, id);
}

/*
 * A section .zdebug_*, compressed in the old style: "ZLIB", the size as stated with its highest byte first,
 * and the stream, which is what gzip puts something else around.
 */
static inline void elf_pack(struct writer *w, struct bytes plain, uint64_t stated)
{
	struct buffer gzip = { 0 };
	uint32_t low = 1, high = 0;

	compress_gzip(plain, &gzip);
	write_bytes(w, (struct bytes){ (const uint8_t *)"ZLIB", 4 });
	for (int shift = 56; shift >= 0; shift -= 8)
		write_u8(w, (uint8_t)(stated >> shift));
	write_bytes(w, (struct bytes){ (const uint8_t *)"\x78\x9c", 2 });
	write_bytes(w, (struct bytes){ gzip.at + 10, gzip.len - 18 });
	for (size_t i = 0; i < plain.len; i++) {
		low = (low + plain.at[i]) % 65521;
		high = (high + low) % 65521;
	}
	for (int shift = 24; shift >= 0; shift -= 8)
		write_u8(w, (uint8_t)((high << 16 | low) >> shift));
	free(gzip.at);
}
