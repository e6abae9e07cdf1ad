/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreters in assembly whose pieces are only reached by computed jumps, such as LuaJIT's (x86-64): what
 * the code alone reveals about their frames.
 */
#include <string.h>

#include "recipes/analysis.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define N_PIECES 60

struct scene {
	struct images *images;
	struct frames *frames;
	struct recipes recipes;
	struct analysis *analysis;
};

/* A single unwind entry for the whole code. */
static void scene_make(struct scene *s, struct bytes code)
{
	uint64_t eh_vaddr = 0x8000;
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 80));

	frame_fde(&eh, eh_vaddr, cie, TEXT, (uint32_t)code.len, 0, PROGRAM(0));
	write_u32(&eh, 0);
	struct elf_part parts[] = { { ".text", TEXT, PF_X | PF_R, code, 0 },
				    { ".eh_frame", eh_vaddr, PF_R, writer_bytes(&eh), 0 } };
	*s = (struct scene){ .images = images_new() };
	struct image *image = elf_image(s->images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, parts,
					ARRAY_LEN(parts), NULL);
	writer_done(&eh);
	recipes_init(&s->recipes);
	s->frames = frames_read(image);
	s->analysis = analysis_new(image, s->frames, &s->recipes);
	CHECK(s->analysis != NULL);
}

static void scene_done(struct scene *s)
{
	analysis_free(s->analysis);
	frames_free(s->frames);
	recipes_done(&s->recipes);
	images_free(s->images);
}

static const char *recipe_at(struct scene *s, uint64_t vaddr)
{
	static char text[160];
	uint64_t function;
	uint32_t recipe = analysis_recipe(s->analysis, vaddr, true, &function);

	if (recipe == RECIPE_NONE)
		return "none";
	recipe_format(&s->recipes, recipe, isa_for_machine(EM_X86_64), text, sizeof(text));
	return text;
}

#define CODE(w, ...) \
	elf_write((w), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))
#define NEXT                                                  \
	0x8b, 0x03, 0x48, 0x83, 0xc3, 0x04, 0x41, 0xff, 0x24, \
		0xee /* mov (%rbx), %eax; add $4, %rbx; jmp *(%r14,%rbp,8) */

struct interpreter {
	struct writer code;
	uint64_t piece, prologue, ret, leaf, exit, other;
};

/* First the pieces; then the prologue, which is the only entry, a leaf function, and the code that compiled
 * code returns to. */
static void interpreter_make(struct interpreter *it, uint8_t frame, uint8_t release)
{
	struct writer *w = &it->code;

	*it = (struct interpreter){ .piece = TEXT + 10 };
	for (unsigned i = 0; i < N_PIECES; i++)
		CODE(w, NEXT);
	it->prologue = TEXT + w->len;
	CODE(w, 0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x48, 0x83, 0xec,
	     frame);                   /* push rbp, rbx, r15, r14; sub rsp */
	CODE(w, 0x85, 0xc0, 0x74, 10); /* test %eax, %eax; je 1f */
	CODE(w, NEXT);
	CODE(w, 0x48, 0x83, 0xc4, release, 0x41, 0x5e, 0x41, 0x5f, 0x5b, 0x5d); /* 1: add rsp; pop all */
	it->ret = TEXT + w->len;
	CODE(w, 0xc3);
	it->leaf = TEXT + w->len;
	CODE(w, 0x31, 0xc0, 0xc3); /* xor %eax, %eax; ret */
	it->exit = TEXT + w->len;
	CODE(w, 0x41, 0x55, 0x48, 0x89, 0xcc); /* push %r13; mov %rcx, %rsp */
	CODE(w, NEXT);
	it->other = TEXT + w->len;
	CODE(w, 0x48, 0x83, 0xc4, 0x10); /* add $16, %rsp */
	CODE(w, NEXT);
}

TEST(threaded_pieces_have_the_frame_of_the_prologue)
{
	static const char *const frame = "cfa=rsp+80 rbx=c-24 rbp=c-16 r14=c-40 r15=c-32 ra=c-8";
	struct interpreter it;
	struct scene s;

	interpreter_make(&it, 0x28, 0x28);
	scene_make(&s, writer_bytes(&it.code));
	CHECK_STR(recipe_at(&s, TEXT), frame);
	CHECK_STR(recipe_at(&s, it.piece), frame);
	CHECK_STR(recipe_at(&s, it.prologue - 1), frame);
	CHECK_STR(recipe_at(&s, it.prologue), "cfa=rsp+8 ra=c-8");
	CHECK_STR(recipe_at(&s, it.prologue + 1), "cfa=rsp+16 rbp=c-16 ra=c-8");
	CHECK_STR(recipe_at(&s, it.ret), "cfa=rsp+8 ra=c-8");
	/* A function between the pieces; code that sets sp; code with more data on the stack. */
	CHECK_STR(recipe_at(&s, it.leaf), "cfa=rsp+8 ra=c-8");
	CHECK_STR(recipe_at(&s, it.exit), "none");
	CHECK_STR(recipe_at(&s, it.exit + 2), "none");
	CHECK_STR(recipe_at(&s, it.other), "cfa=rsp+96 rbx=c-24 rbp=c-16 r14=c-40 r15=c-32 ra=c-8");
	scene_done(&s);
	writer_done(&it.code);
}

TEST(threaded_prologue_without_a_matching_return_is_not_an_entry)
{
	struct interpreter it;
	struct scene s;

	interpreter_make(&it, 0x28, 0x20);
	scene_make(&s, writer_bytes(&it.code));
	CHECK_STR(recipe_at(&s, TEXT), "none");
	scene_done(&s);
	writer_done(&it.code);
}
