/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/files/unpacked_store.h"

#include <string.h>

#include "tests/elf_maker.h"
#include "tests/store_maker.h"
#include "tests/test.h"

#define SIZE (200u << 10)

/* A file with a section that is worth storing and one that is not; `seed` makes different files. */
static struct image *make_file(struct images *images, uint8_t seed)
{
	static uint8_t plain[SIZE];
	struct writer large = { 0 }, small = { 0 };

	for (size_t i = 0; i < SIZE; i++)
		plain[i] = (uint8_t)((i * i >> 7) + seed);
	elf_pack(&large, (struct bytes){ plain, SIZE }, SIZE);
	elf_pack(&small, (struct bytes){ plain, 100 }, 100);
	struct elf_part parts[] = { { ".zdebug_info", 0, 0, writer_bytes(&large), 0 },
				    { ".zdebug_str", 0, 0, writer_bytes(&small), 0 },
				    { ".debug_line", 0, 0, { plain, SIZE }, 0 } };
	struct image *image = elf_image(images, seed ? "other" : "file", EM_AARCH64, 0, ELF_WITH_SECTIONS,
					parts, ARRAY_LEN(parts), NULL);
	writer_done(&large);
	writer_done(&small);
	return image;
}

TEST(unpacked_store_returns_sections_only_for_the_same_file)
{
	char path[] = STORE_PATH;
	struct images *first = images_new(), *second = images_new();
	struct image *writer = make_file(first, 0), *reader = make_file(second, 0),
		     *other = make_file(second, 1);
	struct store *store = store_make(path);
	CHECK(!unpacked_store_recall(store, reader, image_section(reader, ".zdebug_info")));
	for (size_t i = 0; i < writer->n_sections; i++)
		unpacked_store_keep(store, writer, &writer->sections[i]);
	CHECK(unpacked_store_recall(store, reader, image_section(reader, ".zdebug_info")));
	CHECK(!unpacked_store_recall(store, reader, image_section(reader, ".zdebug_str")));
	CHECK(!unpacked_store_recall(store, reader, image_section(reader, ".debug_line")));
	CHECK(!unpacked_store_recall(store, other, image_section(other, ".zdebug_info")));
	struct bytes recalled = image_named_bytes(reader, ".zdebug_info"),
		     unpacked = image_named_bytes(writer, ".zdebug_info");
	CHECK_EQ(recalled.len, SIZE);
	CHECK(recalled.len == unpacked.len && memcmp(recalled.at, unpacked.at, SIZE) == 0);
	images_free(second);
	images_free(first);
	store_remove(store, path);
}

TEST(unpacked_store_does_nothing_without_a_store)
{
	struct images *images = images_new();
	struct image *file = make_file(images, 0);

	unpacked_store_keep(NULL, file, image_section(file, ".zdebug_info"));
	CHECK(!unpacked_store_recall(NULL, file, image_section(file, ".zdebug_info")));
	CHECK_EQ(image_named_bytes(file, ".zdebug_info").len, SIZE);
	images_free(images);
}
