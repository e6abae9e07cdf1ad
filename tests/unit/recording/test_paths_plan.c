/* SPDX-License-Identifier: Apache-2.0 */
/* Where the probes in x86-64 code are, and what is counted when they are hit. */
#include "recording/paths_plan.h"

#include "binary/functions/function.h"
#include "collector/bpf/paths_branch.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define LOOP TEXT
#define CALLER (TEXT + 0x40)
#define BY_RCX (TEXT + 0x50)
#define NESTED (TEXT + 0x60)
#define WEIGHED (TEXT + 0x80)
#define EH 0x8000u

enum { WORD_RCX = 11, WORD_RSP = 19 }; /* in struct pt_regs */

static const uint8_t loop[] = {
	0x31, 0xc0,             /*    xor eax, eax */
	0x85, 0xff,             /*    test edi, edi */
	0x7e, 0x0c,             /*    jle 2f */
	0x40, 0xf6, 0xc7, 0x01, /* 1: test dil, 1 */
	0x74, 0x02,             /*    je 3f */
	0xff, 0xc0,             /*    inc eax */
	0xff, 0xcf,             /* 3: dec edi */
	0x75, 0xf4,             /*    jne 1b */
	0xc3,                   /* 2: ret */
};
static const uint8_t caller[] = {
	0x85, 0xff,                   /*    test edi, edi */
	0x74, 0x05,                   /*    je 1f */
	0xe8, 0xb7, 0xff, 0xff, 0xff, /*    call loop */
	0xc3,                         /* 1: ret */
};
static const uint8_t by_rcx[] = { 0xe3, 0x01, 0x90, 0xc3 }; /* jrcxz 1f; nop; 1: ret */

static const uint8_t nested[] = {
	0x85, 0xff, /*    test edi, edi */
	0x74, 0x06, /*    je 1f */
	0x85, 0xf6, /*    test esi, esi */
	0x74, 0x01, /*    je 2f */
	0x90,       /*    nop */
	0xc3,       /* 2: ret */
	0x85, 0xd2, /* 1: test edx, edx */
	0x74, 0x01, /*    je 3f */
	0xc3,       /*    ret */
	0x90,       /* 3: nop */
	0xc3,       /*    ret */
};

static const uint8_t weighed[] = {
	0xe8, 0x7b, 0xff, 0xff, 0xff, /*    call loop */
	0x85, 0xff,                   /*    test edi, edi */
	0x75, 0x04,                   /*    jne 1f */
	0x85, 0xf6,                   /*    test esi, esi */
	0x74, 0x08,                   /*    je 2f */
	0x85, 0xd2,                   /* 1: test edx, edx */
	0x74, 0x04,                   /*    je 2f */
	0x85, 0xc9,                   /*    test ecx, ecx */
	0x74, 0x05,                   /*    je 3f */
	0x85, 0xc0,                   /* 2: test eax, eax */
	0x74, 0x01,                   /*    je 3f */
	0x90,                         /*    nop */
	0xc3,                         /* 3: ret */
};

static struct images *images;
static struct functions *functions;
static struct symbols *symbols;
static struct frames *frames;
static struct paths_plan plan;
static const struct paths_samples *seen; /* samples taken before */

static int make(uint64_t vaddr)
{
	static uint8_t text[0xc0];
	struct writer eh = { 0 };
	struct diag diag = { 0 };
	image_id id;

	memset(text, 0xcc, sizeof(text));
	memcpy(text, loop, sizeof(loop));
	memcpy(text + 0x40, caller, sizeof(caller));
	memcpy(text + 0x50, by_rcx, sizeof(by_rcx));
	memcpy(text + 0x60, nested, sizeof(nested));
	memcpy(text + 0x80, weighed, sizeof(weighed));
	size_t cie = frame_cie(&eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));
	frame_fde(&eh, EH, cie, LOOP, sizeof(loop), 0, PROGRAM(0));
	frame_fde(&eh, EH, cie, CALLER, sizeof(caller), 0, PROGRAM(0));
	frame_fde(&eh, EH, cie, BY_RCX, sizeof(by_rcx), 0, PROGRAM(0));
	frame_fde(&eh, EH, cie, NESTED, sizeof(nested), 0, PROGRAM(0));
	frame_fde(&eh, EH, cie, WEIGHED, sizeof(weighed), 0, PROGRAM(0));
	struct elf_part parts[] = { { ".text", TEXT, PF_R | PF_X, { text, sizeof(text) }, 0 },
				    { ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 } };
	images = images_new();
	struct image *image =
		elf_image(images, "program", EM_X86_64, 0, ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts), &id);
	writer_done(&eh);
	symbols = symbols_read(image);
	frames = frames_read(image);
	functions = functions_new(image, symbols, frames, NULL);
	struct paths_plan_request request = { .image = id, .vaddr = vaddr, .number = 7, .samples = seen };
	return paths_plan_init(&plan, functions, image, &request, &diag);
}

static void end(void)
{
	paths_plan_done(&plan);
	functions_free(functions);
	frames_free(frames);
	symbols_free(symbols);
	images_free(images);
}

static const struct paths_probe *probe_at(uint64_t vaddr)
{
	for (size_t i = 0; i < plan.vaddrs.n; i++)
		if (plan.vaddrs.at[i] == vaddr)
			return &plan.probes.at[i];
	return NULL;
}

/* ---- what the program in the kernel does with them ------------------------------------------------- */

static uint64_t counts[64];
static uint32_t number;

static void act(const struct paths_action *action)
{
	number += action->add;
	if (action->end != PATHS_GOES_ON)
		counts[number]++;
	number = action->end == PATHS_GOES_ON ? number : action->next;
}

static void branch(uint64_t vaddr, uint64_t flags)
{
	const struct paths_probe *probe = probe_at(vaddr);

	act(&probe->way[branch_by_x86(flags, probe->condition) ? 0 : 1]);
}

static uint64_t flags_of(int64_t result)
{
	return (result == 0 ? ZERO : 0) | (result < 0 ? SIGN : 0);
}

/* Executes the function `loop` as a processor would. */
static void run_loop(int64_t edi)
{
	number = probe_at(LOOP)->entry.next;
	branch(LOOP + 4, flags_of(edi));
	if (edi <= 0)
		return;
	do {
		branch(LOOP + 10, flags_of(edi & 1));
		edi--;
		branch(LOOP + 16, flags_of(edi));
	} while (edi);
}

/* How often the block at an address was executed, from the counted paths. */
static uint64_t executed(uint64_t vaddr)
{
	struct way way = { 0 };
	uint64_t n = 0;

	for (uint32_t i = 0; i < plan.ways.n; i++) {
		CHECK(ways_find(&plan.ways, i, &way));
		for (size_t k = 0; k < way.blocks.n; k++)
			n += plan.cfg.blocks[way.blocks.at[k]].start == vaddr ? counts[i] : 0;
	}
	way_done(&way);
	return n;
}

TEST(paths_plan_x86_branches_and_the_entry_have_probes)
{
	static const struct {
		uint32_t at, stage, condition;
	} expected[] = {
		{ LOOP, PATHS_ENTRY, 0 },
		{ LOOP + 4, PATHS_BRANCH, 14 },
		{ LOOP + 10, PATHS_BRANCH, 4 },
		{ LOOP + 16, PATHS_BRANCH, 5 },
	};

	CHECK_EQ(make(LOOP), 0);
	CHECK_EQ(plan.ways.n, 9);
	CHECK_EQ(plan.probes.n, ARRAY_LEN(expected)); /* none at the return: not needed */
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		const struct paths_probe *probe = probe_at(expected[i].at);
		CHECK(probe);
		CHECK_EQ(probe->function, 7);
		CHECK_EQ(probe->stages, expected[i].stage);
		CHECK_EQ(probe->condition, expected[i].condition);
		CHECK_EQ(probe->cfa_reg, WORD_RSP);
		CHECK_EQ(probe->cfa_offset, 8);
	}
	end();
}

TEST(paths_plan_x86_executed_paths_are_counted)
{
	CHECK_EQ(make(LOOP), 0);
	memset(counts, 0, sizeof(counts));
	run_loop(5);
	run_loop(0);
	run_loop(2);
	CHECK_EQ(executed(LOOP), 3);
	CHECK_EQ(executed(LOOP + 6), 7);
	CHECK_EQ(executed(LOOP + 12), 4); /* for edi = 5, 3, 1; 1 */
	CHECK_EQ(executed(LOOP + 14), 7);
	CHECK_EQ(executed(LOOP + 18), 3);
	end();
}

TEST(paths_plan_x86_a_path_after_a_call_ends_at_a_probe)
{
	CHECK_EQ(make(CALLER), 0);
	CHECK_EQ(plan.ways.n, 2);
	CHECK_EQ(plan.probes.n, 3);
	const struct paths_probe *branch = probe_at(CALLER + 2), *last = probe_at(CALLER + 9);
	CHECK(branch && last);
	CHECK_EQ(last->stages, PATHS_PASS);
	CHECK_EQ(last->way[0].end, PATHS_LEAVES);
	CHECK_EQ(branch->way[0].end, PATHS_GOES_ON);
	CHECK_EQ(branch->way[1].expect, last->block);
	end();
}

TEST(paths_plan_x86_a_branch_by_a_register)
{
	CHECK_EQ(make(BY_RCX), 0);
	const struct paths_probe *probe = probe_at(BY_RCX);
	CHECK(probe);
	CHECK_EQ(probe->stages, PATHS_ENTRY | PATHS_BRANCH);
	CHECK_EQ(probe->test, PATHS_IF_ZERO);
	CHECK_EQ(probe->reg, WORD_RCX);
	CHECK_EQ(probe->width, 8);
	end();
}

/* The actions of a probe on behalf of a branch that has none. */
static void arrive(const struct paths_probe *probe, uint32_t expect)
{
	for (size_t i = 0; i < plan.arrivals.n; i++) {
		const struct paths_landing *landing = &plan.arrivals.at[i];
		if (landing->arrival.from == expect && landing->arrival.to == probe->block) {
			CHECK_EQ(landing->action.expect, probe->block);
			act(&landing->action);
		}
	}
}

/* The function `nested`. */
static void run_nested(bool edi, bool other)
{
	const struct paths_probe *entry = probe_at(NESTED), *next = probe_at(edi ? NESTED + 6 : NESTED + 12);

	number = entry->entry.next;
	arrive(next, entry->entry.expect);
	branch(edi ? NESTED + 6 : NESTED + 12, other ? 0 : ZERO);
}

TEST(paths_plan_x86_the_next_probe_reveals_a_branch)
{
	CHECK_EQ(make(NESTED), 0);
	CHECK_EQ(plan.ways.n, 4);
	CHECK_EQ(plan.probes.n, 3);
	CHECK(!probe_at(NESTED + 2));
	CHECK_EQ(probe_at(NESTED)->stages, PATHS_ENTRY);
	CHECK_EQ(probe_at(NESTED + 6)->stages, PATHS_BRANCH | PATHS_ARRIVAL);
	CHECK_EQ(probe_at(NESTED + 12)->stages, PATHS_BRANCH | PATHS_ARRIVAL);
	memset(counts, 0, sizeof(counts));
	for (int i = 0; i < 16; i++)
		run_nested(i & 1, i % 8 < 3);
	CHECK_EQ(executed(NESTED), 16);
	CHECK_EQ(executed(NESTED + 4), 8);
	CHECK_EQ(executed(NESTED + 8), 2); /* for i = 1, 9 */
	CHECK_EQ(executed(NESTED + 10), 8);
	CHECK_EQ(executed(NESTED + 14), 4); /* for i = 0, 2, 8, 10 */
	end();
}

/* Of two branches of which only one can be left out, the more frequent one is. */
TEST(paths_plan_x86_samples_determine_which_branch_needs_no_probe)
{
	enum { SELDOM = WEIGHED + 0xb, OFTEN = WEIGHED + 0xf };
	struct paths_sample places[] = { { 0, WEIGHED + 5, 100 },
					 { 0, WEIGHED + 9, 1 },
					 { 0, WEIGHED + 0xd, 90 },
					 { 0, WEIGHED + 0x11, 50 },
					 { 0, WEIGHED + 0x15, 45 } };
	struct paths_samples samples = { .sample_ns = 1e6, .seconds = 1 };

	CHECK_EQ(make(WEIGHED), 0);
	CHECK(!probe_at(SELDOM) && probe_at(OFTEN));
	CHECK(!plan.rates && plan.hits == 0);
	end();
	samples.at.at = places;
	samples.at.n = ARRAY_LEN(places);
	seen = &samples;
	CHECK_EQ(make(WEIGHED), 0);
	CHECK(probe_at(SELDOM) && !probe_at(OFTEN));
	CHECK(probe_at(SELDOM)->stages == PATHS_BRANCH);
	/* 286 ms in all, of 11 instructions that take 0.2 ns each: a hundred million rounds, some probes
	 * each. */
	CHECK(plan.hits > 1e8 && plan.hits < 1e9);
	end();
	samples.at.n = 0;
	CHECK_EQ(make(WEIGHED), 0);
	CHECK(!probe_at(SELDOM) && !plan.rates);
	end();
	seen = NULL;
}
