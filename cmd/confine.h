/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: report, export, import, diff and others read files that others wrote. Once input and output are
 * known, the command drops all access that it does not need: other files, programs, connections, other
 * processes. So a malicious file that compromises it gains little. This is a second line of defence: if the
 * kernel does not support it, the command continues without.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct confine_options {
	const char *const *inputs; /* profiles, "-", or time ranges of a database (cmd/database.h) */
	size_t n_inputs;
	bool reads_all;     /* source files, binaries: they can be anywhere */
	const char *output; /* NULL or "-": standard output */
	const char *store;  /* NULL: none is used */
	bool has_children;  /* fenced ones, which read debug information */
	bool runs_programs; /* debuginfod's */
};

/* Must be called before any thread is started; pager and browser must be prepared before that. */
void confine(const struct confine_options *options);

struct store;
/* For a command that reads binaries and debug information: they are searched in many places, and debuginfod
 * runs programs. */
void confine_to_code(struct store *store, const char *output);
