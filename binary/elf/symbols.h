/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols: the function symbols of an image: .symtab, .dynsym (by section or by dynamic tags),
 * .gnu_debugdata, .gopclntab. Sorted by address; read once per image.
 */
#pragma once

#include "binary/elf/image.h"

enum symbol_source { SYMBOL_SYMTAB, SYMBOL_DYNSYM, SYMBOL_DEBUGDATA, SYMBOL_GOPCLNTAB, SYMBOL_DEBUG_FILE };

struct symbol {
	uint64_t vaddr, size; /* size 0 = not stated */
	const char *name;     /* as in the file, version stripped; owned by the symbols */
	uint8_t type, bind;   /* STT_*, STB_* */
	uint8_t source;
};

struct symbols {
	struct symbol *at; /* sorted by vaddr, then by preference: see symbols_find */
	size_t n;
	struct symbols_private *private;
};

/* Functions (and untyped labels in code) of the image. Never faults: unreadable symbols are left out. */
struct symbols *symbols_read(struct image *image);
/* The same with the .symtab of a separate debug file; debug may be NULL. The names are copied. */
struct symbols *symbols_read_with(struct image *image, struct image *debug);
void symbols_free(struct symbols *symbols);
/*
 * Is there a symbol at vaddr whose name is_wanted accepts? 1, 0, or -ENODATA if symbols_read is needed to
 * find out. Reads the tables of the file itself, and keeps nothing.
 */
int symbols_have(struct image *image, uint64_t vaddr,
		 bool (*is_wanted)(void *context, const char *name, size_t len), void *context);

/* Addresses of variables that the image exports, by name; 0 for a variable that it does not export. */
void symbols_find_exports(struct image *image, const char *const *names, size_t n, uint64_t *ret_vaddrs);

/*
 * The best symbol that covers vaddr; NULL if there is none. Preference: sized over unsized, global over weak
 * over local, shorter prefix of underscores, then the name. An unsized symbol covers up to the next symbol.
 */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t vaddr);
