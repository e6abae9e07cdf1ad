/* SPDX-License-Identifier: Apache-2.0 */
/* Assumptions of a function's analysis about the registers of its callees, and whether they are confirmed. */
#include "binary/flow/flow.h"
#include "binary/functions/function.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define EH 0x8000u

static const uint32_t words[32] = {
	0xaa1e03e9,              /* 1000 saves its return address in x9: mov x9, x30 */
	0x94000007,              /* 1004 bl 1020 */
	0xd65f0120,              /* 1008 ret x9 */
	[0x20 / 4] = 0xd2800020, /* 1020 preserves x9: mov x0, #1 */
	0xd65f03c0,              /* 1024 ret */
	[0x40 / 4] = 0xd2800009, /* 1040 changes x9: mov x9, #0 */
	0xd65f03c0,              /* 1044 ret */
	[0x60 / 4] = 0xb4000080, /* 1060 cbz x0, 1070 */
	0xaa1e03e9,              /* 1064 mov x9, x30 */
	0x97fffff6,              /* 1068 bl 1040 */
	0xd65f0120,              /* 106c ret x9 */
	0xd65f0140,              /* 1070 ret x10: always wrong */
};

struct scene {
	struct images *images;
	struct frames *frames;
	struct functions *functions;
	struct writer eh;
	struct flow flow;
};

static struct scene scene_new(void)
{
	static const uint32_t starts[] = { 0x1000, 0x1020, 0x1040, 0x1060, 0x1074 };
	struct scene s = { .images = images_new() };

	size_t cie = frame_cie(&s.eh, "zR", 1, -8, 30, PROGRAM(0x0c, 31, 0));
	for (size_t i = 0; i + 1 < ARRAY_LEN(starts); i++)
		frame_fde(&s.eh, EH, cie, starts[i], starts[i + 1] - starts[i], 0, PROGRAM(0));
	write_u32(&s.eh, 0);
	struct elf_part parts[] = {
		{ ".text", TEXT, PF_X | PF_R, { (const uint8_t *)words, sizeof(words) }, 0 },
		{ ".eh_frame", EH, PF_R, writer_bytes(&s.eh), 0 }
	};
	struct image *image =
		elf_image(s.images, "program", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);
	s.frames = frames_read(image);
	s.functions = functions_new(image, NULL, s.frames, NULL);
	flow_init(&s.flow, functions_facts(s.functions));
	return s;
}

static void scene_done(struct scene *s)
{
	flow_done(&s->flow);
	functions_free(s->functions);
	frames_free(s->frames);
	images_free(s->images);
	writer_done(&s->eh);
}

static bool exit_passes(const struct scene *s, uint64_t vaddr)
{
	return s->flow.flags.at[flow_insn_at(&s->flow, vaddr)] & INSN_EXIT_PASSES;
}

TEST(a_callee_that_was_not_analysed_becomes_a_question)
{
	struct scene s = scene_new();
	uint32_t caller = functions_index(s.functions, 0x1000), callee = functions_index(s.functions, 0x1020);

	flow_analyse(&s.flow, caller);
	CHECK_EQ(s.flow.questions.n, 1);
	CHECK_EQ(s.flow.questions.at[0].callee, callee);
	CHECK_EQ(s.flow.questions.at[0].kept, 1u << 9);
	CHECK(exit_passes(&s, 0x1008));
	CHECK_EQ(s.functions->at[callee].clobbers, 0); /* flow_analyse does not analyse callees */

	functions_analyse_one(s.functions, caller, &s.flow);
	CHECK(exit_passes(&s, 0x1008));
	CHECK(s.functions->at[callee].clobbers != 0);
	flow_analyse(&s.flow, caller);
	CHECK_EQ(s.flow.questions.n, 0);
	scene_done(&s);
}

TEST(a_wrong_assumption_about_a_callee_is_revised)
{
	struct scene s = scene_new();
	uint32_t caller = functions_index(s.functions, 0x1060);

	flow_analyse(&s.flow, caller);
	CHECK(exit_passes(&s, 0x106c)); /* only assumed */
	functions_analyse_one(s.functions, caller, &s.flow);
	CHECK(!exit_passes(&s, 0x106c));
	CHECK_EQ(s.flow.verdict, FLOW_FAILS);
	CHECK_EQ(s.flow.questions.n, 0);
	scene_done(&s);
}

TEST(a_flow_without_questions_assumes_the_worst)
{
	struct scene s = scene_new();

	s.flow.asks_nothing = true;
	flow_analyse(&s.flow, functions_index(s.functions, 0x1060));
	CHECK(!exit_passes(&s, 0x106c));
	CHECK_EQ(s.flow.questions.n, 0);
	scene_done(&s);
}

/* ---- stack probes -------------------------------------------------------------------------- */

static const uint8_t probe_code[] = {
	0xb8, 0x00, 0x20, 0x00, 0x00,                               /* 1000 mov $0x2000, %eax */
	0xe8, 0x16, 0x00, 0x00, 0x00,                               /* 1005 call 1020 */
	0x48, 0x29, 0xc4,                                           /* 100a sub %rax, %rsp */
	0x90,                                                       /* 100d nop */
	0x48, 0x81, 0xc4, 0x00, 0x20, 0x00, 0x00,                   /* 100e add $0x2000, %rsp */
	0xc3,                                                       /* 1015 ret */
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, /* 1016 */
	0x49, 0x89, 0xc3,                                           /* 1020 stack probe: mov %rax, %r11 */
	0x48, 0x29, 0xc4,                                           /* 1023 sub %rax, %rsp */
	0x48, 0x85, 0x64, 0x24, 0x08,                               /* 1026 test %rsp, 8(%rsp) */
	0x48, 0x01, 0xc4,                                           /* 102b add %rax, %rsp */
	0xc3,                                                       /* 102e ret */
	0xcc,                                                       /* 102f */
	0xb8, 0x00, 0x20, 0x00, 0x00,                               /* 1030 mov $0x2000, %eax */
	0xe8, 0x16, 0x00, 0x00, 0x00,                               /* 1035 call 1050, which changes %rax */
	0x48, 0x29, 0xc4,                                           /* 103a sub %rax, %rsp */
	0x90,                                                       /* 103d nop */
	0x48, 0x81, 0xc4, 0x00, 0x20, 0x00, 0x00,                   /* 103e add $0x2000, %rsp */
	0xc3,                                                       /* 1045 ret */
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, /* 1046 */
	0x50,                                                       /* 1050 push %rax */
	0x31, 0xc0,                                                 /* 1051 xor %eax, %eax */
	0x58,                                                       /* 1053 pop %rax */
	0xc3,                                                       /* 1054 ret */
};

/* sp at an instruction, computed from the state at the function's start. */
static value probe_sp_at(struct flow *flow, uint64_t vaddr)
{
	struct state state;

	state_copy(&state, flow_state(flow, 0));
	for (uint32_t i = 0; flow->vaddrs.at[i] < vaddr; i++) {
		if (i && flow_state(flow, i))
			state_copy(&state, flow_state(flow, i));
		flow_step(flow, i, &state);
	}
	return state.reg[flow->isa->sp];
}

/* The symbols are borrowed; NULL: none. */
static struct scene probe_scene_new(const struct symbols *symbols)
{
	static const uint32_t starts[] = { 0x1000, 0x1020, 0x1030, 0x1050, 0x1055 };
	struct scene s = { .images = images_new() };

	size_t cie = frame_cie(&s.eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));
	for (size_t i = 0; i + 1 < ARRAY_LEN(starts); i++)
		frame_fde(&s.eh, EH, cie, starts[i], starts[i + 1] - starts[i], 0, PROGRAM(0));
	write_u32(&s.eh, 0);
	struct elf_part parts[] = { { ".text", TEXT, PF_X | PF_R, { probe_code, sizeof(probe_code) }, 0 },
				    { ".eh_frame", EH, PF_R, writer_bytes(&s.eh), 0 } };
	struct image *image = elf_image(s.images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, parts, 2, NULL);
	s.frames = frames_read(image);
	s.functions = functions_new(image, symbols, s.frames, NULL);
	flow_init(&s.flow, functions_facts(s.functions));
	return s;
}

TEST(a_stack_probe_preserves_the_register_with_the_frame_size)
{
	struct scene s = probe_scene_new(NULL);

	functions_analyse_one(s.functions, functions_index(s.functions, 0x1000), &s.flow);
	CHECK_EQ(s.flow.verdict, FLOW_PASSES);
	CHECK_EQ(probe_sp_at(&s.flow, 0x100d), value_cfa(-8 - 0x2000));
	functions_analyse_one(s.functions, functions_index(s.functions, 0x1030), &s.flow);
	CHECK_EQ(s.flow.verdict, FLOW_FAILS);
	CHECK(value_kind(probe_sp_at(&s.flow, 0x103d)) != VALUE_CFA);
	scene_done(&s);
}

TEST(a_stack_probe_is_recognised_by_its_name)
{
	struct symbol symbol = { .vaddr = 0x1050, .size = 5, .name = "___chkstk_ms" };
	struct scene s = probe_scene_new(&(struct symbols){ .at = &symbol, .n = 1 });

	functions_analyse_one(s.functions, functions_index(s.functions, 0x1030), &s.flow);
	CHECK_EQ(s.flow.verdict, FLOW_PASSES);
	CHECK_EQ(probe_sp_at(&s.flow, 0x103d), value_cfa(-8 - 0x2000));
	scene_done(&s);
}
