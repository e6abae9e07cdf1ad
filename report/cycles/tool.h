/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool: runs an external program with input and output, with limits on time, memory and output. Everything it
 * has started is killed with it.
 */
#pragma once

#include "base/diag.h"
#include "base/writer.h"

/* The path of a program, searched in PATH; NULL if there is none. To be freed. */
char *tool_find(const char *name);
/*
 * Appends its output to ret. Returns its exit status; -ETIME if it took longer than max_ns, another negative
 * errno if it was killed or could not be run. Its output is foreign input.
 */
int tool_run(const char *path, const char *const *args, struct bytes input, uint64_t max_ns,
	     struct writer *ret);
