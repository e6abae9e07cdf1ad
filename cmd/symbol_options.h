/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_options: the options for looking up names, files and lines, common to all commands that do so.
 *
 *     struct symbol_options symbols = SYMBOL_DEFAULTS;
 *     struct option_spec specs[] = { ..., SYMBOL_SPECS(symbols), { 0 } };
 *     ...
 *     struct symbolizer_options options = symbol_options_open(&symbols, verbosity);
 *     ...
 *     symbol_options_done(&symbols);
 */
#pragma once

#include "cmd/options.h"
#include "symbolize/symbolizer.h"

struct symbol_options {
	struct option_list directories, source_maps;
	const char *symfs;
	bool demangles, caches;
	uint64_t threads;
	/* Set by symbol_options_open. */
	int verbosity; /* -1 = errors only */
	uint64_t start_ns;
	bool shows_progress;
	struct store *store;
	VEC(struct source_map) rules;
};

#define SYMBOL_DEFAULTS                           \
	{                                         \
		.demangles = true, .caches = true \
	}
#define SYMBOL_SPECS(s)                                                                                  \
	{ 0,                                                                                             \
	  "debug-dir",                                                                                   \
	  OPTION_TEXTS,                                                                                  \
	  &(s).directories,                                                                              \
	  "DIR",                                                                                         \
	  "look for debug files here, besides /usr/lib/debug" },                                         \
		{ 0,          "symfs", OPTION_TEXT,                                                      \
		  &(s).symfs, "DIR",   "directory that holds the file system of the recorded machine" }, \
		{ 0,                                                                                     \
		  "source-map",                                                                          \
		  OPTION_RULES,                                                                          \
		  &(s).source_maps,                                                                      \
		  "OLD=NEW",                                                                             \
		  "replace OLD at the start of source paths with NEW" },                                 \
		{ 0, "demangle", OPTION_FLAG, &(s).demangles, NULL, "demangle names (default)" },        \
		{ 0,           "cache", OPTION_FLAG,                                                     \
		  &(s).caches, NULL,    "use the cache of names and unwind rules (default)" },           \
	{                                                                                                \
		0, "threads", OPTION_NUMBER, &(s).threads, "N",                                          \
			"threads that look up names (default: one per CPU)"                              \
	}

/* EXIT_USAGE, with a message, if a source map is not valid; otherwise negative: continue. */
int symbol_options_check(struct symbol_options *options, const char *command);
/* Valid until symbol_options_done. Notes go to standard error with -v, a progress line to a terminal after a
 * second. */
struct symbolizer_options symbol_options_open(struct symbol_options *options, int verbosity);
void symbol_options_done(struct symbol_options *options);
