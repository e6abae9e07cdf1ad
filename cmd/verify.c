/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: holds what cpprof derives against what is known to be true. Each subject has its own file
 * and a row here.
 */
#include "cmd/verify.h"

#include "cmd/group.h"

static const struct command subjects[] = {
	{ "recipes", verify_recipes_command,
	  "recovered recipes against the compiler's unwind tables of an ELF file" },
	{ "steps", verify_steps_command,
	  "unwound stacks against what the CPU really did, instruction by instruction" },
	{ NULL, NULL, NULL },
};

int cmd_verify(int argc, char **argv)
{
	static const struct command_group group = {
		"cpprof verify", "SUBJECT", "Holds what cpprof derives against what is known to be true.",
		subjects, NULL
	};

	return group_run(&group, argc, argv);
}
