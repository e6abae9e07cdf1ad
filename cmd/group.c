/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/group.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "cmd/manual.h"
#include "cmd/settings.h"

static int group_print_help(const struct command_group *group)
{
	printf("usage: %s %s [options] ...\n\n%s\n\n", group->name, group->word, group->about);
	for (const struct command *command = group->commands; command->name; command++)
		printf("  %-10s %s\n", command->name, command->summary);
	printf("\n"
	       "`%s %s --help` describes each of them.\n",
	       group->name, group->word);
	return EXIT_OK;
}

static int print_names(const struct command_group *group)
{
	for (const struct command *command = group->commands; command->name; command++)
		puts(command->name);
	return EXIT_OK;
}

static int unknown(const struct command_group *group, const char *name)
{
	const char *short_name = strchr(group->name, ' ') ? strchr(group->name, ' ') + 1 : "";
	VEC(const char *) names = { 0 };

	for (const struct command *command = group->commands; command->name; command++)
		vec_push(&names, command->name);
	const char *near = text_nearest(name, names.at, names.n);
	vec_done(&names);
	int code = group->answer && !near ? group->answer(name) : -1;
	if (code >= 0)
		return code;
	if (near)
		return cmd_usage(short_name, "unknown command '%s'; did you mean '%s'?", name, near);
	return cmd_usage(short_name, "unknown command '%s'", name);
}

int group_run(const struct command_group *group, int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	if (strcmp(name, "help") == 0 && argc > 2) { /* as if --help were the last argument */
		char *turned[] = { argv[0], argv[2], (char[]){ "--help" }, NULL };
		return group_run(group, 3, turned);
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return group_print_help(group);
	if (strcmp(name, "--man-page") == 0)
		return manual_of_group(group);
	if (strcmp(name, "--list-options") == 0)
		return print_names(group);
	for (const struct command *command = group->commands; command->name; command++)
		if (strcmp(command->name, name) == 0) {
			settings_enter(group, command->name);
			return command->run(argc - 1, argv + 1);
		}
	return unknown(group, name);
}
