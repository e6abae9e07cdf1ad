/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relocs: the relocations that the dynamic loader applies to the image's data: pointers into the image itself
 * (RELATIVE, packed RELR, IRELATIVE resolvers) and words that receive a symbol's address (GOT). Found by
 * dynamic tags, so section headers are not needed.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "binary/elf/image.h"

struct reloc_pointer {
	uint64_t at, to; /* vaddrs: the word at `at` will point to `to` */
};
struct reloc_slot {
	uint64_t at;
	const char *name;
};

struct relocs {
	VEC(struct reloc_pointer) pointers; /* sorted by at */
	VEC(uint64_t) resolvers;            /* IRELATIVE: functions called by the loader */
	VEC(struct reloc_slot) slots;       /* sorted by at */
	struct arena names;
	struct image *image;
	uint64_t taken; /* of its memory budget, for names */
};

/* The image must outlive them. */
void relocs_read(struct relocs *relocs, struct image *image);
void relocs_done(struct relocs *relocs);
/* False if no relocation writes there. */
bool relocs_pointer_at(const struct relocs *relocs, uint64_t vaddr, uint64_t *ret);
/* Eight bytes of the image with relative relocations applied, as the loader does. False if vaddr is not in
 * the file. */
bool relocs_read_pointer(const struct relocs *relocs, const struct image *image, uint64_t vaddr,
			 uint64_t *ret);
/* NULL if the word does not receive the address of a symbol. */
const char *relocs_slot_name(const struct relocs *relocs, uint64_t vaddr);
/* The same of an image whose relocations were not read: one pass over them, and nothing is kept. In the
 * image. NULL, too, where image_may_scan says no. */
const char *relocs_find_name(const struct image *image, uint64_t vaddr);
