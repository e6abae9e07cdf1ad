/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in gaps: only the gap that is queried is searched, and in a large file only the surroundings.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "binary/functions/function.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define LARGE (17u << 20) /* more than is scanned at once */

static const uint32_t makes_room[] = { 0xd10043ff, 0x910043ff, 0xd65f03c0 }; /* sub sp, sp, #16; add; ret */

struct scene {
	struct images *images;
	struct frames *frames;
	struct functions *functions;
};

static void scene_make(struct scene *s, uint16_t machine, struct bytes code, struct bytes eh)
{
	struct elf_part parts[] = { { ".text", TEXT, PF_X | PF_R, code, 0 },
				    { ".eh_frame", TEXT + 0x10000000u, PF_R, eh, 0 } };

	s->images = images_new();
	struct image *image =
		elf_image(s->images, "program", machine, 0, ELF_WITH_SECTIONS, parts, eh.len ? 2 : 1, NULL);
	s->frames = frames_read(image);
	s->functions = functions_new(image, NULL, s->frames, NULL);
	CHECK(s->functions != NULL);
}

static void scene_done(struct scene *s)
{
	functions_free(s->functions);
	frames_free(s->frames);
	images_free(s->images);
}

static uint64_t start_at(struct scene *s, uint64_t vaddr)
{
	uint32_t index = functions_find(s->functions, vaddr);

	return index == FUNCTION_NONE ? 0 : s->functions->at[index].start;
}

TEST(functions_in_one_gap_are_found_without_the_next)
{
	uint8_t code[0x40] = { 0 };
	struct writer eh = { 0 };
	struct scene s;

	memcpy(code, makes_room, sizeof(makes_room));
	memcpy(code + 0x10, makes_room, sizeof(makes_room));
	memcpy(code + 0x20, makes_room + 2, 4); /* covered by an unwind entry */
	memcpy(code + 0x30, makes_room, sizeof(makes_room));
	size_t cie = frame_cie(&eh, "zR", 1, -8, 30, PROGRAM(0x0c, 31, 0));
	frame_fde(&eh, TEXT + 0x10000000u, cie, TEXT + 0x20, 0x10, 0, PROGRAM(0));
	write_u32(&eh, 0);
	scene_make(&s, EM_AARCH64, (struct bytes){ code, sizeof(code) }, writer_bytes(&eh));

	CHECK_EQ(start_at(&s, TEXT + 0x14), TEXT + 0x10);
	CHECK_EQ(start_at(&s, TEXT + 4), TEXT);
	CHECK_EQ(functions_index(s.functions, TEXT + 0x34), FUNCTION_NONE);
	CHECK_EQ(start_at(&s, TEXT + 0x34), TEXT + 0x30);
	scene_done(&s);
	writer_done(&eh);
}

/*
 * One function with an unwind entry, which calls two others; after it a gap that is longer than what is
 * searched at once. The gap is split at those two: [0x40, 0x9000), [0x9000, 0x12000), [0x12000,
 * 0x18000).
 */
static void scene_make_long(struct scene *s)
{
	static const uint32_t places[] = { 0x100, 0x8f00, 0x9000, 0x9100, 0x11f00, 0x12000, 0x17000 };
	static const uint32_t caller[] = { 0x94002400, 0x940047ff,
					   0xd65f03c0 }; /* bl 0x9000; bl 0x12000; ret */
	uint8_t *code = alloc_zero(0x18000, 1);
	struct writer eh = { 0 };

	memcpy(code, caller, sizeof(caller));
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		memcpy(code + places[i], makes_room, sizeof(makes_room));
	size_t cie = frame_cie(&eh, "zR", 1, -8, 30, PROGRAM(0x0c, 31, 0));
	frame_fde(&eh, TEXT + 0x10000000u, cie, TEXT, 0x40, 0, PROGRAM(0));
	write_u32(&eh, 0);
	scene_make(s, EM_AARCH64, (struct bytes){ code, 0x18000 }, writer_bytes(&eh));
	writer_done(&eh);
	free(code);
}

TEST(only_the_requested_piece_of_a_long_gap_is_searched)
{
	struct scene s;

	scene_make_long(&s);
	CHECK_EQ(start_at(&s, TEXT + 0x9104), TEXT + 0x9100);
	CHECK_EQ(start_at(&s, TEXT + 0x11f04), TEXT + 0x11f00);
	CHECK_EQ(functions_index(s.functions, TEXT + 0x8f04), FUNCTION_NONE);
	CHECK_EQ(functions_index(s.functions, TEXT + 0x17004), FUNCTION_NONE);
	CHECK_EQ(start_at(&s, TEXT + 0x17004), TEXT + 0x17000);
	CHECK_EQ(start_at(&s, TEXT + 0x104), TEXT + 0x100);
	CHECK_EQ(start_at(&s, TEXT + 0x8f04), TEXT + 0x8f00);
	scene_done(&s);
}

TEST(the_pieces_of_a_gap_do_not_depend_on_the_order_of_requests)
{
	static const uint64_t places[] = { 0x104, 0x9004, 0x8f04, 0x17004, 0x9104, 0x12004 };
	struct scene s, other;

	scene_make_long(&s);
	scene_make_long(&other);
	for (size_t i = 0, n = ARRAY_LEN(places); i < n; i++) {
		functions_find(s.functions, TEXT + places[i]);
		functions_find(other.functions, TEXT + places[n - 1 - i]);
	}
	CHECK_EQ(s.functions->n, 8);
	CHECK_EQ(other.functions->n, s.functions->n);
	for (size_t i = 0; i < s.functions->n; i++) {
		CHECK_EQ(other.functions->at[i].start, s.functions->at[i].start);
		CHECK_EQ(other.functions->at[i].end, s.functions->at[i].end);
	}
	scene_done(&s);
	scene_done(&other);
}

TEST(a_large_file_is_searched_around_the_requested_address)
{
	uint8_t *code = alloc_zero(LARGE, 1);
	uint64_t far = LARGE - 0x1000;
	struct scene s;

	memcpy(code + 0x100, makes_room, sizeof(makes_room));
	memcpy(code + far, makes_room, sizeof(makes_room));
	scene_make(&s, EM_AARCH64, (struct bytes){ code, LARGE }, (struct bytes){ 0 });

	CHECK_EQ(start_at(&s, TEXT + 0x104), TEXT + 0x100);
	CHECK_EQ(functions_index(s.functions, TEXT + far + 4), FUNCTION_NONE);
	CHECK_EQ(start_at(&s, TEXT + far + 4), TEXT + far);
	scene_done(&s);
	free(code);
}

/* Candidates are first checked a short way ahead, which may end in the middle of an instruction. */
TEST(straight_code_longer_than_the_first_check_is_a_function)
{
	static const uint8_t make_room[] = { 0x48, 0x83, 0xec, 0x08 },
			     free_room[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	static const uint8_t add[] = { 0x48, 0x81, 0xc7, 0x01, 0x00, 0x00, 0x00 }; /* add $1, %rdi */
	struct writer code = { 0 };
	struct scene s;

	write_bytes(&code, (struct bytes){ make_room, sizeof(make_room) });
	for (int i = 0; i < 100; i++)
		write_bytes(&code, (struct bytes){ add, sizeof(add) });
	write_bytes(&code, (struct bytes){ free_room, sizeof(free_room) });
	scene_make(&s, EM_X86_64, writer_bytes(&code), (struct bytes){ 0 });
	CHECK_EQ(start_at(&s, TEXT + 600), TEXT);
	scene_done(&s);
	writer_done(&code);
}

/* .text, where a function is called, and .fini, whose bounds are those of its section. */
TEST(a_lookup_in_fini_does_not_search_all_of_text)
{
	static const uint32_t text[] = { 0x94000002, 0xd65f03c0, 0xd10043ff, 0x910043ff,
					 0xd65f03c0 }; /* bl + 8; ret; ... */
	struct elf_part parts[] = {
		{ ".text", TEXT, PF_X | PF_R, { (const uint8_t *)text, sizeof(text) }, 0 },
		{ ".fini",
		  TEXT + 0x1000,
		  PF_X | PF_R,
		  { (const uint8_t *)makes_room, sizeof(makes_room) },
		  0 },
	};
	struct images *images = images_new();
	struct image *image = elf_image(images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);
	struct functions *functions = functions_new(image, NULL, NULL, NULL);

	uint32_t index = functions_find(functions, TEXT + 0x1004);
	CHECK(index != FUNCTION_NONE);
	CHECK_EQ(functions->at[index].start, TEXT + 0x1000);
	CHECK_EQ(functions->at[index].end, TEXT + 0x1000 + sizeof(makes_room));
	CHECK(!functions_is_called(functions, TEXT + 8)); /* not searched yet */
	functions_find(functions, TEXT + 8);
	CHECK(functions_is_called(functions, TEXT + 8));
	functions_free(functions);
	images_free(images);
}

TEST(the_target_of_a_tail_call_is_a_function_even_if_unaligned)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08,       /* 1000 sub $8, %rsp */
		0xe8, 0x0f, 0x00, 0x00, 0x00, /* 1004 call 1018 */
		0x48, 0x83, 0xc4, 0x08,       /* 1009 add $8, %rsp */
		0xc3,                         /* 100d ret */
		0x48, 0x83, 0xec, 0x18,       /* 100e a function: sub $24, %rsp */
		0x90,                         /* 1012 nop */
		0x48, 0x83, 0xc4, 0x18,       /* 1013 add $24, %rsp */
		0xc3,                         /* 1017 ret */
		0x48, 0x83, 0xec, 0x08,       /* 1018 another function, which is called: sub $8, %rsp */
		0x48, 0x83, 0xc4, 0x08,       /* 101c add $8, %rsp */
		0xeb, 0xec,                   /* 1020 jmp 100e */
	};
	struct scene s;

	scene_make(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, (struct bytes){ 0 });
	CHECK_EQ(start_at(&s, 0x1012), 0x100e);
	CHECK_EQ(start_at(&s, 0x101c), 0x1018);
	CHECK_EQ(start_at(&s, 0x1004), 0x1000);
	scene_done(&s);
}

/* The GOT entry points to a function that never returns: as called with -fno-plt. */
TEST(a_function_starts_after_a_call_through_the_got_that_does_not_return)
{
	static const uint32_t code[] = {
		0xa9bf7bfd, /* 1000 stp x29, x30, [sp, #-16]! */
		0x94000003, /* 1004 bl 1010 */
		0x9400000d, /* 1008 bl 103c */
		0x9400000f, /* 100c bl 1048 */
		0xa9bf7bfd, /* 1010 a function: stp x29, x30, [sp, #-16]! */
		0xb5000060, /* 1014 cbnz x0, 1020 */
		0xa8c17bfd, /* 1018 ldp x29, x30, [sp], #16 */
		0xd65f03c0, /* 101c ret */
		0xf00000e0, /* 1020 adrp x0, 20000 */
		0xf9400000, /* 1024 ldr x0, [x0] */
		0xd63f0000, /* 1028 blr x0 */
		0xa9bf7bfd, /* 102c a function that is only jumped to: stp x29, x30, [sp, #-16]! */
		0xd503201f, /* 1030 nop */
		0xa8c17bfd, /* 1034 ldp x29, x30, [sp], #16 */
		0xd65f03c0, /* 1038 ret */
		0xa9bf7bfd, /* 103c another function: stp x29, x30, [sp, #-16]! */
		0xa8c17bfd, /* 1040 ldp x29, x30, [sp], #16 */
		0x17fffffa, /* 1044 b 102c */
		0x14000000, /* 1048 never returns: b 1048 */
	};
	static const uint64_t got = 0x1048;
	struct bytes bytes = { (const uint8_t *)&got, sizeof(got) };
	struct scene s = { .images = images_new() };

	for (unsigned is_got = 0; is_got < 2; is_got++) { /* the value of a variable is unknown */
		struct elf_part parts[] = {
			{ ".text", TEXT, PF_X | PF_R, { (const uint8_t *)code, sizeof(code) }, 0 },
			{ is_got ? ".got" : ".data", 0x20000, PF_R | PF_W, bytes, 0 }
		};
		struct image *image = elf_image(s.images, is_got ? "got" : "data", EM_AARCH64, 0,
						ELF_WITH_SECTIONS, parts, 2, NULL);
		struct functions *functions = functions_new(image, NULL, NULL, NULL);
		uint32_t index = functions_find(functions, 0x1030);
		CHECK_EQ(functions->at[index].start, is_got ? 0x102c : 0x1010);
		functions_free(functions);
	}
	images_free(s.images);
}

TEST(a_function_starts_where_traps_fill_the_space_up_to_an_aligned_address)
{
	uint8_t code[0x60];
	static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, /* push %rbp; mov %rsp, %rbp */
					  0x6a, 0x1e,             /* push $30 */
					  0xeb, 0xfe };           /* jmp . */
	static const uint8_t bare[] = { 0x48, 0x89, 0xd8,         /* mov %rbx, %rax: rbx is no argument */
					0xff, 0xe0 };             /* jmp *%rax */
	struct scene s;

	memset(code, 0xcc, sizeof(code));
	memcpy(code, framed, sizeof(framed));
	memset(code + sizeof(framed), 0x90, 0x0f - sizeof(framed)); /* leaves one trap, at 100f */
	memcpy(code + 0x10, framed, sizeof(framed));
	memcpy(code + 0x40, bare, sizeof(bare));
	memset(code + 0x45, 0x90, 0x0a); /* leaves one trap, at 104f */
	memcpy(code + 0x50, bare, sizeof(bare));
	scene_make(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, (struct bytes){ 0 });
	CHECK_EQ(start_at(&s, 0x1014), 0x1010);
	CHECK_EQ(start_at(&s, 0x1043), 0x1040);
	CHECK(start_at(&s, 0x1053) != 0x1050); /* a single trap is weak evidence */
	scene_done(&s);
}

TEST(a_constant_that_looks_like_traps_is_not_the_end_of_a_function)
{
	static const uint8_t code[] = {
		0xe8, 0x05, 0x00, 0x00, 0x00, /* 1000 call 100a */
		0xc3,                         /* 1005 ret */
		0x90, 0x90, 0x90, 0x90,       /* 1006 */
		0x90,                         /* 100a a function: nop */
		0xb8, 0xcd, 0xcc, 0xcc, 0xcc, /* 100b mov $0xcccccccd, %eax */
		0x48, 0x0f, 0xaf, 0xc7,       /* 1010 imul %rdi, %rax */
		0x48, 0xc1, 0xe8, 0x23,       /* 1014 shr $35, %rax */
		0xc3,                         /* 1018 ret */
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	};
	struct scene s;

	scene_make(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, (struct bytes){ 0 });
	CHECK_EQ(start_at(&s, 0x1014), 0x100a);
	scene_done(&s);
}

/*
 * Two addresses are taken: of a function, and of its middle, which could begin one, too. A constant may look
 * like the latter.
 */
TEST(an_address_taken_in_the_middle_of_a_function_is_not_a_start)
{
	static const uint8_t code[0x40] = { 0x48,          0x8d, 0x3d, 0x19, 0,   0, 0, /* lea .+0x20, %rdi */
					    0x48,          0x8d, 0x35, 0x16, 0,   0, 0, /* lea .+0x1d, %rsi */
					    0xc3,                                       /* ret */
					    [0x20] = 0x48, 0x83, 0xec, 8,               /* sub $8, %rsp */
					    0x48,          0x83, 0xc4, 8,    0xc3 };    /* add; ret */
	struct scene s;

	scene_make(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, (struct bytes){ 0 });
	CHECK_EQ(start_at(&s, TEXT + 0x24), TEXT + 0x20);
	CHECK_EQ(start_at(&s, TEXT + 0x20), TEXT + 0x20);
	scene_done(&s);
}

/*
 * A word of data points to a function, in which the address of its own middle is formed: exceptions are
 * raised with the address of where. The function saves registers relative to its frame pointer.
 */
TEST(an_address_taken_in_a_function_that_only_data_points_to_is_not_a_start)
{
	static const uint8_t code[0x50] = {
		0xc3,                                              /* 1000 ret */
		[0x20] = 0x55,                                     /* 1020 push %rbp */
		0x48,          0x89, 0xe5,                         /* 1021 mov %rsp, %rbp */
		0x48,          0x83, 0xec, 0x20,                   /* 1024 sub $32, %rsp */
		0x48,          0x89, 0x5d, 0xf8,                   /* 1028 mov %rbx, -8(%rbp) */
		0x48,          0xbe, 0x39, 0x10, 0, 0, 0, 0, 0, 0, /* 102c movabs $0x1039, %rsi */
		0xff,          0xd2,                               /* 1036 call *%rdx */
		0x90,                                              /* 1038 nop */
		0xbf,          1,    0,    0,    0,                /* 1039 mov $1, %edi */
		0xff,          0xd7,                               /* 103e call *%rdi */
		0x48,          0x8b, 0x5d, 0xf8,                   /* 1040 mov -8(%rbp), %rbx */
		0xc9,          0xc3,                               /* 1044 leave; ret */
	};
	static const uint64_t pointer = 0x1020;
	struct elf_part parts[] = {
		{ ".text", TEXT, PF_X | PF_R, { code, sizeof(code) }, 0 },
		{ ".data", 0x20000, PF_R | PF_W, { (const uint8_t *)&pointer, sizeof(pointer) }, 0 }
	};
	struct scene s = { .images = images_new() };
	struct image *image = elf_image(s.images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);

	image->elf_type = ET_EXEC;
	s.functions = functions_new(image, NULL, NULL, NULL);
	CHECK_EQ(start_at(&s, 0x1038), 0x1020);
	CHECK_EQ(start_at(&s, 0x1040), 0x1020);
	scene_done(&s);
}

/* A piece of a large file, with a function that ends in a call to one outside of the piece. */
TEST(a_function_starts_in_a_piece_after_a_call_that_does_not_return)
{
	static const uint8_t code[0x110] = {
		0xe8,           0x0b, 0x00, 0x00, 0x00, /* 1000 call 1010 */
		0xeb,           0x19,                   /* 1005 jmp 1020 */
		[0x10] = 0x53,                          /* 1010 a function: push %rbx */
		0x85,           0xff,                   /* 1011 test %edi, %edi */
		0x75,           0x02,                   /* 1013 jne 1017 */
		0x5b,           0xc3,                   /* 1015 pop %rbx; ret */
		0x0f,           0x1f, 0x40, 0x00,       /* 1017 nop */
		0xe8,           0xe0, 0x00, 0x00, 0x00, /* 101b call abort */
		0x55,                                   /* 1020 another function: push %rbp */
		0x48,           0x89, 0xe5,             /* 1021 mov %rsp, %rbp */
		0x48,           0x83, 0xec, 0x10,       /* 1024 sub $16, %rsp */
		0xff,           0xd7,                   /* 1028 call *%rdi */
		0xc9,           0xc3,                   /* 102a leave; ret */
		[0x100] = 0xeb, 0xfe,                   /* 1100 abort: jmp . */
	};
	struct symbol symbol = { .vaddr = 0x1100, .size = 2, .name = "abort", .type = STT_FUNC };
	struct symbols symbols = { .at = &symbol, .n = 1 };
	struct elf_part part = { ".text", TEXT, PF_X | PF_R, { code, sizeof(code) }, 0 };
	struct images *images = images_new();
	struct image *image = elf_image(images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, &part, 1, NULL);
	struct functions *whole = functions_new(image, &symbols, NULL, NULL),
			 *piece = functions_piece(whole, 0x1000, 0x1080);
	uint32_t index = functions_find(piece, 0x102a);

	CHECK(index != FUNCTION_NONE);
	CHECK_EQ(piece->at[index].start, 0x1020);
	functions_free(piece);
	functions_free(whole);
	images_free(images);
}

/* A function that jumps into one of several blocks of code of equal size. */
TEST(an_array_of_code_belongs_to_the_function_that_jumps_into_it)
{
	static const uint8_t jumper[] = { 0x89, 0xf9,                      /* mov %edi, %ecx */
					  0x83, 0xe1, 3,                   /* and $3, %ecx */
					  0x4c, 0x8d, 0x0d, 0x24, 0, 0, 0, /* lea blocks, %r9 */
					  0xc1, 0xe1, 4,                   /* shl $4, %ecx */
					  0x4c, 0x01, 0xc9,                /* add %r9, %rcx */
					  0xff, 0xe1 };                    /* jmp *%rcx */
	static const uint8_t block[] = { 0x8a, 0x06, 0x88, 0x07, 0xc3 };   /* copy a byte; ret */
	uint8_t code[0x80] = { 0xe8, 0x0b, 0, 0, 0, 0xc3 };                /* call the jumper; ret */
	struct scene s;

	memset(code + 6, 0x90, sizeof(code) - 6);
	memcpy(code + 0x10, jumper, sizeof(jumper));
	for (size_t at = 0x40; at < sizeof(code); at += 16)
		memcpy(code + at, block, sizeof(block));
	scene_make(&s, EM_X86_64, (struct bytes){ code, sizeof(code) }, (struct bytes){ 0 });
	for (uint64_t at = 0x40; at < sizeof(code); at += 16)
		CHECK_EQ(start_at(&s, TEXT + at + 2), TEXT + 0x10);
	scene_done(&s);
}
