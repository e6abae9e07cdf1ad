/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_print: text and JSON of `verify steps`.
 */
#include "cmd/step_print.h"

#include <inttypes.h>

#include "base/json.h"
#include "cmd/cmd.h"

#define N_PLACES 20 /* shown, most frequent first */

static const struct symbols *step_symbols_of(struct step_names *names, image_id image)
{
	while (names->symbols.n <= image)
		vec_push(&names->symbols, NULL);
	if (!names->symbols.at[image])
		names->symbols.at[image] = symbols_read(images_get(names->images, image));
	return names->symbols.at[image];
}

void step_names_done(struct step_names *names)
{
	for (size_t i = 0; i < names->symbols.n; i++)
		symbols_free(names->symbols.at[i]);
	vec_done(&names->symbols);
}

static const char *step_module_name(const struct step_names *names, image_id image)
{
	const struct image *found = images_get(names->images, image);

	return found ? image_name(found) : "?";
}

/* "libc.so.6+0x8ab40 <malloc+16>". A return address may be the first address of the next function. */
static void step_print_place(FILE *to, struct step_names *names, image_id image, uint64_t vaddr,
			     bool is_return)
{
	const struct symbol *symbol = NULL;

	if (image != IMAGE_NONE)
		symbol = symbols_find(step_symbols_of(names, image), vaddr - is_return);

	cmd_print_name(to, step_module_name(names, image));
	fprintf(to, "+0x%" PRIx64, vaddr);
	if (!symbol)
		return;
	fputs(" <", to);
	cmd_print_name(to, symbol->name);
	fprintf(to, "+%" PRIu64 ">", vaddr - symbol->vaddr);
}

static double step_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void step_print_counts(FILE *to, uint64_t samples, const uint64_t by_outcome[OUTCOME_N])
{
	fprintf(to,
		"%8" PRIu64 "  exact %8.4f %%  truncated %" PRIu64 "  wrong %" PRIu64
		"  wrong but complete %" PRIu64,
		samples, step_percent(by_outcome[OUTCOME_EXACT], samples), by_outcome[OUTCOME_TRUNCATED],
		by_outcome[OUTCOME_WRONG], by_outcome[OUTCOME_WRONG_COMPLETE]);
}

void step_print_text(FILE *to, const struct step_result *run, double seconds, struct step_names *names)
{
	const struct tally *tally = run->tally;

	fprintf(to, "samples ");
	step_print_counts(to, tally->samples, tally->by_outcome);
	fprintf(to, "\n         %" PRIu64 " steps in %.1f s, %.1f frames per stack", run->steps, seconds,
		tally->samples ? (double)tally->frames / (double)tally->samples : 0);
	if (tally->unjudged)
		fprintf(to, ", %" PRIu64 " postponed in the middle of a non-local jump", tally->unjudged);
	if (tally->overwritten)
		fprintf(to, ", %" PRIu64 " left out: a return address was overwritten", tally->overwritten);
	fprintf(to, "\n");
	if (run->calls)
		fprintf(to, "calls   %8" PRIu64 "  found to be new %8.4f %%  wrongly %" PRIu64 "\n",
			run->calls->n_new, step_percent(run->calls->n_found, run->calls->n_new),
			run->calls->n_wrong);
	for (size_t i = 0; i < tally->modules.n; i++) {
		step_print_counts(to, tally->modules.at[i].samples, tally->modules.at[i].by_outcome);
		fputs("  ", to);
		cmd_print_name(to, step_module_name(names, tally->modules.at[i].image));
		putc('\n', to);
	}
	if (tally->places.n)
		fprintf(to, "where unwinding failed, by the last correct frame:\n");
	for (size_t i = 0; i < tally->places.n && i < N_PLACES; i++) {
		const struct tally_place *place = &tally->places.at[i];

		fprintf(to, "%8" PRIu64 "  %-14s %-14s ", place->count, step_outcome_name(place->outcome),
			stack_end_name(place->end));
		step_print_place(to, names, place->image, place->vaddr, place->is_return);
		fprintf(to, "\n");
	}
}

static void step_json_counts(struct json *json, uint64_t samples, const uint64_t by_outcome[OUTCOME_N])
{
	json_uint_of(json, "samples", samples);
	for (int i = 0; i < OUTCOME_N; i++)
		json_uint_of(json, step_outcome_name((enum step_outcome)i), by_outcome[i]);
}

static void step_json_modules(struct json *json, const struct tally *tally, const struct step_names *names)
{
	json_name(json, "modules");
	json_array(json);
	for (size_t i = 0; i < tally->modules.n; i++) {
		json_object(json);
		json_text_of(json, "module", step_module_name(names, tally->modules.at[i].image));
		step_json_counts(json, tally->modules.at[i].samples, tally->modules.at[i].by_outcome);
		json_end_object(json);
	}
	json_end_array(json);
}

static void step_json_places(struct json *json, const struct tally *tally, struct step_names *names)
{
	json_name(json, "places");
	json_array(json);
	for (size_t i = 0; i < tally->places.n; i++) {
		const struct tally_place *place = &tally->places.at[i];

		json_object(json);
		json_text_of(json, "module", step_module_name(names, place->image));
		json_name(json, "vaddr");
		json_hex(json, place->vaddr);
		json_text_of(json, "outcome", step_outcome_name(place->outcome));
		json_text_of(json, "end", stack_end_name(place->end));
		json_uint_of(json, "count", place->count);
		json_end_object(json);
	}
	json_end_array(json);
}

void step_print_json(FILE *to, const struct step_result *run, double seconds, struct step_names *names)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_uint_of(&json, "steps", run->steps);
	json_number_of(&json, "seconds", seconds);
	step_json_counts(&json, run->tally->samples, run->tally->by_outcome);
	json_uint_of(&json, "unjudged", run->tally->unjudged);
	json_uint_of(&json, "overwritten", run->tally->overwritten);
	if (run->calls) {
		json_uint_of(&json, "calls_new", run->calls->n_new);
		json_uint_of(&json, "calls_found", run->calls->n_found);
		json_uint_of(&json, "calls_wrong", run->calls->n_wrong);
	}
	json_name(&json, "ends");
	json_object(&json);
	for (int i = 0; i < STACK_END_N; i++)
		if (run->tally->by_end[i])
			json_uint_of(&json, stack_end_name((enum stack_end)i), run->tally->by_end[i]);
	json_end_object(&json);
	step_json_modules(&json, run->tally, names);
	step_json_places(&json, run->tally, names);
	json_end_object(&json);
	json_line(&json);
	json_done(&json);
}

void step_print_miss(FILE *to, const struct step_miss *miss, struct step_names *names)
{
	const struct step_truth *truth = miss->truth;
	const struct stack *stack = miss->stack;
	const struct frame *frames = stack->frames.at + stack->n_kernel;
	size_t n = stack->frames.n - stack->n_kernel, right;
	enum step_outcome outcome = step_judge(truth, stack, &right);

	fprintf(to, "sample %" PRIu64 " at step %" PRIu64 ": ", miss->sample, miss->step);
	fprintf(to, "%s, %s: %zu frames correct, then\n", step_outcome_name(outcome),
		stack_end_name(stack->end), right);
	for (size_t i = right > 3 ? right - 3 : 0; i < n || i < truth->pcs.n; i++) {
		if (i > right + 6) {
			fprintf(to, "    ... %zu true, %zu unwound in all\n", truth->pcs.n, n);
			break;
		}
		if (i < truth->pcs.n) {
			uint64_t vaddr = 0;
			image_id image = unwinder_locate(miss->unwinder, miss->pid, truth->pcs.at[i], &vaddr);

			fprintf(to, "%4zu true    0x%012" PRIx64 " ", i, truth->pcs.at[i]);
			step_print_place(to, names, image, vaddr, i > 0);
			fprintf(to, "\n");
		}
		if (i < n) {
			fprintf(to, "%4zu unwound 0x%012" PRIx64 " ", i, frames[i].pc);
			step_print_place(to, names, frames[i].image, frames[i].vaddr, frames[i].is_return);
			fprintf(to, " by %s, %s\n", witness_name(frames[i].witness),
				verdict_name(frames[i].verdict));
		}
	}
}

void step_print_walk(FILE *to, const struct walk_step *step, const struct isa *isa)
{
	char recipe[200] = "none";

	if (step->recipe != RECIPE_NONE)
		recipe_format(step->recipes, step->recipe, isa, recipe, sizeof(recipe));
	fprintf(to, "     0x%012" PRIx64 " sp 0x%" PRIx64 " %s: cfa 0x%" PRIx64 " ra 0x%" PRIx64 " %s%s%s\n",
		step->frame.pc, step->regs->value[isa->sp], recipe, step->cfa, step->ra,
		verdict_name(step->verdict), step->note ? ": " : "", step->note ? step->note : "");
}
