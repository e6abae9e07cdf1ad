/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that never return, as learnt from their callers. */
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define EH 0x8000u

static const uint32_t words[] = {
	0xa9bf7bfd,                                     /* 1000 the caller: stp x29, x30, [sp, #-16]! */
	0x94000007,                                     /* 1004 bl 1020 */
	0x9400000e,                                     /* 1008 bl 1040 */
	0xa8c17bfd,                                     /* 100c ldp x29, x30, [sp], #16 */
	0xd65f03c0,                                     /* 1010 ret */
	0xd503201f, 0xd503201f, 0xd503201f, 0xb4000080, /* 1020 returns, by a tail call: cbz x0, 1030 */
	0xa9bf7bfd,                                     /* 1024 stp x29, x30, [sp, #-16]! */
	0x94000006,                                     /* 1028 bl 1040 */
	0xd4200000,                                     /* 102c brk #0 */
	0x1400000c,                                     /* 1030 b 1060 */
	0xd503201f, 0xd503201f, 0xd503201f, 0x14000000, /* 1040 never returns: b 1040 */
	0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
	0xd503201f, 0xd503201f, 0xd503201f, 0xd65f03c0, /* 1060 ret */
	0xd503201f, 0xd503201f, 0xd503201f,
};

TEST(returns_learnt_from_one_callee_apply_to_the_whole_caller)
{
	static const uint32_t starts[] = { 0x1000, 0x1020, 0x1040, 0x1060, 0x1070 };
	struct images *images = images_new();
	struct writer eh = { 0 };
	struct flow flow;

	size_t cie = frame_cie(&eh, "zR", 1, -8, 30, PROGRAM(0x0c, 31, 0));
	for (size_t i = 0; i + 1 < ARRAY_LEN(starts); i++)
		frame_fde(&eh, EH, cie, starts[i], starts[i + 1] - starts[i], 0, PROGRAM(0));
	write_u32(&eh, 0);
	struct elf_part parts[] = {
		{ ".text", TEXT, PF_X | PF_R, { (const uint8_t *)words, sizeof(words) }, 0 },
		{ ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 }
	};
	struct image *image = elf_image(images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);
	struct frames *frames = frames_read(image);
	struct functions *functions = functions_new(image, NULL, frames, NULL);

	flow_init(&flow, functions_facts(functions));
	uint32_t caller = functions_index(functions, 0x1000);
	functions_analyse_one(functions, caller, &flow); /* unknown callees are assumed to return */
	CHECK(flow.returns);
	CHECK(!(flow.flags.at[flow_insn_at(&flow, 0x100c)] & INSN_GUESS));
	functions_analyse_alone(functions, caller, &flow);
	CHECK(functions_returns(functions, 0x1020));
	CHECK(!functions_returns(functions, 0x1040));
	CHECK(!flow.returns);
	CHECK(flow.flags.at[flow_insn_at(&flow, 0x100c)] & INSN_GUESS); /* unreachable */
	flow_done(&flow);
	functions_free(functions);
	frames_free(frames);
	images_free(images);
	writer_done(&eh);
}
