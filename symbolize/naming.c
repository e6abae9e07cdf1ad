/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/naming.h"

#include <ctype.h>
#include <pthread.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/text.h"
#include "binary/cfi/frames.h"
#include "binary/functions/function.h"
#include "symbolize/demangle.h"
#include "symbolize/file_text.h"

#define MAX_LABEL_REACH 4096u /* bytes that a symbol without a size is assumed to cover */

/* Symbols by name, created when a piece needs its function. */
struct name_index {
	pthread_mutex_t lock;
	bool is_built;
	struct map by_name; /* hash of the name to index */
};

struct naming {
	struct naming_options options;
	const struct symbols *symbols; /* of an ELF image; else NULL */
	struct symbols *own_symbols;   /* the same, or NULL if they belong to the functions */
	struct name_index *names;
	/* Created when code without a symbol is found. */
	pthread_mutex_t lock;
	bool looked_for_functions;
	struct frames *frames;
	struct functions *functions;
};

static struct functions *functions_of(struct naming *naming)
{
	if (naming->looked_for_functions)
		return naming->functions;
	naming->looked_for_functions = true;
	if (naming->options.functions) {
		naming->functions = naming->options.functions(naming->options.context);
	} else {
		naming->frames = frames_read(naming->options.image);
		naming->functions =
			functions_new(naming->options.image, naming->symbols, naming->frames, NULL);
	}
	return naming->functions;
}

struct naming *naming_new(const struct naming_options *options)
{
	struct naming *naming = alloc_zero(1, sizeof(*naming));

	naming->options = *options;
	naming->names = alloc_zero(1, sizeof(*naming->names));
	pthread_mutex_init(&naming->lock, NULL);
	pthread_mutex_init(&naming->names->lock, NULL);
	if (options->image->file.len && options->functions && !options->debug)
		naming->symbols = functions_of(naming)->symbols; /* they would be read twice */
	else if (options->image->file.len)
		naming->symbols = naming->own_symbols = symbols_read_with(options->image, options->debug);
	return naming;
}

void naming_free(struct naming *naming)
{
	if (!naming)
		return;
	if (!naming->options.functions)
		functions_free(naming->functions);
	frames_free(naming->frames);
	symbols_free(naming->own_symbols);
	map_done(&naming->names->by_name);
	pthread_mutex_destroy(&naming->names->lock);
	pthread_mutex_destroy(&naming->lock);
	free(naming->names);
	free(naming);
}

struct image *naming_image(const struct naming *naming)
{
	return naming->options.image;
}

image_id naming_id(const struct naming *naming)
{
	return naming->options.id;
}

/* ---- pieces and clones --------------------------------------------------------------------- */

/* Suffixes that compilers add. Only a piece is part of another function's body. */
static const struct suffix {
	const char *text;
	bool is_shown, is_piece;
} suffixes[] = {
	{ ".cold", true, true },   { ".part", true, true },         { ".constprop", true, false },
	{ ".isra", true, false },  { ".localalias", false, false }, { ".lto_priv", false, false },
	{ ".llvm", false, false }, { ".__uniq", false, false },
};

/* The suffix that starts at text, including its number; NULL if it is not a known one. */
static const struct suffix *suffix_at(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		size_t len = strlen(suffixes[i].text);
		if (strncmp(text, suffixes[i].text, len) != 0)
			continue;
		if (text[len] == '.' && isdigit((unsigned char)text[len + 1]))
			len += 1 + strspn(text + len + 1, "0123456789");
		if (text[len] != '\0' && text[len] != '.')
			continue;
		*ret_len = len;
		return &suffixes[i];
	}
	return NULL;
}

struct split_name {
	size_t base;   /* length of the name without suffixes */
	char tags[64]; /* ".constprop.cold", "" if there are none to show */
	bool is_piece;
};

static struct split_name split_name(const char *name)
{
	struct split_name split = { .base = strlen(name) };
	size_t len, used = 0;

	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		if (dot == name || !suffix_at(dot, &len))
			continue;
		split.base = (size_t)(dot - name);
		for (const struct suffix *suffix; (suffix = suffix_at(dot, &len)); dot += len) {
			split.is_piece = split.is_piece || suffix->is_piece;
			if (suffix->is_shown && used + strlen(suffix->text) < sizeof(split.tags))
				used += (size_t)sprintf(split.tags + used, "%s", suffix->text);
		}
		break;
	}
	return split;
}

static uint64_t name_key(const char *name, size_t len)
{
	return hash_bytes((struct bytes){ (const uint8_t *)name, len });
}

/* Of symbols with the same name, the first is used. */
static void index_names(struct name_index *index, const struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++) {
		uint64_t key = name_key(symbols->at[i].name, strlen(symbols->at[i].name));
		if (map_find(&index->by_name, key) == MAP_NONE)
			map_put(&index->by_name, key, (uint32_t)i);
	}
	index->is_built = true;
}

/* The function that a piece was split from; 0 if it has no symbol. */
static uint64_t find_whole(const struct naming *naming, const char *name, size_t base)
{
	struct name_index *index = naming->names;

	pthread_mutex_lock(&index->lock);
	if (!index->is_built)
		index_names(index, naming->symbols);
	pthread_mutex_unlock(&index->lock);
	uint32_t at = map_find(&index->by_name, name_key(name, base));
	if (at == MAP_NONE)
		return 0;
	const struct symbol *symbol = &naming->symbols->at[at];
	return strncmp(symbol->name, name, base) == 0 && symbol->name[base] == '\0' ? symbol->vaddr : 0;
}

/* ---- names --------------------------------------------------------------------------------- */

/* The best symbol that starts at vaddr; NULL if there is none. */
static const struct symbol *symbol_at(const struct naming *naming, uint64_t vaddr)
{
	const struct symbol *symbol = naming->symbols ? symbols_find(naming->symbols, vaddr) : NULL;

	return symbol && symbol->vaddr == vaddr ? symbol : NULL;
}

/* "name [.cold]", readable; as it is if that takes too much memory. */
static uint32_t naming_show(const struct naming *naming, const char *linkage, size_t len, const char *tags,
			    struct intern *strings)
{
	CLEANUP(text_done) struct text text = { 0 };
	CLEANUP(freep) char *base = alloc_text_n(linkage, len);

	if (!naming->options.demangles || !demangle(base, &text))
		text_add(&text, base, len);
	if (tags[0])
		text_printf(&text, " [%s]", tags);
	uint32_t id = file_text_add(strings, naming->options.image, text.at, text.len);
	return id ? id : intern_add(strings, linkage);
}

static void name_by_symbol(const struct naming *naming, struct function_map *map, const char *symbol,
			   struct intern *strings)
{
	struct split_name split = split_name(symbol);

	map->linkage = intern_add(strings, symbol);
	map->name = naming->options.demangles ? naming_show(naming, symbol, split.base, split.tags, strings)
					      : map->linkage;
	if (split.is_piece && map->parent_vaddr == map->vaddr) {
		uint64_t whole = find_whole(naming, symbol, split.base);
		map->parent_vaddr = whole ? whole : map->vaddr;
	}
}

/* Does one of the symbols that start at vaddr have this name? */
static bool has_symbol(const struct naming *naming, const struct symbol *best, const char *name)
{
	const struct symbol *end = naming->symbols->at + naming->symbols->n;

	for (const struct symbol *symbol = best; symbol < end && symbol->vaddr == best->vaddr; symbol++)
		if (strcmp(symbol->name, name) == 0)
			return true;
	return false;
}

/*
 * The name from DWARF is shown. The symbol tells which piece or clone of the function this is, and is the
 * linkage name if DWARF has none (C, Fortran's MAIN__). If the name from DWARF is only one of several symbols
 * (__GI___qsort_r), the best of them is used.
 */
static void name_by_both(const struct naming *naming, struct function_map *map, const struct symbol *symbol,
			 struct intern *strings)
{
	const char *stated = intern_text(strings, map->linkage);
	struct split_name split = split_name(symbol->name), own = split_name(stated);
	bool is_mangled = demangle_knows(stated);

	/* Some DWARF omits linkage names, leaving them to the symbol table. */
	if (!is_mangled && (demangle_knows(symbol->name) || has_symbol(naming, symbol, stated))) {
		name_by_symbol(naming, map, symbol->name, strings);
		return;
	}
	map->name = naming_show(naming, stated, own.base, split.tags, strings);
	if (split.tags[0] || !is_mangled)
		map->linkage = intern_add(strings, symbol->name);
	if (!naming->options.demangles)
		map->name = map->linkage;
}

/* "libfoo.so+0x1234"; for something that is not code, "[its name]". */
static uint32_t made_up_name(const struct naming *naming, uint64_t vaddr, struct intern *strings)
{
	const char *image = image_name(naming->options.image);

	if (!vaddr && image[0] == '[' && naming->options.image->kind == IMAGE_UNKNOWN)
		return intern_add(strings, image);
	CLEANUP(freep)
	char *name = alloc_printf("%s+0x%llx", image_name(naming->options.image), (unsigned long long)vaddr);

	return intern_add(strings, name);
}

void naming_complete(const struct naming *naming, struct function_map *map, struct intern *strings)
{
	const struct symbol *symbol = symbol_at(naming, map->vaddr);

	if (map->linkage && symbol) {
		name_by_both(naming, map, symbol, strings);
	} else if (map->linkage) {
		const char *linkage = intern_text(strings, map->linkage);
		bool is_piece = map->parent_vaddr != map->vaddr;
		map->name = naming_show(naming, linkage, strlen(linkage), is_piece ? ".part" : "", strings);
	} else if (symbol) {
		name_by_symbol(naming, map, symbol->name, strings);
	} else {
		map->name = made_up_name(naming, map->vaddr, strings);
	}
	if (map->linkage == map->name)
		map->linkage = 0;
}

/* ---- functions by address ------------------------------------------------------------------ */

/* An unsized symbol ends where the next one starts, or with its section: _init does not include the PLT. */
static uint64_t symbol_end(const struct naming *naming, const struct symbol *symbol)
{
	const struct symbol *end = naming->symbols->at + naming->symbols->n;

	if (symbol->size)
		return symbol->vaddr + symbol->size;
	uint64_t section_end = image_code_end(naming->options.image, symbol->vaddr);
	for (const struct symbol *next = symbol + 1; next < end; next++)
		if (next->vaddr > symbol->vaddr)
			return next->vaddr < section_end ? next->vaddr : section_end;
	return section_end;
}

static void name_stub(const struct naming *naming, struct function_map *map, const char *target,
		      struct intern *strings)
{
	CLEANUP(freep) char *linkage = alloc_printf("%s@plt", target);
	CLEANUP(text_done) struct text shown = { 0 };

	map->linkage = map->name = intern_add(strings, linkage);
	if (naming->options.demangles && demangle(target, &shown)) {
		text_printf(&shown, "@plt");
		uint32_t name = file_text_add(strings, naming->options.image, shown.at, shown.len);
		map->name = name ? name : map->linkage;
	}
	if (map->linkage == map->name)
		map->linkage = 0;
	map->source = MAP_FROM_SYMBOL;
}

/* The owner of the functions may not know the symbols of the debug file: code with a name is not part of code
 * without one. */
static void keep_clear_of_symbols(const struct naming *naming, uint64_t vaddr, struct function *function)
{
	const struct symbols *symbols = naming->symbols;
	size_t behind = search_first(i, symbols->n, symbols->at[i].vaddr > vaddr);

	if (behind < symbols->n && symbols->at[behind].vaddr < function->end)
		function->end = symbols->at[behind].vaddr;
	if (behind == 0 || symbols->at[behind - 1].vaddr < function->start)
		return;
	uint64_t end = symbols->at[behind - 1].vaddr + symbols->at[behind - 1].size;
	if (end > function->start && end <= vaddr && symbols->at[behind - 1].size)
		function->start = end;
}

/* Code without a symbol: a stub, or a function whose start must be recovered. */
static bool naming_find_recovered(struct naming *naming, uint64_t vaddr, struct function *ret)
{
	uint32_t index = FUNCTION_NONE;

	pthread_mutex_lock(&naming->lock);
	struct functions *functions = functions_of(naming);
	if (functions && image_is_code(naming->options.image, vaddr)) {
		index = functions_index(functions, vaddr);
		bool is_stated = index != FUNCTION_NONE && !function_is_inferred(&functions->at[index]);
		if (!is_stated && functions->frames &&
		    frames_count(functions->frames) == 0) /* there is time, and all of it is one gap */
			functions_survey(functions);
		index = functions_find(functions, vaddr);
	}
	if (index != FUNCTION_NONE)
		*ret = functions->at[index];
	pthread_mutex_unlock(&naming->lock);
	if (index != FUNCTION_NONE && ret->kind != FUNCTION_STUB)
		keep_clear_of_symbols(naming, vaddr, ret);
	return index != FUNCTION_NONE;
}

/* A label in hand-written code may be the last symbol before a hundred functions without symbols. */
static bool is_far_label(const struct symbol *symbol, uint64_t end)
{
	return symbol->size == 0 && end - symbol->vaddr > MAX_LABEL_REACH;
}

static void find_elf(struct naming *naming, struct function_map *map, struct intern *strings)
{
	const struct symbol *symbol = symbols_find(naming->symbols, map->vaddr);
	uint64_t end = symbol ? symbol_end(naming, symbol) : 0;
	bool is_covered = symbol && map->vaddr < end;
	struct function function = { 0 };

	if (is_covered && is_far_label(symbol, end) && naming_find_recovered(naming, map->vaddr, &function)) {
		is_covered = function.start <= symbol->vaddr;
		end = function.end < end ? function.end : end;
	}
	if (is_covered) {
		map->vaddr = symbol->vaddr;
		map->size = end - symbol->vaddr;
		map->source = MAP_FROM_SYMBOL;
	} else if (naming_find_recovered(naming, map->vaddr, &function)) {
		map->vaddr = function.start;
		map->size = function.end - function.start;
		if (function.kind == FUNCTION_STUB && function.name)
			name_stub(naming, map, function.name, strings);
	}
	map->parent_vaddr = map->vaddr;
	if (!map->name)
		naming_complete(naming, map, strings);
}

void naming_prepare(struct naming *naming, const uint64_t *vaddrs, size_t n)
{
	uint64_t behind = 0; /* the end of the last result */

	if (naming->options.functions && naming->symbols) {
		pthread_mutex_lock(&naming->lock);
		functions_of(naming); /* the caller that provides them will need them later */
		pthread_mutex_unlock(&naming->lock);
	}
	for (size_t i = 0; i < n && naming->symbols; i++) {
		const struct symbol *symbol = symbols_find(naming->symbols, vaddrs[i]);
		uint64_t end = symbol ? symbol_end(naming, symbol) : 0;
		struct function function = { 0 };
		bool is_named = symbol && vaddrs[i] < end && !is_far_label(symbol, end);
		if (!is_named && vaddrs[i] >= behind && naming_find_recovered(naming, vaddrs[i], &function))
			behind = function.end;
	}
}

static void find_kernel(const struct naming *naming, struct function_map *map, struct intern *strings)
{
	uint64_t end;
	const struct kernel_symbol *symbol =
		naming->options.kernel ? kallsyms_find(naming->options.kernel, map->vaddr, &end) : NULL;

	if (symbol) {
		map->vaddr = symbol->start;
		map->size = end - symbol->start;
		map->source = MAP_FROM_KALLSYMS;
	}
	map->name = intern_add(strings, symbol ? symbol->name : "[kernel]");
}

static void find_jit(const struct naming *naming, struct function_map *map, struct intern *strings)
{
	const struct perfmap *jit = naming->options.jit;
	const struct jit_code *code = jit ? perfmap_find(jit, map->vaddr) : NULL;

	if (!code) {
		map->name = made_up_name(naming, map->vaddr, strings);
		return;
	}
	map->vaddr = code->start;
	map->size = code->end - code->start;
	map->source = MAP_FROM_PERFMAP;
	map->name = intern_add(strings, code->name);
	for (uint32_t i = 0; i < code->n_lines; i++) {
		const struct jit_line *line = &jit->lines.at[code->first_line + i];
		uint64_t offset = line->vaddr - code->start;
		bool repeats = map->lines.n && map->lines.at[map->lines.n - 1].offset == offset;
		if (line->vaddr >= code->start && offset < map->size && !repeats)
			vec_push(&map->lines, (struct line_row){ .offset = (uint32_t)offset,
								 .file = intern_add(strings, line->file),
								 .line = line->line,
								 .is_statement = 1 });
	}
}

struct function_map naming_find(struct naming *naming, uint64_t vaddr, struct intern *strings)
{
	struct function_map map = {
		.image = naming->options.id, .vaddr = vaddr, .size = 1, .source = MAP_FROM_NOTHING
	};

	if (naming->symbols)
		find_elf(naming, &map, strings);
	else if (naming->options.image->kind == IMAGE_KERNEL)
		find_kernel(naming, &map, strings);
	else if (naming->options.image->kind == IMAGE_JIT)
		find_jit(naming, &map, strings);
	else
		map.name = made_up_name(naming, vaddr, strings);
	if (!map.parent_vaddr)
		map.parent_vaddr = map.vaddr;
	return map;
}
