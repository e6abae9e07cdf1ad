/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/template.h"

#include <elf.h>

#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u

typedef bool (*known_code)(const struct image *image, const struct isa *isa, uint64_t vaddr);

static bool is_known(known_code is_it, const struct isa *isa, struct bytes code, uint64_t vaddr)
{
	struct images *images = images_new();
	struct elf_part part = { ".text", TEXT, PF_R | PF_X, code, 0 };
	struct image *image =
		elf_image(images, "made", isa->elf_machine, 0, ELF_WITHOUT_SECTIONS, &part, 1, NULL);
	bool is = is_it(image, isa, vaddr);

	images_free(images);
	return is;
}

TEST(template_recognises_the_start_of_a_context_on_aarch64)
{
	/* nop; mov x0, x19; cbnz x0, .-8; b .+64; ret */
	struct bytes code = PROGRAM(0x1f, 0x20, 0x03, 0xd5, 0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xff, 0xff, 0xb5,
				    0x10, 0, 0, 0x14, 0xc0, 0x03, 0x5f, 0xd6);

	CHECK(is_known(template_is_context_start, &isa_aarch64, code, TEXT));
	CHECK(is_known(template_is_context_start, &isa_aarch64, code, TEXT + 4));
	CHECK(!is_known(template_is_context_start, &isa_aarch64, code, TEXT + 8));
	CHECK(!is_known(template_is_context_start, &isa_aarch64, code, TEXT + 16));
}

TEST(template_recognises_the_start_of_a_context_on_x86)
{
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je .+8; call; mov %rax, %rdi; call */
	struct bytes code = PROGRAM(0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74, 0x08,
				    0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc7, 0xe8, 0, 0, 0, 0);

	CHECK(is_known(template_is_context_start, &isa_x86_64, code, TEXT));
	CHECK(!is_known(template_is_context_start, &isa_x86_64, code, TEXT + 3));
}

TEST(template_recognises_the_system_calls_of_exec)
{
	/* nop; mov x8, #221; svc #0; mov x8, #222; svc #0 */
	struct bytes arm = PROGRAM(0x1f, 0x20, 0x03, 0xd5, 0xa8, 0x1b, 0x80, 0xd2, 0x01, 0, 0, 0xd4, 0xc8,
				   0x1b, 0x80, 0xd2, 0x01, 0, 0, 0xd4);
	/* nop; mov $59, %eax; syscall; mov $322, %eax; syscall; mov $60, %eax; syscall */
	struct bytes x86 = PROGRAM(0x90, 0xb8, 59, 0, 0, 0, 0x0f, 0x05, 0xb8, 0x42, 1, 0, 0, 0x0f, 0x05, 0xb8,
				   60, 0, 0, 0, 0x0f, 0x05);

	CHECK(is_known(template_is_exec, &isa_aarch64, arm, TEXT + 12));
	CHECK(!is_known(template_is_exec, &isa_aarch64, arm, TEXT + 20));
	CHECK(!is_known(template_is_exec, &isa_aarch64, arm, TEXT + 8));
	CHECK(!is_known(template_is_exec, &isa_aarch64, arm, TEXT + 4)); /* no code before it */
	CHECK(is_known(template_is_exec, &isa_x86_64, x86, TEXT + 8));
	CHECK(is_known(template_is_exec, &isa_x86_64, x86, TEXT + 15));
	CHECK(!is_known(template_is_exec, &isa_x86_64, x86, TEXT + 22));
	CHECK(!is_known(template_is_exec, &isa_x86_64, x86, TEXT + 6));
}

TEST(template_recognises_calls_made_by_a_jump)
{
	/* adr x30, .+12; ldr x2, [x1]; br x17 */
	struct bytes code = PROGRAM(0x7e, 0, 0, 0x10, 0x22, 0, 0x40, 0xf9, 0x20, 0x02, 0x1f, 0xd6);
	/* adr x30, .+12; mov x30, x1; br x17 */
	struct bytes other = PROGRAM(0x7e, 0, 0, 0x10, 0xfe, 0x03, 0x01, 0xaa, 0x20, 0x02, 0x1f, 0xd6);

	CHECK(template_is_made_call(&isa_aarch64, code, TEXT + 12));
	CHECK(!template_is_made_call(&isa_aarch64, bytes_slice(code, 0, 8), TEXT + 8)); /* does not jump */
	CHECK(!template_is_made_call(&isa_aarch64, bytes_from(code, 4), TEXT + 12));    /* no adr */
	CHECK(!template_is_made_call(&isa_aarch64, other, TEXT + 12));
	CHECK(!template_is_made_call(&isa_x86_64, code, TEXT + 12));
}
