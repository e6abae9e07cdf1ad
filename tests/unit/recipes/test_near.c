/* SPDX-License-Identifier: Apache-2.0 */
/* Code without tables and symbols that is too large to be searched completely (x86-64, 65 MB). */
#include "recipes/knowledge.h"

#include <stdlib.h>
#include <string.h>

#include "tests/elf_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define SIZE (65u << 20)
#define FIRST (40u << 20) /* offset of the functions */

/* Traps; a function with a frame of 0x28 bytes, rbx saved; traps; one without a frame that calls the first.
 */
static const uint8_t functions[] = {
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	0xcc, 0x53,             /* +16 push %rbx */
	0x48, 0x83, 0xec, 0x20, /* +17 sub $0x20, %rsp */
	0x48, 0x89, 0xfb,       /* +21 mov %rdi, %rbx */
	0xff, 0xd6,             /* +24 call *%rsi */
	0x48, 0x01, 0xd8,       /* +26 add %rbx, %rax */
	0x48, 0x83, 0xc4, 0x20, /* +29 add $0x20, %rsp */
	0x5b,                   /* +33 pop %rbx */
	0xc3,                   /* +34 ret */
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x50, /* +48 push %rax
											     */
	0xe8, 0xda, 0xff, 0xff, 0xff,                                                       /* +49 call +16 */
	0x59,                                                                               /* +54 pop %rcx */
	0xc3,                                                                               /* +55 ret */
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
};

static const char *near_recipe(struct knowledge *knowledge, image_id id, uint32_t at, bool is_return,
			       uint64_t *ret_function)
{
	static char text[160];
	struct place place;

	knowledge_place(knowledge, id, TEXT + FIRST + at, is_return, &place);
	*ret_function = place.function - TEXT - FIRST;
	if (place.recipes.recipe[0] == RECIPE_NONE)
		return "none";
	recipe_format(knowledge_recipes(knowledge), place.recipes.recipe[0], isa_for_machine(EM_X86_64), text,
		      sizeof(text));
	return text;
}

TEST(functions_are_found_near_an_address_in_code_of_any_size)
{
	uint8_t *code = calloc(1, SIZE);
	struct elf_part text = { ".text", TEXT, PF_X | PF_R, { code, SIZE }, 0 };
	struct images *images = images_new();
	uint64_t function;
	image_id id;

	memset(code, 0xcc, SIZE);
	memcpy(code + FIRST, functions, sizeof(functions));
	elf_image(images, "program", EM_X86_64, 0, ELF_WITHOUT_SECTIONS, &text, 1, &id);
	free(code);
	struct knowledge *knowledge = knowledge_new(images, isa_for_machine(EM_X86_64), UNWIND_AUTO, NULL);
	/* A return address, an address after the frame's end, and another function. */
	CHECK_STR(near_recipe(knowledge, id, 26, true, &function), "cfa=rsp+48 rbx=c-16 ra=c-8");
	CHECK_EQ(function, 16);
	CHECK_STR(near_recipe(knowledge, id, 34, false, &function), "cfa=rsp+8 ra=c-8");
	CHECK_STR(near_recipe(knowledge, id, 54, true, &function), "cfa=rsp+16 ra=c-8");
	CHECK_EQ(function, 48);
	knowledge_free(knowledge);
	images_free(images);
}
