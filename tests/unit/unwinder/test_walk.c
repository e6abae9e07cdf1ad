/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small x86-64 program, laid out by hand: _start calls outer, outer saves rbx and calls leaf.
 */
#include <stdlib.h>

#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"
#include "unwinder/unwinder.h"

#define TEXT 0x1000u
#define EH 0x8000u
#define BIAS 0x555000000000u
#define SP 0x7ffc00001000u
#define PID 42

enum { RBX = 3, RBP = 6, RSP = 7, RIP = 16 };

/* vaddrs */
enum {
	LAST = 0x1030, /* ends with a call that does not return */
	START = 0x1040,
	START_CALLS = 0x1045, /* the return address of _start's call */
	OUTER = 0x1100,
	OUTER_CALLS = 0x1106,
	LEAF = 0x1200,
	LEAF_ENDS = 0x1205, /* behind its pop %rbx */
	BARE = 0x1300,      /* no unwind entry */
	BARE_CALLS = 0x1307,
	TRAMPOLINE = 0x1400,
	RECURSE_CALLS = 0x1505,
	STUCK = 0x1600, /* an unwind entry whose CFA is sp itself */
	THREAD_CALLS = 0x1702,
	TAIL = 0x1800, /* jumps to leaf */
	TAIL_CALLER_CALLS = 0x1905,
	STUB = 0x1a00,
	NOWHERE = 0x1b00, /* no unwind entry, in the middle of something */
};

static void put(uint8_t *text, uint64_t vaddr, struct bytes code)
{
	memcpy(text + (vaddr - TEXT), code.at, code.len);
}

static void write_text(uint8_t *text)
{
	memset(text, 0x90, 0x1000);
	put(text, START, PROGRAM(0xe8, 0xbb, 0, 0, 0, 0xf4)); /* call outer; hlt */
	put(text, START - 2, PROGRAM(0xff, 0xd0));            /* call *rax */
	put(text, OUTER,
	    PROGRAM(0x53, 0xe8, 0xfa, 0, 0, 0, 0x5b, 0xc3)); /* push rbx; call leaf; pop rbx; ret */
	put(text, LEAF, PROGRAM(0x53, 0x90, 0x90, 0x90, 0x5b, 0xc3));
	put(text, BARE,
	    PROGRAM(0x55, 0x48, 0x89, 0xe5, 0x90, 0xff, 0xd0, 0xff,
		    0xe0)); /* push rbp; mov; call *rax; jmp *rax */
	put(text, TRAMPOLINE, PROGRAM(0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05));
	put(text, 0x1500, PROGRAM(0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3)); /* calls itself */
	put(text, STUCK, PROGRAM(0xe8, 0, 0, 0, 0, 0xc3));
	put(text, 0x1700,
	    PROGRAM(0xff, 0xd0, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05)); /* call *rax; exit(rax) */
	put(text, TAIL, PROGRAM(0xe9, 0xfb, 0xf9, 0xff, 0xff));              /* jmp leaf */
	put(text, 0x1900, PROGRAM(0xe8, 0xfb, 0xfe, 0xff, 0xff, 0xc3));      /* call tail */
	put(text, NOWHERE, PROGRAM(0x90, 0x5b, 0xc3));                       /* nop; pop rbx; ret */
	put(text, STUB, PROGRAM(0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0));
}

static void write_frames(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	frame_fde(eh, EH, cie, LAST, START - LAST, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, START, 0x10, 0, PROGRAM(0x07, 16));
	frame_fde(eh, EH, cie, OUTER, 8, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2, 0x46, 0x0e, 8));
	frame_fde(eh, EH, cie, LEAF, 6, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2, 0x44, 0x0e, 8));
	frame_fde(eh, EH, cie, 0x1500, 6, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, STUCK, 6, 0, PROGRAM(0x0e, 0));
	frame_fde(eh, EH, cie, 0x1700, 0x10, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, TAIL, 5, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, 0x1900, 6, 0, PROGRAM(0));
}

/* ---- the scene: one process that runs the program ------------------------------------------------ */

struct scene {
	struct images *images;
	struct unwinder *unwinder;
	struct stack stack;
	struct event event;
};

static struct scene scene_of(const struct unwinder_options *options)
{
	struct scene s = { .images = images_new() };
	uint8_t text[0x1000];
	struct writer eh = { 0 };
	image_id id;

	write_text(text);
	write_frames(&eh);
	struct elf_part parts[] = { { ".text", TEXT, PF_R | PF_X, { text, sizeof(text) }, 0 },
				    { ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 } };
	elf_image(s.images, "program", EM_X86_64, START, ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts), &id);
	writer_done(&eh);
	s.unwinder = unwinder_new(s.images, &isa_x86_64, options);
	struct event map = { .kind = EVENT_MAPPING,
			     .pid = PID,
			     .tid = PID,
			     .mapping = { .start = BIAS + TEXT,
					  .len = 0x1000,
					  .image = id,
					  .bias = BIAS,
					  .is_executable = true } };
	unwinder_event(s.unwinder, &map);
	map.mapping = (struct mapping){
		.start = 0x10000, .len = 0x1000, .image = IMAGE_NONE, .is_executable = true
	};
	unwinder_event(s.unwinder, &map);
	s.event = (struct event){ .kind = EVENT_SAMPLE, .pid = PID, .tid = PID };
	s.event.sample.regs.known = 1u << RIP | 1u << RSP | 1u << RBX | 1u << RBP;
	s.event.sample.regs.value[RSP] = SP;
	s.event.sample.regs.value[RBX] = 0xb;
	return s;
}

static struct scene scene(void)
{
	return scene_of(&(struct unwinder_options){ .mode = UNWIND_AUTO });
}

static void scene_done(struct scene *s)
{
	stack_done(&s->stack);
	unwinder_free(s->unwinder);
	images_free(s->images);
}

/* Walks from a vaddr of the program over these stack words. */
static void walk(struct scene *s, uint64_t vaddr, const uint64_t *words, size_t n)
{
	s->event.sample.regs.value[RIP] = BIAS + vaddr;
	s->event.sample.stack = (struct bytes){ (const uint8_t *)words, n * sizeof(*words) };
	unwinder_walk(s->unwinder, &s->event, &s->stack);
}
#define WALK(s, vaddr, ...) \
	walk(s, vaddr, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

#define CHECK_END(s, end_, n_)                                                   \
	do {                                                                     \
		CHECK_STR(stack_end_name((s)->stack.end), stack_end_name(end_)); \
		CHECK_EQ((s)->stack.frames.n, n_);                               \
	} while (0)

TEST(walk_reaches_the_root)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].vaddr, LEAF + 2);
	CHECK_EQ(s.stack.frames.at[1].pc, BIAS + OUTER_CALLS);
	CHECK_EQ(s.stack.frames.at[2].vaddr, START_CALLS);
	CHECK(!s.stack.frames.at[0].is_return);
	CHECK(s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_VALID);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS); /* it passes its self-check */
	CHECK_EQ(s.stack.frames.at[2].witness, WITNESS_NONE);
	CHECK_EQ(unwinder_stats(s.unwinder)->frames, 3);
	scene_done(&s);
}

TEST(walk_gives_the_same_stack_from_its_cache)
{
	struct scene s = scene();

	for (int i = 0; i < 3; i++) {
		WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
		CHECK_END(&s, STACK_COMPLETE, 3);
	}
	CHECK_EQ(unwinder_stats(s.unwinder)->cache_misses, 3);
	CHECK_EQ(unwinder_stats(s.unwinder)->cache_hits, 6);
	scene_done(&s);
}

struct seen {
	size_t n;
	uint64_t rbx[8];
	bool is_known[8];
};

static void remember_rbx(void *context, const struct walk_step *step)
{
	struct seen *seen = context;

	seen->is_known[seen->n] = regs_known(step->regs, RBX);
	seen->rbx[seen->n++] = step->regs->value[RBX];
}

TEST(walk_restores_saved_registers)
{
	struct scene s = scene();
	struct seen seen = { 0 };

	unwinder_observe(s.unwinder, remember_rbx, &seen);
	WALK(&s, LEAF + 2, 111, BIAS + OUTER_CALLS, 222, BIAS + START_CALLS, 3);
	CHECK_EQ(seen.n, 2); /* _start is known for what it is */
	CHECK_EQ(seen.rbx[0], 0xb);
	CHECK_EQ(seen.rbx[1], 111);
	scene_done(&s);
}

TEST(walk_takes_a_popped_register_as_it_is)
{
	struct scene s = scene();
	struct seen seen = { 0 };

	/* behind `pop %rbx` the unwind entry still says "at c-16", which is below sp now */
	unwinder_observe(s.unwinder, remember_rbx, &seen);
	WALK(&s, LEAF_ENDS, BIAS + OUTER_CALLS, 222, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK(seen.is_known[1]);
	CHECK_EQ(seen.rbx[1], 0xb);
	scene_done(&s);
}

TEST(walk_refuses_a_return_address_that_follows_no_call)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS + 1, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_refuses_a_call_that_cannot_lead_to_the_callee)
{
	struct scene s = scene();

	/* _start calls outer, which never jumps away: leaf cannot have been reached from there */
	WALK(&s, LEAF + 2, 1, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_accepts_a_tail_call_as_likely)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + TAIL_CALLER_CALLS, BIAS + BARE_CALLS);
	CHECK(s.stack.frames.n >= 2);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_LIKELY);
	CHECK_EQ(s.stack.frames.at[1].vaddr, TAIL_CALLER_CALLS);
	scene_done(&s);
}

TEST(walk_refuses_a_return_address_outside_executable_memory)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, 0x123456, 2);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_does_not_call_a_zero_return_address_complete)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, 0, 0, 0);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_names_the_end_of_a_snapshot)
{
	struct scene s = scene();

	s.event.sample.stack_was_full = true;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2);
	CHECK_END(&s, STACK_SNAPSHOT_ENDED, 2);
	s.event.sample.stack_was_full = false;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2);
	CHECK_END(&s, STACK_BAD_READ, 2);
	scene_done(&s);
}

static ssize_t read_rest(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	const uint64_t rest[] = { BIAS + START_CALLS, 0 };

	CHECK_EQ(pid, PID);
	CHECK_EQ(addr, SP + 24);
	CHECK(len >= sizeof(rest));
	memcpy(to, rest, sizeof(rest));
	++*(int *)context;
	return sizeof(rest);
}

TEST(walk_goes_on_in_the_memory_of_a_target_that_stands_still)
{
	int n_reads = 0;
	struct scene s =
		scene_of(&(struct unwinder_options){ .read_memory = read_rest, .read_context = &n_reads });

	s.event.sample.stack_was_full = true;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].verdict, VERDICT_VALID);
	CHECK_EQ(s.stack.frames.at[1].verdict, VERDICT_VALID);
	CHECK_EQ(n_reads, 1);
	scene_done(&s);
}

TEST(walk_stops_when_sp_does_not_rise)
{
	struct scene s = scene();

	s.event.sample.regs.value[RSP] = SP + 8;
	WALK(&s, STUCK + 5, 1, 2);
	CHECK(s.stack.end != STACK_COMPLETE);
	CHECK_EQ(s.stack.frames.n, 1);
	scene_done(&s);
}

TEST(walk_says_where_it_has_no_image)
{
	struct scene s = scene();

	WALK(&s, 0x9999999, 1, 2);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	CHECK_EQ(images_get(s.images, s.stack.frames.at[0].image)->kind, IMAGE_UNKNOWN);
	scene_done(&s);
}

TEST(walk_gives_code_in_no_file_an_image_of_its_process)
{
	struct scene s = scene();

	s.event.sample.regs.value[RIP] = 0x10010;
	s.event.sample.regs.known &= ~(1u << RBP);
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	const struct image *image = images_get(s.images, s.stack.frames.at[0].image);
	CHECK_EQ(image->kind, IMAGE_JIT);
	CHECK_STR(image->path, "[jit 42]");
	CHECK_EQ(s.stack.frames.at[0].vaddr, 0x10010);
	scene_done(&s);
}

TEST(walk_guesses_by_frame_pointer_last_and_never_calls_that_complete)
{
	struct scene s = scene();

	/* bare has a frame pointer but no recipe; a thread starts in it */
	s.event.sample.regs.value[RBP] = SP;
	WALK(&s, BARE + 4, 0, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_NO_RECIPE, 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	CHECK_EQ(s.stack.frames.at[1].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_leaves_code_that_nobody_describes_by_where_it_leads)
{
	struct scene s = scene();

	/* leaf's body, copied to where no unwind entry is */
	WALK(&s, NOWHERE, 0, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_ANALYSIS);
	scene_done(&s);
}

TEST(walk_by_frame_pointer_when_told_to)
{
	struct scene s = scene_of(&(struct unwinder_options){ .mode = UNWIND_FP });

	s.event.sample.regs.value[RBP] = SP;
	WALK(&s, BARE + 4, SP + 16, BIAS + BARE_CALLS, 0, BIAS + START_CALLS, 4);
	CHECK_END(&s, STACK_INVALID_STEP, 2); /* _start calls outer, not bare */
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	scene_done(&s);
}

TEST(walk_crosses_a_signal_with_all_registers)
{
	struct scene s = scene();
	uint64_t words[40] = { 1, BIAS + TRAMPOLINE };
	uint64_t *gregs = words + 2 + 5;

	/* the handler is leaf; it interrupted leaf, just entered from outer */
	gregs[11] = 777;         /* rbx */
	gregs[15] = SP + 30 * 8; /* rsp */
	gregs[16] = BIAS + LEAF; /* rip: no call stands before it */
	words[30] = BIAS + OUTER_CALLS;
	words[31] = 5;
	words[32] = BIAS + START_CALLS;
	struct seen seen = { 0 };
	unwinder_observe(s.unwinder, remember_rbx, &seen);
	walk(&s, LEAF + 2, words, ARRAY_LEN(words));
	CHECK_END(&s, STACK_COMPLETE, 5);
	CHECK_EQ(s.stack.frames.at[1].vaddr, TRAMPOLINE);
	CHECK(!s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[1].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[2].vaddr, LEAF);
	CHECK(!s.stack.frames.at[2].is_return);
	CHECK_EQ(seen.rbx[2], 777);
	scene_done(&s);
}

TEST(walk_knows_where_a_thread_starts)
{
	struct scene s = scene();

	/* its unwind entry claims an ordinary frame, but nothing is above it */
	WALK(&s, LEAF + 2, 1, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 2);
	CHECK_EQ(s.stack.frames.at[1].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_does_not_take_a_return_address_at_the_entry_point_for_a_root)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + START, BIAS + THREAD_CALLS, 0, 0);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[1].vaddr, START);
	CHECK_EQ(s.stack.frames.at[2].vaddr, THREAD_CALLS);
	scene_done(&s);
}

TEST(walk_leaves_linker_stubs_by_template)
{
	struct scene s = scene();

	WALK(&s, STUB, BIAS + BARE_CALLS, 0);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_TEMPLATE);
	CHECK_EQ(s.stack.frames.at[1].vaddr, BARE_CALLS);
	WALK(&s, STUB + 11, 0, BIAS + BARE_CALLS, 0);
	CHECK_EQ(s.stack.frames.at[1].vaddr, BARE_CALLS);
	scene_done(&s);
}

TEST(walk_of_endless_recursion_ends)
{
	struct scene s = scene();
	size_t n = 70000;
	uint64_t *words = malloc(n * sizeof(*words));

	for (size_t i = 0; i < n; i++)
		words[i] = BIAS + RECURSE_CALLS;
	walk(&s, 0x1500, words, n);
	CHECK_END(&s, STACK_TOO_DEEP, STACK_MAX_FRAMES);
	free(words);
	scene_done(&s);
}

TEST(walk_puts_kernel_frames_first)
{
	struct scene s = scene();
	const uint64_t kernel[] = { 0xffffffff81000010, 0xffffffff81000200 };

	s.event.sample.kernel_pc = kernel;
	s.event.sample.n_kernel_pc = 2;
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 5);
	CHECK_EQ(s.stack.n_kernel, 2);
	CHECK_EQ(images_get(s.images, s.stack.frames.at[0].image)->kind, IMAGE_KERNEL);
	CHECK(!s.stack.frames.at[0].is_return);
	CHECK(s.stack.frames.at[1].is_return);
	CHECK_EQ(s.stack.frames.at[2].vaddr, LEAF + 2);
	s.event.sample.regs.known = 0;
	WALK(&s, LEAF, 1);
	CHECK_END(&s, STACK_NO_USER_REGS, 2);
	scene_done(&s);
}

TEST(walk_checks_chains_that_the_kernel_walked)
{
	struct scene s = scene();
	const uint64_t good[] = { BIAS + LEAF + 2, BIAS + OUTER_CALLS, BIAS + START_CALLS };
	const uint64_t skipping[] = { BIAS + LEAF, BIAS + START_CALLS };

	s.event.sample.user_pc = good;
	s.event.sample.n_user_pc = 3;
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_COMPLETE, 3);
	CHECK_EQ(s.stack.frames.at[0].witness, WITNESS_FP);
	s.event.sample.user_pc = skipping;
	s.event.sample.n_user_pc = 2;
	unwinder_walk(s.unwinder, &s.event, &s.stack);
	CHECK_END(&s, STACK_INVALID_STEP, 1);
	scene_done(&s);
}

TEST(walk_forgets_what_another_mapping_replaced)
{
	struct scene s = scene();

	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_COMPLETE, 3);
	struct event map = { .kind = EVENT_MAPPING,
			     .pid = PID,
			     .tid = PID,
			     .mapping = { .start = BIAS + TEXT, .len = 0x1000, .image = IMAGE_NONE } };
	unwinder_event(s.unwinder, &map);
	WALK(&s, LEAF + 2, 1, BIAS + OUTER_CALLS, 2, BIAS + START_CALLS, 3);
	CHECK_END(&s, STACK_NO_IMAGE, 1);
	scene_done(&s);
}
