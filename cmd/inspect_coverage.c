/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect coverage: how much of the text is known, and from which source.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/code_file.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "recipes/recover.h"

enum cover { COVER_FRAME, COVER_SYMBOL, COVER_STUB, COVER_RECOVERED, COVER_NOTHING, COVER_N };

struct coverage {
	uint64_t bytes[COVER_N], total;
	uint64_t proven, guessed,
		none; /* bytes by the trust of their recovered recipe; stubs are templates */
	struct recipes recipes;
};

static enum cover cover_of(const struct function *f)
{
	if (f->sources & FROM_STUB)
		return COVER_STUB;
	if (f->sources & FROM_FRAME)
		return COVER_FRAME;
	return f->sources & FROM_SYMBOL ? COVER_SYMBOL : COVER_RECOVERED;
}

static uint64_t overlap(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	uint64_t start = a > b ? a : b, end = a_end < b_end ? a_end : b_end;

	return end > start ? end - start : 0;
}

static void count_intervals(struct coverage *c, const struct functions *functions)
{
	uint64_t start, end;

	for (size_t i = 0; functions_text_range(functions, i, &start, &end); i++) {
		uint64_t known = 0;
		for (size_t k = 0; k < functions->n; k++) {
			const struct function *f = &functions->at[k];
			uint64_t n = overlap(f->start, f->end, start, end);
			c->bytes[cover_of(f)] += n;
			known += n;
		}
		c->bytes[COVER_NOTHING] += end - start - known;
		c->total += end - start;
	}
}

static void inspect_coverage_count_rows(struct coverage *c, struct flow *flow, size_t part)
{
	const struct flow_part *p = &flow->parts.at[part];
	struct recipe_rows rows = { 0 };

	recover_rows(flow, part, &c->recipes, &rows);
	for (size_t i = 0; i < rows.rows.n; i++) {
		uint64_t end = i + 1 < rows.rows.n ? rows.rows.at[i + 1].start : p->end - p->start;
		uint32_t recipe = rows.rows.at[i].recipe;
		uint64_t n = end - rows.rows.at[i].start;

		if (recipe == RECIPE_NONE)
			c->none += n;
		else if (c->recipes.recipes.at[recipe].trust == TRUST_PROVEN)
			c->proven += n;
		else
			c->guessed += n;
	}
	vec_done(&rows.rows);
}

static void count_recipes(struct coverage *c, struct functions *functions)
{
	struct flow flow;

	flow_init(&flow, functions_facts(functions));
	for (uint32_t i = 0; i < functions->n; i++) {
		if ((functions->at[i].sources & FROM_STUB) || functions->at[i].parent != FUNCTION_NONE)
			continue;
		functions_analyse_one(functions, i, &flow);
		for (size_t part = 0; part < flow.parts.n; part++)
			inspect_coverage_count_rows(c, &flow, part);
	}
	flow_done(&flow);
}

static void print_share(const char *what, uint64_t bytes, uint64_t total)
{
	printf("%-12s %10llu bytes %6.2f %%\n", what, (unsigned long long)bytes,
	       total ? 100.0 * (double)bytes / (double)total : 0.0);
}

static void print_coverage(const struct coverage *c)
{
	static const char *const names[] = { "unwind entry", "symbol", "stub", "recovered", "nothing" };

	print_share("text", c->total, c->total);
	for (size_t i = 0; i < COVER_N; i++)
		print_share(names[i], c->bytes[i], c->total);
	printf("recipes recovered from the code:\n");
	print_share("proven", c->proven, c->total);
	print_share("guess", c->guessed, c->total);
	print_share("none", c->none, c->total);
}

int inspect_coverage(int argc, char **argv)
{
	struct option_spec specs[] = { { 0 } };
	struct command_line line = { .command = "inspect coverage",
				     .usage = "ELF",
				     .about = "Prints how much of the code belongs to known functions, by "
					      "the evidence for them, and how\n"
					      "reliable the recipes recovered from it are.",
				     .specs = specs };
	struct code_file file;
	struct diag diag = { 0 };
	struct coverage coverage = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage("inspect coverage", "give one ELF file");
	if (code_file_open(&file, line.operands[0], &diag) < 0) {
		code_file_close(&file);
		return cmd_fail(&diag);
	}
	struct functions *functions = functions_new(file.image, file.symbols, file.frames, NULL);
	recipes_init(&coverage.recipes);
	functions_analyse(functions, NULL, NULL);
	count_intervals(&coverage, functions);
	count_recipes(&coverage, functions);
	print_coverage(&coverage);
	recipes_done(&coverage.recipes);
	functions_free(functions);
	code_file_close(&file);
	return EXIT_OK;
}
