/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/relocs.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"

#define MAX_POINTERS (32u << 20) /* words */
#define MAX_NAME 4096            /* bytes; a word that receives a symbol with a longer name has none */

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

/* The relocation numbers of one machine. */
struct kinds {
	uint16_t machine;
	uint32_t relative, irelative, got, jump_slot, word;
};
static const struct kinds all_kinds[] = {
	{ EM_X86_64, R_X86_64_RELATIVE, R_X86_64_IRELATIVE, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT,
	  R_X86_64_64 },
	{ EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_IRELATIVE, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT,
	  R_AARCH64_ABS64 },
};

static const struct kinds *relocs_kinds_of(const struct image *image)
{
	for (size_t i = 0; i < ARRAY_LEN(all_kinds); i++)
		if (all_kinds[i].machine == image->elf_machine)
			return &all_kinds[i];
	return NULL;
}

static struct bytes relocs_tagged(const struct image *image, int64_t address_tag, int64_t size_tag)
{
	uint64_t vaddr, size;

	if (!image_dynamic(image, address_tag, &vaddr) || !image_dynamic(image, size_tag, &size))
		return (struct bytes){ 0 };
	return bytes_slice(image_bytes(image, vaddr), 0, size);
}

/* The dynamic symbols; both empty if there are none. */
struct names {
	struct bytes symbols, strings;
};

static struct names relocs_names_of(const struct image *image)
{
	uint64_t symtab, strtab;

	if (!image_dynamic(image, DT_SYMTAB, &symtab) || !image_dynamic(image, DT_STRTAB, &strtab))
		return (struct names){ 0 };
	return (struct names){ image_bytes(image, symtab), image_bytes(image, strtab) };
}

/* Name and value of a dynamic symbol; false if it is not there. */
static bool relocs_dynamic_symbol(const struct names *names, uint32_t index, const char **ret_name,
				  uint64_t *ret_value)
{
	if (index == 0)
		return false;
	struct reader r = reader_of(
		bytes_slice(names->symbols, (uint64_t)index * sizeof(Elf64_Sym), sizeof(Elf64_Sym)));
	uint32_t name = read_u32(&r);
	reader_skip(&r, 2);
	uint16_t section = read_u16(&r);
	uint64_t value = read_u64(&r);
	struct bytes rest = bytes_from(names->strings, name);
	struct reader n = reader_of(bytes_slice(rest, 0, rest.len < MAX_NAME ? rest.len : MAX_NAME));
	*ret_name = read_cstr(&n);
	*ret_value = section == SHN_UNDEF ? 0 : value;
	return !r.failed && !n.failed;
}

/* A word is relocated once: bounds what a packed table, or tables that overlap, may unfold to. */
static size_t relocs_most(const struct relocs *relocs)
{
	size_t n = relocs->image->file.len / 8;

	return n < MAX_POINTERS ? n : MAX_POINTERS;
}

/* Most are pointers, by far. */
static void relocs_make_room(struct relocs *relocs, struct bytes table)
{
	size_t n = relocs->pointers.n + table.len / sizeof(Elf64_Rela), most = relocs_most(relocs);

	vec_reserve(&relocs->pointers, n < most ? n : most);
}

/* Any number of words may get the address of the same symbol, or of symbols with the same long name. */
static void relocs_add_slot(struct relocs *relocs, uint64_t at, const char *name)
{
	uint64_t bytes = strlen(name) + 1 + sizeof(struct reloc_slot);

	if (relocs->slots.n >= MAX_POINTERS || !image_take(relocs->image, bytes))
		return;
	relocs->taken += bytes;
	vec_push(&relocs->slots, ((struct reloc_slot){ at, arena_text(&relocs->names, name, strlen(name)) }));
}

static void relocs_read_rela(struct relocs *relocs, const struct names *names, const struct kinds *kinds,
			     struct bytes table)
{
	struct reader r = reader_of(table);

	while (reader_left(&r) >= sizeof(Elf64_Rela) && relocs->pointers.n < relocs_most(relocs)) {
		uint64_t at = read_u64(&r), info = read_u64(&r), addend = read_u64(&r), value = 0;
		uint32_t type = ELF64_R_TYPE(info);
		const char *name = "";

		if (type == kinds->relative) {
			vec_push(&relocs->pointers, ((struct reloc_pointer){ at, addend }));
		} else if (type == kinds->irelative) {
			vec_push(&relocs->resolvers, addend);
		} else if (type == kinds->got || type == kinds->jump_slot || type == kinds->word) {
			if (!relocs_dynamic_symbol(names, (uint32_t)ELF64_R_SYM(info), &name, &value))
				continue;
			if (type == kinds->word && value)
				vec_push(&relocs->pointers, ((struct reloc_pointer){ at, value + addend }));
			if (name[0])
				relocs_add_slot(relocs, at, name);
		}
	}
}

static void relocs_add_packed(struct relocs *relocs, uint64_t at)
{
	struct reader r = reader_of(image_bytes(relocs->image, at));
	uint64_t to = read_u64(&r);

	if (!r.failed && relocs->pointers.n < relocs_most(relocs))
		vec_push(&relocs->pointers, ((struct reloc_pointer){ at, to }));
}

/* RELR: an even entry is an address, an odd one a bitmap of the 63 words behind it. */
static void relocs_read_relr(struct relocs *relocs, struct bytes table)
{
	struct reader r = reader_of(table);
	uint64_t next = 0;

	while (reader_left(&r) >= 8 && relocs->pointers.n < relocs_most(relocs)) {
		uint64_t entry = read_u64(&r);
		if (!(entry & 1)) {
			relocs_add_packed(relocs, entry);
			next = entry + 8;
			continue;
		}
		for (unsigned bit = 0; bit < 63; bit++)
			if (entry >> (bit + 1) & 1)
				relocs_add_packed(relocs, next + 8ull * bit);
		next += 8 * 63;
	}
}

void relocs_read(struct relocs *relocs, struct image *image)
{
	const struct kinds *kinds = relocs_kinds_of(image);
	uint64_t unused;

	*relocs = (struct relocs){ .image = image };
	if (!kinds)
		return;
	struct names names = relocs_names_of(image);
	struct bytes rela = relocs_tagged(image, DT_RELA, DT_RELASZ);
	relocs_make_room(relocs, rela);
	relocs_read_rela(relocs, &names, kinds, rela);
	relocs_read_rela(relocs, &names, kinds, relocs_tagged(image, DT_JMPREL, DT_PLTRELSZ));
	relocs_read_relr(relocs, relocs_tagged(image, DT_RELR, DT_RELRSZ));
	if (!image_dynamic(image, DT_SYMTAB, &unused)) /* static: only its own startup code reads these */
		relocs_read_rela(relocs, &names, kinds, image_named_bytes(image, ".rela.plt"));
	sort_by_u64(relocs->pointers.at, relocs->pointers.n, sizeof(*relocs->pointers.at));
	sort_by_u64(relocs->slots.at, relocs->slots.n, sizeof(*relocs->slots.at));
}

void relocs_done(struct relocs *relocs)
{
	vec_done(&relocs->pointers);
	vec_done(&relocs->resolvers);
	vec_done(&relocs->slots);
	arena_done(&relocs->names);
	if (relocs->image)
		image_give_back(relocs->image, relocs->taken);
}

bool relocs_pointer_at(const struct relocs *relocs, uint64_t vaddr, uint64_t *ret)
{
	size_t i = search_first(k, relocs->pointers.n, relocs->pointers.at[k].at >= vaddr);

	if (i == relocs->pointers.n || relocs->pointers.at[i].at != vaddr)
		return false;
	*ret = relocs->pointers.at[i].to;
	return true;
}

bool relocs_read_pointer(const struct relocs *relocs, const struct image *image, uint64_t vaddr,
			 uint64_t *ret)
{
	if (relocs_pointer_at(relocs, vaddr, ret))
		return true;

	struct reader r = reader_of(image_bytes(image, vaddr));
	*ret = read_u64(&r);
	return !r.failed;
}

const char *relocs_slot_name(const struct relocs *relocs, uint64_t vaddr)
{
	size_t i = search_first(k, relocs->slots.n, relocs->slots.at[k].at >= vaddr);

	return i < relocs->slots.n && relocs->slots.at[i].at == vaddr ? relocs->slots.at[i].name : NULL;
}

static const char *relocs_find_in(const struct image *image, struct bytes table, const struct names *names,
				  const struct kinds *kinds, uint64_t vaddr)
{
	struct reader r = reader_of(table);
	uint64_t value;
	bool may_scan = image_scan(image, table.len);

	while (may_scan && reader_left(&r) >= sizeof(Elf64_Rela)) {
		uint64_t at = read_u64(&r), info = read_u64(&r);
		uint32_t type = ELF64_R_TYPE(info);
		const char *name;
		reader_skip(&r, 8);
		if (at == vaddr && (type == kinds->got || type == kinds->jump_slot || type == kinds->word) &&
		    relocs_dynamic_symbol(names, (uint32_t)ELF64_R_SYM(info), &name, &value) && name[0])
			return name;
	}
	return NULL;
}

const char *relocs_find_name(const struct image *image, uint64_t vaddr)
{
	const struct kinds *kinds = relocs_kinds_of(image);

	if (!kinds)
		return NULL;
	struct names names = relocs_names_of(image); /* stubs first: there are fewer */
	const char *name =
		relocs_find_in(image, relocs_tagged(image, DT_JMPREL, DT_PLTRELSZ), &names, kinds, vaddr);
	return name ? name
		    : relocs_find_in(image, relocs_tagged(image, DT_RELA, DT_RELASZ), &names, kinds, vaddr);
}
