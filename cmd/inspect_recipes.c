/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect recipes: the rows recovered from the machine code of each function.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/inspect.h"
#include "cmd/inspect_code.h"
#include "recipes/recover.h"

static void print_rows(const struct recipes *recipes, const struct isa *isa, uint64_t start,
		       const struct recipe_rows *rows)
{
	for (size_t i = 0; i < rows->rows.n; i++) {
		const struct recipe_row *row = &rows->rows.at[i];
		char text[512] = "none";

		printf("  %llx ", (unsigned long long)start + row->start);
		if (row->recipe == RECIPE_NONE) {
			printf("none\n");
			continue;
		}
		recipe_format(recipes, row->recipe, isa, text, sizeof(text));
		printf("%s %s\n", text, trust_name((enum trust)recipes->recipes.at[row->recipe].trust));
	}
}

static void print_recipes(void *context, const struct code_file *file, uint32_t function, struct flow *flow)
{
	const struct function *f = &flow->facts->at[function];
	struct recipes *recipes = context;

	printf("%llx ", (unsigned long long)f->start);
	cmd_print_name(stdout, f->name ? f->name : "-");
	putchar('\n');
	for (size_t part = 0; part < flow->parts.n; part++) {
		struct recipe_rows rows = { 0 };

		if (part)
			printf("  part %llx-%llx\n", (unsigned long long)flow->parts.at[part].start,
			       (unsigned long long)flow->parts.at[part].end);
		recover_rows(flow, part, recipes, &rows);
		print_rows(recipes, file->isa, flow->parts.at[part].start, &rows);
		vec_done(&rows.rows);
	}
}

int inspect_recipes(int argc, char **argv)
{
	struct recipes recipes;
	struct code_request request = { .command = "inspect recipes",
					.about = "Prints the unwind recipes recovered from the machine code "
						 "alone, and how reliable they are.",
					.print = print_recipes,
					.context = &recipes };

	recipes_init(&recipes);
	int code = inspect_code(&request, argc, argv);
	recipes_done(&recipes);
	return code;
}
