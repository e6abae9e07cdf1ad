/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_print: prints counted execution paths, as text and as JSON.
 */
#pragma once

#include <stdio.h>

#include "recording/paths.h"
#include "symbolize/symbolizer.h"

struct paths_print {
	const struct paths *paths;
	const struct symbolizer_options *symbols;
	bool by_caller;
	uint64_t limit;      /* maximum number of paths of a function; 0 = all */
	const char *command; /* that was counted; NULL = a process */
	bool is_whole;       /* from the start of a command to its end, without pauses */
};

void paths_print_text(FILE *to, const struct paths_print *print);
/* 0, or -EIO. */
int paths_print_json(FILE *to, const struct paths_print *print);
