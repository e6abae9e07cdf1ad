/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect functions: where functions and their parts start and end, and the evidence.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "binary/flow/flow.h"
#include "cmd/cmd.h"
#include "cmd/code_file.h"
#include "cmd/inspect.h"
#include "cmd/options.h"

static void print_sources(uint16_t sources)
{
	static const char *const names[] = { "symbol",  "frame", "entry", "call",  "address",
					     "pointer", "gap",   "stub",  "traps", "fill" };
	const char *separator = "";

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (sources >> i & 1) {
			printf("%s%s", separator, names[i]);
			separator = ",";
		}
	if (!sources)
		printf("-");
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = { "function", "part", "stub", "stub-head" };

	return kind < ARRAY_LEN(names) ? names[kind] : "?";
}

static void print_function(const struct functions *functions, size_t i)
{
	const struct function *f = &functions->at[i];

	printf("%llx-%llx %s ", (unsigned long long)f->start, (unsigned long long)f->end, kind_name(f->kind));
	print_sources(f->sources);
	if (f->returns == RETURNS_NEVER)
		printf(" noreturn");
	if (f->parent != FUNCTION_NONE)
		printf(" of %llx", (unsigned long long)functions->at[f->parent].start);
	putchar(' ');
	cmd_print_name(stdout, f->name ? f->name : "-");
	putchar('\n');
}

int inspect_functions(int argc, char **argv)
{
	bool starts = true, dynamic = true, analyses = true;
	const char *name = NULL;
	struct option_spec specs[] = {
		{ 0, "function", OPTION_TEXT, &name, "NAME",
		  "only this function (or the one at this hexadecimal address)" },
		{ 0, "starts", OPTION_FLAG, &starts, NULL, "use unwind entries and symbols (default)" },
		{ 0, "dynamic", OPTION_FLAG, &dynamic, NULL,
		  "with --no-starts: still use .dynsym (default)" },
		{ 0, "analyse", OPTION_FLAG, &analyses, NULL,
		  "assign split-off parts to their functions and find functions that do not return "
		  "(default)" },
		{ 0 },
	};
	struct command_line line = { .command = "inspect functions",
				     .usage = "[options] ELF",
				     .about = "Prints each function, part and PLT stub: bounds, kind, "
					      "evidence for its start, name.",
				     .specs = specs };
	struct code_file file;
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage("inspect functions", "give one ELF file");
	if (code_file_open(&file, line.operands[0], &diag) < 0) {
		code_file_close(&file);
		return cmd_fail(&diag);
	}
	struct function_options hide = { .hide_symbols = !starts,
					 .hide_frames = !starts,
					 .hide_dynamic = !dynamic };
	struct functions *functions = functions_new(file.image, file.symbols, file.frames, &hide);
	if (analyses)
		functions_analyse(functions, NULL, NULL);
	uint32_t only = name ? code_file_function(&file, functions, name) : FUNCTION_NONE;
	if (name && only == FUNCTION_NONE)
		code = cmd_usage("inspect functions", "no function '%s'", name);
	for (size_t i = 0; code < 0 && i < functions->n; i++)
		if (!name || i == only)
			print_function(functions, i);
	functions_free(functions);
	code_file_close(&file);
	return code < 0 ? EXIT_OK : code;
}
