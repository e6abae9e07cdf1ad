/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import: a profile from a perf.data, perf's or our own: the same pipeline as record, at another source.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/conclude.h"
#include "cmd/output.h"
#include "cmd/symbol_options.h"
#include "collector/perfdata/perf_file.h"
#include "profile/resolve.h"
#include "recording/workers.h"

struct import {
	struct perf_file_options file;
	const char *path, *output, *command_line;
	const char *kallsyms; /* of the recorded kernel; NULL = this one's, if it is the same */
	enum unwind_mode unwind;
	uint64_t n_workers; /* 0 = by the number of CPUs */
	double min_quality;
	struct symbol_options symbols;
	int verbosity;
	bool resolves, is_quiet;

	struct images *images;
	struct source *source;
	struct crew *crew;
	pid_t first_pid; /* %p in the output's name */
	bool has_kernel; /* stacks go into the kernel */
};

static void take_event(struct import *import, const struct event *event)
{
	if (!import->first_pid)
		import->first_pid = event->pid;
	if (event->kind == EVENT_SAMPLE)
		import->has_kernel |= event->sample.n_kernel_pc > 0;
	crew_expect(import->crew, import->source->next);
	crew_event(import->crew, event);
}

static void tell(const struct import *import, const char *note)
{
	builder_note(crew_builder(import->crew), note); /* which keeps each once */
	if (!import->is_quiet)
		fprintf(stderr, "cpprof: %s\n", note);
}

/* Some of it came up while reading. */
static void tell_notes(const struct import *import)
{
	const struct source_info *info = &import->source->info;
	bool has_names = import->kallsyms || perf_file_origin(import->source).is_this_kernel;

	if (!perf_file_origin(import->source).has_stacks)
		tell(import, "the recording holds no stacks, only addresses: record them with `perf record "
			     "--call-graph dwarf`");
	for (size_t i = 0; i < info->notes.n; i++)
		tell(import, info->notes.at[i]);
	if (import->resolves && import->has_kernel && !has_names)
		tell(import, "the recorded kernel is not the one that runs here: its functions have no names "
			     "(give its /proc/kallsyms with --kallsyms)");
}

static int read_events(struct import *import, struct diag *diag)
{
	struct event event;
	int status;

	while ((status = source_next(import->source, &event, -1, diag)) > 0)
		take_event(import, &event);
	tell_notes(import);
	return status;
}

/* What this machine knows holds for the recording only as far as it was made here. */
static int write_profile(struct import *import, struct output *output, struct profile *profile,
			 struct diag *diag)
{
	struct perf_file_origin origin = perf_file_origin(import->source);
	struct resolve_options options = { .symbolize =
						   symbol_options_open(&import->symbols, import->verbosity),
					   .functions = conclude_functions,
					   .context = import->crew };

	if (!import->resolves)
		return output_write(output, profile, diag);
	options.symbolize.is_elsewhere = !origin.is_this_host;
	options.symbolize.kallsyms = import->kallsyms ? import->kallsyms : origin.is_this_kernel ? NULL : "";
	return conclude_resolve(output, import->crew, profile, import->images, &options, diag);
}

static int finish(struct import *import, struct diag *diag)
{
	struct profile *profile = crew_finish(import->crew);
	struct output output;

	profile->run.mode = intern_add(&profile->strings, "import");
	profile->run.command_line = intern_add(&profile->strings, import->command_line);
	output_init(&output, import->output, import->first_pid);
	int error = write_profile(import, &output, profile, diag);
	if (!error && !import->is_quiet) {
		conclude_say_quality(profile);
		conclude_say_output(&output, profile);
	}
	int code = error ? cmd_fail(diag) : conclude_exit_code(profile, import->min_quality);
	crew_save(import->crew);
	output_done(&output);
	profile_free(profile);
	return code;
}

static int run(struct import *import)
{
	struct store *store = symbol_options_open(&import->symbols, import->verbosity).store;
	struct crew_options options = { .n_workers = (unsigned)import->n_workers,
					.unwinding = { .mode = import->unwind, .store = store } };
	struct diag diag = { 0 };

	import->images = images_new();
	int error = perf_file_open(import->path, &import->file, import->images, &import->source, &diag);
	if (error < 0) {
		if (error == -EBADMSG)
			diag_hint(&diag,
				  "what `perf record` or `cpprof record --raw` wrote can be imported; a "
				  "profile needs no import: cpprof report %s",
				  import->path);
		images_free(import->images);
		return cmd_fail(&diag);
	}
	import->crew = crew_new(import->images, &import->source->info, &options);

	/* Damage in the middle does not cost what came before it. */
	int fault = read_events(import, &diag) < 0 ? cmd_fail(&diag) : 0;
	int code = finish(import, &diag);

	crew_free(import->crew);
	source_close(import->source);
	images_free(import->images);
	return fault ? fault : code;
}

int cmd_import(int argc, char **argv)
{
	CLEANUP(freep) char *command_line = cmd_command_line(argc, argv); /* before parsing rearranges it */
	struct import import = { .command_line = command_line, .resolves = true, .symbols = SYMBOL_DEFAULTS };
	int mode = UNWIND_AUTO;
	const struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &import.output, "FILE",
		  "where the profile goes (default cpprof.data; - is standard output)" },
		{ 0, "kallsyms", OPTION_TEXT, &import.kallsyms, "FILE",
		  "names of the recorded kernel: its /proc/kallsyms" },
		{ 0, "unwind", OPTION_CHOICE, &mode, "auto|analysis|cfi|fp", "whom to ask for recipes" },
		{ 0, "workers", OPTION_POSITIVE, &import.n_workers, "N",
		  "threads that unwind (1; more where there are more than 16 CPUs)" },
		{ 0, "resolve", OPTION_FLAG, &import.resolves, NULL, "add names and lines (on by default)" },
		SYMBOL_SPECS(import.symbols),
		{ 0, "min-quality", OPTION_PERCENT, &import.min_quality, "PERCENT",
		  "exit 6 if fewer stacks are complete" },
		{ 'q', "quiet", OPTION_FLAG, &import.is_quiet, NULL, "say nothing but errors" },
		{ 'v', "verbose", OPTION_COUNT, &import.verbosity, NULL,
		  "say where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = {
		.command = "import",
		.usage = "[options] PERF.DATA",
		.about = "Makes a profile of a recording that `perf record` or `cpprof record --raw` wrote, "
			 "of x86-64 or "
			 "AArch64, file or stream; '-' is standard input. Stacks are unwound from the "
			 "recorded registers and "
			 "stack copies, or taken as recorded (frame pointers, LBR). The binaries are those "
			 "of this machine or "
			 "under --symfs, if their build-ids are the recorded ones.",
		.examples = "  perf record --call-graph dwarf -- ./prog && cpprof import perf.data && cpprof "
			    "report\n"
			    "  perf record -g -o - -- ./prog | cpprof import -\n",
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = symbol_options_check(&import.symbols, "import");
	if (code < 0 && import.n_workers > CREW_MAX)
		code = cmd_usage("import", "--workers is at most %u", CREW_MAX);
	if (code < 0 && line.n_operands != 1)
		code = cmd_usage("import", "name one recording");
	if (code < 0 && import.output && strcmp(import.output, "-") == 0 && isatty(STDOUT_FILENO))
		code = cmd_usage("import", "a profile is not written to a terminal; give -o FILE");
	if (code < 0) {
		import.path = line.operands[0];
		import.file.symfs = import.symbols.symfs;
		import.unwind = (enum unwind_mode)mode;
		code = run(&import);
	}
	symbol_options_done(&import.symbols);
	return code;
}
