/* SPDX-License-Identifier: Apache-2.0 */
/* Where functions start inside others: called, or taken and with a frame. */
#include "binary/functions/function.h"
#include "tests/elf_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define WORDS 256u /* of code; more than the evidence in one word of a bitmap */
#define SUB_SP 0xd10043ffu
#define RET 0xd65f03c0u

static uint32_t call_of(unsigned from, unsigned to)
{
	return 0x94000000u | ((to - from) & 0x3ffffff);
}

static uint32_t address_of(unsigned from, unsigned to)
{
	return 0x10000001u | ((to - from) & 0x7ffff) << 5; /* adr x1 */
}

static uint64_t at(unsigned word)
{
	return TEXT + word * 4;
}

struct scene {
	struct images *images;
	struct functions *functions;
};

/* Words 8 and 200 are called. 100 and 101 are taken; only the second creates a frame. */
static void scene_make(struct scene *s)
{
	uint32_t code[WORDS];
	struct elf_part text = { ".text", TEXT, PF_X | PF_R, { (const uint8_t *)code, sizeof(code) }, 0 };

	for (size_t i = 0; i < WORDS; i++)
		code[i] = RET;
	code[0] = call_of(0, 8);
	code[1] = call_of(1, 200);
	code[2] = address_of(2, 100);
	code[3] = address_of(3, 101);
	code[101] = SUB_SP;
	s->images = images_new();
	struct image *image =
		elf_image(s->images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, &text, 1, NULL);
	s->functions = functions_new(image, NULL, NULL, NULL);
}

static void scene_done(struct scene *s)
{
	functions_free(s->functions);
	images_free(s->images);
}

TEST(functions_start_inside_others_where_they_are_called_or_taken_and_make_a_frame)
{
	struct scene s;

	scene_make(&s);
	CHECK_EQ(functions_first_inner(s.functions, at(0), at(WORDS)), UINT64_MAX); /* no evidence yet */
	functions_look_around(s.functions, at(0));
	for (unsigned round = 0; round < 2; round++) { /* what was found out is remembered */
		CHECK_EQ(functions_first_inner(s.functions, at(0), at(WORDS)), at(8));
		CHECK_EQ(functions_first_inner(s.functions, at(9), at(WORDS)), at(101));
		CHECK_EQ(functions_first_inner(s.functions, at(102), UINT64_MAX), at(200));
		CHECK_EQ(functions_first_inner(s.functions, at(201), at(WORDS)), UINT64_MAX);
		CHECK_EQ(functions_last_inner(s.functions, 0, at(WORDS) + 100), at(200));
		CHECK_EQ(functions_last_inner(s.functions, at(0), at(200)), at(101));
		CHECK_EQ(functions_last_inner(s.functions, at(0), at(101)), at(8));
		CHECK_EQ(functions_last_inner(s.functions, at(0), at(8)), UINT64_MAX);
	}
	scene_done(&s);
}

TEST(functions_inside_others_are_searched_only_between_the_two_addresses)
{
	struct scene s;

	scene_make(&s);
	functions_look_around(s.functions, at(0));
	CHECK_EQ(functions_first_inner(s.functions, at(8), at(9)), at(8));
	CHECK_EQ(functions_last_inner(s.functions, at(8), at(9)), at(8));
	CHECK_EQ(functions_first_inner(s.functions, at(8) + 1, at(101)), UINT64_MAX);
	CHECK_EQ(functions_last_inner(s.functions, at(8) + 1, at(101)), UINT64_MAX);
	CHECK_EQ(functions_last_inner(s.functions, at(0), at(8) + 1), at(8));
	CHECK_EQ(functions_first_inner(s.functions, at(8), at(8)), UINT64_MAX);
	CHECK_EQ(functions_last_inner(s.functions, at(9), at(8)), UINT64_MAX);
	scene_done(&s);
}
