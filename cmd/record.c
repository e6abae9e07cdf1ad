/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record, attach: the two names of one recording.
 */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/recording.h"

static int run(const char *mode, int argc, char **argv)
{
	struct recording_options options;
	char *command_line = cmd_command_line(argc, argv); /* before parsing rearranges it */
	int code = recording_options_parse(&options, mode, argc, argv);

	if (code < 0)
		code = recording_run(&options, mode, command_line);
	recording_options_done(&options);
	free(command_line);
	return code;
}

int cmd_record(int argc, char **argv)
{
	return run("record", argc, argv);
}

int cmd_attach(int argc, char **argv)
{
	return run("attach", argc, argv);
}
