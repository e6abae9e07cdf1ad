/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify names: compares the results of our reader of debug information with libdwarf and libdw, and prints
 * the first differences.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/code_file.h"
#include "cmd/symbol_options.h"
#include "cmd/verify.h"
#include "verify/names.h"

static const char *const class_names[NAMES_N] = {
	[NAMES_FUNCTION] = "function name",
	[NAMES_CHAIN] = "inlined chain",
	[NAMES_FILE] = "file",
	[NAMES_LINE] = "line",
};

static const char *const class_keys[NAMES_N] = {
	[NAMES_FUNCTION] = "function",
	[NAMES_CHAIN] = "chain",
	[NAMES_FILE] = "file",
	[NAMES_LINE] = "line",
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static void print_frame(const char *who, const char *function, const char *file, uint32_t line)
{
	printf("    %-9s ", who);
	cmd_print_name(stdout, function[0] ? function : "-");
	printf(" ");
	cmd_print_name(stdout, file[0] ? file : "-");
	printf(":%" PRIu32 "\n", line);
}

static void print_example(const struct names_report *report, enum library_kind kind,
			  const struct names_example *example)
{
	const struct testimony *testimony = &report->by[kind].testimony;
	const struct witness_answer *answer = &testimony->answers.at[example->index];
	struct location own[LOCATION_MAX_DEPTH];
	uint64_t vaddr = report->vaddrs.at[example->index];
	size_t n = locator_find(report->locator, vaddr, own, LOCATION_MAX_DEPTH);

	printf("  %" PRIx64, vaddr);
	for (unsigned class = 0, n_named = 0; class < NAMES_N; class ++)
		if (example->differ >> class & 1)
			printf("%s %s", n_named++ ? "," : ":", class_names[class]);
	printf("\n");
	for (size_t i = 0; i < n; i++)
		print_frame(i ? "" : "own",
			    locator_text(report->locator, own[i].linkage ? own[i].linkage : own[i].function),
			    own[i].file ? locator_text(report->locator, own[i].file) : "", own[i].line);
	for (uint32_t i = 0; i < answer->n; i++) {
		const struct witness_frame *frame = &testimony->frames.at[answer->first + i];
		print_frame(i ? "" : witness_library_name(kind),
			    intern_text(&testimony->strings, frame->function),
			    intern_text(&testimony->strings, frame->file), frame->line);
	}
}

static void print_result(const struct names_report *report, enum library_kind kind)
{
	const struct names_result *r = &report->by[kind];
	uint64_t n_known = 0;

	if (!r->is_asked) {
		printf("%s: cpprof was built without it\n", witness_library_name(kind));
		return;
	}
	printf("%s %s:", witness_library_name(kind),
	       intern_text(&r->testimony.strings, r->testimony.version));
	printf(" %.4f %% of %" PRIu64 " agree; it has no answer for %" PRIu64 "\n",
	       percent(r->n_agree, r->n_compared), r->n_compared, r->n_silent);
	if (r->testimony.why)
		printf("  stopped early: %s\n", r->testimony.why);
	for (unsigned class = 0; class < NAMES_N; class ++)
		printf("  %-14s %" PRIu64 " differ\n", class_names[class], r->differ[class]);
	for (int known = KNOWN_NOT + 1; known < KNOWN_N; known++) {
		n_known += r->known[known];
		if (r->known[known])
			printf("  known error    %" PRIu64 ": %s\n", r->known[known],
			       names_known_text((enum names_known)known));
	}
	if (n_known)
		printf("  without those  %.4f %% agree\n", percent(r->n_agree, r->n_compared - n_known));
	if (r->n_alone)
		printf("  differs alone  %" PRIu64 ": there %s agrees with cpprof\n", r->n_alone,
		       witness_library_name((enum library_kind)(LIBRARY_N - 1 - kind)));
	for (size_t i = 0; i < r->examples.n; i++)
		print_example(report, kind, &r->examples.at[i]);
}

static void print_json(const struct names_report *report)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_uint_of(&json, "instructions", report->n_instructions);
	json_uint_of(&json, "addresses", report->vaddrs.n);
	for (int kind = 0; kind < LIBRARY_N; kind++) {
		const struct names_result *r = &report->by[kind];
		if (!r->is_asked)
			continue;
		json_name(&json, witness_library_name((enum library_kind)kind));
		json_object(&json);
		json_text_of(&json, "version", intern_text(&r->testimony.strings, r->testimony.version));
		json_text_of(&json, "stopped", r->testimony.why);
		json_uint_of(&json, "compared", r->n_compared);
		json_uint_of(&json, "agree", r->n_agree);
		json_uint_of(&json, "silent", r->n_silent);
		for (unsigned class = 0; class < NAMES_N; class ++)
			json_uint_of(&json, class_keys[class], r->differ[class]);
		json_uint_of(&json, "known_errors", r->n_compared - r->n_agree - r->known[KNOWN_NOT]);
		json_uint_of(&json, "alone", r->n_alone);
		json_end_object(&json);
	}
	json_end_object(&json);
	json_line(&json);
	json_done(&json);
}

static void run_names(const struct code_file *file, const struct names_options *options, bool is_json)
{
	struct functions *functions = functions_new(file->image, file->symbols, file->frames, NULL);
	struct names_report report;

	verify_names(functions, options, &report);
	if (is_json) {
		print_json(&report);
	} else {
		printf("instructions   %" PRIu64 ", of which %zu are compared\n", report.n_instructions,
		       report.vaddrs.n);
		for (int kind = 0; kind < LIBRARY_N; kind++)
			print_result(&report, (enum library_kind)kind);
	}
	names_report_done(&report);
	functions_free(functions);
}

int verify_names_command(int argc, char **argv)
{
	struct symbol_options symbols = SYMBOL_DEFAULTS;
	bool is_json = false;
	uint64_t every = 16, limit = 10;
	struct option_spec specs[] = {
		{ 0, "every", OPTION_POSITIVE, &every, "N", "compare every N-th instruction (16)" },
		{ 0, "json", OPTION_FLAG, &is_json, NULL, "print one JSON object" },
		{ 0, "limit", OPTION_NUMBER, &limit, "N", "how many differences to show (10)" },
		{ 0, "debug-dir", OPTION_TEXTS, &symbols.directories, "DIR",
		  "look for debug files here, besides /usr/lib/debug" },
		{ 0, "symfs", OPTION_TEXT, &symbols.symfs, "DIR",
		  "directory that holds the file system of the recorded machine" },
		{ 0 },
	};
	struct command_line line = { .command = "verify names",
				     .usage = "[options] ELF",
				     .about = "At every N-th instruction, compares the functions, inlined "
					      "calls, files and lines that\n"
					      "cpprof reads from the debug information with those that "
					      "libdwarf and libdw report, if cpprof\n"
					      "was built with these libraries. Known errors of the libraries "
					      "are listed separately.",
				     .examples =
					     "cpprof verify names ./program\n"
					     "cpprof verify names --every 1 --json /usr/lib/libexample.so\n",
				     .specs = specs };
	struct code_file file;
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = symbol_options_check(&symbols, line.command);
	if (code < 0 && line.n_operands != 1)
		code = cmd_usage(line.command, "give one ELF file");
	if (code < 0) {
		symbols.caches = false;
		struct names_options options = { .symbols = symbol_options_open(&symbols, 0),
						 .every = every,
						 .max_examples = (size_t)limit };
		int error = code_file_open(&file, line.operands[0], &diag);
		if (error == 0)
			run_names(&file, &options, is_json);
		code_file_close(&file);
		code = error < 0 ? cmd_fail(&diag) : EXIT_OK;
	}
	symbol_options_done(&symbols);
	return code;
}
