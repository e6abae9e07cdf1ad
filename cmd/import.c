/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import: creates a profile from a perf.data file of perf or cpprof: the same pipeline as record, with
 * another source.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/store.h"
#include "cmd/cmd.h"
#include "cmd/conclude.h"
#include "cmd/confine.h"
#include "cmd/symbol_options.h"
#include "recording/recording.h"

struct import {
	struct recording_options recording;
	const char *path;
	uint64_t n_workers; /* 0 = by the number of CPUs */
	uint64_t max_memory;
	struct quality_bar min_quality;
	struct symbol_options symbols;
	int verbosity;
	bool is_quiet;
};

static void import_note(void *context, const char *text)
{
	const struct import *import = context;

	if (!import->is_quiet)
		cmd_say(text);
}

static int import_finish(const struct import *import, struct recording *recording, struct diag *diag)
{
	int error = recording_finish(recording, diag);
	const struct profile *profile = recording_profile(recording);

	if (!error && !import->is_quiet) {
		conclude_say_quality(profile);
		conclude_say_output(recording_output(recording), profile, import->recording.format);
	}
	int code = error ? cmd_fail(diag) : conclude_exit_code(profile, &import->min_quality);
	return recording_save(recording, diag) < 0 ? cmd_fail(diag) : code;
}

static int import_run(struct import *import)
{
	struct recording_options *options = &import->recording;
	struct recording *recording = NULL;
	struct diag diag = { 0 };

	options->mode = "import";
	options->file = import->path;
	options->file_options.symfs = import->symbols.symfs;
	options->n_workers = (unsigned)import->n_workers;
	options->max_memory = import->max_memory;
	options->names.symbolize = symbol_options_open(&import->symbols, import->verbosity);
	confine_to_code(import->symbols.store, options->output ? options->output : PROFILE_DEFAULT);
	options->listener = (struct recording_listener){ .context = import, .note = import_note };
	int error = recording_open(options, &recording, &diag);
	if (error == -EBADMSG)
		diag_hint(&diag,
			  "import reads files written by `perf record` or `cpprof record --raw`; a profile "
			  "needs no import: cpprof report %s",
			  import->path);
	if (error < 0)
		return cmd_fail(&diag);

	/* Damage in the middle does not discard what came before. */
	int fault = recording_run(recording, &diag) < 0 ? cmd_fail(&diag) : 0;
	int code = import_finish(import, recording, &diag);
	recording_close(recording);
	return fault ? fault : code;
}

static int import_check(struct import *import, const struct command_line *line)
{
	const char *output = import->recording.output;

	if (import->n_workers > WORKERS_MAX)
		return cmd_usage("import", "--workers must be at most %u", WORKERS_MAX);
	if (line->n_operands != 1)
		return cmd_usage("import", "give one recording");
	if (output && strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
		return cmd_usage("import", "a profile is not written to a terminal; give -o FILE");
	return symbol_options_check(&import->symbols, "import");
}

#define IMPORT_MACHINE_SPEC(recording)                                                                    \
	{                                                                                                 \
		'a', "all-cpus", OPTION_FLAG, &(recording).is_machine, NULL,                              \
			"treat it as a recording of the whole machine: leave out idle time, show kernel " \
			"threads and "                                                                    \
			"interrupts separately"                                                           \
	}

int cmd_import(int argc, char **argv)
{
	CLEANUP(freep) char *command_line = cmd_command_line(argc, argv); /* before parsing rearranges it */
	struct import import = { .recording = { .command_line = command_line, .resolves = true },
				 .symbols = SYMBOL_DEFAULTS };
	int mode = UNWIND_AUTO;
	const struct option_spec specs[] = {
		{ 'o', "output", OPTION_TEXT, &import.recording.output, "FILE",
		  "profile to write (default cpprof.data; - is standard output); a name such as x.html "
		  "writes that export instead" },
		MODE_SPEC(import.recording.mode_bits),
		{ 0, "kallsyms", OPTION_TEXT, &import.recording.kallsyms, "FILE",
		  "copy of /proc/kallsyms of the recorded kernel, for kernel symbols" },
		IMPORT_MACHINE_SPEC(import.recording),
		{ 0, "unwind", OPTION_CHOICE, &mode, "auto|analysis|cfi|fp",
		  "where unwind rules come from (auto)" },
		{ 0, "workers", OPTION_POSITIVE, &import.n_workers, "N",
		  "threads that unwind (1; more where there are more than 16 CPUs)" },
		{ 0, "resolve", OPTION_FLAG, &import.recording.resolves, NULL,
		  "add symbols and lines (default)" },
		SYMBOL_SPECS(import.symbols),
		MIN_QUALITY_SPEC(import.min_quality),
		MAX_MEMORY_SPEC(import.max_memory),
		{ 'q', "quiet", OPTION_FLAG, &import.is_quiet, NULL, "print errors only" },
		{ 'v', "verbose", OPTION_COUNT, &import.verbosity, NULL,
		  "print where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = {
		.command = "import",
		.usage = "[options] PERF.DATA",
		.about = "Creates a profile from a recording written by `perf record` or `cpprof record "
			 "--raw` on x86-64 or AArch64; '-' is standard input. Stacks are unwound from the "
			 "recorded registers and stack copies, or used as recorded (frame pointers, LBR). "
			 "Binaries are read from this machine or from --symfs if their build IDs match the "
			 "recording.",
		.examples = "  perf record --call-graph dwarf -- ./prog && cpprof import perf.data && cpprof "
			    "report\n"
			    "  perf record -g -o - -- ./prog | cpprof import -\n",
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = import_check(&import, &line);
	if (code < 0) {
		import.path = line.operands[0];
		import.recording.unwind = (enum unwind_mode)mode;
		if (import.recording.output)
			import.recording.format = exporter_instead_of_profile(import.recording.output);
		code = import_run(&import);
	}
	symbol_options_done(&import.symbols);
	return code;
}
