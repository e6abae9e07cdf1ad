/* SPDX-License-Identifier: Apache-2.0 */
/* Handwritten code whose unwind entries are not the whole truth: this program contains it, and is the image.
 */
#include <dlfcn.h>

#include "binary/isa/isa.h"
#include "recipes/knowledge.h"
#include "tests/test.h"

struct scene {
	struct images *images;
	image_id id;
	uint64_t base;
	struct knowledge *knowledge;
};

static struct scene scene_of(const void *code)
{
	struct scene s = { .images = images_new() };
	Dl_info self;

	CHECK_EQ(images_open(s.images, "/proc/self/exe", &s.id, NULL), 0);
	CHECK(dladdr(code, &self) != 0);
	s.base = (uintptr_t)self.dli_fbase;
	s.knowledge = knowledge_new(s.images, isa_for_machine(images_get(s.images, s.id)->elf_machine),
				    UNWIND_AUTO, NULL);
	return s;
}

static struct place scene_place(const struct scene *s, const void *code, bool is_return)
{
	struct place place;

	knowledge_place(s->knowledge, s->id, (uintptr_t)code - s->base, is_return, &place);
	return place;
}

static void scene_done(struct scene *s)
{
	knowledge_free(s->knowledge);
	images_free(s->images);
}

/*
 * Two functions of more than 1 KB with one unwind entry each, as handwritten code has them: the first calls a
 * subroutine inside its own entry, the second another function.
 */
#if defined(__x86_64__)
#define ENTER "sub $8, %rsp\n.cfi_def_cfa_offset 16\n"
#define CALL "call "
#define LEAVE "add $8, %rsp\n.cfi_def_cfa_offset 8\nret\n"
#else
#define ENTER "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset x29, -16\n.cfi_offset x30, -8\n"
#define CALL "bl "
#define LEAVE "ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\nret\n"
#endif
#define BIG_FUNCTION(name, callee)                                                                       \
	__asm__(".text\n.balign 16\n.type " #name ", %function\n" #name                                  \
		":\n.cfi_startproc\n" ENTER CALL callee "\n.globl after_" #name "\n.hidden after_" #name \
		"\nafter_" #name ":\n" LEAVE "2: nop\nret\n"                                             \
		".rept 1100\nnop\n.endr\n.cfi_endproc\n.size " #name ", .-" #name)
BIG_FUNCTION(calls_inside, "2f");
BIG_FUNCTION(calls_outside, "calls_inside");
extern const char after_calls_inside[], after_calls_outside[];

TEST(unwind_entries_that_cover_subroutines_are_not_trusted_at_calls)
{
	struct scene s = scene_of(after_calls_inside);

	knowledge_set_patience(s.knowledge, 3);
	struct place place = scene_place(&s, after_calls_outside, true);
	CHECK(place.is_early && place.recipes.recipe[0] != RECIPE_NONE);
	CHECK_EQ(knowledge_analysed(s.knowledge), 0);
	place = scene_place(&s, after_calls_inside, true);
	CHECK(!place.is_early && place.recipes.recipe[0] != RECIPE_NONE);
	CHECK(knowledge_analysed(s.knowledge) > 0);
	scene_done(&s);
}

/* A function that overwrites a callee-saved register which its unwind entry says it keeps. It is never run.
 */
#if defined(__x86_64__)
#define OVERWRITE "mov %rdi, %r12\n"
#else
#define OVERWRITE "mov x19, x0\n"
#endif
__asm__(".text\n.balign 16\n.type overwrites, %function\n.globl overwrites\n.hidden overwrites\noverwrites:\n"
	".cfi_startproc\n" OVERWRITE ".globl overwritten\n.hidden overwritten\noverwritten: nop\nret\n"
	".cfi_endproc\n.size overwrites, .-overwrites");
extern const char overwrites[], overwritten[];

TEST(registers_are_lost_in_code_that_overwrites_them_whatever_its_unwind_entry_says)
{
	struct scene s = scene_of(overwrites);
	struct place place = scene_place(&s, overwrites, false);

	CHECK(place.recipes.recipe[0] != RECIPE_NONE && !place.loses_regs);
	place = scene_place(&s, overwritten, false);
	CHECK(place.recipes.recipe[0] != RECIPE_NONE && place.loses_regs);
	scene_done(&s);
}

/* A switch between fibers, with a copy of the sp that it leaves in a register, at first. It is never run. */
#define LABEL(name) ".globl " name "\n.hidden " name "\n" name ":\n"
#if defined(__x86_64__)
#define SAVE "push %rbp\npush %rbx\nmov %rsp, %rax\nmov %rax, (%rdi)\nmov %rsi, %rsp\n"
#define FORGET "xor %eax, %eax\n"
#define RESTORE "pop %rbx\npop %rbp\nret\n"
#define RESUMED "cfa=rsp+24 rbx=c-24 rbp=c-16 ra=c-8"
#else
#define SAVE "stp x29, x30, [sp, #-32]!\nstr x19, [sp, #16]\nmov x2, sp\nstr x2, [x0]\nmov sp, x1\n"
#define FORGET "mov x2, #0\n"
#define RESTORE "ldr x19, [sp, #16]\nldp x29, x30, [sp], #32\nret\n"
#define RESUMED "cfa=sp+32 x19=c-16 x29=c-32 ra=c-24"
#endif
__asm__(".text\n.balign 16\n.type switches, %function\n" LABEL("switches") SAVE LABEL("with_copy")
		FORGET LABEL("without_copy") RESTORE ".size switches, .-switches");
extern const char with_copy[], without_copy[];

static const char *first_recipe(const struct scene *s, const void *code)
{
	static char text[160];
	struct place place = scene_place(s, code, false);

	if (place.recipes.recipe[0] == RECIPE_NONE)
		return "none";
	recipe_format(knowledge_recipes(s->knowledge), place.recipes.recipe[0],
		      isa_for_machine(images_get(s->images, s->id)->elf_machine), text, sizeof(text));
	return text;
}

TEST(where_sp_is_that_of_another_stack_the_caller_is_the_one_that_is_resumed)
{
	struct scene s = scene_of(with_copy);

	CHECK_STR(first_recipe(&s, with_copy), RESUMED);
	CHECK_STR(first_recipe(&s, without_copy), RESUMED);
	scene_done(&s);
}

/* Sets up the frame of its caller, as V8's code does, and its own for a while. It is never run. */
#if defined(__x86_64__)
#define CALLERS_FRAME "pop %r15\npush %rbp\nmov %rsp, %rbp\npush %rsi\n"
#define OWN_FRAME "push %rdi\npush %r15\npush %rbp\nmov %rsp, %rbp\n"
#define LEAVE_ONE "mov %rbp, %rsp\npop %rbp\nret\n"
#define WITHOUT_FRAME "cfa=rsp+8 rbp=undefined ra=c-8"
#define CALLERS_ONLY "cfa=rsp+16 r15=undefined ra=r15"
#define BOTH_FRAMES "cfa=rsp+40 rbp=c-40 r15=undefined ra=c-32"
#else
#define CALLERS_FRAME "stp x29, x17, [sp, #-32]!\nmov x29, sp\n"
#define OWN_FRAME "stp x29, x30, [sp, #-16]!\nmov x29, sp\n"
#define LEAVE_ONE "ldp x29, x30, [sp], #16\nret\n"
#define WITHOUT_FRAME "cfa=sp+0 x29=undefined ra=same"
#define CALLERS_ONLY "cfa=sp+32 ra=same"
#define BOTH_FRAMES "cfa=sp+48 x29=c-48 ra=c-40"
#endif
__asm__(".text\n.balign 16\n.type sets_up, %function\n" LABEL("sets_up") CALLERS_FRAME LABEL("callers_frame")
		OWN_FRAME LABEL("both_frames") LEAVE_ONE ".size sets_up, .-sets_up");
extern const char sets_up[], callers_frame[], both_frames[];

TEST(the_frame_pointer_of_the_caller_is_the_one_that_it_finds_after_the_return)
{
	struct scene s = scene_of(sets_up);

	CHECK_STR(first_recipe(&s, sets_up), WITHOUT_FRAME);
	CHECK_STR(first_recipe(&s, callers_frame), CALLERS_ONLY);
	CHECK_STR(first_recipe(&s, both_frames), BOTH_FRAMES);
	scene_done(&s);
}

/* Its own frame, left behind at a "return" that is never executed; and the frame of a caller, set up on one
 * of two ways. They are never run. */
#if defined(__x86_64__)
#define OWN_FRAME_LEFT                                      \
	"push %rbp\nmov %rsp, %rbp\nsub $16, %rsp\n" LABEL( \
		"own_frame") "test %edi, %edi\nje 1f\nleave\nret\n1: mov 8(%rbp), %rcx\npush %rcx\nret\n"
#define OWN_FRAME_ONLY "cfa=rbp+16 rbp=c-16 ra=c-8"
#define SOMETIMES                                                               \
	LABEL("ordinary")                                                       \
	"test %edi, %edi\nje 1f\nret\n1: pop %r15\npush %rbp\nmov %rsp, %rbp\n" \
	"push %rsi\npush %r15\nret\n"
#define ORDINARY "cfa=rsp+8 ra=c-8"
#define ALLOCATE \
	CALLERS_FRAME "sub %rdi, %rsp\n" LABEL("allocates") "mov %rbp, %rsp\nsub $8, %rsp\npush %r15\nret\n"
#define ALLOCATED "cfa=rbp+8 r15=undefined ra=r15"
#else
#define OWN_FRAME_LEFT                                    \
	"stp x29, x30, [sp, #-32]!\nmov x29, sp\n" LABEL( \
		"own_frame") "cbz x0, 1f\nldp x29, x30, [sp], #32\nret\n1: ret\n"
#define OWN_FRAME_ONLY "cfa=sp+32 x29=c-32 ra=c-24"
#define SOMETIMES LABEL("ordinary") "cbz x0, 1f\nret\n1: stp x29, x17, [sp, #-32]!\nmov x29, sp\nret\n"
#define ORDINARY "cfa=sp+0 ra=same"
#define ALLOCATE CALLERS_FRAME "sub sp, sp, x0\n" LABEL("allocates") "mov sp, x29\nret\n"
#define ALLOCATED "cfa=x29+32 ra=same"
#endif
__asm__(".text\n.balign 16\n.type leaves_own, %function\n" LABEL("leaves_own") OWN_FRAME_LEFT
	".size leaves_own, .-leaves_own\n.type sometimes, %function\n" LABEL("sometimes") SOMETIMES
	".size sometimes, .-sometimes\n.type allocate, %function\n" LABEL("allocate") ALLOCATE
	".size allocate, .-allocate");
extern const char own_frame[], ordinary[], allocates[];

TEST(a_frame_with_the_functions_own_return_address_is_not_the_callers)
{
	struct scene s = scene_of(own_frame);

	CHECK_STR(first_recipe(&s, own_frame), OWN_FRAME_ONLY);
	scene_done(&s);
}

TEST(a_function_that_also_returns_without_the_callers_frame_keeps_the_frame_pointer)
{
	struct scene s = scene_of(ordinary);

	CHECK_STR(first_recipe(&s, ordinary), ORDINARY);
	scene_done(&s);
}

TEST(the_frame_of_the_caller_says_where_it_is_when_sp_does_not)
{
	struct scene s = scene_of(allocates);

	CHECK_STR(first_recipe(&s, allocates), ALLOCATED);
	scene_done(&s);
}

/* Code that was not called: it continues a frame that was set up before. And two functions that are called,
 * and look at their caller's frame. They are never run. */
#if defined(__x86_64__)
#define CONTINUE "mov -16(%rbp), %rbx\npush %rbx\n" LABEL("continues_on") "mov -24(%rbp), %rcx\njmp *%rcx\n"
#define LOOK_AND_RETURN "mov -16(%rbp), %rax\nret\n"
#define LOOK_AND_JUMP "mov -16(%rbp), %rdi\njmp *%rax\n"
#define CONTINUED                                                                                    \
	"cfa=rbp+16 rbx=undefined rbp=c-16 rsp=undefined r12=undefined r13=undefined r14=undefined " \
	"r15=undefined ra=c-8"
#else
#define CONTINUE \
	"ldur x3, [x29, #-16]\nstr x3, [sp, #-16]!\n" LABEL("continues_on") "ldur x2, [x29, #-24]\nbr x2\n"
#define LOOK_AND_RETURN "ldur x0, [x29, #-16]\nret\n"
#define LOOK_AND_JUMP "ldur x0, [x29, #-16]\nbr x2\n"
#define CONTINUED                                                                                         \
	"cfa=x29+16 x19=undefined x20=undefined x21=undefined x22=undefined x23=undefined x24=undefined " \
	"x25=undefined x26=undefined x27=undefined x28=undefined x29=c-16 ra=c-8 sp=undefined"
#endif
__asm__(".text\n.balign 16\nret\n.balign 16\n.type continues, %function\n" LABEL("continues") CONTINUE
	".size continues, .-continues\n.balign 16\n.type looks, %function\n" LABEL("looks") LOOK_AND_RETURN
	".size looks, .-looks\n.balign 16\n.type looks_on, %function\n" LABEL("looks_on") LOOK_AND_JUMP
	".size looks_on, .-looks_on");
extern const char continues[], continues_on[], looks[], looks_on[];

static const char *continued_recipe(const struct scene *s, const void *code, bool is_entry)
{
	static char text[200];
	uint32_t recipe =
		knowledge_ask(s->knowledge, ASK_CONTINUED, s->id, (uintptr_t)code - s->base, is_entry).recipe;

	if (recipe == RECIPE_NONE)
		return "none";
	recipe_format(knowledge_recipes(s->knowledge), recipe,
		      isa_for_machine(images_get(s->images, s->id)->elf_machine), text, sizeof(text));
	return text;
}

TEST(code_that_continues_a_frame_has_the_caller_of_that_frame)
{
	struct scene s = scene_of(continues);
	struct place place = scene_place(&s, continues, true);

	CHECK_EQ(place.call, CALL_CONTINUED);
	CHECK_EQ(place.function, (uintptr_t)continues - s.base);
	CHECK_STR(continued_recipe(&s, continues, true), CONTINUED);
	CHECK_STR(continued_recipe(&s, continues, false), CONTINUED);
	CHECK_STR(continued_recipe(&s, continues_on, false), CONTINUED);
	CHECK_STR(continued_recipe(&s, continues_on, true), "none"); /* not where it starts */
	scene_done(&s);
}

TEST(functions_that_are_called_do_not_continue_a_frame)
{
	struct scene s = scene_of(looks);

	CHECK_EQ(scene_place(&s, looks, true).call, CALL_NONE);
	CHECK_STR(continued_recipe(&s, looks, true), "none");
	CHECK_STR(continued_recipe(&s, looks, false), "none");
	/* A jump may be a tail call, unless there was no return address to be passed on. */
	CHECK_STR(continued_recipe(&s, looks_on, false), "none");
	CHECK_STR(continued_recipe(&s, looks_on, true), CONTINUED);
	scene_done(&s);
}
