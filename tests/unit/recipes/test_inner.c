/* SPDX-License-Identifier: Apache-2.0 */
/* Functions inside code that is covered by a single unwind entry (x86-64). */
#include "recipes/inner.h"

#include <string.h>

#include "recipes/knowledge.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define TABLE 0x10000u
#define SIZE 0x60u
#define INNER 0x20u /* the function inside; it ends with a return at 0x44 */

/* Two callers of it, and nops between all these. */
static void make_code(uint8_t *code)
{
	static const uint8_t early[] = { 0xe8, 0x1b, 0, 0, 0, 0xc3 }; /* 0 call 20; ret */
	static const uint8_t late[] = { 0xe8, 0x0b, 0, 0, 0, 0xc3 };  /* 10 call 20; ret */
	static const uint8_t enter[] = { 0x48, 0x83, 0xec, 0x18 };    /* 20 sub $24, %rsp */
	static const uint8_t leave[] = { 0x48, 0x83, 0xc4, 0x18, 0xc3 };

	memset(code, 0x90, SIZE);
	memcpy(code, early, sizeof(early));
	memcpy(code + 0x10, late, sizeof(late));
	memcpy(code + INNER, enter, sizeof(enter));
	memcpy(code + 0x40, leave, sizeof(leave));
}

/* The entries [0, 60) and [10, 30), which say that there is no frame. */
static struct image *make_image(struct images *images, image_id *ret)
{
	uint8_t code[SIZE];
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	make_code(code);
	frame_fde(&eh, TABLE, cie, TEXT, SIZE, 0, PROGRAM(0));
	frame_fde(&eh, TABLE, cie, TEXT + 0x10, 0x20, 0, PROGRAM(0));
	write_u32(&eh, 0);
	struct elf_part parts[] = { { ".text", TEXT, PF_X | PF_R, { code, SIZE }, 0 },
				    { ".eh_frame", TABLE, PF_R, writer_bytes(&eh), 0 } };
	struct image *image =
		elf_image(images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts), ret);
	writer_done(&eh);
	return image;
}

/* The recipe at a call which ends at this offset. */
static const char *recipe_at(struct knowledge *knowledge, image_id id, uint32_t offset)
{
	static char text[160];
	struct place place;

	knowledge_place(knowledge, id, TEXT + offset, true, &place);
	if (place.recipes.recipe[0] == RECIPE_NONE)
		return "none";
	recipe_format(knowledge_recipes(knowledge), place.recipes.recipe[0], isa_for_machine(EM_X86_64), text,
		      sizeof(text));
	return text;
}

TEST(a_function_inside_two_entries_that_overlap_ends_where_each_of_them_does)
{
	static const uint32_t offsets[][4] = { { 0x28, 0x38, 0x2c, 0x3c }, { 0x38, 0x28, 0x3c, 0x2c } };

	for (size_t order = 0; order < ARRAY_LEN(offsets); order++) {
		struct images *images = images_new();
		image_id id;

		make_image(images, &id);
		struct knowledge *knowledge =
			knowledge_new(images, isa_for_machine(EM_X86_64), UNWIND_AUTO, NULL);
		for (size_t i = 0; i < ARRAY_LEN(offsets[0]); i++)
			CHECK_STR(recipe_at(knowledge, id, offsets[order][i]), "cfa=rsp+32 ra=c-8");
		CHECK_STR(recipe_at(knowledge, id, 0x15), "cfa=rsp+8 ra=c-8"); /* before it */
		knowledge_free(knowledge);
		images_free(images);
	}
}

TEST(code_is_searched_for_inner_functions_only_as_long_as_it_may_be_decoded)
{
	struct images *images = images_new();
	struct image *image = make_image(images, NULL);
	const struct isa *isa = isa_for_machine(EM_X86_64);
	uint64_t left = 2 * SIZE;

	CHECK(inner_is_there(isa, image, TEXT, SIZE, &left));
	CHECK(left < SIZE && left > 0);
	CHECK(!inner_is_there(isa, image, TEXT, SIZE, &left));
	CHECK(inner_is_there(isa, image, TEXT + 0x10, 0x20, &left)); /* a smaller one still is */
	images_free(images);
}
