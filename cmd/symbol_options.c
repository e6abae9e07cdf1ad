/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/symbol_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/cmd.h"

#define MAX_THREADS 256

int symbol_options_check(struct symbol_options *options, const char *command)
{
	struct stat st;

	/* Otherwise nothing would be found there, without a message. */
	if (options->symfs && (stat(options->symfs, &st) < 0 || !S_ISDIR(st.st_mode)))
		return cmd_usage(command, "--symfs '%s' is not a directory", options->symfs);
	for (size_t i = 0; i < options->source_maps.values.n; i++) {
		char *rule = options->source_maps.values.at[i], *equals = strchr(rule, '=');
		*equals = '\0';
		vec_push(&options->rules, (struct source_map){ rule, equals + 1 });
	}
	return -1;
}

/* Erases the progress line before a message. */
static void symbol_erase(struct symbol_options *options)
{
	if (options->shows_progress)
		fputs("\r\033[K", stderr);
	options->shows_progress = false;
}

static void symbol_note(void *context, bool is_warning, const char *text)
{
	struct symbol_options *options = context;

	if (options->verbosity <= 0 && !(is_warning && options->verbosity == 0))
		return;
	symbol_erase(options);
	CLEANUP(freep) char *sentence = alloc_printf("%s%s", is_warning ? "warning: " : "", text);
	cmd_say(sentence);
}

/* After a second, and only on a terminal. */
static bool symbol_is_slow(const struct symbol_options *options)
{
	return options->verbosity >= 0 && isatty(STDERR_FILENO) &&
	       clock_now_ns() - options->start_ns >= CLOCK_NS_PER_S;
}

static void symbol_progress(void *context, size_t done, size_t total)
{
	struct symbol_options *options = context;

	if (done == total) {
		symbol_erase(options);
		options->start_ns = clock_now_ns();
		return;
	}
	if (!symbol_is_slow(options))
		return;
	fprintf(stderr, "\r\033[Kcpprof: looking up names: %zu of %zu units ", done, total);
	options->shows_progress = true;
}

static void symbol_fetching(void *context, const char *image, uint64_t done, uint64_t total)
{
	struct symbol_options *options = context;

	if (!symbol_is_slow(options))
		return;
	fprintf(stderr, "\r\033[Kcpprof: fetching debug information of '");
	cmd_print_name(stderr, image);
	fprintf(stderr, "': %" PRIu64, done >> 10);
	if (total)
		fprintf(stderr, " of %" PRIu64, total >> 10);
	fputs(" KiB ", stderr);
	options->shows_progress = true;
}

struct symbolizer_options symbol_options_open(struct symbol_options *options, int verbosity)
{
	options->verbosity = verbosity;
	options->start_ns = clock_now_ns();
	if (options->caches && !options->store)
		options->store = store_open(NULL, 0);
	return (struct symbolizer_options){
		.search = { .directories = (const char *const *)options->directories.values.at,
			    .n_directories = options->directories.values.n,
			    .symfs = options->symfs,
			    .asks_debuginfod = true,
			    .note = symbol_note,
			    .fetching = symbol_fetching,
			    .context = options },
		.keeps_mangled = !options->demangles,
		.n_threads = (unsigned)(options->threads < MAX_THREADS ? options->threads : MAX_THREADS),
		.store = options->store,
		.source_maps = options->rules.at,
		.n_source_maps = options->rules.n,
		.progress = symbol_progress,
		.context = options,
	};
}

void symbol_options_done(struct symbol_options *options)
{
	symbol_erase(options);
	store_close(options->store);
	vec_done(&options->rules);
	option_list_done(&options->directories);
	option_list_done(&options->source_maps);
}
