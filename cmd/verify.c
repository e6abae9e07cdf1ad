/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: compares results of cpprof with independent references. Each subject has its own file and a row
 * here.
 */
#include "cmd/verify.h"

#include "cmd/group.h"

static const struct command subjects[] = {
	{ "recipes", verify_recipes_command,
	  "compare recovered recipes with the compiler's unwind tables of an ELF file" },
	{ "names", verify_names_command,
	  "compare names, inlined calls and lines of an ELF file with libdwarf and libdw" },
	{ "steps", verify_steps_command,
	  "compare unwound stacks with true call stacks, tracked instruction by instruction" },
	{ NULL, NULL, NULL },
};

int cmd_verify(int argc, char **argv)
{
	static const struct command_group group = { "cpprof verify", "SUBJECT",
						    "Compares cpprof's results with independent references.",
						    subjects, NULL };

	return group_run(&group, argc, argv);
}
