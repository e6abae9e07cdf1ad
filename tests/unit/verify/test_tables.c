/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify, seeded with wrong rows: each one must be caught, and nothing else.
 */
#include "binary/cfi/frames.h"
#include "binary/elf/symbols.h"
#include "recipes/analysis.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"
#include "verify/tables.h"

struct scene {
	struct images *images;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
};

static struct scene scene(const char *name)
{
	struct scene s = { .images = images_new() };
	char path[512];
	image_id id;

	snprintf(path, sizeof(path), "%s/%s", RECIPE_DATA, name);
	CHECK_EQ(images_open(s.images, path, &id, NULL), 0);
	s.image = images_get(s.images, id);
	s.symbols = symbols_read(s.image);
	s.frames = frames_read(s.image);
	return s;
}

static void scene_done(struct scene *s)
{
	frames_free(s->frames);
	symbols_free(s->symbols);
	images_free(s->images);
}

/* What is falsified in every n-th requested row. */
enum wrong { WRONG_CFA_OFFSET, WRONG_CFA_REG, WRONG_RA, WRONG_REGISTER, WRONG_N };
struct seed {
	enum wrong wrong;
	unsigned every, n_asked, n_seeded;
	uint8_t other, reg;
};

static uint32_t plant(void *context, uint64_t vaddr, uint32_t stated, struct recipes *recipes)
{
	struct seed *seed = context;
	struct recipe r = recipes->recipes.at[stated];
	struct rule rules[RECIPE_MAX_RULES];

	(void)vaddr;
	if (seed->n_asked++ % seed->every)
		return stated;
	memcpy(rules, recipes->rules.at + r.rules, r.n_rules * sizeof(rules[0]));
	if (seed->wrong == WRONG_CFA_OFFSET)
		r.cfa_offset += 8;
	if (seed->wrong == WRONG_CFA_REG)
		r.cfa_reg = seed->other;
	for (unsigned k = 0; k < r.n_rules; k++)
		if (seed->wrong == WRONG_RA && rules[k].reg == isa_x86_64.ra)
			rules[k].offset -= 8;
	if (seed->wrong == WRONG_REGISTER) {
		r.n_rules = 2;
		rules[1] = rules[r.n_rules - 1];
		rules[0] = (struct rule){ .reg = seed->reg, .kind = RULE_AT_CFA, .offset = -4096 };
		rules[1] = (struct rule){ .reg = isa_x86_64.ra, .kind = RULE_AT_CFA, .offset = -8 };
	}
	seed->n_seeded++;
	return recipes_add(recipes, &r, rules);
}

static void verify_seeded(struct seed *seed, struct verify_result *ret)
{
	struct scene s = scene("x86_64_gcc_O2");
	struct verify_options options = { .max_examples = 1000, .seed = plant, .seed_context = seed };

	verify_recipes(s.image, s.symbols, s.frames, &options, ret);
	scene_done(&s);
}

TEST(verify_agrees_where_nothing_is_seeded)
{
	struct scene s = scene("x86_64_gcc_O2");
	struct verify_options options = { .max_examples = 10 };
	struct verify_result r;

	verify_recipes(s.image, s.symbols, s.frames, &options, &r);
	CHECK(r.instructions > 200);
	CHECK_EQ(r.cfa_ra.agree_form + r.cfa_ra.agree_value, r.instructions);
	CHECK_EQ(r.examples.n, 0);
	CHECK_EQ(r.failed, 0);
	verify_result_done(&r);
	scene_done(&s);
}

TEST(verify_catches_every_wrong_cfa_offset)
{
	struct seed seed = { .wrong = WRONG_CFA_OFFSET, .every = 7 };
	struct verify_result r;

	verify_seeded(&seed, &r);
	CHECK(seed.n_seeded > 20);
	CHECK_EQ(r.cfa_ra.differ, seed.n_seeded);
	verify_result_done(&r);
}

TEST(verify_catches_every_wrong_cfa_register)
{
	struct seed seed = { .wrong = WRONG_CFA_REG, .every = 7, .other = 0 };
	struct verify_result r;

	verify_seeded(&seed, &r);
	CHECK_EQ(r.cfa_ra.differ, seed.n_seeded);
	verify_result_done(&r);
}

TEST(verify_catches_every_wrong_return_address)
{
	struct seed seed = { .wrong = WRONG_RA, .every = 5 };
	struct verify_result r;

	verify_seeded(&seed, &r);
	CHECK_EQ(r.cfa_ra.differ, seed.n_seeded);
	verify_result_done(&r);
}

TEST(verify_catches_a_wrong_location_of_a_register)
{
	struct seed seed = { .wrong = WRONG_REGISTER, .every = 9, .reg = 12 };
	struct verify_result r;

	verify_seeded(&seed, &r);
	CHECK_EQ(r.cfa_ra.differ, 0);
	CHECK_EQ(r.regs[12].differ, seed.n_seeded);
	verify_result_done(&r);
}

/* Recipes are requested lazily. */
TEST(analysis_includes_the_parts_of_a_function)
{
	struct scene s = scene("rules_x86_64");
	struct recipes recipes;
	char text[200];
	uint64_t function = 0, cold = 0;

	recipes_init(&recipes);
	struct analysis *analysis = analysis_new(s.image, s.frames, &recipes);
	for (size_t i = 0; i < s.symbols->n; i++)
		if (strcmp(s.symbols->at[i].name, "hot_cold") == 0)
			cold = s.symbols->at[i].vaddr;
	uint32_t recipe = analysis_recipe(analysis, cold, true, &function);
	CHECK(recipe != RECIPE_NONE);
	CHECK_EQ(function, cold);
	recipe_format(&recipes, recipe, &isa_x86_64, text, sizeof(text));
	CHECK_STR(text, "cfa=rsp+48 rbp=c-16 ra=c-8");
	CHECK_EQ(recipes.recipes.at[recipe].trust, TRUST_PROVEN);
	CHECK_EQ(analysis_recipe(analysis, 0x10, true, &function), RECIPE_NONE);
	analysis_free(analysis);
	recipes_done(&recipes);
	scene_done(&s);
}

TEST(analysis_of_a_stripped_file_needs_no_tables)
{
	static const char *const files[] = { "x86_64_gcc_stripped", "aarch64_gcc_stripped" };

	for (size_t i = 0; i < 2; i++) {
		struct scene s = scene(files[i]);
		struct recipes recipes;
		uint64_t function = 0;

		recipes_init(&recipes);
		struct analysis *analysis = analysis_new(s.image, s.frames, &recipes);
		uint32_t recipe = analysis_recipe(analysis, s.image->entry + 4, true, &function);
		CHECK(recipe != RECIPE_NONE);
		CHECK_EQ(function, s.image->entry);
		analysis_free(analysis);
		recipes_done(&recipes);
		scene_done(&s);
	}
}

TEST(verify_does_not_excuse_a_seeded_row)
{
	struct seed seed = { .wrong = WRONG_CFA_OFFSET, .every = 7 };
	struct verify_result r;

	verify_seeded(&seed, &r);
	CHECK(r.causes[CAUSE_UNKNOWN] > seed.n_seeded / 2);
	CHECK_EQ(r.cfa_ra.set_aside, r.causes[CAUSE_LATE]);
	verify_result_done(&r);
}

TEST(verify_recognises_late_rows)
{
	struct scene s = scene("aarch64_clang_O2");
	struct verify_options options = { .max_examples = 10 };
	struct verify_result r;

	verify_recipes(s.image, s.symbols, s.frames, &options, &r);
	CHECK(r.cfa_ra.differ > 20);
	CHECK_EQ(r.causes[CAUSE_LATE], r.cfa_ra.differ);
	CHECK_EQ(r.cfa_ra.set_aside, r.cfa_ra.differ);
	verify_result_done(&r);
	scene_done(&s);
}

/* Two functions with the same code: the table of the first saves the return address too early, that of the
 * second in a slot where it never is. */
TEST(verify_recognises_early_rows)
{
	static const uint32_t code[] = {
		0xd10083ff, 0x52800020, 0xf90007fe, /* 1000 sub sp, sp, #32; mov w0, #1; str x30, [sp, #8] */
		0xd503201f, 0xf94007fe,             /* 100c nop; ldr x30, [sp, #8] */
		0x910083ff, 0xd65f03c0,             /* 1014 add sp, sp, #32; ret */
		0xd503201f,                         /* 101c nop */
		0xd10083ff, 0x52800020, 0xf90007fe, 0xd503201f, 0xf94007fe, 0x910083ff, 0xd65f03c0,
	};
	struct verify_options options = { .max_examples = 10 };
	struct scene s = { .images = images_new() };
	struct writer eh = { 0 };
	struct verify_result r;

	size_t cie = frame_cie(&eh, "zR", 1, -8, 30, PROGRAM(0x0c, 31, 0));
	frame_fde(&eh, 0x8000, cie, 0x1000, 0x1c, 0,
		  PROGRAM(0x44, 0x0e, 32, 0x9e, 3, 0x54, 0x0e, 0, 0xde)); /* x30 at c-24 from 1004 on */
	frame_fde(&eh, 0x8000, cie, 0x1020, 0x1c, 0,
		  PROGRAM(0x44, 0x0e, 32, 0x9e, 4, 0x54, 0x0e, 0, 0xde)); /* at c-32 */
	write_u32(&eh, 0);
	struct elf_part parts[] = {
		{ ".text", 0x1000, PF_X | PF_R, { (const uint8_t *)code, sizeof(code) }, 0 },
		{ ".eh_frame", 0x8000, PF_R, writer_bytes(&eh), 0 }
	};
	s.image = elf_image(s.images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);
	s.frames = frames_read(s.image);
	verify_recipes(s.image, NULL, s.frames, &options, &r);
	CHECK_EQ(r.instructions, 14);
	CHECK_EQ(r.causes[CAUSE_EARLY], 2);
	CHECK_EQ(r.cfa_ra.set_aside, r.causes[CAUSE_EARLY] + r.causes[CAUSE_LATE]);
	CHECK_EQ(r.cfa_ra.differ, 2 + 5);
	verify_result_done(&r);
	writer_done(&eh);
	scene_done(&s);
}
