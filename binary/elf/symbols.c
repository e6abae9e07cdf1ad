/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/elf/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/compress.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "binary/elf/gopclntab.h"

#define DEBUGDATA_LIMIT (64u << 20) /* decompressed .gnu_debugdata; real ones have a few MB */
#define MAX_SYMBOLS (16u << 20)
#define MAX_RESERVED (1u << 20) /* before a symbol is seen */
#define MAX_NAME (1u << 20)     /* the longest in real programs have about 100 KB */

struct symbols_private {
	VEC(struct symbol) list;
	struct arena names;
	struct image *image; /* whose budget is used */
	uint64_t taken;      /* taken from that budget */
	bool is_too_much;    /* the rest is left out */
	uint64_t *reach; /* per symbol: the furthest end of it and all before it, to stop a backward search */
};

/* One ELF symbol table: `count` entries and their strings. */
struct table {
	const struct image *file; /* the file whose sections its symbols refer to */
	struct bytes entries, strings;
	enum symbol_source source;
};

/* From where a tag points to the end of its segment. */
static struct bytes symbols_dynamic_bytes(const struct image *image, int64_t tag)
{
	uint64_t vaddr;

	return image_dynamic(image, tag, &vaddr) ? image_bytes(image, vaddr) : (struct bytes){ 0 };
}

/* The dynamic tags do not say how many symbols there are; the hash tables do. */
static uint64_t symbols_count_by_gnu_hash(struct bytes hash)
{
	struct reader r = reader_of(hash);
	uint32_t n_buckets = read_u32(&r), first = read_u32(&r), n_bloom = read_u32(&r);
	uint32_t last = 0;

	reader_skip(&r, 4 + 8ull * n_bloom);
	struct bytes buckets = read_bytes(&r, 4ull * n_buckets);
	struct reader b = reader_of(buckets);
	while (reader_left(&b)) {
		uint32_t bucket = read_u32(&b);
		last = bucket > last ? bucket : last;
	}
	if (r.failed || last < first)
		return first;
	reader_skip(&r, 4ull * (last - first));
	while (!r.failed && !(read_u32(&r) & 1)) /* a chain ends at an odd hash */
		last++;
	return (uint64_t)last + 1;
}

static uint64_t symbols_count_dynamic(const struct image *image)
{
	struct bytes gnu = symbols_dynamic_bytes(image, DT_GNU_HASH),
		     sysv = symbols_dynamic_bytes(image, DT_HASH);

	if (gnu.len)
		return symbols_count_by_gnu_hash(gnu);
	struct reader r = reader_of(sysv);
	reader_skip(&r, 4);
	return read_u32(&r); /* as many chain entries as symbols */
}

static struct table symbols_dynamic_table(const struct image *image)
{
	uint64_t count = symbols_count_dynamic(image);
	uint64_t strings_size = 0;

	image_dynamic(image, DT_STRSZ, &strings_size);
	return (struct table){
		image,
		bytes_slice(symbols_dynamic_bytes(image, DT_SYMTAB), 0, count * sizeof(Elf64_Sym)),
		bytes_slice(symbols_dynamic_bytes(image, DT_STRTAB), 0, strings_size),
		SYMBOL_DYNSYM,
	};
}

static struct table symbols_section_table(struct image *image, uint32_t type, enum symbol_source source)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct section *s = &image->sections[i];
		if (s->type == type && s->link < image->n_sections)
			return (struct table){ image, image_section_bytes(image, s),
					       image_section_bytes(image, &image->sections[s->link]),
					       source };
	}
	return (struct table){ 0 };
}

/* Budget for a symbol with its name, and what sorting and looking up add to it. Names may overlap in the
 * file: many long ones in one string. */
static bool symbols_pay(struct symbols_private *private, size_t name_len)
{
	uint64_t bytes = sizeof(struct symbol) * 2 + 8 + name_len + 1;

	private->is_too_much |=
		name_len > MAX_NAME || private->list.n >= MAX_SYMBOLS || !image_take(private->image, bytes);
	private->taken += private->is_too_much ? 0 : bytes;
	return !private->is_too_much;
}

/* A name without its version: "memcpy@@GLIBC_2.14" is memcpy. */
static size_t symbols_plain_len(const char *name, size_t len)
{
	const char *at = memchr(name, '@', len);

	return at && at != name ? (size_t)(at - name) : len;
}

/*
 * Sections distinguish code from read-only data that happens to be in the same segment, and from what is not
 * loaded at all: gcc -flto leaves symbols in .debug_info, whose values are not addresses.
 */
static bool symbols_is_code(const struct image *image, const struct image *file, uint16_t section,
			    uint64_t value)
{
	return image_is_executable(image, value) &&
	       (section >= file->n_sections || file->sections[section].flags & SHF_EXECINSTR);
}

static bool symbols_is_kind(uint16_t section, uint8_t type)
{
	return section != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* $x, $d (AArch64) and .L labels mark positions; they are not names. */
static bool symbols_is_marker(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

static void symbols_add_table(struct symbols_private *private, const struct image *image, struct table table)
{
	struct reader r = reader_of(table.entries);
	size_t most = private->list.n + table.entries.len / sizeof(Elf64_Sym);

	vec_reserve(&private->list, most < MAX_RESERVED ? most : MAX_RESERVED);
	while (reader_left(&r) >= sizeof(Elf64_Sym) && !private->is_too_much) {
		uint32_t name = read_u32(&r);
		uint8_t info = read_u8(&r);
		reader_skip(&r, 1);
		uint16_t section = read_u16(&r);
		uint64_t value = read_u64(&r), size = read_u64(&r);
		uint8_t type = ELF64_ST_TYPE(info);

		if (!symbols_is_kind(section, type) || !symbols_is_code(image, table.file, section, value))
			continue;
		struct reader s = reader_of(bytes_from(table.strings, name));
		const char *text = read_cstr(&s);
		if (symbols_is_marker(text) || !symbols_pay(private, reader_offset(&s)))
			continue;
		vec_push(&private->list,
			 (struct symbol){ value, size,
					  arena_text(&private->names, text,
						     symbols_plain_len(text, reader_offset(&s) - 1)),
					  type, ELF64_ST_BIND(info), (uint8_t)table.source });
	}
}

/* MiniDebugInfo: an xz-compressed ELF file whose .symtab completes .dynsym. It has the same addresses. */
static void symbols_add_debugdata(struct symbols_private *private, struct image *image)
{
	struct bytes packed = image_named_bytes(image, ".gnu_debugdata");
	struct buffer plain;

	if (!packed.len || decompress_xz(packed, DEBUGDATA_LIMIT, &plain) < 0)
		return;
	uint64_t copied = 2 * plain.len;
	if (!image_take(image, copied)) {
		free(plain.at);
		return;
	}
	struct images *images = images_new();
	image_id id;
	if (images_open_memory(images, (struct bytes){ plain.at, plain.len }, "debugdata", &id, NULL) == 0)
		symbols_add_table(
			private, image,
			symbols_section_table(images_get(images, id), SHT_SYMTAB, SYMBOL_DEBUGDATA));
	images_free(images);
	free(plain.at);
	image_give_back(image, copied);
}

/* Go programs contain the names of their functions even if stripped. */
static void symbols_add_gopclntab(struct symbols_private *private, struct image *image)
{
	struct gopclntab table;
	struct go_function function;

	if (!gopclntab_open(image, &table))
		return;
	for (uint64_t i = 0; i < table.n_functions && !private->is_too_much; i++)
		if (gopclntab_get(&table, i, &function) && image_is_executable(image, function.start) &&
		    symbols_pay(private, strlen(function.name)))
			vec_push(&private->list,
				 (struct symbol){
					 function.start, function.end - function.start,
					 arena_text(&private->names, function.name, strlen(function.name)),
					 STT_FUNC, STB_LOCAL, SYMBOL_GOPCLNTAB });
}

static int symbols_bind_rank(uint8_t bind)
{
	return bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
}

/* Inline: strspn would build a table for a single character. */
static size_t symbols_count_bars(const char *name)
{
	size_t n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

/* Best first among symbols at one address; see symbols_find. */
static int symbols_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if ((a->type == STT_NOTYPE) != (b->type == STT_NOTYPE))
		return a->type == STT_NOTYPE ? 1 : -1;
	if (symbols_bind_rank(a->bind) != symbols_bind_rank(b->bind))
		return symbols_bind_rank(a->bind) - symbols_bind_rank(b->bind);
	size_t a_bars = symbols_count_bars(a->name), b_bars = symbols_count_bars(b->name);
	if (a_bars != b_bars)
		return a_bars < b_bars ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void symbols_drop_duplicates(struct symbols_private *private)
{
	size_t n = 0;

	for (size_t i = 0; i < private->list.n; i++) {
		const struct symbol *s = &private->list.at[i];
		const struct symbol *last = n ? &private->list.at[n - 1] : NULL;
		if (!last || last->vaddr != s->vaddr || strcmp(last->name, s->name) != 0)
		private->list.at[n++] = *s;
	}
	private->list.n = n;
}

static void symbols_index_reach(struct symbols_private *private)
{
	uint64_t reach = 0;

	private->reach = alloc_zero(private->list.n, sizeof(*private->reach));
	for (size_t i = 0; i < private->list.n; i++) {
		const struct symbol *s = &private->list.at[i];
		uint64_t end = s->vaddr + s->size < s->vaddr ? UINT64_MAX : s->vaddr + s->size;
		reach = end > reach ? end : reach;
		private->reach[i] = reach;
	}
}

static struct table symbols_export_table(struct image *image)
{
	struct table table = symbols_section_table(image, SHT_DYNSYM, SYMBOL_DYNSYM);

	return table.entries.len ? table : symbols_dynamic_table(image);
}

struct symbols *symbols_read_with(struct image *image, struct image *debug)
{
	struct symbols *symbols = alloc_zero(1, sizeof(*symbols));
	struct symbols_private *private = alloc_zero(1, sizeof(*private));

	private->image = image;
	symbols_add_table(private, image, symbols_section_table(image, SHT_SYMTAB, SYMBOL_SYMTAB));
	symbols_add_table(private, image, symbols_export_table(image));
	symbols_add_debugdata(private, image);
	symbols_add_gopclntab(private, image);
	if (debug)
		symbols_add_table(private, image,
				  symbols_section_table(debug, SHT_SYMTAB, SYMBOL_DEBUG_FILE));
	sort_by_u64_then(private->list.at, private->list.n, sizeof(struct symbol), symbols_compare);
	symbols_drop_duplicates(private);
	symbols_index_reach(private);
	symbols->at = private->list.at;
	symbols->n = private->list.n;
	symbols->private = private;
	return symbols;
}

struct symbols *symbols_read(struct image *image)
{
	return symbols_read_with(image, NULL);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	image_give_back(symbols->private->image, symbols->private->taken);
	vec_done(&symbols->private->list);
	arena_done(&symbols->private->names);
	free(symbols->private->reach);
	free(symbols->private);
	free(symbols);
}

void symbols_find_exports(struct image *image, const char *const *names, size_t n, uint64_t *ret_vaddrs)
{
	struct table table = symbols_export_table(image);
	struct reader r = reader_of(table.entries);

	memset(ret_vaddrs, 0, n * sizeof(*ret_vaddrs));
	while (reader_left(&r) >= sizeof(Elf64_Sym)) {
		struct reader s = reader_of(bytes_from(table.strings, read_u32(&r)));
		uint8_t info = read_u8(&r);
		reader_skip(&r, 1);
		uint16_t section = read_u16(&r);
		uint64_t value = read_u64(&r);
		reader_skip(&r, 8);
		if (section == SHN_UNDEF || ELF64_ST_TYPE(info) != STT_OBJECT)
			continue;
		const char *name = read_cstr(&s);
		for (size_t i = 0; i < n; i++)
			if (strcmp(name, names[i]) == 0)
				ret_vaddrs[i] = value;
	}
}

/* Index of the first symbol after vaddr. */
static size_t symbols_upper_bound(const struct symbols *symbols, uint64_t vaddr)
{
	return search_first(i, symbols->n, symbols->at[i].vaddr > vaddr);
}

/* The first, and so the best, of the symbols at the same address as index. */
static const struct symbol *symbols_best_at(const struct symbols *symbols, size_t index)
{
	while (index > 0 && symbols->at[index - 1].vaddr == symbols->at[index].vaddr)
		index--;
	return &symbols->at[index];
}

const struct symbol *symbols_find(const struct symbols *symbols, uint64_t vaddr)
{
	size_t behind = symbols_upper_bound(symbols, vaddr);

	/* The nearest sized symbol that covers vaddr; `reach` says when no earlier one can. */
	for (size_t i = behind; i > 0 && symbols->private->reach[i - 1] > vaddr; i--) {
		const struct symbol *best = symbols_best_at(symbols, i - 1);
		if (best->size && vaddr - best->vaddr < best->size)
			return best;
		i = (size_t)(best - symbols->at) + 1;
	}
	if (behind == 0)
		return NULL;
	const struct symbol *nearest = symbols_best_at(symbols, behind - 1);
	return nearest->size ? NULL : nearest;
}

/* ---- one symbol ---------------------------------------------------------------------------------- */

/* Of the symbols at one address, and of their names, only so many and so much are looked at. */
#define CANDIDATES_MOST 64
#define NAME_MOST 4096

struct symbol_wish {
	uint64_t vaddr;
	bool (*is_wanted)(void *context, const char *name, size_t len);
	void *context;
};

static bool symbols_table_has(const struct image *image, struct table table, const struct symbol_wish *wish)
{
	size_t n = table.entries.len / sizeof(Elf64_Sym), n_candidates = 0;
	Elf64_Sym symbol;

	for (size_t i = 0; i < n && n_candidates < CANDIDATES_MOST; i++) {
		const uint8_t *entry = table.entries.at + i * sizeof(symbol);
		uint64_t value;
		memcpy(&value, entry + offsetof(Elf64_Sym, st_value), sizeof(value));
		if (value != wish->vaddr) /* all but a few of a hundred thousand */
			continue;
		n_candidates++;
		memcpy(&symbol, entry, sizeof(symbol));
		if (!symbols_is_kind(symbol.st_shndx, ELF64_ST_TYPE(symbol.st_info)) ||
		    !symbols_is_code(image, table.file, symbol.st_shndx, value))
			continue;
		struct bytes rest = bytes_from(table.strings, symbol.st_name);
		struct reader s =
			reader_of((struct bytes){ rest.at, rest.len < NAME_MOST ? rest.len : NAME_MOST });
		const char *text = read_cstr(&s);
		if (!s.failed && !symbols_is_marker(text) &&
		    wish->is_wanted(wish->context, text, symbols_plain_len(text, strlen(text))))
			return true;
	}
	return false;
}

/* Are there symbols that only symbols_read finds? */
static bool symbols_has_others(struct image *image)
{
	struct gopclntab table;

	return image_named_bytes(image, ".gnu_debugdata").len || gopclntab_open(image, &table);
}

int symbols_have(struct image *image, uint64_t vaddr,
		 bool (*is_wanted)(void *context, const char *name, size_t len), void *context)
{
	struct symbol_wish wish = { vaddr, is_wanted, context };
	struct table exported = symbols_export_table(image);
	struct table all = symbols_section_table(image, SHT_SYMTAB, SYMBOL_SYMTAB);

	if (!image_scan(image, exported.entries.len + all.entries.len))
		return -ENODATA;
	if (symbols_table_has(image, exported, &wish) || symbols_table_has(image, all, &wish))
		return 1;
	return symbols_has_others(image) ? -ENODATA : 0;
}
