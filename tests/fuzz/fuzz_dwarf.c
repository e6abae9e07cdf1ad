/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_dwarf: debug sections of an image with 4 KiB of code. Every unit is queried for every address, and the
 * results must be as function_map.h promises.
 *
 * input: any number of (u8 section, u32 length, bytes); section is an enum dwarf_section, + 64 for the
 * split half of the units, + 128 for the dwz file
 */
#include <stdlib.h>

#include "symbolize/dwarf/unit_index.h"
#include "symbolize/unit_maps.h"
#include "tests/elf_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_START 0x1000
#define TEXT_SIZE 4096
#define STEP 16
#define MAX_UNITS 8

static volatile uint64_t sink;

static void read_sections(struct bytes input, struct dwarf *main, struct dwarf *split, struct dwarf *alt)
{
	struct reader r = reader_of(input);

	while (reader_left(&r) > 0) {
		uint8_t id = read_u8(&r);
		uint32_t len = read_u32(&r);
		struct dwarf *to = id & 128 ? alt : id & 64 ? split : main;
		struct bytes bytes = read_bytes(&r, len < reader_left(&r) ? len : reader_left(&r));
		to->section[(id & 63) % DWARF_SECTION_N] = bytes;
	}
}

static void use_text(const struct intern *strings, uint32_t id)
{
	if (id >= strings->strings.n)
		abort();
	sink += (uint8_t)strings->strings.at[id][0];
}

static void check_map(const struct function_map *map, const struct intern *strings)
{
	struct location chain[LOCATION_MAX_DEPTH];

	if (map->size == 0 || map->vaddr + map->size <= map->vaddr || map->name == 0)
		abort();
	use_text(strings, map->name);
	use_text(strings, map->linkage);
	use_text(strings, map->scope);
	for (size_t i = 0; i < map->lines.n; i++) {
		if (map->lines.at[i].offset >= map->size ||
		    (i && map->lines.at[i].offset <= map->lines.at[i - 1].offset))
			abort();
		use_text(strings, map->lines.at[i].file);
	}
	for (size_t i = 0; i < map->inlines.n; i++)
		if (map->inlines.at[i].parent != INLINE_NONE && map->inlines.at[i].parent >= i)
			abort();
	for (size_t i = 0; i < map->ranges.n; i++) {
		const struct inline_range *range = &map->ranges.at[i];
		if (range->start >= range->end || range->end > map->size || range->call >= map->inlines.n ||
		    (i && range->start < map->ranges.at[i - 1].end))
			abort();
	}
	for (uint32_t at = 0; at < map->size && at < TEXT_SIZE; at += STEP) {
		size_t n = function_map_locate(map, at, chain, LOCATION_MAX_DEPTH);
		for (size_t i = 0; i < n; i++) {
			use_text(strings, chain[i].function);
			use_text(strings, chain[i].file);
		}
	}
}

static const struct unit *split_of(struct dwarf *split, const struct unit *skeleton)
{
	if (!skeleton->split_name || !split->section[DWARF_INFO].len)
		return NULL;
	vec_clear(&split->units);
	dwarf_index(split, skeleton);
	return split->units.n ? &split->units.at[0] : NULL;
}

static void read_units(struct dwarf *main, struct dwarf *split, struct naming *naming)
{
	struct dwarf_cache cache;
	uint64_t vaddrs[TEXT_SIZE / STEP];

	for (size_t i = 0; i < ARRAY_LEN(vaddrs); i++)
		vaddrs[i] = TEXT_START + i * STEP;
	dwarf_cache_init(&cache, true);
	for (size_t i = 0; i < main->units.n && i < MAX_UNITS; i++) {
		function_maps maps = { 0 };
		struct unit_hits hits = { .unit = &main->units.at[i],
					  .vaddrs = vaddrs,
					  .n = ARRAY_LEN(vaddrs),
					  .is_guess = i % 2 };
		hits.split = split_of(split, hits.unit);
		unit_maps(&cache, naming, &hits, &maps);
		for (size_t k = 0; k < maps.n; k++) {
			check_map(&maps.at[k], &cache.strings);
			if (k && maps.at[k].vaddr < maps.at[k - 1].vaddr + maps.at[k - 1].size)
				abort();
		}
		function_maps_done(&maps);
	}
	dwarf_cache_done(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t text[TEXT_SIZE];
	struct elf_part parts[] = { { ".text", TEXT_START, PF_R | PF_X, { text, sizeof(text) }, 0 } };
	struct dwarf main = { .id = 1 }, split = { .id = 2 }, alt = { .id = 3 };
	struct unit_index index = { 0 };
	uint32_t found[UNIT_INDEX_MAX];
	struct images *images = images_new();
	struct image *image =
		elf_image(images, "fuzz", EM_AARCH64, 0, ELF_WITHOUT_SECTIONS, parts, ARRAY_LEN(parts), NULL);
	struct naming *naming = naming_new(&(struct naming_options){ .image = image, .demangles = true });

	read_sections((struct bytes){ data, size }, &main, &split, &alt);
	main.alt = alt.section[DWARF_INFO].len ? &alt : NULL;
	split.alt = main.alt;
	dwarf_index(&alt, NULL);
	dwarf_index(&main, NULL);
	unit_index_build(&index, &main, image);
	for (uint64_t vaddr = TEXT_START; vaddr < TEXT_START + TEXT_SIZE; vaddr += 64)
		for (size_t n = unit_index_find(&index, vaddr, found); n > 0; n--)
			if (found[n - 1] >= main.units.n)
				abort();
	read_units(&main, &split, naming);
	unit_index_done(&index);
	dwarf_done(&main);
	dwarf_done(&split);
	dwarf_done(&alt);
	naming_free(naming);
	images_free(images);
	return 0;
}
