/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify recipes: compares recovered recipes with the compiler's unwind rows, and prints the first
 * differences.
 */
#include <stdio.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/code_file.h"
#include "cmd/options.h"
#include "cmd/verify.h"
#include "verify/tables.h"

static double verify_recipes_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static uint64_t agreeing(const struct verify_counts *c)
{
	return c->agree_form + c->agree_value;
}

static const char *const cause_texts[CAUSE_N] = {
	[CAUSE_ANALYSIS] = "the function fails its self-check or its state is a guess: the analysis is wrong",
	[CAUSE_UNKNOWN] = "the function passes its self-check: the table is wrong or both are right",
	[CAUSE_LATE] = "the table is wrong: its row does not change although an instruction moves the "
		       "register it refers to",
	[CAUSE_EARLY] = "the table is wrong: it says that the return address is saved before it is",
	[CAUSE_ENTRY] =
		"the table is wrong: it ignores what the linker's stub pushed above the return address",
	[CAUSE_OTHER_FRAME] =
		"both are right: the table's row is about the frame that a context switch goes to",
};

static const char *cause_text(const struct verify_example *e)
{
	if (e->agreement == AGREE_NONE)
		return "the analysis does not know";
	return e->agreement == AGREE_DIFFERS ? cause_texts[e->cause] : "only registers differ";
}

static void print_example(const struct code_file *file, const struct verify_result *r,
			  const struct verify_example *e)
{
	char text[160], stated[200], own[200] = "none";
	const struct symbol *symbol = symbols_find(file->symbols, e->vaddr);

	file->isa->format(image_code(file->image, e->vaddr), e->vaddr, text, sizeof(text));
	recipe_format(&r->store, e->stated, file->isa, stated, sizeof(stated));
	if (e->own != RECIPE_NONE)
		recipe_format(&r->store, e->own, file->isa, own, sizeof(own));
	printf("  %llx in %llx ", (unsigned long long)e->vaddr, (unsigned long long)e->function);
	cmd_print_name(stdout, symbol ? symbol->name : "");
	printf(": %s\n    cfi      %s\n    analysis %s\n    %s\n", text, stated, own, cause_text(e));
}

static void print_text(const struct code_file *file, const struct verify_options *options,
		       const struct verify_result *r)
{
	printf("functions      %llu: %llu pass their self-check, %llu fail it, %llu have no exit, %llu too "
	       "large\n",
	       (unsigned long long)r->functions, (unsigned long long)r->passed, (unsigned long long)r->failed,
	       (unsigned long long)r->exitless, (unsigned long long)r->refused);
	printf("instructions   %llu, %llu rows, %llu recipes\n", (unsigned long long)r->instructions,
	       (unsigned long long)r->rows, (unsigned long long)r->recipes);
	printf("cfa and ra     %.4f %% agree: same form %llu, same value %llu, different %llu, no recipe "
	       "%llu\n",
	       verify_recipes_percent(agreeing(&r->cfa_ra), r->instructions),
	       (unsigned long long)r->cfa_ra.agree_form, (unsigned long long)r->cfa_ra.agree_value,
	       (unsigned long long)r->cfa_ra.differ, (unsigned long long)r->cfa_ra.none);
	printf("differences    %llu of the analysis, %llu of unknown cause in functions that pass their "
	       "self-check,\n"
	       "               %llu late rows, %llu early rows, %llu stubs' words not counted, %llu about "
	       "the "
	       "other frame of a context switch\n",
	       (unsigned long long)r->causes[CAUSE_ANALYSIS], (unsigned long long)r->causes[CAUSE_UNKNOWN],
	       (unsigned long long)r->causes[CAUSE_LATE], (unsigned long long)r->causes[CAUSE_EARLY],
	       (unsigned long long)r->causes[CAUSE_ENTRY], (unsigned long long)r->causes[CAUSE_OTHER_FRAME]);
	printf("set aside      %llu mistakes of the table: %.4f %% agree\n",
	       (unsigned long long)r->cfa_ra.set_aside,
	       verify_recipes_percent(agreeing(&r->cfa_ra), r->instructions - r->cfa_ra.set_aside));
	printf("guessed        %llu, of which right %llu\n", (unsigned long long)r->guessed,
	       (unsigned long long)r->guessed_right);
	for (uint64_t left = file->isa->callee_saved; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		printf("%-14s %.4f %%: different %llu, not known %llu, set aside %llu\n",
		       file->isa->reg_names[reg],
		       verify_recipes_percent(agreeing(&r->regs[reg]), r->instructions),
		       (unsigned long long)r->regs[reg].differ, (unsigned long long)r->regs[reg].none,
		       (unsigned long long)r->regs[reg].set_aside);
	}
	if (options->no_starts)
		printf("starts         recall %.2f %% of %llu, precision %.2f %% of %llu\n",
		       verify_recipes_percent(r->starts_found, r->starts_true),
		       (unsigned long long)r->starts_true,
		       verify_recipes_percent(r->starts_claimed - r->starts_wrong, r->starts_claimed),
		       (unsigned long long)r->starts_claimed);
	if (r->examples.n)
		printf("first differences:\n");
	for (size_t i = 0; i < r->examples.n; i++)
		print_example(file, r, &r->examples.at[i]);
}

static void verify_recipes_print_counts(struct json *json, const char *name, const struct verify_counts *c)
{
	json_name(json, name);
	json_object(json);
	json_uint_of(json, "agree", agreeing(c));
	json_uint_of(json, "differ", c->differ);
	json_uint_of(json, "none", c->none);
	json_uint_of(json, "set_aside", c->set_aside);
	json_end_object(json);
}

static void verify_recipes_print_json(const struct code_file *file, const struct verify_result *r)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_uint_of(&json, "instructions", r->instructions);
	json_uint_of(&json, "functions", r->functions);
	verify_recipes_print_counts(&json, "cfa_ra", &r->cfa_ra);
	json_uint_of(&json, "unknown_cause", r->causes[CAUSE_UNKNOWN]);
	json_name(&json, "regs");
	json_object(&json);
	for (uint64_t left = file->isa->callee_saved; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		verify_recipes_print_counts(&json, file->isa->reg_names[reg], &r->regs[reg]);
	}
	json_end_object(&json);
	json_name(&json, "starts");
	json_object(&json);
	json_number_of(&json, "recall", verify_recipes_percent(r->starts_found, r->starts_true) / 100);
	json_number_of(&json, "precision",
		       verify_recipes_percent(r->starts_claimed - r->starts_wrong, r->starts_claimed) / 100);
	json_end_object(&json);
	json_end_object(&json);
	json_line(&json);
	json_done(&json);
}

int verify_recipes_command(int argc, char **argv)
{
	bool is_json = false, starts = true, dynamic = true;
	uint64_t limit = 10;
	struct option_spec specs[] = {
		{ 0, "json", OPTION_FLAG, &is_json, NULL, "print one JSON object" },
		{ 0, "starts", OPTION_FLAG, &starts, NULL,
		  "let the analysis use unwind entries and symbols (default)" },
		{ 0, "dynamic", OPTION_FLAG, &dynamic, NULL,
		  "with --no-starts: still let it use .dynsym (default)" },
		{ 0, "limit", OPTION_NUMBER, &limit, "N", "how many differences to show (10)" },
		{ 0 },
	};
	struct command_line line = {
		.command = "verify recipes",
		.usage = "[options] ELF",
		.about = "At every instruction that the compiler's unwind tables cover, compares the recipe\n"
			 "recovered from the machine code alone with that table.",
		.specs = specs
	};
	struct code_file file;
	struct diag diag = { 0 };
	struct verify_result result;

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage("verify recipes", "give one ELF file");
	int error = code_file_open(&file, line.operands[0], &diag);
	if (error < 0) {
		code_file_close(&file);
		return cmd_fail(&diag);
	}
	struct verify_options options = { .no_starts = !starts,
					  .no_dynamic = !dynamic,
					  .max_examples = (size_t)limit };
	verify_recipes(file.image, file.symbols, file.frames, &options, &result);
	if (is_json)
		verify_recipes_print_json(&file, &result);
	else
		print_text(&file, &options, &result);
	verify_result_done(&result);
	code_file_close(&file);
	return EXIT_OK;
}
