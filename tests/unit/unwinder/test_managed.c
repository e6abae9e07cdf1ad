/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "unwinder/jit.h"
#include "unwinder/managed.h"

#include "tests/test.h"

#define STACK 0xffff00001000u
#define N_WORDS 64
#define FP_WORD 32 /* the frame pointer points here */
#define FP (STACK + 8 * FP_WORD)

struct scene {
	struct cursor cursor;
	struct regs regs;
	uint64_t words[N_WORDS];
};

static enum managed_kind kind_of(struct scene *s, const struct isa *isa, bool is_interrupted)
{
	struct sample sample = { .stack = { (const uint8_t *)s->words, sizeof(s->words) } };

	s->regs.value[isa->sp] = STACK;
	s->regs.value[isa->fp] = FP;
	s->regs.known |= 1ull << isa->fp | 1ull << isa->sp;
	sample.regs = s->regs;
	cursor_init(&s->cursor, NULL, NULL);
	cursor_begin(&s->cursor, isa, 1, &sample);
	return managed_frame(isa, &s->cursor, is_interrupted);
}

/* more: of words before the locals */
static struct scene interpreted(unsigned more)
{
	struct scene s = { 0 };

	s.words[FP_WORD - 1] = FP - 64;
	s.words[FP_WORD - 3] = 0xd000011710;
	s.words[FP_WORD - 7 - more] = FP + 40;
	s.words[FP_WORD - 9 - more] = FP - 8 * (9 + more);
	return s;
}

static struct scene v8(void)
{
	struct scene s = { 0 };

	s.words[FP_WORD - 1] = 0x24a3c608cf31;
	s.words[FP_WORD - 2] = 0x3fcdcb4c5849;
	s.words[FP_WORD - 3] = 2;
	return s;
}

TEST(managed_recognises_interpreted_methods_of_both_layouts)
{
	for (unsigned more = 0; more < 2; more++) {
		struct scene s = interpreted(more);
		CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_HOTSPOT_INTERPRETED);
	}
	struct scene s = interpreted(0);
	CHECK_EQ(kind_of(&s, &isa_x86_64, false), MANAGED_HOTSPOT_INTERPRETED);
}

TEST(managed_recognises_addresses_as_offsets_in_words)
{
	struct scene s = interpreted(0);

	s.words[FP_WORD - 7] = 5;
	s.words[FP_WORD - 9] = (uint64_t)-9;
	CHECK_EQ(kind_of(&s, &isa_x86_64, false), MANAGED_HOTSPOT_INTERPRETED);
}

TEST(managed_checks_the_register_of_an_interrupted_interpreter)
{
	struct scene s = interpreted(1);

	CHECK_EQ(kind_of(&s, &isa_aarch64, true), MANAGED_HOTSPOT_ENTERED);
	CHECK_EQ(kind_of(&s, &isa_x86_64, true), MANAGED_HOTSPOT_ENTERED); /* if the code uses the frame */
	s.regs.value[24] = FP + 40;
	s.regs.known |= 1ull << 24;
	CHECK_EQ(kind_of(&s, &isa_aarch64, true), MANAGED_HOTSPOT_INTERPRETED);
}

TEST(managed_recognises_functions_of_v8)
{
	struct scene s = v8();

	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_V8);
	s.words[FP_WORD - 3] = 1u << 20; /* too many arguments */
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
	s = v8();
	s.words[FP_WORD - 2]++;
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
}

TEST(managed_recognises_builtins_of_v8_by_their_callers)
{
	struct scene s = { 0 };
	const unsigned caller = FP_WORD + 8;

	s.words[FP_WORD] = STACK + 8 * caller;
	s.words[FP_WORD - 1] = 40;
	s.words[caller - 1] = 0x24a3c608cf31;
	s.words[caller - 2] = 0x3fcdcb4c5849;
	s.words[caller - 3] = 1;
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_V8);
	s.words[caller - 1] = 26; /* another builtin */
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_V8);
	s.words[caller - 1] = 0;
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
	s.words[caller - 1] = 26;
	s.words[FP_WORD - 1] = 41;
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
}

TEST(managed_does_not_recognise_other_frames)
{
	struct scene s = { 0 };

	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
	s = interpreted(0);
	s.words[FP_WORD - 7] = FP - 40; /* locals inside the frame */
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
	s = interpreted(0);
	s.words[FP_WORD - 9] = FP; /* an expression stack above the frame */
	CHECK_EQ(kind_of(&s, &isa_aarch64, false), MANAGED_NONE);
}

TEST(managed_frames_have_recipes)
{
	struct recipes recipes;
	char text[128];

	recipes_init(&recipes);
	recipe_format(&recipes, managed_recipe(MANAGED_HOTSPOT_INTERPRETED, &isa_aarch64, &recipes),
		      &isa_aarch64, text, sizeof(text));
	CHECK_STR(text, "cfa=*(x29-8) x29=*(x29+0) ra=*(x29+8)");
	recipe_format(&recipes, managed_recipe(MANAGED_V8, &isa_x86_64, &recipes), &isa_x86_64, text,
		      sizeof(text));
	CHECK_STR(text, "cfa=rbp+16 rbp=*(rbp+0) rsp=undefined ra=*(rbp+8)");
	recipes_done(&recipes);
}

/* x86-64: the register that identifies the frame of an interpreted method is sometimes used for other values.
 */
#define USER_CODE 0x7f0000001000u

static ssize_t read_user_code(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	(void)pid;
	memset(to, 0xcc, len);
	memcpy(to, context, addr == USER_CODE ? 16 : 0);
	return (ssize_t)len;
}

static bool uses_frame(const uint8_t code[16])
{
	uint8_t bytes[16];
	struct recipes recipes;

	memcpy(bytes, code, sizeof(bytes));
	recipes_init(&recipes);
	struct code_pages *pages = code_pages_new(read_user_code, bytes);
	struct jit *jit = jit_new(&isa_x86_64, pages, &recipes);
	code_pages_tick(pages, 1000000000);
	bool uses = jit_uses_frame(jit, 1, USER_CODE);
	jit_free(jit);
	code_pages_free(pages);
	recipes_done(&recipes);
	return uses;
}

TEST(code_that_reads_below_the_frame_pointer_has_that_frame)
{
	/* cmp %r13, %rax; je; mov -64(%rbp), %r13 */
	CHECK(uses_frame((const uint8_t[16]){ 0x4c, 0x39, 0xe8, 0x74, 0x02, 0x4c, 0x8b, 0x6d, 0xc0 }));
	/* words above it belong to the caller; jmp over two traps, then a word below it */
	CHECK(!uses_frame((const uint8_t[16]){ 0x4c, 0x8b, 0x6d, 0x10 }));
	CHECK(uses_frame((const uint8_t[16]){ 0xeb, 0x02, 0xcc, 0xcc, 0x4c, 0x8b, 0x6d, 0xc0 }));
	/* rbp is set first: push %rbp; mov %rsp, %rbp; mov. A call comes first; a return comes first. */
	CHECK(!uses_frame((const uint8_t[16]){ 0x55, 0x48, 0x89, 0xe5, 0x4c, 0x8b, 0x6d, 0xc0 }));
	CHECK(!uses_frame((const uint8_t[16]){ 0xff, 0xd0, 0x4c, 0x8b, 0x6d, 0xc0 }));
	CHECK(!uses_frame((const uint8_t[16]){ 0xc3, 0x4c, 0x8b, 0x6d, 0xc0 }));
}
