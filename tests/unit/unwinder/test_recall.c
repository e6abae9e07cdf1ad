/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random x86-64 program calls, returns and changes its frames; every stack is unwound in full, and only up
 * to the frames shared with the previous one. Both must match what the program did.
 */
#include "collector/deep/deep_stack.h"
#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"
#include "unwinder/activations.h"
#include "unwinder/unwinder.h"

#define TEXT 0x1000u
#define EH 0x8000u
#define BIAS 0x555000000000u
#define TOP 0x7ffc00100000ull /* end of the stack */
#define ROOM (128u << 10)     /* size of the modelled part */
#define SNAPSHOT 4096
#define PID 42
#define DEEPEST 300

enum { RBX = 3, RBP = 6, RSP = 7, R12 = 12, RIP = 16 };

/* Functions of one kind unwind in the same way. */
enum kind { BY_SP, SAVES_REGS, BY_FP, BY_RBX, BY_EXPR, SAVES_SP, N_KINDS };
#define N_FUNCTIONS 16
#define ROOT N_FUNCTIONS /* has no caller */
#define FUNCTION_SIZE 0x100u
#define N_SITES 8 /* calls in each function: return addresses every 0x10 bytes */

static uint64_t seed;

static uint64_t dice(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* ---- the program --------------------------------------------------------------------------------- */

static uint64_t vaddr_of(unsigned function)
{
	return TEXT + function * FUNCTION_SIZE;
}

/* Words from its sp to its CFA, where that is fixed. */
static uint64_t words_of(unsigned function)
{
	return 4 + function / N_KINDS * 3;
}

static void write_frames(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	for (unsigned i = 0; i < N_FUNCTIONS; i++) {
		uint8_t size = (uint8_t)(8 * words_of(i));
		uint64_t at = vaddr_of(i);
		switch ((enum kind)(i % N_KINDS)) {
		case BY_SP:
			frame_fde(eh, EH, cie, at, FUNCTION_SIZE, 0, PROGRAM(0x0e, size));
			break;
		case SAVES_REGS:
			frame_fde(eh, EH, cie, at, FUNCTION_SIZE, 0,
				  PROGRAM(0x0e, size, 0x80 | RBX, 2, 0x80 | R12, 3));
			break;
		case BY_FP:
			frame_fde(eh, EH, cie, at, FUNCTION_SIZE, 0, PROGRAM(0x0c, RBP, 16, 0x80 | RBP, 2));
			break;
		case BY_EXPR: /* the CFA is in the word that rbx points to */
			frame_fde(eh, EH, cie, at, FUNCTION_SIZE, 0,
				  PROGRAM(0x0f, 3, 0x70 | RBX, 0, 0x06, 0x80 | RBX, 2));
			break;
		case SAVES_SP: /* used only in the check that sp rises */
			frame_fde(eh, EH, cie, at, FUNCTION_SIZE, 0, PROGRAM(0x0e, size, 0x80 | RSP, 3));
			break;
		default:
			frame_fde(eh, EH, cie, at, FUNCTION_SIZE, 0, PROGRAM(0x0c, RBX, 32, 0x80 | RBX, 2));
		}
	}
	frame_fde(eh, EH, cie, vaddr_of(ROOT), FUNCTION_SIZE, 0, PROGRAM(0x07, RIP));
}

static image_id make_program(struct images *images)
{
	static uint8_t text[(N_FUNCTIONS + 1) * FUNCTION_SIZE];
	struct writer eh = { 0 };
	image_id id;

	memset(text, 0x90, sizeof(text));
	for (unsigned i = 0; i <= N_FUNCTIONS; i++)
		for (unsigned site = 1; site <= N_SITES; site++)
			memcpy(text + i * FUNCTION_SIZE + site * 0x10 - 2, "\xff\xd0", 2); /* call *rax */
	write_frames(&eh);
	struct elf_part parts[] = { { ".text", TEXT, PF_R | PF_X, { text, sizeof(text) }, 0 },
				    { ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 } };
	elf_image(images, "program", EM_X86_64, vaddr_of(ROOT), ELF_WITH_SECTIONS, parts, ARRAY_LEN(parts),
		  &id);
	writer_done(&eh);
	return id;
}

/* ---- what it does -------------------------------------------------------------------------------- */

struct call {
	unsigned function, site; /* the callee, and the call site of the next call in it */
	uint64_t words;          /* size of its frame */
	uint64_t rbx, r12;       /* its values, if it saves them */
	uint64_t cfa;            /* set by lay_out() */
};

struct run {
	struct call calls[DEEPEST];
	size_t n;
	uint64_t memory[ROOM / 8];
	struct regs regs;
	uint64_t pcs[DEEPEST + 1]; /* innermost first */
	struct stack_page pages[ROOM / STACK_PAGE];
};

static uint64_t *word_at(struct run *run, uint64_t addr)
{
	return &run->memory[(addr - (TOP - ROOM)) / 8];
}

static bool has_own_size(const struct call *call)
{
	unsigned kind = call->function % N_KINDS;

	return kind == BY_FP || kind == BY_RBX || kind == BY_EXPR;
}

static struct call random_call(void)
{
	struct call call = { .function = (unsigned)dice(N_FUNCTIONS), .site = 1 + (unsigned)dice(N_SITES) };

	call.words = words_of(call.function);
	if (has_own_size(&call))
		call.words = 6 + dice(20);
	call.rbx = dice(1000);
	call.r12 = dice(3);
	return call;
}

/*
 * Two adjacent frames swap their sizes, and the outer one calls from another site: all inner frames keep
 * their addresses, and the old return address between the two may still be in memory. Only a register shows
 * that it is stale.
 */
static void exchange_sizes(struct run *run)
{
	for (size_t i = dice(run->n); i + 1 < run->n; i++) {
		struct call *a = &run->calls[i], *b = &run->calls[i + 1];
		uint64_t words = a->words;
		if (!has_own_size(a) || a->function != b->function || a->words == b->words)
			continue;
		a->site = 1 + a->site % N_SITES;
		a->words = b->words;
		b->words = words;
		return;
	}
}

/* Returns from some functions, calls others, and sometimes changes something further out. */
static void change_path(struct run *run)
{
	for (uint64_t n = dice(12); n > 0 && run->n > 1; n--)
		run->n--;
	for (uint64_t n = dice(13); n > 0 && run->n < DEEPEST; n--)
		run->calls[run->n++] = random_call();
	struct call *outer = &run->calls[dice(run->n)];
	if (dice(6) == 0)
		outer->site = 1 + (unsigned)dice(N_SITES);
	if (dice(3) == 0)
		outer->rbx = dice(1000);
	if (dice(20) == 0)
		*outer = random_call();
	if (dice(3) == 0)
		exchange_sizes(run);
}

static void enter(struct run *run, const struct call *call, uint64_t return_address)
{
	uint64_t *regs = run->regs.value, cfa = regs[RSP];

	*word_at(run, cfa - 8) = return_address;
	regs[RSP] = cfa - 8 * call->words;
	for (uint64_t at = regs[RSP]; at < cfa - 24 && call->r12; at += 8)
		*word_at(run, at) = dice(4); /* locals, or leftovers */
	switch ((enum kind)(call->function % N_KINDS)) {
	case BY_FP:
		*word_at(run, cfa - 16) = regs[RBP];
		regs[RBP] = cfa - 16;
		break;
	case BY_RBX:
		*word_at(run, cfa - 16) = regs[RBX];
		regs[RBX] = cfa - 32;
		break;
	case BY_EXPR:
		*word_at(run, cfa - 16) = regs[RBX];
		*word_at(run, cfa - 32) = cfa;
		regs[RBX] = cfa - 32;
		break;
	case SAVES_SP:
		*word_at(run, cfa - 24) = cfa;
		break;
	case SAVES_REGS:
		*word_at(run, cfa - 16) = regs[RBX];
		*word_at(run, cfa - 24) = regs[R12];
		regs[RBX] = call->rbx;
		regs[R12] = call->r12;
		break;
	default:
		break;
	}
}

/* The stack as it is after all calls; the innermost function is somewhere between two of its own. */
static void lay_out(struct run *run)
{
	uint64_t return_address = BIAS + vaddr_of(ROOT) + 0x10;

	run->regs = (struct regs){ .known = 0x1ffff };
	run->regs.value[RSP] = TOP - 64;
	run->pcs[run->n] = return_address;
	for (size_t i = 0; i < run->n; i++) {
		run->calls[i].cfa = run->regs.value[RSP];
		enter(run, &run->calls[i], return_address);
		return_address = BIAS + vaddr_of(run->calls[i].function) + run->calls[i].site * 0x10;
		run->pcs[run->n - 1 - i] = return_address;
	}
	run->pcs[0] -= 5;
	run->regs.value[RIP] = run->pcs[0];
}

static struct event sample_of(struct run *run)
{
	uint64_t sp = run->regs.value[RSP], len = TOP - sp < SNAPSHOT ? TOP - sp : SNAPSHOT;
	struct event event = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID };
	uint64_t first = (sp + SNAPSHOT) & ~(uint64_t)(STACK_PAGE - 1);
	uint32_t n = 0;

	for (uint64_t at = first; at < TOP; at += STACK_PAGE) {
		const uint8_t *page = (const uint8_t *)word_at(run, at);
		run->pages[n++] = (struct stack_page){ page, deep_hash(page) };
	}
	event.sample.regs = run->regs;
	event.sample.stack = (struct bytes){ (const uint8_t *)word_at(run, sp), len };
	event.sample.deep = run->pages;
	event.sample.n_deep = n;
	event.sample.deep_start = first;
	return event;
}

/* ---- both ways ----------------------------------------------------------------------------------- */

static struct unwinder *start(struct images *images, image_id image, bool walks_in_full)
{
	struct unwinder_options options = { .mode = UNWIND_CFI, .walks_in_full = walks_in_full };
	struct unwinder *unwinder = unwinder_new(images, &isa_x86_64, &options);
	struct event map = { .kind = EVENT_MAPPING,
			     .pid = PID,
			     .tid = PID,
			     .mapping = { .start = BIAS + TEXT,
					  .len = 0x2000,
					  .image = image,
					  .bias = BIAS,
					  .is_executable = true } };

	unwinder_event(unwinder, &map);
	return unwinder;
}

static void check_truth(const struct stack *stack, const struct run *run)
{
	CHECK_STR(stack_end_name(stack->end), "complete");
	CHECK_EQ(stack->frames.n, run->n + 1);
	for (size_t i = 0; i < stack->frames.n; i++)
		CHECK_EQ(stack->frames.at[i].pc, run->pcs[i]);
}

static void check_same(const struct stack *a, const struct stack *b)
{
	CHECK_STR(stack_end_name(b->end), stack_end_name(a->end));
	CHECK_EQ(b->frames.n, a->frames.n);
	for (size_t i = 0; i < a->frames.n; i++) {
		CHECK_EQ(a->frames.at[i].pc, b->frames.at[i].pc);
		CHECK_EQ(a->frames.at[i].vaddr, b->frames.at[i].vaddr);
		CHECK_EQ(a->frames.at[i].witness, b->frames.at[i].witness);
		CHECK_EQ(a->frames.at[i].verdict, b->frames.at[i].verdict);
		CHECK_EQ(a->frames.at[i].is_return, b->frames.at[i].is_return);
		CHECK_EQ(a->frames.at[i].cfa, b->frames.at[i].cfa);
		/* If the frames are the same but not the calls, it is not known. */
		if (b->frames.at[i].held)
			CHECK_EQ(a->frames.at[i].held, b->frames.at[i].held);
	}
	CHECK_EQ(a->reach, b->reach);
}

TEST(recall_gives_the_same_stacks_as_full_walks)
{
	struct images *images = images_new();
	image_id image = make_program(images);
	struct unwinder *full = start(images, image, true), *brief = start(images, image, false);
	struct stack a = { 0 }, b = { 0 };
	static struct run run;
	struct activations last_a = { 0 }, last_b = { 0 };
	uint64_t n_frames = 0, n_shared = 0, n_new_a = 0, n_new_b = 0, n_told = 0;

	seed = 20260101;
	run.n = 0;
	while (run.n < 150)
		run.calls[run.n++] = random_call();
	for (int i = 0; i < 4000; i++) {
		change_path(&run);
		lay_out(&run);
		struct event event = sample_of(&run);
		unwinder_walk(full, &event, &a);
		unwinder_walk(brief, &event, &b);
		check_truth(&a, &run);
		check_truth(&b, &run);
		check_same(&a, &b);
		n_frames += b.frames.n;
		n_shared += b.n_shared;
		n_told += b.is_new_inside;
		size_t new_a = activations_meet(&last_a, &a), new_b = activations_meet(&last_b, &b);
		CHECK(new_b <= new_a);
		n_new_a += new_a;
		n_new_b += new_b;
	}
	CHECK(n_told > 100);
	CHECK(n_new_b * 10 > n_new_a * 9); /* a lower bound, but not a low one */
	activations_done(&last_a);
	activations_done(&last_b);
	CHECK(n_shared * 4 > n_frames); /* otherwise nothing was tested */
	CHECK_EQ(unwinder_stats(full)->frames, unwinder_stats(brief)->frames);
	CHECK_EQ(unwinder_stats(full)->steps_by_witness[WITNESS_CFI],
		 unwinder_stats(brief)->steps_by_witness[WITNESS_CFI]);
	stack_done(&a);
	stack_done(&b);
	unwinder_free(full);
	unwinder_free(brief);
	images_free(images);
}

/* ---- one change ---------------------------------------------------------------------------------- */

/* A value that a program could have stored there: slightly different, or copied from elsewhere. */
static uint64_t other_value(struct run *run, uint64_t value)
{
	switch (dice(3)) {
	case 0:
		return value + 8 * (1 + dice(8));
	case 1:
		return value - 8 * (1 + dice(8));
	default:
		return *word_at(run, run->regs.value[RSP] + 8 * dice((TOP - run->regs.value[RSP]) / 8));
	}
}

/* A caller that does not need its sp to find its CFA is refused if its sp is above the CFA. */
static bool raise_saved_sp(struct run *run)
{
	for (size_t i = 1 + dice(run->n - 1); i < run->n; i++) {
		struct call *call = &run->calls[i];
		if (call->function % N_KINDS != SAVES_SP || !has_own_size(call - 1))
			continue;
		*word_at(run, call->cfa - 24) = call->cfa + 8 * dice(64);
		return true;
	}
	return false;
}

static void change_one(struct run *run)
{
	static const unsigned regs[] = { RBX, RBP, R12 };
	uint64_t sp = run->regs.value[RSP];
	uint64_t *to = word_at(run, sp + 8 * dice((TOP - 64 - sp) / 8));

	if (dice(4) == 0 && raise_saved_sp(run))
		return;
	if (dice(8) == 0)
		to = &run->regs.value[regs[dice(ARRAY_LEN(regs))]];
	*to = other_value(run, *to);
}

/* The thread's last stack is cached, then one word or one register of it changes, whether it matters or not.
 * If a use of it had not been logged, the rest of the last stack would wrongly be used for this one. */
TEST(recall_detects_every_relevant_change)
{
	struct images *images = images_new();
	image_id image = make_program(images);
	struct unwinder *full = start(images, image, true), *brief = start(images, image, false);
	struct stack a = { 0 }, b = { 0 };
	static struct run run;
	uint64_t n_shared = 0, n_broken = 0;

	seed = 20260102;
	for (int i = 0; i < 6000; i++) {
		for (run.n = 0; run.n < 90 && i % 20 == 0;)
			run.calls[run.n++] = random_call();
		run.n = 90;
		lay_out(&run);
		struct event event = sample_of(&run);
		for (int n = 0; n < 3; n++)
			unwinder_walk(brief, &event, &b);
		check_truth(&b, &run);
		change_one(&run);
		event = sample_of(&run);
		unwinder_walk(full, &event, &a);
		unwinder_walk(brief, &event, &b);
		check_same(&a, &b);
		n_shared += b.n_shared > 0;
		n_broken += b.end != STACK_COMPLETE;
	}
	CHECK(n_shared > 1000); /* otherwise nothing was tested */
	CHECK(n_broken > 1000);
	stack_done(&a);
	stack_done(&b);
	unwinder_free(full);
	unwinder_free(brief);
	images_free(images);
}
