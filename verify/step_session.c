/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_session: the loop of `verify steps`: steps, tracks the stack, and samples and compares from time to
 * time.
 */
#include "verify/step_session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "collector/perfdata/perf_tape.h"
#include "collector/process/target.h"
#include "collector/step/step_machine.h"
#include "collector/step/step_space.h"
#include "collector/step/stepper.h"
#include "recording/code_log.h"
#include "verify/shadow.h"
#include "verify/step_go.h"

#define STACK_LIMIT 65528 /* as much as the kernel copies with a sample */

struct step_session {
	struct step_options options;
	uint64_t random, left_to_show;
	struct images *images;
	struct stepper *stepper;
	struct step_space *space;
	struct shadow shadow;
	struct step_go go;
	struct unwinder *unwinder;
	struct perf_tape *tape; /* NULL = none */
	struct code_log *code;  /* for the tape: JIT code */
	FILE *truth_file;       /* NULL = none */
	struct stack stack;
	struct step_truth truth;
	struct tally tally;
	struct step_calls calls;
	uint64_t next; /* step of the next sample */
	uint8_t copy[STACK_LIMIT];
};

static uint64_t step_random(struct step_session *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

/* Time is counted in steps, a microsecond each. */
static uint64_t step_time(const struct step_session *s)
{
	return (s->stepper->n_steps + 1) * 1000;
}

static void step_take_event(void *context, const struct event *event)
{
	struct step_session *s = context;
	struct event timed = *event;

	timed.time_ns = step_time(s);
	unwinder_event(s->unwinder, &timed);
	if (s->tape)
		perf_tape_add(s->tape, s->images, &timed);
}

static ssize_t step_read_memory(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	(void)context;
	return target_read_memory(pid, addr, to, len);
}

static ssize_t step_read_code(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct step_session *s = context;

	struct code_wanted wanted = { pid, pid, step_time(s) };

	return code_log_read(s->code, &wanted, addr, to, len);
}

static void step_write_code(void *context, const struct event *event)
{
	struct step_session *s = context;

	perf_tape_add(s->tape, s->images, event);
}

static void step_tell_walk(void *context, const struct walk_step *step)
{
	struct step_session *s = context;

	s->options.listener.walked(s->options.listener.context, step, s->stepper->isa);
}

/* ---- tracking ------------------------------------------------------------------------------- */

static uint64_t step_reg(const struct step_session *s, unsigned number)
{
	return s->stepper->regs.value[number];
}

/* The region of the stack that contains sp: if it is empty, like a coroutine's at first, sp is just after its
 * last byte. */
static uint64_t step_region(struct step_session *s)
{
	return step_space_end(s->space, step_reg(s, s->stepper->isa->sp) - 1);
}

static void step_enter_handler(struct step_session *s)
{
	uint64_t sp = step_reg(s, s->stepper->isa->sp);
	struct shadow_signal signal = { .pc = stepper_word(s->stepper, sp + step_machine_signal_pc),
					.sp = stepper_word(s->stepper, sp + step_machine_signal_sp),
					.trampoline = stepper_ra(s->stepper),
					.handler_sp = sp,
					.region = step_region(s) };

	shadow_signal(&s->shadow, &signal);
}

static void step_follow_insn(struct step_session *s, const struct step *step)
{
	uint64_t pc = step_reg(s, s->stepper->isa->pc), sp = step_reg(s, s->stepper->isa->sp);
	struct shadow_step done = {
		.flow = step->flow, .next = step->pc + step->len, .pc = pc, .sp = sp, .region = step_region(s)
	};

	done.is_moved = step_go_place(&s->go, s->stepper, &done.region, &done.sp);
	if (step->is_signal_return) {
		shadow_signal_return(&s->shadow, pc, sp, done.region);
		return;
	}
	if (step->ra_slot)
		shadow_saved(&s->shadow, step_reg(s, s->stepper->isa->ra), step->ra_slot);
	/* Costs a read if the machine keeps it in memory. */
	if (step->flow != FLOW_NEXT && step->flow != FLOW_BRANCH && step->flow != FLOW_JUMP)
		done.ra = stepper_ra(s->stepper);
	shadow_step(&s->shadow, &done);
	/* What Go's runtime calls directly after switching stacks is on a separate stack. */
	if (s->go.stacks && (step->flow == FLOW_CALL || step->flow == FLOW_CALL_INDIRECT))
		s->shadow.is_settled = true;
}

static void step_begin_go(struct step_session *s)
{
	uint64_t pc = step_reg(s, s->stepper->isa->pc), vaddr = 0;
	image_id image = unwinder_locate(s->unwinder, s->stepper->pid, pc, &vaddr);

	step_go_begin(&s->go, images_get(s->images, image), pc - vaddr);
}

static int step_begin_program(struct step_session *s, struct diag *diag)
{
	int error = s->options.skips_loader ? stepper_skip_loader(s->stepper, diag) : 0;

	step_space_exec(s->space);
	step_begin_go(s);
	step_calls_forget(&s->calls);
	shadow_reset(&s->shadow, step_region(s));
	return error;
}

static int step_follow(struct step_session *s, const struct step *step, struct diag *diag)
{
	switch (step->kind) {
	case STEP_EXEC:
		return step_begin_program(s, diag);
	case STEP_SIGNAL:
		step_enter_handler(s);
		break;
	case STEP_INSN:
		if (step->maps_changed)
			step_space_refresh(s->space);
		step_follow_insn(s, step);
		break;
	case STEP_END:
		break;
	}
	return 0;
}

/* ---- sampling ------------------------------------------------------------------------------- */

static struct event step_make_sample(struct step_session *s)
{
	uint64_t sp = step_reg(s, s->stepper->isa->sp), end = step_region(s), len = end > sp ? end - sp : 0;
	struct event event = {
		.kind = EVENT_SAMPLE, .pid = s->stepper->pid, .tid = s->stepper->pid, .time_ns = step_time(s)
	};

	event.sample.regs = s->stepper->regs;
	event.sample.stack_was_full = len > STACK_LIMIT;
	event.sample.stack_was_clipped = len <= STACK_LIMIT;
	ssize_t n = target_read_memory(s->stepper->pid, sp, s->copy, len < STACK_LIMIT ? len : STACK_LIMIT);
	event.sample.stack = (struct bytes){ s->copy, n > 0 ? (size_t)n : 0 };
	return event;
}

static void step_note_truth(struct step_session *s)
{
	struct shadow_walk walk = shadow_walk(&s->shadow);
	const struct shadow_entry *entry;

	vec_clear(&s->truth.pcs);
	vec_clear(&s->truth.calls);
	vec_push(&s->truth.pcs, step_reg(s, s->stepper->isa->pc));
	/* A return address of zero, as that of a coroutine's first function, is not a frame. */
	while ((entry = shadow_walk_next(&walk)) && entry->ra) {
		vec_push(&s->truth.pcs, entry->ra);
		vec_push(&s->truth.calls, entry->call);
		if (step_go_begins(&s->go, entry->ra))
			break;
	}
	vec_push(&s->truth.calls, 0);
}

static void step_tell_miss(struct step_session *s, const struct event *event)
{
	const struct step_listener *listener = &s->options.listener;
	struct step_miss miss = { s->tally.samples, s->stepper->n_steps, &s->truth,
				  &s->stack,        s->unwinder,         s->stepper->pid };

	if (listener->missed)
		listener->missed(listener->context, &miss);
	if (!listener->walked)
		return;
	unwinder_observe(s->unwinder, step_tell_walk, s);
	unwinder_walk(s->unwinder, event, &s->stack);
	unwinder_observe(s->unwinder, NULL, NULL);
}

/*
 * To enter an exception handler, the C++ runtime overwrites its own frame, including the return address, with
 * values for the handler's frame. Then the stack of actual calls can no longer be unwound.
 */
static bool step_is_overwritten(const struct step_session *s)
{
	const struct isa *isa = s->stepper->isa;
	struct shadow_walk walk = shadow_walk(&s->shadow);
	uint64_t sp = step_reg(s, isa->sp);
	const struct shadow_entry *entry;

	for (bool is_innermost = true; (entry = shadow_walk_next(&walk)); is_innermost = false) {
		bool is_popped = entry->slot < sp && entry->sp >= sp;
		/* The innermost one is then back in its register. */
		bool is_in_register = is_popped && is_innermost && !isa->call_pushes_ra;
		if (!entry->slot || (is_popped && !is_in_register))
			continue;
		uint64_t word = is_in_register ? step_reg(s, isa->ra) : stepper_word(s->stepper, entry->slot);
		if (isa->strip_pc(word) != entry->ra)
			return true;
	}
	return false;
}

static void step_keep_sample(struct step_session *s, const struct event *event)
{
	code_log_write(s->code);
	if (s->tape)
		perf_tape_add(s->tape, s->images, event);
	for (size_t i = 0; s->truth_file && i < s->truth.pcs.n; i++)
		fprintf(s->truth_file, "%s0x%" PRIx64, i ? " " : "", s->truth.pcs.at[i]);
	if (s->truth_file)
		fputc('\n', s->truth_file);
}

static void step_sample(struct step_session *s)
{
	size_t right;

	if (!s->shadow.is_settled) { /* try again at the next step */
		s->tally.unjudged++;
		return;
	}
	s->next = s->stepper->n_steps + 1 + step_random(s) % (2 * s->options.interval);
	struct event event = step_make_sample(s);
	step_note_truth(s);
	if (!step_go_is_whole(&s->go, s->truth.pcs.at, s->truth.pcs.n)) {
		s->tally.unjudged++;
		return;
	}
	unwinder_walk(s->unwinder, &event, &s->stack);
	bool is_exact = step_judge(&s->truth, &s->stack, &right) == OUTCOME_EXACT;
	if (!is_exact && step_is_overwritten(s)) {
		s->tally.overwritten++;
		return;
	}
	tally_add(&s->tally, &s->truth, &s->stack);
	if (is_exact)
		step_calls_add(&s->calls, &s->truth, &s->stack);
	step_keep_sample(s, &event);
	if (!is_exact && s->left_to_show > 0) {
		s->left_to_show--;
		step_tell_miss(s, &event);
	}
}

int step_session_run(struct step_session *s, struct diag *diag)
{
	struct step step = { .kind = STEP_EXEC };
	int error = 0;

	s->next = s->options.skip + 1 + step_random(s) % (2 * s->options.interval);
	while (!error && step.kind != STEP_END && s->tally.samples < s->options.n_samples) {
		error = step_follow(s, &step, diag);
		if (!error && s->stepper->n_steps >= s->next)
			step_sample(s);
		if (!error)
			error = stepper_next(s->stepper, &step, diag);
	}
	return error;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static int step_open_files(struct step_session *s, struct diag *diag)
{
	const char *truth = s->options.truth;

	int fd = truth ? fresh_file_overwrite(truth, O_WRONLY, diag) : -1;

	if (truth && (fd < 0 || !(s->truth_file = fdopen(fd, "w"))))
		return fd < 0 ? fd : -errno;
	return s->options.tape ? perf_tape_open(s->options.tape, s->stepper->isa, &s->tape, diag) : 0;
}

static void step_closep(struct step_session **s)
{
	step_session_close(*s, NULL);
}

int step_session_open(const struct step_options *options, char *const *argv, struct step_session **ret,
		      struct diag *diag)
{
	CLEANUP(step_closep) struct step_session *s = alloc_zero(1, sizeof(*s));
	struct unwinder_options unwinding = { .mode = options->mode,
					      .read_memory = step_read_memory,
					      .read_code = step_read_code,
					      .read_context = s };
	struct code_log_options log = { .read = step_read_memory,
					.write = options->tape ? step_write_code : NULL,
					.write_context = s };

	s->options = *options;
	s->random = options->seed;
	s->left_to_show = options->show;
	s->images = images_new();
	s->code = code_log_new(&log);
	int error = stepper_start(argv, &s->stepper, diag);
	if (error)
		return error;
	s->space = step_space_new(s->images, s->stepper->pid, step_take_event, s);
	s->unwinder = unwinder_new(s->images, s->stepper->isa, &unwinding);
	shadow_init(&s->shadow, s->stepper->isa);
	error = step_open_files(s, diag);
	if (error)
		return error;
	*ret = TAKE(s);
	return 0;
}

struct step_result step_session_result(struct step_session *s)
{
	tally_sort(&s->tally);
	return (struct step_result){ .steps = s->stepper->n_steps, .tally = &s->tally, .calls = &s->calls };
}

struct images *step_session_images(struct step_session *s)
{
	return s->images;
}

int step_session_close(struct step_session *s, struct diag *diag)
{
	int error = 0;

	if (!s)
		return 0;
	error = perf_tape_close(s->tape, s->images, "cpprof verify steps", diag);
	if (s->truth_file && fclose(s->truth_file) != 0)
		error = diag_set(diag, -errno, "cannot write '%s'", s->options.truth);
	stepper_stop(s->stepper);
	step_space_free(s->space);
	shadow_done(&s->shadow);
	step_go_done(&s->go);
	unwinder_free(s->unwinder);
	stack_done(&s->stack);
	vec_done(&s->truth.pcs);
	vec_done(&s->truth.calls);
	step_calls_done(&s->calls);
	tally_done(&s->tally);
	code_log_free(s->code);
	images_free(s->images);
	free(s);
	return error;
}
