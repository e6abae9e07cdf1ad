/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: any intermediate product of the pipeline, as text a person can read and a test compare.
 * Each product has its own file and a row here.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/inspect.h"

static const struct command products[] = {
	{ "functions", inspect_functions, "where the functions of an ELF file start and end, and what says so" },
	{ "cfg", inspect_cfg, "the control-flow graphs of an ELF file" },
	{ "recipes", inspect_recipes, "unwind recipes recovered from the code of an ELF file" },
	{ "events", inspect_events, "what a perf.data recording holds, one line per event" },
	{ "stacks", inspect_stacks, "the unwound stacks of a perf.data recording, one JSON object per sample" },
	{ "locations", inspect_locations, "functions, files and lines at the addresses given on standard input" },
	{ NULL, NULL, NULL },
};

static int print_help(void)
{
	printf("usage: cpprof inspect PRODUCT [options] FILE\n\nPrints an intermediate product.\n\nproducts:\n");
	for (const struct command *product = products; product->name; product++)
		printf("  %-10s %s\n", product->name, product->summary);
	printf("\n`cpprof inspect PRODUCT --help` says more about each.\n");
	return EXIT_OK;
}

int cmd_inspect(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_help();
	for (const struct command *product = products; product->name; product++)
		if (strcmp(product->name, name) == 0)
			return product->run(argc - 1, argv + 1);
	return cmd_usage("inspect", "no product is called '%s'", name);
}
