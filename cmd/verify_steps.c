/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify steps: compares unwound stacks with what the CPU really did.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/fresh_file.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/step_print.h"
#include "cmd/verify.h"
#include "verify/step_session.h"

struct request {
	struct step_options options;
	const char *output;
	double min_exact;
	bool is_json, is_explaining, with_calls;
	char **command;
};

/* Negative: continue; otherwise the exit code. */
static int steps_parse(struct request *r, int argc, char **argv)
{
	struct step_options *o = &r->options;
	int mode = UNWIND_AUTO;
	struct option_spec specs[] = {
		{ 'n', "samples", OPTION_POSITIVE, &o->n_samples, "N", "how many stacks to compare (2000)" },
		{ 'i', "interval", OPTION_POSITIVE, &o->interval, "N",
		  "average number of instructions between two stacks (1000)" },
		{ 's', "skip", OPTION_NUMBER, &o->skip, "N",
		  "instructions to run before the first stack (0)" },
		{ 0, "skip-loader", OPTION_FLAG, &o->skips_loader, NULL,
		  "do not single-step the dynamic loader" },
		{ 0, "unwind", OPTION_CHOICE, &mode, "auto|analysis|cfi|fp",
		  "use only this source of unwind rules (auto)" },
		{ 0, "seed", OPTION_POSITIVE, &o->seed, "N", "seed of the random intervals; not 0" },
		{ 0, "show", OPTION_NUMBER, &o->show, "N",
		  "print the first N stacks that are not exact, next to the true stacks (0)" },
		{ 0, "explain", OPTION_FLAG, &r->is_explaining, NULL,
		  "with --show: print every unwind step" },
		{ 0, "activations", OPTION_FLAG, &r->with_calls, NULL,
		  "also check which calls on exact stacks are recognised as new; exit with 6 if one\n"
		  "is recognised wrongly" },
		{ 0, "json", OPTION_FLAG, &r->is_json, NULL, "print one JSON object" },
		{ 0, "min-exact", OPTION_PERCENT, &r->min_exact, "N",
		  "exit 6 if fewer than N % are exact (0)" },
		{ 'o', "output", OPTION_TEXT, &r->output, "FILE",
		  "file to write the report to (standard output)" },
		{ 0, "write", OPTION_TEXT, &o->tape, "PERF.DATA",
		  "also write the samples, as perf would have recorded them" },
		{ 0, "truth", OPTION_TEXT, &o->truth, "FILE", "also write their true stacks, one per line" },
		{ 0 },
	};
	struct command_line line = {
		.command = "verify steps",
		.usage = "[options] -- CMD [ARGS]",
		.about = "Runs a command one instruction at a time, tracks its true call stack, and compares "
			 "it with\n"
			 "the stacks that are unwound at random instructions. Exits with 6 if a wrong stack "
			 "claims\n"
			 "to be complete.",
		.examples = "  cpprof verify steps -n 10000 -i 200 --unwind analysis -- xz -9 -k file\n"
			    "  cpprof verify steps --activations -- sort file    are new calls recognised?\n",
		.specs = specs,
		.stops_at_operand = true,
	};
	int code = options_parse(&line, argc, argv);
	o->mode = (enum unwind_mode)mode;
	r->command = line.operands;
	if (code >= 0)
		return code;
	if (line.n_operands == 0)
		return cmd_usage("verify steps", "give a command to run");
	if (o->interval == 0 || o->seed == 0)
		return cmd_usage("verify steps", "the interval and the seed must not be 0");
	return -1;
}

/* Where the report is written. */
struct report {
	FILE *to;
	struct step_names names;
};

static void steps_missed(void *context, const struct step_miss *miss)
{
	struct report *report = context;

	step_print_miss(report->to, miss, &report->names);
}

static void steps_walked(void *context, const struct walk_step *step, const struct isa *isa)
{
	const struct report *report = context;

	step_print_walk(report->to, step, isa);
}

static int steps_conclude(const struct request *r, struct step_session *session, double seconds,
			  struct report *report)
{
	struct step_result run = step_session_result(session);
	uint64_t n = run.tally->samples;

	if (!r->with_calls)
		run.calls = NULL;
	if (r->is_json)
		step_print_json(report->to, &run, seconds, &report->names);
	else
		step_print_text(report->to, &run, seconds, &report->names);
	if (n == 0)
		return EXIT_NO_SAMPLES;
	bool is_good = 100.0 * (double)run.tally->by_outcome[OUTCOME_EXACT] / (double)n >= r->min_exact;
	is_good &= !run.calls || run.calls->n_wrong == 0;
	return is_good && run.tally->by_outcome[OUTCOME_WRONG_COMPLETE] == 0 ? EXIT_OK : EXIT_UNTRUSTWORTHY;
}

static int steps_verify(struct request *r, FILE *to)
{
	struct report report = { .to = to };
	struct step_session *session = NULL;
	struct diag diag = { 0 };
	uint64_t start_ns = clock_now_ns();
	int code = EXIT_OK;

	r->options.listener = (struct step_listener){ .context = &report,
						      .missed = steps_missed,
						      .walked = r->is_explaining ? steps_walked : NULL };
	int error = step_session_open(&r->options, r->command, &session, &diag);
	if (!error) {
		report.names.images = step_session_images(session);
		error = step_session_run(session, &diag);
	}
	if (!error)
		code = steps_conclude(r, session, (double)(clock_now_ns() - start_ns) * 1e-9, &report);
	step_names_done(&report.names);
	int late = step_session_close(session, error ? NULL : &diag);
	return error || late ? cmd_fail(&diag) : code;
}

int verify_steps_command(int argc, char **argv)
{
	struct request r = {
		.options = { .n_samples = 2000, .interval = 1000, .seed = UINT64_C(88172645463325252) }
	};

	int code = steps_parse(&r, argc, argv);
	if (code >= 0)
		return code;
	struct diag diag = { 0 };
	int fd = r.output ? fresh_file_overwrite(r.output, O_WRONLY, &diag) : -1;
	FILE *to = !r.output ? stdout : fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!to)
		return cmd_fail(&diag);
	code = steps_verify(&r, to);
	if (r.output)
		fclose(to);
	return code;
}
