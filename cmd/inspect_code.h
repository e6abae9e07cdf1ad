/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_code: shared by `inspect cfg` and `inspect recipes`: options, opening the file, and analysing one
 * function or all.
 */
#pragma once

#include "binary/flow/flow.h"
#include "cmd/code_file.h"

/* Called once for each requested function, with its final analysis. */
typedef void (*code_printer)(void *context, const struct code_file *file, uint32_t function,
			     struct flow *flow);

struct code_request {
	const char *command, *about;
	code_printer print;
	void *context;
};
/* Parses the command line and prints; returns the exit code. */
int inspect_code(const struct code_request *request, int argc, char **argv);
