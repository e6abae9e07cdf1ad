/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/stub.h"

#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u

static struct image *image_of(struct images *images, uint16_t machine, struct bytes code)
{
	struct elf_part part = { ".plt", TEXT, PF_R | PF_X, code, 0 };

	return elf_image(images, "made", machine, 0, ELF_WITHOUT_SECTIONS, &part, 1, NULL);
}

static bool match(uint16_t machine, struct bytes code, uint64_t vaddr, struct stub *ret)
{
	struct images *images = images_new();
	bool is_stub = stub_match(image_of(images, machine, code), vaddr, ret);

	images_free(images);
	return is_stub;
}

static bool find_home(uint16_t machine, struct bytes code, uint64_t vaddr, uint64_t *ret)
{
	struct images *images = images_new();
	bool is_moved = stub_home(image_of(images, machine, code), vaddr, ret);

	images_free(images);
	return is_moved;
}

TEST(stub_of_a_lazy_x86_plt_is_recognised_at_every_instruction)
{
	/* push 0x2fe2(%rip); jmp *0x2fe4(%rip); nop; jmp *0x2fe2(%rip); push $0; jmp head */
	struct bytes plt =
		PROGRAM(0xff, 0x35, 0xe2, 0x2f, 0, 0, 0xff, 0x25, 0xe4, 0x2f, 0, 0, 0x0f, 0x1f, 0x40, 0, 0xff,
			0x25, 0xe2, 0x2f, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff);
	struct stub stub;

	CHECK(match(EM_X86_64, plt, TEXT + 7, &stub));
	CHECK_EQ(stub.kind, STUB_HEAD);
	CHECK_EQ(stub.depth, 16);
	CHECK_EQ(stub.push_end, 6);
	for (uint64_t at = TEXT + 16; at < TEXT + 32; at++) {
		CHECK(match(EM_X86_64, plt, at, &stub));
		CHECK_EQ(stub.start, TEXT + 16);
		CHECK_EQ(stub.kind, STUB_CALL);
		CHECK_EQ(stub.slot, TEXT + 16 + 6 + 0x2fe2);
		CHECK_EQ(stub.depth, 8);
		CHECK_EQ(stub.push_end, 11);
	}
}

TEST(stub_without_a_push_keeps_its_depth)
{
	struct bytes plt =
		PROGRAM(0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x10, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0);
	struct stub stub;

	CHECK(match(EM_X86_64, plt, TEXT + 4, &stub));
	CHECK_EQ(stub.push_end, 0);
	CHECK_EQ(stub.slot, TEXT + 10 + 0x10);
}

TEST(stub_of_aarch64_finds_its_slot)
{
	/* adrp x16, +0x1f000; ldr x17, [x16, #4024]; add x16, x16, #4024; br x17 */
	struct bytes plt = PROGRAM(0xf0, 0, 0, 0xf0, 0x11, 0xde, 0x47, 0xf9, 0x10, 0xe2, 0x3e, 0x91, 0x20,
				   0x02, 0x1f, 0xd6);
	struct stub stub;

	CHECK(match(EM_AARCH64, plt, TEXT + 12, &stub));
	CHECK_EQ(stub.start, TEXT);
	CHECK_EQ(stub.size, 16);
	CHECK_EQ(stub.slot, TEXT + 0x1f000 + 4024);
	CHECK_EQ(stub.depth, 0);
	CHECK(!stub.saves_ra);
}

TEST(stub_head_of_aarch64_saves_the_return_address)
{
	/* bti c; stp x16, x30, [sp, #-16]!; adrp; ldr; add; br x17; nop; nop */
	struct bytes plt = PROGRAM(0x5f, 0x24, 0x03, 0xd5, 0xf0, 0x7b, 0xbf, 0xa9, 0xf0, 0, 0, 0xf0, 0x11,
				   0xde, 0x47, 0xf9, 0x10, 0xe2, 0x3e, 0x91, 0x20, 0x02, 0x1f, 0xd6, 0x1f,
				   0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5);
	struct stub stub;

	CHECK(match(EM_AARCH64, plt, TEXT + 8, &stub));
	CHECK_EQ(stub.kind, STUB_HEAD);
	CHECK_EQ(stub.size, 32);
	CHECK_EQ(stub.push_end, 8);
	CHECK_EQ(stub.push_size, 16);
	CHECK(stub.saves_ra);
}

TEST(stub_is_not_recognised_in_other_code)
{
	struct bytes code =
		PROGRAM(0x55, 0x48, 0x89, 0xe5, 0xff, 0x25, 1, 0, 0, 0, 0x66, 0x90, 0x5d, 0xc3, 0x90, 0x90);
	struct stub stub;

	for (uint64_t at = TEXT; at < TEXT + 16; at++)
		CHECK(!match(EM_X86_64, code, at, &stub));
	CHECK(!match(EM_AARCH64, code, TEXT, &stub));
	CHECK(!match(EM_X86_64, PROGRAM(0xff, 0x25, 0), TEXT, &stub));
}

TEST(stub_home_is_where_a_moved_instruction_came_from)
{
	/* nop; b 16; ret; nop; 16: ldr x0, [x23]; b 8 */
	struct bytes code = PROGRAM(0x1f, 0x20, 0x03, 0xd5, 0x03, 0, 0, 0x14, 0xc0, 0x03, 0x5f, 0xd6, 0x1f,
				    0x20, 0x03, 0xd5, 0xe0, 0x02, 0x40, 0xf9, 0xfd, 0xff, 0xff, 0x17);
	uint64_t home = 0;

	CHECK(find_home(EM_AARCH64, code, TEXT + 16, &home));
	CHECK_EQ(home, TEXT + 4);
	CHECK(find_home(EM_AARCH64, code, TEXT + 20, &home));
	CHECK_EQ(home, TEXT + 8);
	CHECK(!find_home(EM_AARCH64, code, TEXT + 4, &home));
	CHECK(!find_home(EM_AARCH64, code, TEXT + 12, &home));
	CHECK(!find_home(EM_X86_64, code, TEXT + 16, &home));
}

TEST(helper_of_the_compiler_is_recognised_at_every_instruction)
{
	static const uint32_t words[] = {
		0xd503245f, /* 1000 bti c */
		0xf00003b0, /* 1004 adrp x16 */
		0x39417e10, /* 1008 ldrb w16, [x16, #95] */
		0x34000070, /* 100c cbz w16, 1018 */
		0x88e07c41, /* 1010 casa w0, w1, [x2] */
		0xd65f03c0, /* 1014 ret */
		0x2a0003f0, /* 1018 mov w16, w0 */
		0x885ffc40, /* 101c ldaxr w0, [x2] */
		0xd65f03c0, /* 1020 ret */
		0xd503201f, /* 1024 nop */
		0xaa0003e0, /* 1028 another function: mov x0, x0 */
		0xd65f03c0, /* 102c ret */
	};
	struct images *images = images_new();
	struct bytes code = { (const uint8_t *)words, sizeof(words) };
	struct image *image = image_of(images, EM_AARCH64, code);

	for (uint64_t at = 0; at <= 0x23; at++)
		CHECK(stub_is_helper(image, TEXT + at));
	CHECK(!stub_is_helper(image, TEXT + 0x24));
	CHECK(!stub_is_helper(image, TEXT + 0x28));
	CHECK(!stub_is_helper(image, TEXT + 0x2c));
	CHECK(!stub_is_helper(image, 0x10));
	CHECK(!stub_is_helper(image_of(images, EM_X86_64, code), TEXT + 8));
	images_free(images);
}
