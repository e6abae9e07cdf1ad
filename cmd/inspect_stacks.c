/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect stacks: the stacks of a perf.data, one JSON object per sample; or every step of one of them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "collector/perfdata/perf_file.h"
#include "unwinder/unwinder.h"

#define NO_SAMPLE UINT64_MAX

struct stacks {
	struct source *source;
	struct unwinder *unwinder;
	struct stack stack; /* reused */
	struct json json;
	uint64_t only; /* the requested sample, or NO_SAMPLE for all */
	uint64_t n_samples;
	bool explains;
};

/* ---- as JSON ------------------------------------------------------------------------------------ */

static void inspect_stacks_print_json(struct json *json, const struct event *event, const struct stack *stack)
{
	json_object(json);
	json_uint_of(json, "time", event->time_ns);
	json_int_of(json, "pid", event->pid);
	json_int_of(json, "tid", event->tid);
	if (stack->n_kernel)
		json_uint_of(json, "kernel", stack->n_kernel);
	json_name(json, "pcs");
	json_array(json);
	for (size_t i = 0; i < stack->frames.n; i++)
		json_hex(json, stack->frames.at[i].pc);
	json_end_array(json);
	json_text_of(json, "end", stack_end_name(stack->end));
	json_name(json, "witness");
	json_array(json);
	for (size_t i = 0; i < stack->frames.n; i++)
		json_text(json, witness_name(stack->frames.at[i].witness));
	json_end_array(json);
	json_end_object(json);
	json_line(json);
}

/* ---- explained ---------------------------------------------------------------------------------- */

static void inspect_stacks_print_place(const struct stacks *stacks, const struct frame *frame)
{
	const struct image *image = images_get(stacks->source->images, frame->image);

	printf("0x%" PRIx64 "  ", frame->pc);
	cmd_print_name(stdout, image ? image_name(image) : "?");
	printf("+0x%" PRIx64 "%s\n", frame->vaddr, frame->is_return ? " (return address)" : "");
}

static void inspect_stacks_print_regs(const struct regs *regs, const struct isa *isa)
{
	unsigned n = 0;

	for (unsigned i = 0; i < isa->n_regs; i++)
		if (regs_known(regs, i))
			printf("%s%s=0x%" PRIx64, n++ % 6 ? " " : "\n      ", isa->reg_names[i],
			       regs->value[i]);
	printf("\n");
}

static void explain_step(void *context, const struct walk_step *step)
{
	const struct stacks *stacks = context;
	const struct isa *isa = stacks->source->info.isa;
	char text[512];

	inspect_stacks_print_place(stacks, &step->frame);
	printf("    registers");
	inspect_stacks_print_regs(step->regs, isa);
	if (step->recipe == RECIPE_NONE) {
		printf("    no recipe\n");
	} else {
		const struct recipe *recipe = &step->recipes->recipes.at[step->recipe];
		recipe_format(step->recipes, step->recipe, isa, text, sizeof(text));
		printf("    recipe    %s (%s, %s)\n", text, witness_name(recipe->witness),
		       trust_name(recipe->trust));
		printf("    caller    cfa 0x%" PRIx64 ", pc 0x%" PRIx64 ": %s\n", step->cfa, step->ra,
		       verdict_name(step->verdict));
	}
	if (step->note && *step->note)
		printf("    because   %s\n", step->note);
}

static void explain_end(const struct stacks *stacks)
{
	const struct stack *stack = &stacks->stack;

	printf("\n%zu frames (%u in the kernel), end: %s\n", stack->frames.n, stack->n_kernel,
	       stack_end_name(stack->end));
	for (size_t i = 0; i < stack->frames.n; i++) {
		printf("%4zu  %-8s %-7s  ", i, witness_name(stack->frames.at[i].witness),
		       stack->frames.at[i].witness ? verdict_name(stack->frames.at[i].verdict) : "");
		inspect_stacks_print_place(stacks, &stack->frames.at[i]);
	}
}

/* ---- the command -------------------------------------------------------------------------------- */

static void one_sample(struct stacks *stacks, const struct event *event)
{
	if (stacks->explains)
		unwinder_observe(stacks->unwinder, explain_step, stacks);
	unwinder_walk(stacks->unwinder, event, &stacks->stack);
	if (stacks->explains)
		explain_end(stacks);
	else
		inspect_stacks_print_json(&stacks->json, event, &stacks->stack);
}

static void take_event(void *context, const struct event *event)
{
	struct stacks *stacks = context;

	if (event->kind != EVENT_SAMPLE) {
		unwinder_event(stacks->unwinder, event);
		return;
	}
	if (stacks->only == NO_SAMPLE || stacks->only == stacks->n_samples)
		one_sample(stacks, event);
	stacks->n_samples++;
}

static int inspect_stacks_print_all(struct stacks *stacks)
{
	struct diag diag = { 0 };

	if (source_each(stacks->source, take_event, stacks, &diag) < 0)
		return cmd_fail(&diag);
	if (stacks->only != NO_SAMPLE && stacks->only >= stacks->n_samples)
		return cmd_usage("inspect stacks", "there are only %" PRIu64 " samples", stacks->n_samples);
	return EXIT_OK;
}

static int inspect_stacks_run(const char *path, const struct perf_file_options *file, enum unwind_mode mode,
			      struct stacks *stacks)
{
	struct images *images = images_new();
	struct diag diag = { 0 };
	int code;

	if (perf_file_open(path, file, images, &stacks->source, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		struct unwinder_options options = { .mode = mode };
		stacks->unwinder = unwinder_new(images, stacks->source->info.isa, &options);
		json_init(&stacks->json, stdout);
		code = inspect_stacks_print_all(stacks);
		json_done(&stacks->json);
		unwinder_free(stacks->unwinder);
		stack_done(&stacks->stack);
		source_close(stacks->source);
	}
	images_free(images);
	return code;
}

int inspect_stacks(int argc, char **argv)
{
	struct perf_file_options file = { 0 };
	struct stacks stacks = { .only = NO_SAMPLE };
	int mode = UNWIND_AUTO;
	const struct option_spec specs[] = {
		{ 0, "unwind", OPTION_CHOICE, &mode, "auto|analysis|cfi|fp", "where unwind rules come from" },
		{ 0, "symfs", OPTION_TEXT, &file.symfs, "DIR", "look for the recorded binaries under DIR" },
		{ 0, "sample", OPTION_NUMBER, &stacks.only, "N", "only the sample with this number, from 0" },
		{ 0, "explain", OPTION_FLAG, &stacks.explains, NULL,
		  "show every step: registers, recipe, verdict" },
		{ 0 },
	};
	struct command_line line = {
		.command = "inspect stacks",
		.usage = "[options] PERF.DATA",
		.about = "Unwinds the samples of a perf.data recording and prints one JSON object per "
			 "sample: run-time addresses, innermost first (return addresses for callers), which "
			 "rule unwound each frame, and why the stack ended.",
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage("inspect stacks", "give one recording");
	if (stacks.explains && stacks.only == NO_SAMPLE)
		return cmd_usage("inspect stacks", "--explain needs --sample");
	return inspect_stacks_run(line.operands[0], &file, (enum unwind_mode)mode, &stacks);
}
