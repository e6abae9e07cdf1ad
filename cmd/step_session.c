/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_session: the loop of `verify steps`: step, follow, and now and then sample and judge.
 */
#include "cmd/step_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/perfdata/perf_tape.h"
#include "collector/process/target.h"
#include "collector/step/step_machine.h"
#include "collector/step/step_space.h"
#include "collector/step/stepper.h"
#include "verify/shadow.h"
#include "verify/step_go.h"

#define STACK_LIMIT 65528 /* as much as the kernel copies into a sample */

struct step_session {
	struct step_options options;
	FILE *to; /* borrowed */
	uint64_t random, left_to_show;
	struct images *images;
	struct stepper *stepper;
	struct step_space *space;
	struct shadow shadow;
	struct step_go go;
	struct unwinder *unwinder;
	struct perf_tape *tape; /* NULL = none */
	FILE *truth_file;       /* NULL = none */
	struct stack stack;
	struct step_truth truth;
	struct tally tally;
	struct step_names names;
	uint64_t next; /* step of the next sample */
	uint8_t copy[STACK_LIMIT];
};

static uint64_t next_random(struct step_session *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

/* Time is counted in steps: a microsecond each. */
static uint64_t now_ns(const struct step_session *s)
{
	return (s->stepper->n_steps + 1) * 1000;
}

static void take_event(void *context, const struct event *event)
{
	struct step_session *s = context;
	struct event timed = *event;

	timed.time_ns = now_ns(s);
	unwinder_event(s->unwinder, &timed);
	if (s->tape)
		perf_tape_add(s->tape, s->images, &timed);
}

static ssize_t read_memory(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	(void)context;
	return target_read_memory(pid, addr, to, len);
}

static void print_walk(void *context, const struct walk_step *step)
{
	struct step_session *s = context;

	step_print_walk(s->to, step, s->stepper->isa);
}

/* ---- following ------------------------------------------------------------------------------ */

static uint64_t reg(const struct step_session *s, unsigned number)
{
	return s->stepper->regs.value[number];
}

/* Of the stack that sp is on: an empty one, as a coroutine's is at first, has sp right behind its last byte.
 */
static uint64_t region(struct step_session *s)
{
	return step_space_end(s->space, reg(s, s->stepper->isa->sp) - 1);
}

static void enter_handler(struct step_session *s)
{
	uint64_t sp = reg(s, s->stepper->isa->sp);
	struct shadow_signal signal = { .pc = stepper_word(s->stepper, sp + step_machine_signal_pc),
					.sp = stepper_word(s->stepper, sp + step_machine_signal_sp),
					.trampoline = stepper_ra(s->stepper),
					.handler_sp = sp,
					.region = region(s) };

	shadow_signal(&s->shadow, &signal);
}

static void follow_insn(struct step_session *s, const struct step *step)
{
	uint64_t pc = reg(s, s->stepper->isa->pc), sp = reg(s, s->stepper->isa->sp);
	struct shadow_step done = {
		.flow = step->flow, .next = step->pc + step->len, .pc = pc, .sp = sp, .region = region(s)
	};

	step_go_place(&s->go, s->stepper, &done.region, &done.sp);
	if (step->is_signal_return) {
		shadow_signal_return(&s->shadow, pc, sp, done.region);
		return;
	}
	if (step->ra_slot)
		shadow_saved(&s->shadow, reg(s, s->stepper->isa->ra), step->ra_slot);
	/* Costs a read where the machine keeps it in memory. */
	if (step->flow != FLOW_NEXT && step->flow != FLOW_BRANCH && step->flow != FLOW_JUMP)
		done.ra = stepper_ra(s->stepper);
	shadow_step(&s->shadow, &done);
	/* What Go's runtime calls on a stack it has just gone to is a stack of its own. */
	if (s->go.stacks && (step->flow == FLOW_CALL || step->flow == FLOW_CALL_INDIRECT))
		s->shadow.is_settled = true;
}

static void begin_go(struct step_session *s)
{
	uint64_t pc = reg(s, s->stepper->isa->pc), vaddr = 0;
	image_id image = unwinder_locate(s->unwinder, s->stepper->pid, pc, &vaddr);

	step_go_begin(&s->go, images_get(s->images, image), pc - vaddr);
}

static int begin_program(struct step_session *s, struct diag *diag)
{
	int error = s->options.skips_loader ? stepper_skip_loader(s->stepper, diag) : 0;

	step_space_exec(s->space);
	begin_go(s);
	shadow_reset(&s->shadow, region(s));
	return error;
}

static int follow(struct step_session *s, const struct step *step, struct diag *diag)
{
	switch (step->kind) {
	case STEP_EXEC:
		return begin_program(s, diag);
	case STEP_SIGNAL:
		enter_handler(s);
		break;
	case STEP_INSN:
		if (step->maps_changed)
			step_space_refresh(s->space);
		follow_insn(s, step);
		break;
	case STEP_END:
		break;
	}
	return 0;
}

/* ---- sampling ------------------------------------------------------------------------------- */

static struct event make_sample(struct step_session *s)
{
	uint64_t sp = reg(s, s->stepper->isa->sp), end = region(s), len = end > sp ? end - sp : 0;
	struct event event = {
		.kind = EVENT_SAMPLE, .pid = s->stepper->pid, .tid = s->stepper->pid, .time_ns = now_ns(s)
	};

	event.sample.regs = s->stepper->regs;
	event.sample.stack_was_full = len > STACK_LIMIT;
	event.sample.stack_was_clipped = len <= STACK_LIMIT;
	ssize_t n = target_read_memory(s->stepper->pid, sp, s->copy, len < STACK_LIMIT ? len : STACK_LIMIT);
	event.sample.stack = (struct bytes){ s->copy, n > 0 ? (size_t)n : 0 };
	return event;
}

static void note_truth(struct step_session *s)
{
	struct shadow_walk walk = shadow_walk(&s->shadow);
	const struct shadow_entry *entry;

	vec_clear(&s->truth.pcs);
	vec_push(&s->truth.pcs, reg(s, s->stepper->isa->pc));
	while ((entry = shadow_walk_next(&walk))) {
		vec_push(&s->truth.pcs, entry->ra);
		if (step_go_begins(&s->go, entry->ra))
			return;
	}
}

static void show_sample(struct step_session *s, const struct event *event)
{
	fprintf(s->to, "sample %" PRIu64 " at step %" PRIu64 ": ", s->tally.samples, s->stepper->n_steps);
	step_print_stacks(s->to, &s->truth, &s->stack, s->unwinder, s->stepper->pid, &s->names);
	if (!s->options.is_explaining)
		return;
	unwinder_observe(s->unwinder, print_walk, s);
	unwinder_walk(s->unwinder, event, &s->stack);
	unwinder_observe(s->unwinder, NULL, NULL);
}

/*
 * To leave for an exception handler the C++ runtime fills its own frame, return address and all, with
 * what the handler's frame shall find. Then the stack that calls made is no longer there to be unwound.
 */
static bool is_overwritten(const struct step_session *s)
{
	struct shadow_walk walk = shadow_walk(&s->shadow);
	uint64_t sp = reg(s, s->stepper->isa->sp);
	const struct shadow_entry *entry;

	while ((entry = shadow_walk_next(&walk))) {
		uint64_t word =
			entry->slot ? s->stepper->isa->strip_pc(stepper_word(s->stepper, entry->slot)) : 0;
		bool is_popped = entry->slot < sp && entry->sp >= sp;
		if (entry->slot && !is_popped && word != entry->ra)
			return true;
	}
	return false;
}

static void keep_sample(struct step_session *s, const struct event *event)
{
	if (s->tape)
		perf_tape_add(s->tape, s->images, event);
	for (size_t i = 0; s->truth_file && i < s->truth.pcs.n; i++)
		fprintf(s->truth_file, "%s0x%" PRIx64, i ? " " : "", s->truth.pcs.at[i]);
	if (s->truth_file)
		fputc('\n', s->truth_file);
}

static void sample(struct step_session *s)
{
	size_t right;

	if (!s->shadow.is_settled) { /* the next step will do */
		s->tally.unjudged++;
		return;
	}
	s->next = s->stepper->n_steps + 1 + next_random(s) % (2 * s->options.interval);
	struct event event = make_sample(s);
	note_truth(s);
	if (!step_go_is_whole(&s->go, s->truth.pcs.at, s->truth.pcs.n)) {
		s->tally.unjudged++;
		return;
	}
	unwinder_walk(s->unwinder, &event, &s->stack);
	bool is_exact = step_judge(&s->truth, &s->stack, &right) == OUTCOME_EXACT;
	if (!is_exact && is_overwritten(s)) {
		s->tally.overwritten++;
		return;
	}
	tally_add(&s->tally, &s->truth, &s->stack);
	keep_sample(s, &event);
	if (!is_exact && s->left_to_show > 0) {
		s->left_to_show--;
		show_sample(s, &event);
	}
}

int step_session_run(struct step_session *s, struct diag *diag)
{
	struct step step = { .kind = STEP_EXEC };
	int error = 0;

	s->next = s->options.skip + 1 + next_random(s) % (2 * s->options.interval);
	while (!error && step.kind != STEP_END && s->tally.samples < s->options.n_samples) {
		error = follow(s, &step, diag);
		if (!error && s->stepper->n_steps >= s->next)
			sample(s);
		if (!error)
			error = stepper_next(s->stepper, &step, diag);
	}
	return error;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static int open_files(struct step_session *s, struct diag *diag)
{
	const char *truth = s->options.truth;

	if (truth && !(s->truth_file = fopen(truth, "we")))
		return diag_set(diag, -errno, "cannot write '%s'", truth);
	return s->options.tape ? perf_tape_open(s->options.tape, s->stepper->isa, &s->tape, diag) : 0;
}

static void closep(struct step_session **s)
{
	step_session_close(*s, NULL);
}

int step_session_open(const struct step_options *options, char *const *argv, FILE *to,
		      struct step_session **ret, struct diag *diag)
{
	CLEANUP(closep) struct step_session *s = alloc_zero(1, sizeof(*s));
	struct unwinder_options unwinding = { .mode = options->mode,
					      .read_memory = read_memory,
					      .read_code = read_memory };

	s->options = *options;
	s->random = options->seed;
	s->left_to_show = options->show;
	s->to = to;
	s->images = images_new();
	s->names.images = s->images;
	int error = stepper_start(argv, &s->stepper, diag);
	if (error)
		return error;
	s->space = step_space_new(s->images, s->stepper->pid, take_event, s);
	s->unwinder = unwinder_new(s->images, s->stepper->isa, &unwinding);
	shadow_init(&s->shadow, s->stepper->isa);
	error = open_files(s, diag);
	if (error)
		return error;
	*ret = TAKE(s);
	return 0;
}

struct step_run step_session_result(struct step_session *s)
{
	tally_sort(&s->tally);
	return (struct step_run){ .steps = s->stepper->n_steps, .tally = &s->tally };
}

struct step_names *step_session_names(struct step_session *s)
{
	return &s->names;
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
	tally_done(&s->tally);
	step_names_done(&s->names);
	images_free(s->images);
	free(s);
	return error;
}
