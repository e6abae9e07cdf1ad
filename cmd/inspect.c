/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: prints any intermediate product of the pipeline as readable text, which tests can compare. Each
 * product has its own file and a row here.
 */
#include "cmd/inspect.h"
#include "cmd/group.h"

static const struct command products[] = {
	{ "functions", inspect_functions,
	  "where the functions of an ELF file start and end, and the evidence for it" },
	{ "cfg", inspect_cfg, "the control-flow graphs of an ELF file" },
	{ "coverage", inspect_coverage,
	  "how much of an ELF file's code is covered by known functions and recipes" },
	{ "recipes", inspect_recipes, "unwind recipes recovered from the code of an ELF file" },
	{ "events", inspect_events, "the contents of a perf.data recording, one line per event" },
	{ "stacks", inspect_stacks,
	  "the unwound stacks of a perf.data recording, one JSON object per sample" },
	{ "locations", inspect_locations,
	  "functions, files and lines at the addresses given on standard input" },
	{ NULL, NULL, NULL },
};

int cmd_inspect(int argc, char **argv)
{
	static const struct command_group group = {
		"cpprof inspect", "PRODUCT",
		"Prints an intermediate product of the pipeline as readable text.", products, NULL
	};

	return group_run(&group, argc, argv);
}
