/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: report, export, check and import read files that others wrote. Once it is known which, and where
 * the result goes, the command gives up what it does not need: other files, programs, connections, other
 * processes. Whoever takes it over with such a file has gained little. It is a second line: where the kernel
 * has no such rules, the command goes on without.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct confine_options {
	const char *const *inputs; /* profiles, "-", or stretches of a database (cmd/database.h) */
	size_t n_inputs;
	bool reads_all;     /* sources, binaries: they can be anywhere */
	const char *output; /* NULL or "-": standard output */
	const char *store;  /* NULL: none is used */
	bool runs_programs; /* debuginfod's */
};

/* Must be called before any thread is started; the pager and the browser, before that. */
void confine(const struct confine_options *options);
