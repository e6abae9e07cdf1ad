/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of an image as a witness, on small programs, most of them AArch64, that have neither
 * symbols nor unwind entries.
 */
#include "recipes/analysis.h"

#include <string.h>

#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u

struct scene {
	struct images *images;
	struct frames *frames; /* NULL = none */
	struct recipes recipes;
	struct analysis *analysis;
	uint16_t machine;
};

static void scene_make_of(struct scene *s, uint16_t machine, struct bytes code, uint64_t entry)
{
	struct elf_part text = { ".text", TEXT, PF_X | PF_R, code, 0 };
	*s = (struct scene){ .images = images_new(), .machine = machine };
	struct image *image =
		elf_image(s->images, "program", machine, entry, ELF_WITHOUT_SECTIONS, &text, 1, NULL);

	recipes_init(&s->recipes);
	s->analysis = analysis_new(image, NULL, &s->recipes);
	CHECK(s->analysis != NULL);
}

static void scene_make(struct scene *s, const uint32_t *words, size_t n, uint64_t entry)
{
	scene_make_of(s, EM_AARCH64, (struct bytes){ (const uint8_t *)words, n * 4 }, entry);
}

/* The same with unwind entries that state where two functions are, and nothing else. */
static void scene_make_stated(struct scene *s, const uint32_t *words, size_t n, uint64_t first,
			      uint64_t second)
{
	uint64_t eh_vaddr = 0x8000, end = TEXT + n * 4;
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zR", 1, -8, 30, PROGRAM(0x0c, 31, 0));

	frame_fde(&eh, eh_vaddr, cie, first, (uint32_t)(second - first), 0, PROGRAM(0));
	frame_fde(&eh, eh_vaddr, cie, second, (uint32_t)(end - second), 0, PROGRAM(0));
	write_u32(&eh, 0);
	struct elf_part parts[] = { { ".text", TEXT, PF_X | PF_R, { (const uint8_t *)words, n * 4 }, 0 },
				    { ".eh_frame", eh_vaddr, PF_R, writer_bytes(&eh), 0 } };
	*s = (struct scene){ .images = images_new(), .machine = EM_AARCH64 };
	struct image *image =
		elf_image(s->images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);
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

/* What is known at vaddr, as text; *ret_function as analysis_recipe leaves it. */
static const char *recipe_at(struct scene *s, uint64_t vaddr, uint64_t *ret_function)
{
	static char text[160];
	uint32_t recipe = analysis_recipe(s->analysis, vaddr, true, ret_function);

	if (recipe == RECIPE_NONE)
		return "none";
	recipe_format(&s->recipes, recipe, isa_for_machine(s->machine), text, sizeof(text));
	return text;
}

TEST(analysis_recognises_a_tail_shared_by_functions)
{
	static const uint32_t words[] = {
		0xaa1e03ef, /* 1000 mov x15, x30 */
		0xd10803ff, /* 1004 sub sp, sp, #512 */
		0xd63f0120, /* 1008 blr x9: no function starts by reading x9 */
		0x910803ff, /* 100c add sp, sp, #512 */
		0xd65f01e0, /* 1010 ret x15 */
		0x100000e9, /* 1014 the function: adr x9, 1030 */
		0x17fffffa, /* 1018 b 1000 */
		0xa9bf7bfd, /* 101c the entry: stp x29, x30, [sp, #-16]! */
		0x97fffffd, /* 1020 bl 1014 */
		0xa8c17bfd, /* 1024 ldp x29, x30, [sp], #16 */
		0xd65f03c0, /* 1028 ret */
		0xd503201f, /* 102c nop */
		0xd65f03c0, /* 1030 ret */
	};
	uint64_t function = 0;
	struct scene s;

	scene_make(&s, words, ARRAY_LEN(words), 0x101c);
	CHECK_STR(recipe_at(&s, 0x100c, &function), "cfa=sp+512 ra=x15");
	CHECK_EQ(function, 0x1000);
	scene_done(&s);
}

TEST(analysis_follows_an_instruction_that_the_linker_moved)
{
	static const uint32_t words[] = {
		0xa9be7bfd, /* 1000 the entry: stp x29, x30, [sp, #-32]! */
		0x94000005, /* 1004 bl 1018 */
		0x1400000b, /* 1008 b 1034 */
		0xa8c27bfd, /* 100c ldp x29, x30, [sp], #32 */
		0xd65f03c0, /* 1010 ret */
		0xd503201f, /* 1014 nop */
		0xa9bf7bfd, /* 1018 called: stp x29, x30, [sp, #-16]! */
		0x94000003, /* 101c bl 1028 */
		0xa8c17bfd, /* 1020 ldp x29, x30, [sp], #16 */
		0xd65f03c0, /* 1024 ret */
		0xb4000060, /* 1028 called: cbz x0, 1034, in the cold part */
		0x91000400, /* 102c add x0, x0, #1 */
		0xd65f03c0, /* 1030 ret */
		0xf9400001, /* 1034 cold part of the entry: ldr x1, [x0] */
		0x17fffff5, /* 1038 b 100c */
	};
	uint64_t function = 0;
	struct scene s;

	scene_make(&s, words, ARRAY_LEN(words), 0x1000);
	CHECK_STR(recipe_at(&s, 0x100c, &function), "cfa=sp+32 x29=c-32 ra=c-24");
	CHECK_EQ(function, 0x1000);
	scene_done(&s);
}

TEST(analysis_treats_a_call_that_never_returns_as_an_end)
{
	static const uint32_t words[] = {
		0xb4000080, /* 1000 cbz x0, 1010 */
		0xa9be7bfd, /* 1004 stp x29, x30, [sp, #-32]! */
		0x94000003, /* 1008 bl 1014 */
		0x910043ff, /* 100c add sp, sp, #16: unreachable */
		0xd65f03c0, /* 1010 ret */
		0x94000001, /* 1014 called: bl 1018 */
		0x14000000, /* 1018 b 1018 */
	};
	struct scene s;
	uint64_t function = 0;

	scene_make_stated(&s, words, ARRAY_LEN(words), 0x1000, 0x1014);
	CHECK_STR(recipe_at(&s, 0x1010, &function), "cfa=sp+0 ra=same");
	scene_done(&s);
}

TEST(analysis_uses_fp_where_only_one_path_allocated_an_array)
{
	static const uint32_t words[] = {
		0xa9be7bfd, /* 1000 the entry: stp x29, x30, [sp, #-32]! */
		0x910003fd, /* 1004 mov x29, sp */
		0xd10043ff, /* 1008 sub sp, sp, #16 */
		0xb4000060, /* 100c cbz x0, 1018 */
		0xcb2063ff, /* 1010 sub sp, sp, x0 */
		0x94000005, /* 1014 bl 1028 */
		0x94000004, /* 1018 bl 1028 */
		0x910003bf, /* 101c mov sp, x29 */
		0xa8c27bfd, /* 1020 ldp x29, x30, [sp], #32 */
		0xd65f03c0, /* 1024 ret */
		0xd65f03c0, /* 1028 called: ret */
	};
	struct scene s;
	uint64_t function = 0;

	scene_make(&s, words, ARRAY_LEN(words), 0x1000);
	CHECK_STR(recipe_at(&s, 0x1018, &function), "cfa=x29+32 x29=c-32 ra=c-24");
	scene_done(&s);
}

TEST(analysis_finds_the_caller_where_pushed_arguments_hide_the_cfa)
{
	static const uint32_t words[] = {
		0xb4000060, /* 1000 the entry: cbz x0, 100c */
		0xcb206fff, /* 1004 sub sp, sp, x0, lsl #3 */
		0xd2800013, /* 1008 mov x19, #0 */
		0xf9400022, /* 100c ldr x2, [x1] */
		0xd61f0040, /* 1010 br x2 */
	};
	struct scene s;
	uint64_t function = 0;

	scene_make(&s, words, ARRAY_LEN(words), 0x1000);
	CHECK_STR(recipe_at(&s, 0x1004, &function), "cfa=sp+0 ra=same");
	CHECK_STR(recipe_at(&s, 0x100c, &function), "cfa=sp+0 x19=undefined ra=same sp=undefined");
	CHECK_STR(recipe_at(&s, 0x1010, &function), "cfa=sp+0 x19=undefined ra=same sp=undefined");
	scene_done(&s);
}

TEST(analysis_does_not_mistake_a_popped_argument_for_the_return_address)
{
	static const uint32_t words[] = {
		0xa9bf7bfd, /* 1000 the entry: stp x29, x30, [sp, #-16]! */
		0x910003fd, /* 1004 mov x29, sp */
		0x94000005, /* 1008 bl 101c */
		0xa8c17bfd, /* 100c ldp x29, x30, [sp], #16 */
		0xa8c17fe0, /* 1010 ldp x0, xzr, [sp], #16 */
		0xd65f03c0, /* 1014 ret */
		0xd503201f, /* 1018 nop */
		0xd65f03c0, /* 101c called: ret */
	};
	struct scene s;
	uint64_t function = 0;

	scene_make(&s, words, ARRAY_LEN(words), 0x1000);
	CHECK_STR(recipe_at(&s, 0x100c, &function), "cfa=sp+32 x29=c-32 ra=c-24");
	CHECK_STR(recipe_at(&s, 0x1014, &function), "cfa=sp+0 ra=same");
	scene_done(&s);
}

TEST(analysis_treats_code_between_traps_without_jumps_to_it_as_a_function)
{
	static const uint8_t entry[] = { 0xe8, 0x3b, 0x00, 0x00, 0x00, 0xc3 }; /* 1000 call 1040; ret */
	static const uint8_t handler[] = {
		0x43, 0x0f, 0xb6, 0x5c, 0x0c, 0x01, /* 1020 movzbl 1(%r12,%r9), %ebx: no arguments */
		0x48, 0x8b, 0x0c, 0xda,             /* 1026 mov (%rdx,%rbx,8), %rcx */
		0xff, 0xe1,                         /* 102a jmp *%rcx */
	};
	static const uint8_t framed[] = { 0x48, 0x83, 0xec, 0x18, /* 1040 sub $24, %rsp */
					  0x85, 0xff,             /* 1044 test %edi, %edi */
					  0x75, 0x18,             /* 1046 jne 1060 */
					  0x48, 0x83, 0xc4, 0x18, /* 1048 add $24, %rsp */
					  0xc3 };                 /* 104c ret */
	static const uint8_t cold[] = { 0x48, 0x89, 0xd8,         /* 1060 mov %rbx, %rax */
					0x48, 0x83, 0xc4, 0x18,   /* 1063 add $24, %rsp */
					0xc3 };                   /* 1067 ret */
	uint8_t code[0x80];
	struct scene s;
	uint64_t function = 0;

	memset(code, 0xcc, sizeof(code));
	memcpy(code, entry, sizeof(entry));
	memcpy(code + 0x20, handler, sizeof(handler));
	memcpy(code + 0x40, framed, sizeof(framed));
	memcpy(code + 0x60, cold, sizeof(cold));
	scene_make_of(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, 0x1000);
	CHECK_STR(recipe_at(&s, 0x1020, &function), "cfa=rsp+8 ra=c-8");
	CHECK_EQ(function, 0x1020);
	CHECK_STR(recipe_at(&s, 0x102a, &function), "cfa=rsp+8 rbx=undefined ra=c-8");
	/* Behind traps, too, but some function jumps there. */
	CHECK_STR(recipe_at(&s, 0x1063, &function), "cfa=rsp+32 ra=c-8");
	scene_done(&s);
}

TEST(analysis_finds_the_caller_where_moved_arguments_hide_the_cfa)
{
	static const uint8_t code[] = {
		0x85, 0xff,       /* 1000 test %edi, %edi */
		0x74, 0x0a,       /* 1002 je 100e */
		0x8b, 0x04, 0x24, /* 1004 mov (%rsp), %eax */
		0x48, 0x29, 0xf4, /* 1007 sub %rsi, %rsp */
		0x31, 0xdb,       /* 100a xor %ebx, %ebx */
		0x66, 0x90,       /* 100c nop */
		0x48, 0x8b, 0x0a, /* 100e mov (%rdx), %rcx */
		0x85, 0xc0,       /* 1011 test %eax, %eax */
		0x75, 0x02,       /* 1013 jne 1017 */
		0xff, 0xe1,       /* 1015 jmp *%rcx */
		0x48, 0xff, 0xc1, /* 1017 inc %rcx */
		0xff, 0xe1,       /* 101a jmp *%rcx */
	};
	static const char met[] = "cfa=rsp+8 rbx=undefined rsp=undefined ra=c-8";
	struct scene s;
	uint64_t function = 0;

	scene_make_of(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, 0x1000);
	CHECK_STR(recipe_at(&s, 0x1002, &function), "cfa=rsp+8 ra=c-8");
	/* The address may not have been moved yet. */
	CHECK_STR(recipe_at(&s, 0x100a, &function), "none");
	CHECK_STR(recipe_at(&s, 0x100c, &function), "none");
	CHECK_STR(recipe_at(&s, 0x100e, &function), met);
	CHECK_STR(recipe_at(&s, 0x1015, &function), met);
	CHECK_STR(recipe_at(&s, 0x101a, &function), met);
	scene_done(&s);
}

TEST(analysis_recognises_code_between_traps_that_functions_jump_to)
{
	static const uint8_t entry[] = { 0xe8, 0x3b, 0x00, 0x00, 0x00, 0xc3 }; /* 1000 call 1040; ret */
	static const uint8_t shared[] = { 0x49, 0x8b, 0x45, 0x08,              /* 1020 mov 8(%r13), %rax */
					  0x50,                                /* 1024 push %rax */
					  0xff, 0xd0,                          /* 1025 call *%rax */
					  0x58, 0xc3 };                        /* 1027 pop %rax; ret */
	/* A register that callers rely on has changed: this is no call of another function. */
	static const uint8_t called[] = { 0x31, 0xdb, 0xeb, 0xdc }; /* 1040 xor %ebx, %ebx; jmp 1020 */
	uint8_t code[0x80];
	struct scene s;
	uint64_t function = 0;

	memset(code, 0xcc, sizeof(code));
	memcpy(code, entry, sizeof(entry));
	memcpy(code + 0x20, shared, sizeof(shared));
	memcpy(code + 0x40, called, sizeof(called));
	scene_make_of(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, 0x1000);
	CHECK_STR(recipe_at(&s, 0x1027, &function), "cfa=rsp+16 ra=c-8");
	CHECK_EQ(function, 0x1020);
	scene_done(&s);
}

/*
 * As V8 writes its functions: each is followed by a word that is no instruction. They use registers that no
 * caller sets, set up their frame in the middle, and jump to each other with more on the stack than at an
 * entry and other values in registers that callers rely on.
 */
TEST(analysis_takes_the_code_between_fill_for_one_function)
{
	static const uint32_t words[] = {
		0xa9bf7bfd, /* 1000 the entry: stp x29, x30, [sp, #-16]! */
		0x94000023, /* 1004 bl 1090 */
		0xa8c17bfd, /* 1008 ldp x29, x30, [sp], #16 */
		0xd65f03c0, /* 100c ret */
		0xcccccccc, 0xcccccccc, 0xcccccccc, 0xcccccccc, 0x38736a97, /* 1020 ldrb w23, [x20, x19] */
		0xf8777aa2,             /* 1024 ldr x2, [x21, x23, lsl #3] */
		0xd61f0040,             /* 1028 br x2 */
		0xcccccccc, 0xb4000080, /* 1030 cbz x0, 1040 */
		0xf9400000,             /* 1034 ldr x0, [x0] */
		0xd65f03c0,             /* 1038 ret */
		0xd4200000,             /* 103c brk #0 */
		0xa9bf7bfd,             /* 1040 stp x29, x30, [sp, #-16]! */
		0x910003fd,             /* 1044 mov x29, sp */
		0xf81f0ffb,             /* 1048 str x27, [sp, #-16]! */
		0x94000011,             /* 104c bl 1090 */
		0xf84107fb,             /* 1050 ldr x27, [sp], #16 */
		0xa8c17bfd,             /* 1054 ldp x29, x30, [sp], #16 */
		0x17fffff7,             /* 1058 b 1034 */
		0xcccccccc, 0xd280001b, /* 1060 mov x27, #0 */
		0xf81f0fe0,             /* 1064 str x0, [sp, #-16]! */
		0x14000002,             /* 1068 b 1070 */
		0xcccccccc, 0xa9bf7bfd, /* 1070 stp x29, x30, [sp, #-16]! */
		0x910003fd,             /* 1074 mov x29, sp */
		0xd10083ff,             /* 1078 sub sp, sp, #32 */
		0x94000005,             /* 107c bl 1090 */
		0x910003bf,             /* 1080 mov sp, x29 */
		0xa8c17bfd,             /* 1084 ldp x29, x30, [sp], #16 */
		0xd65f03c0,             /* 1088 ret */
		0xcccccccc, 0xd65f03c0, /* 1090 called: ret */
		0xcccccccc,
	};
	struct scene s;
	uint64_t function = 0;

	scene_make(&s, words, ARRAY_LEN(words), 0x1000);
	CHECK_STR(recipe_at(&s, 0x1080, &function), "cfa=x29+16 x29=c-16 ra=c-8");
	CHECK_EQ(function, 0x1070);
	CHECK_STR(recipe_at(&s, 0x1028, &function), "cfa=sp+0 x23=undefined ra=same");
	CHECK_EQ(function, 0x1020);
	CHECK_STR(recipe_at(&s, 0x1050, &function), "cfa=x29+16 x27=c-32 x29=c-16 ra=c-8");
	CHECK_EQ(function, 0x1030);
	CHECK_STR(recipe_at(&s, 0x1034, &function), "cfa=sp+0 ra=same");
	scene_done(&s);
}
