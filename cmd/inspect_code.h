/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_code: what `inspect cfg` and `inspect recipes` share: options, opening, and running the
 * analysis over one function or all.
 */
#pragma once

#include "binary/flow/flow.h"
#include "cmd/code_file.h"

/* Called once for each function asked for, with its final analysis. */
typedef void (*code_printer)(void *context, const struct code_file *file, uint32_t function,
			     struct flow *flow);

struct code_request {
	const char *command, *about;
	code_printer print;
	void *context;
};
/* Parses the command line and prints; the exit code. */
int inspect_code(const struct code_request *request, int argc, char **argv);
