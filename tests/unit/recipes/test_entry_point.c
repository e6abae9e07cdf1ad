/* SPDX-License-Identifier: Apache-2.0 */
/* Only the entry point is outermost, not the functions after it. */
#include "binary/cfi/entry_point.h"

#include <elf.h>

#include "binary/cfi/frames.h"
#include "binary/isa/isa.h"
#include "recipes/knowledge.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define EH 0x2000u

/* _start passes the address of __wrap_main, which calls main, to a function, and then calls one that does
 * not return. */
struct program {
	uint16_t machine;
	uint8_t ra, sp;
	uint32_t wrap, entry_size; /* the unwind entry covers both _start and __wrap_main */
	uint32_t others[3];        /* functions after it */
	struct bytes code;
};

static const struct program programs[] = {
	{ .machine = EM_AARCH64,
	  .ra = 30,
	  .sp = 31,
	  .wrap = 0x1c,
	  .entry_size = 0x24,
	  .others = { 0x28, 0x30, 0x38 },
	  .code = PROGRAM(0x1d, 0, 0x80, 0xd2,       /* mov x29, #0 */
			  0x1e, 0, 0x80, 0xd2,       /* mov x30, #0 */
			  0, 0, 0, 0x90,             /* adrp x0, the page */
			  0, 0x70, 0, 0x91,          /* add x0, x0, #0x1c */
			  6, 0, 0, 0x94,             /* bl .+0x18 */
			  7, 0, 0, 0x94,             /* bl .+0x1c */
			  0x1f, 0x20, 0x03, 0xd5,    /* nop */
			  0x1f, 0x20, 0x03, 0xd5,    /* __wrap_main: nop */
			  6, 0, 0, 0x14,             /* b main */
			  0x1f, 0x20, 0x03, 0xd5,    /* nop */
			  0, 0, 0x1f, 0xd6,          /* br x0 */
			  0x1f, 0x20, 0x03, 0xd5,    /* nop */
			  0, 0, 0x20, 0xd4,          /* brk #0 */
			  0x1f, 0x20, 0x03, 0xd5,    /* nop */
			  0xc0, 0x03, 0x5f, 0xd6) }, /* main: ret */
	{ .machine = EM_X86_64,
	  .ra = 16,
	  .sp = 7,
	  .wrap = 0x10,
	  .entry_size = 0x12,
	  .others = { 0x18, 0x20, 0x20 },
	  .code = PROGRAM(0x31, 0xed,                         /* xor %ebp, %ebp */
			  0x48, 0x8d, 0x3d, 7, 0, 0, 0,       /* lea 7(%rip), %rdi */
			  0xe8, 10, 0, 0, 0,                  /* call .+15 */
			  0xf4, 0x90,                         /* hlt; nop */
			  0xeb, 0x0e,                         /* __wrap_main: jmp main */
			  0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* nops */
			  0xff, 0xe7,                         /* jmp *%rdi */
			  0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* nops */
			  0xc3) },                            /* main: ret */
};

static struct image *program_image(const struct program *p, bool has_table, struct images *images,
				   image_id *ret)
{
	struct writer eh = { 0 };

	if (has_table) {
		size_t cie = frame_cie(&eh, "zR", 1, -8, p->ra, PROGRAM(0x0c, p->sp, 0));
		frame_fde(&eh, EH, cie, TEXT, p->entry_size, 0, PROGRAM(0x07, p->ra)); /* undefined */
	}
	struct elf_part parts[] = { { ".text", TEXT, PF_R | PF_X, p->code, 0 },
				    { ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 } };
	struct image *image = elf_image(images, "program", p->machine, TEXT, ELF_WITH_SECTIONS, parts,
					has_table ? 2 : 1, ret);
	writer_done(&eh);
	return image;
}

static bool is_outermost(struct knowledge *knowledge, const struct isa *isa, image_id id, uint64_t vaddr)
{
	const struct recipes *recipes = knowledge_recipes(knowledge);
	struct place place;

	knowledge_place(knowledge, id, vaddr, false, &place);
	uint32_t recipe = place.recipes.recipe[0];
	const struct rule *ra =
		recipe == RECIPE_NONE ? NULL : recipe_rule(recipes, &recipes->recipes.at[recipe], isa->ra);
	return place.is_root || (ra && ra->kind == RULE_UNDEFINED);
}

static void check_roots(const struct program *p, bool has_table, enum unwind_mode mode)
{
	struct images *images = images_new();
	const struct isa *isa = isa_for_machine(p->machine);
	image_id id;

	CHECK(program_image(p, has_table, images, &id));
	struct knowledge *knowledge = knowledge_new(images, isa, mode, NULL);
	CHECK(is_outermost(knowledge, isa, id, TEXT));
	CHECK(!is_outermost(knowledge, isa, id, TEXT + p->wrap));
	for (size_t i = 0; i < ARRAY_LEN(p->others); i++)
		CHECK(!is_outermost(knowledge, isa, id, TEXT + p->others[i]));
	knowledge_free(knowledge);
	images_free(images);
}

TEST(entry_point_alone_is_outermost)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		for (unsigned has_table = 0; has_table < 2; has_table++) {
			check_roots(&programs[i], has_table, UNWIND_AUTO);
			check_roots(&programs[i], has_table, UNWIND_ANALYSIS);
		}
}

TEST(entry_point_s_unwind_entry_ends_where_its_code_does)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		struct images *images = images_new();
		struct frames *frames = frames_read(program_image(&programs[i], true, images, NULL));
		struct fde fde;

		CHECK_EQ(frames_find(frames, TEXT, &fde), 0);
		CHECK_EQ(fde.size, programs[i].wrap);
		CHECK(frames_find(frames, TEXT + programs[i].wrap, &fde) < 0);
		frames_free(frames);
		images_free(images);
	}
}

/* adr refers to code that control falls or jumps into: a label. */
TEST(entry_point_labels_are_not_functions)
{
	const struct {
		struct bytes code;
		uint64_t end;
	} cases[] = {
		/* adr x1, .+8; mov x0, #0; ret */
		{ PROGRAM(0x41, 0, 0, 0x10, 0, 0, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6), 12 },
		/* adr x1, .+8; ret; ret */
		{ PROGRAM(0x41, 0, 0, 0x10, 0xc0, 0x03, 0x5f, 0xd6, 0xc0, 0x03, 0x5f, 0xd6), 8 },
		/* adr x1, .+12; cbz x0, .+8; ret; ret */
		{ PROGRAM(0x61, 0, 0, 0x10, 0x40, 0, 0, 0xb4, 0xc0, 0x03, 0x5f, 0xd6, 0xc0, 0x03, 0x5f, 0xd6),
		  16 },
		/* adr x30, .+8; br x1; ret: a call made by hand */
		{ PROGRAM(0x5e, 0, 0, 0x10, 0x20, 0, 0x1f, 0xd6, 0xc0, 0x03, 0x5f, 0xd6), 12 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct images *images = images_new();
		struct elf_part part = { ".text", TEXT, PF_R | PF_X, cases[i].code, 0 };
		struct image *image =
			elf_image(images, "labels", EM_AARCH64, TEXT, ELF_WITHOUT_SECTIONS, &part, 1, NULL);
		CHECK_EQ(entry_point_end(image, TEXT + cases[i].code.len), TEXT + cases[i].end);
		images_free(images);
	}
}
