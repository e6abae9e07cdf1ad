/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify steps: unwound stacks against what the CPU really did.
 *
 * The command runs one instruction at a time while a shadow stack keeps the truth; at random
 * instructions the live registers and a copy of the stack are unwound as a sample would be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/step_print.h"
#include "cmd/verify.h"
#include "collector/shadow.h"
#include "collector/step_machine.h"
#include "collector/step_space.h"
#include "collector/stepper.h"
#include "collector/target.h"

#define STACK_LIMIT 65528 /* as much as the kernel copies into a sample */

struct session {
	uint64_t n_samples, interval, skip, show, random;
	bool is_explaining, skips_loader;
	FILE *to;
	struct images *images;
	struct stepper *stepper;
	struct step_space *space;
	struct shadow shadow;
	struct unwinder *unwinder;
	struct stack stack;
	struct step_truth truth;
	struct tally tally;
	struct step_names names;
	uint64_t next; /* step of the next sample */
	uint8_t copy[STACK_LIMIT];
};

static uint64_t next_random(struct session *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static void take_event(void *context, const struct event *event)
{
	unwinder_event(((struct session *)context)->unwinder, event);
}

static ssize_t read_memory(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	(void)context;
	return target_read_memory(pid, addr, to, len);
}

static void print_walk(void *context, const struct walk_step *step)
{
	struct session *s = context;

	step_print_walk(s->to, step, s->stepper->isa);
}

/* ---- following ------------------------------------------------------------------------------ */

static uint64_t reg(const struct session *s, unsigned number)
{
	return s->stepper->regs.value[number];
}

static uint64_t region(struct session *s)
{
	return step_space_end(s->space, reg(s, s->stepper->isa->sp));
}

static void enter_handler(struct session *s)
{
	uint64_t sp = reg(s, s->stepper->isa->sp);
	struct shadow_signal signal = { .pc = stepper_word(s->stepper, sp + step_machine_signal_pc),
					.sp = stepper_word(s->stepper, sp + step_machine_signal_sp),
					.trampoline = stepper_ra(s->stepper),
					.handler_sp = sp,
					.region = region(s) };

	shadow_signal(&s->shadow, &signal);
}

static void follow_insn(struct session *s, const struct step *step)
{
	uint64_t pc = reg(s, s->stepper->isa->pc), sp = reg(s, s->stepper->isa->sp);
	struct shadow_step done = {
		.flow = step->flow, .next = step->pc + step->len, .pc = pc, .sp = sp, .region = region(s)
	};

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
}

static int begin_program(struct session *s, struct diag *diag)
{
	int error = s->skips_loader ? stepper_skip_loader(s->stepper, diag) : 0;

	step_space_exec(s->space);
	shadow_reset(&s->shadow, region(s));
	return error;
}

static int follow(struct session *s, const struct step *step, struct diag *diag)
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

static struct event make_sample(struct session *s)
{
	uint64_t sp = reg(s, s->stepper->isa->sp), end = region(s), len = end > sp ? end - sp : 0;
	struct event event = { .kind = EVENT_SAMPLE, .pid = s->stepper->pid, .tid = s->stepper->pid };

	event.sample.regs = s->stepper->regs;
	event.sample.stack_was_full = len > STACK_LIMIT;
	event.sample.stack_was_clipped = len <= STACK_LIMIT;
	ssize_t n = target_read_memory(s->stepper->pid, sp, s->copy, len < STACK_LIMIT ? len : STACK_LIMIT);
	event.sample.stack = (struct bytes){ s->copy, n > 0 ? (size_t)n : 0 };
	return event;
}

static void note_truth(struct session *s)
{
	struct shadow_walk walk = shadow_walk(&s->shadow);
	const struct shadow_entry *entry;

	vec_clear(&s->truth.pcs);
	vec_push(&s->truth.pcs, reg(s, s->stepper->isa->pc));
	while ((entry = shadow_walk_next(&walk)))
		vec_push(&s->truth.pcs, entry->ra);
}

static void show_sample(struct session *s, const struct event *event)
{
	fprintf(s->to, "sample %" PRIu64 " at step %" PRIu64 ": ", s->tally.samples, s->stepper->n_steps);
	step_print_stacks(s->to, &s->truth, &s->stack, s->unwinder, s->stepper->pid, &s->names);
	if (!s->is_explaining)
		return;
	unwinder_observe(s->unwinder, print_walk, s);
	unwinder_walk(s->unwinder, event, &s->stack);
	unwinder_observe(s->unwinder, NULL, NULL);
}

/*
 * To leave for an exception handler the C++ runtime fills its own frame, return address and all, with
 * what the handler's frame shall find. Then the stack that calls made is no longer there to be unwound.
 */
static bool is_overwritten(const struct session *s)
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

static void sample(struct session *s)
{
	size_t right;

	if (!s->shadow.is_settled) { /* the next step will do */
		s->tally.unjudged++;
		return;
	}
	s->next = s->stepper->n_steps + 1 + next_random(s) % (2 * s->interval);
	struct event event = make_sample(s);
	note_truth(s);
	unwinder_walk(s->unwinder, &event, &s->stack);
	bool is_exact = step_judge(&s->truth, &s->stack, &right) == OUTCOME_EXACT;
	if (!is_exact && is_overwritten(s)) {
		s->tally.overwritten++;
		return;
	}
	tally_add(&s->tally, &s->truth, &s->stack);
	if (!is_exact && s->show > 0) {
		s->show--;
		show_sample(s, &event);
	}
}

static int run(struct session *s, struct diag *diag)
{
	struct step step = { .kind = STEP_EXEC };
	int error = 0;

	s->next = s->skip + 1 + next_random(s) % (2 * s->interval);
	while (!error && step.kind != STEP_END && s->tally.samples < s->n_samples) {
		error = follow(s, &step, diag);
		if (!error && s->stepper->n_steps >= s->next)
			sample(s);
		if (!error)
			error = stepper_next(s->stepper, &step, diag);
	}
	return error;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int open_session(struct session *s, char *const *argv, enum unwind_mode mode, struct diag *diag)
{
	struct unwinder_options options = { .mode = mode, .read_memory = read_memory };
	int error = stepper_start(argv, &s->stepper, diag);

	if (error)
		return error;
	s->images = images_new();
	s->names.images = s->images;
	s->space = step_space_new(s->images, s->stepper->pid, take_event, s);
	s->unwinder = unwinder_new(s->images, s->stepper->isa, &options);
	shadow_init(&s->shadow, s->stepper->isa);
	return 0;
}

static void close_session(struct session *s)
{
	stepper_stop(s->stepper);
	step_space_free(s->space);
	shadow_done(&s->shadow);
	unwinder_free(s->unwinder);
	stack_done(&s->stack);
	vec_done(&s->truth.pcs);
	tally_done(&s->tally);
	step_names_done(&s->names);
	images_free(s->images);
	if (s->to && s->to != stdout)
		fclose(s->to);
	free(s);
}

static void close_sessionp(struct session **s)
{
	close_session(*s);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int conclude(struct session *s, double seconds, bool is_json, double min_exact)
{
	struct step_run result = { .steps = s->stepper->n_steps, .seconds = seconds, .tally = &s->tally };
	uint64_t n = s->tally.samples;

	tally_sort(&s->tally);
	if (is_json)
		step_print_json(s->to, &result, &s->names);
	else
		step_print_text(s->to, &result, &s->names);
	if (n == 0)
		return EXIT_NO_SAMPLES;
	bool is_good = 100.0 * (double)s->tally.by_outcome[OUTCOME_EXACT] / (double)n >= min_exact;
	return is_good && s->tally.by_outcome[OUTCOME_WRONG_COMPLETE] == 0 ? EXIT_OK : EXIT_UNTRUSTWORTHY;
}

int verify_steps_command(int argc, char **argv)
{
	CLEANUP(close_sessionp) struct session *s = alloc_zero(1, sizeof(*s));
	const char *output = NULL;
	double min_exact = 0;
	bool is_json = false;
	int mode = UNWIND_AUTO;
	struct diag diag = { 0 };

	s->n_samples = 2000;
	s->interval = 1000;
	s->random = UINT64_C(88172645463325252);
	struct option_spec specs[] = {
		{ 'n', "samples", OPTION_NUMBER, &s->n_samples, "N", "how many stacks to judge (2000)" },
		{ 'i', "interval", OPTION_NUMBER, &s->interval, "N",
		  "instructions between two of them, on average (1000)" },
		{ 's', "skip", OPTION_NUMBER, &s->skip, "N", "instructions before the first (0)" },
		{ 0, "skip-loader", OPTION_FLAG, &s->skips_loader, NULL,
		  "let the loader work at full speed" },
		{ 0, "unwind", OPTION_CHOICE, &mode, "auto|analysis|cfi|fp",
		  "the only witness that is heard (auto)" },
		{ 0, "seed", OPTION_NUMBER, &s->random, "N", "of the random distances; not 0" },
		{ 0, "show", OPTION_NUMBER, &s->show, "N",
		  "print the first N stacks that are not exact, beside the truth (0)" },
		{ 0, "explain", OPTION_FLAG, &s->is_explaining, NULL, "with --show: every step of the walk" },
		{ 0, "json", OPTION_FLAG, &is_json, NULL, "one JSON object" },
		{ 0, "min-exact", OPTION_PERCENT, &min_exact, "PERCENT", "exit 6 if fewer are exact (0)" },
		{ 'o', "output", OPTION_TEXT, &output, "FILE", "where the report goes (standard output)" },
		{ 0 },
	};
	struct command_line line = {
		.command = "verify steps",
		.usage = "[options] -- CMD [ARGS]",
		.about = "Runs a command one instruction at a time, keeps its true call stack, and holds the "
			 "stacks\n"
			 "that samples at random instructions would give against it. Exits with 6 if one "
			 "that was\n"
			 "wrong claimed to be complete.",
		.examples = "  cpprof verify steps -n 10000 -i 200 --unwind analysis -- xz -9 -k file\n",
		.specs = specs,
		.stops_at_operand = true,
	};
	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands == 0)
		return cmd_usage("verify steps", "a command is needed");
	if (s->interval == 0 || s->random == 0)
		return cmd_usage("verify steps", "the interval and the seed cannot be 0");

	s->to = output ? fopen(output, "we") : stdout;
	if (!s->to) {
		diag_set(&diag, -errno, "cannot write '%s'", output);
		return cmd_fail(&diag);
	}
	double start = now();
	if (open_session(s, line.operands, (enum unwind_mode)mode, &diag) < 0 || run(s, &diag) < 0)
		return cmd_fail(&diag);
	return conclude(s, now() - start, is_json, min_exact);
}
