/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/goroutine.h"

#include <elf.h>

#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"
#include "unwinder/activations.h"
#include "unwinder/unwinder.h"

#define TEXT 0x1000u
#define TABLE 0x8000u
#define EH 0x9000u
#define STACK 0x4000000000u
#define PID 7

/* vaddrs of functions, 0x40 bytes each */
enum {
	GOEXIT = 0x1000,
	MCALL = 0x1040,
	ASMCGOCALL = 0x1080,
	WORK = 0x10c0,
	CLOCK = 0x1100,
	NOW = 0x1140,      /* in assembly, as on x86-64 */
	COMPILED = 0x1180, /* compiled, of the same name, as on AArch64 */
	TEXT_END = 0x11c0
};

static const char *const names[] = { "runtime.goexit", "runtime.mcall.abi0",     "runtime.asmcgocall",
				     "main.work",      "runtime.nanotime1.abi0", "time.now",
				     "time.now" };

#define RECORD 40u /* bytes of a function's record */

/* As the linker describes them: number and flags. Code interrupted in WORK has its goroutine in x28. */
static const uint8_t kinds[ARRAY_LEN(names)][2] = { { 7, 4 }, { 11, 4 }, { 2, 4 }, { 0, 0 },
						    { 0, 4 }, { 0, 4 },  { 0, 0 } };

static void write_table(struct writer *w)
{
	const uint64_t names_at = 8 + 8 * 8, functions = names_at + ARRAY_LEN(names) * 32;

	write_u32(w, 0xfffffff0);
	write_u32(w, 0x08040000);
	write_u64(w, ARRAY_LEN(names));
	write_u64(w, 1);
	write_u64(w, TEXT);
	write_u64(w, names_at);
	for (int i = 0; i < 3; i++)
		write_u64(w, 0);
	write_u64(w, functions);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char name[32] = { 0 };
		strcpy(name, names[i]);
		elf_write(w, name, sizeof(name));
	}
	for (uint32_t i = 0; i < ARRAY_LEN(names); i++) {
		write_u32(w, i * 0x40);
		write_u32(w, 8 * ARRAY_LEN(names) + 4 + i * RECORD);
	}
	write_u32(w, TEXT_END - TEXT);
	for (uint32_t i = 0; i < ARRAY_LEN(names); i++) {
		write_u32(w, i * 0x40);
		write_u32(w, i * 32);
		for (int j = 0; j < 7; j++)
			write_u32(w, 0);
		write_u8(w, kinds[i][0]);
		write_u8(w, kinds[i][1]);
		write_u16(w, 0);
	}
}

static void write_text(uint32_t *text)
{
	for (size_t i = 0; i < (TEXT_END - TEXT) / 4; i++)
		text[i] = 0xd503201f;                   /* nop */
	text[(MCALL - TEXT) / 4 + 2] = 0x9100005f;      /* mov sp, x2 */
	text[(MCALL - TEXT) / 4 + 3] = 0xd63f0060;      /* blr x3 */
	text[(ASMCGOCALL - TEXT) / 4 + 3] = 0xd63f0060; /* blr x3, with an unknown sp */
	text[(ASMCGOCALL - TEXT) / 4 + 2] = 0x9100005f; /* mov sp, x2 */
	text[(WORK - TEXT) / 4] = 0xf81e0ffe;           /* str x30, [sp, #-32]! */
	text[(WORK - TEXT) / 4 + 2] = 0xf84207fe;       /* ldr x30, [sp], #32 */
	text[(WORK - TEXT) / 4 + 3] = 0xd65f03c0;       /* ret */
	text[(CLOCK - TEXT) / 4] = 0xf81d0ffe;          /* str x30, [sp, #-48]! */
	text[(CLOCK - TEXT) / 4 + 1] = 0xf81f83fd;      /* stur x29, [sp, #-8] */
	text[(CLOCK - TEXT) / 4 + 2] = 0xd10023fd;      /* sub x29, sp, #8 */
	text[(CLOCK - TEXT) / 4 + 3] = 0x910003f4;      /* mov x20, sp */
	text[(CLOCK - TEXT) / 4 + 4] = 0x9100003f;      /* mov sp, x1 */
	text[(CLOCK - TEXT) / 4 + 5] = 0xd4000001;      /* svc #0 */
	text[(CLOCK - TEXT) / 4 + 6] = 0x9100029f;      /* mov sp, x20 */
	text[(CLOCK - TEXT) / 4 + 7] = 0xf85f83fd;      /* ldur x29, [sp, #-8] */
	text[(CLOCK - TEXT) / 4 + 8] = 0xf84307fe;      /* ldr x30, [sp], #48 */
	text[(CLOCK - TEXT) / 4 + 9] = 0xd65f03c0;      /* ret */
}

static struct image *program(struct images *images, image_id *ret)
{
	uint32_t text[(TEXT_END - TEXT) / 4];
	struct writer table = { 0 }, eh = { 0 };

	write_text(text);
	write_table(&table);
	/* Go's compiler marks functions that switch stacks as outermost. */
	size_t cie = frame_cie(&eh, "zR", 4, -8, 30, PROGRAM(0x0c, 31, 0));
	frame_fde(&eh, EH, cie, ASMCGOCALL, 0x40, 0, PROGRAM(0x07, 30));
	struct elf_part parts[] = {
		{ ".text", TEXT, PF_R | PF_X, { (const uint8_t *)text, sizeof(text) }, 0 },
		{ ".gopclntab", TABLE, PF_R, writer_bytes(&table), 0 },
		{ ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 }
	};
	struct image *image =
		elf_image(images, "go", EM_AARCH64, 0, ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts), ret);
	writer_done(&table);
	writer_done(&eh);
	return image;
}

TEST(goroutine_roles_are_determined_by_name)
{
	struct images *images = images_new();
	image_id id;
	struct go_stacks *stacks = go_stacks_read(program(images, &id));

	CHECK(stacks != NULL);
	CHECK_EQ(go_stacks_role(stacks, GOEXIT + 3), GO_EXIT);
	CHECK_EQ(go_stacks_role(stacks, MCALL), GO_BEGIN);
	CHECK_EQ(go_stacks_role(stacks, ASMCGOCALL + 0x3f), GO_SWITCH);
	CHECK_EQ(go_stacks_role(stacks, WORK), GO_ORDINARY);
	CHECK_EQ(go_stacks_role(stacks, CLOCK), GO_CLOCK);
	CHECK_EQ(go_stacks_role(stacks, NOW + 4), GO_CLOCK);
	CHECK_EQ(go_stacks_role(stacks, COMPILED), GO_ORDINARY);
	CHECK_EQ(go_stacks_role(NULL, GOEXIT), GO_ORDINARY);
	go_stacks_free(stacks);
	images_free(images);
}

TEST(goroutine_is_in_a_register_in_interrupted_go_code)
{
	struct images *images = images_new();
	image_id id;
	struct go_stacks *stacks = go_stacks_read(program(images, &id));

	CHECK(go_stacks_know_goroutine(stacks, &isa_aarch64, WORK));
	CHECK(go_stacks_know_goroutine(stacks, &isa_x86_64, WORK + 0x3f));
	/* In assembly, too, where the assembler does not give the register away. */
	CHECK(go_stacks_know_goroutine(stacks, &isa_aarch64, CLOCK));
	CHECK(!go_stacks_know_goroutine(stacks, &isa_x86_64, CLOCK));
	/* What changes stacks changes the register at another time. */
	CHECK(!go_stacks_know_goroutine(stacks, &isa_aarch64, MCALL + 8));
	CHECK(!go_stacks_know_goroutine(NULL, &isa_aarch64, WORK));
	go_stacks_free(stacks);
	images_free(images);
}

struct sampled {
	uint64_t pc, fp, ra, words[12];
};

static uint64_t last_goroutine; /* of the last walk */

static enum stack_end end_of_sample(const struct sampled *sampled, size_t *ret_frames)
{
	struct images *images = images_new();
	struct stack stack = { 0 };
	image_id id;

	program(images, &id);
	struct unwinder *unwinder =
		unwinder_new(images, &isa_aarch64, &(struct unwinder_options){ .mode = UNWIND_AUTO });
	struct event map = { .kind = EVENT_MAPPING, .pid = PID, .tid = PID };
	map.mapping =
		(struct mapping){ .start = TEXT, .len = TEXT_END - TEXT, .image = id, .is_executable = true };
	unwinder_event(unwinder, &map);
	struct event event = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID };
	event.sample.regs.known = UINT64_MAX >> (64 - REG_MAX);
	event.sample.regs.value[31] = STACK;
	event.sample.regs.value[32] = sampled->pc;
	event.sample.regs.value[29] = sampled->fp;
	event.sample.regs.value[30] = sampled->ra;
	event.sample.regs.value[28] = 0x4711;
	event.sample.stack = (struct bytes){ (const uint8_t *)sampled->words, sizeof(sampled->words) };
	unwinder_walk(unwinder, &event, &stack);
	enum stack_end end = stack.end;
	*ret_frames = stack.frames.n;
	last_goroutine = activations_goroutine(&stack);
	stack_done(&stack);
	unwinder_free(unwinder);
	images_free(images);
	return end;
}

/* How a stack ends whose innermost function was interrupted in its body and returns to `ra`. */
static enum stack_end end_of(uint64_t ra, size_t *ret_frames)
{
	return end_of_sample(&(struct sampled){ .pc = WORK + 4, .words = { ra } }, ret_frames);
}

TEST(goroutine_begins_where_it_returns_to_goexit)
{
	size_t n;

	CHECK_EQ(end_of(GOEXIT + 4, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
	CHECK_EQ(last_goroutine, 0x4711);
}

TEST(goroutine_stack_ends_where_the_runtime_switches_stacks)
{
	size_t n;

	CHECK_EQ(end_of(MCALL + 16, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
	CHECK_EQ(last_goroutine, 0);
	CHECK_EQ(end_of(ASMCGOCALL + 16, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
	/* there is no call before it */
	CHECK_EQ(end_of(MCALL + 12, &n), STACK_INVALID_STEP);
	CHECK_EQ(end_of(WORK + 8, &n), STACK_INVALID_STEP);
}

TEST(goroutine_stack_continues_after_reading_the_clock)
{
	/* What the thread's own stack holds is the return address of a call that was over long ago. */
	struct sampled sampled = { .pc = CLOCK + 24, .fp = 0x5000000000, .words = { MCALL + 16 } };
	size_t n;

	/* It has callers, in memory that was not copied. */
	CHECK_EQ(end_of_sample(&sampled, &n), STACK_BAD_READ);
	CHECK_EQ(n, 1);
	/* The goroutine's stack is within the copied memory, above. */
	sampled.fp = STACK + 8 * 4 - 8;
	sampled.words[4] = GOEXIT + 4;
	CHECK_EQ(end_of_sample(&sampled, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
	/* Before the stack switch it is an ordinary function. */
	sampled = (struct sampled){ .pc = CLOCK + 16, .fp = STACK - 8, .words = { MCALL + 16 } };
	CHECK_EQ(end_of_sample(&sampled, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
}

TEST(goroutine_has_its_callers_until_the_stack_is_switched)
{
	struct sampled sampled = { .pc = MCALL + 8, .ra = GOEXIT + 4 };
	size_t n;

	CHECK_EQ(end_of_sample(&sampled, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
	CHECK_EQ(last_goroutine, 0); /* the register may already hold the next goroutine */
	sampled.pc = ASMCGOCALL + 4;
	CHECK_EQ(end_of_sample(&sampled, &n), STACK_COMPLETE);
	CHECK_EQ(n, 2);
	sampled.pc = MCALL + 12;
	sampled.ra = 0;
	CHECK(end_of_sample(&sampled, &n) != STACK_COMPLETE);
	CHECK_EQ(n, 1);
}

static const char *preempted(const struct isa *isa, const struct recipe *stated, const struct rule *rules)
{
	static char text[160];
	struct recipes recipes;

	recipes_init(&recipes);
	uint32_t recipe = goroutine_preempted(isa, &recipes, recipes_add(&recipes, stated, rules));
	if (recipe == RECIPE_NONE)
		strcpy(text, "none");
	else
		recipe_format(&recipes, recipe, isa, text, sizeof(text));
	recipes_done(&recipes);
	return text;
}

TEST(goroutine_stack_continues_after_preemption)
{
	struct recipe entered = { .cfa_kind = CFA_REG, .cfa_reg = 31, .witness = WITNESS_CFI };
	struct recipe inside = entered, analysed = entered, pushed = entered;
	struct rule saved = { .reg = 30, .kind = RULE_AT_CFA, .offset = -496 };
	struct rule on_stack = { .reg = 16, .kind = RULE_AT_CFA, .offset = -8 };

	inside.cfa_offset = 496;
	inside.n_rules = pushed.n_rules = 1;
	analysed.witness = WITNESS_ANALYSIS;
	pushed.cfa_reg = 7;
	pushed.cfa_offset = 8;
	CHECK_STR(preempted(&isa_aarch64, &entered, NULL), "cfa=sp+16 x29=undefined ra=c-16 pc=x30 signal");
	CHECK_STR(preempted(&isa_aarch64, &inside, &saved),
		  "cfa=sp+512 x29=undefined ra=c-16 pc=c-512 signal");
	CHECK_STR(preempted(&isa_x86_64, &pushed, &on_stack), "cfa=rsp+8 ra=c-8 signal");
	CHECK_STR(preempted(&isa_aarch64, &analysed, NULL), "none");
}
