/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool: runs an external program with input and output, with limits on time, memory and output. Everything it
 * has started is killed with it.
 */
#pragma once

#include "base/diag.h"
#include "base/writer.h"

/* The file of that name in PATH; NULL if there is none. To be freed. */
char *tool_find(const char *name);
/*
 * Appends what it prints to ret. Its exit status; -ETIME if it took longer than that, another negative errno
 * if it was ended or could not be run. What it prints is foreign input.
 */
int tool_run(const char *path, const char *const *args, struct bytes input, uint64_t max_ns,
	     struct writer *ret);
