/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: holds what cpprof derives against what is known to be true. Each subject has its own file
 * and a row here.
 */
#include "cmd/verify.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct command subjects[] = {
	{ "recipes", verify_recipes_command, "recovered recipes against the compiler's unwind tables of an ELF file" },
	{ NULL, NULL, NULL },
};

static int print_help(void)
{
	printf("usage: cpprof verify SUBJECT [options] ...\n\nHolds what cpprof derives against the truth.\n\nsubjects:\n");
	for (const struct command *subject = subjects; subject->name; subject++)
		printf("  %-10s %s\n", subject->name, subject->summary);
	printf("\n`cpprof verify SUBJECT --help` says more about each.\n");
	return EXIT_OK;
}

int cmd_verify(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_help();
	for (const struct command *subject = subjects; subject->name; subject++)
		if (strcmp(subject->name, name) == 0)
			return subject->run(argc - 1, argv + 1);
	return cmd_usage("verify", "nothing called '%s' can be verified", name);
}
