/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/inspect_code.h"

#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

/* After the whole image was analysed, so that noreturn callees and owners of parts are known. */
static void inspect_code_print_all(const struct code_request *request, const struct code_file *file,
				   struct functions *functions, uint32_t only)
{
	struct flow flow;

	functions_analyse(functions, NULL, NULL);
	flow_init(&flow, functions_facts(functions));
	if (only != FUNCTION_NONE && functions->at[only].parent != FUNCTION_NONE)
		only = functions->at[only].parent;
	for (uint32_t i = 0; i < functions->n; i++) {
		const struct function *f = &functions->at[i];
		bool is_wanted = only == FUNCTION_NONE ? f->parent == FUNCTION_NONE : i == only;
		if (!is_wanted || f->kind == FUNCTION_STUB || f->kind == FUNCTION_STUB_HEAD)
			continue;
		functions_analyse_one(functions, i, &flow);
		request->print(request->context, file, i, &flow);
	}
	flow_done(&flow);
}

int inspect_code(const struct code_request *request, int argc, char **argv)
{
	const char *name = NULL;
	bool starts = true;
	struct option_spec specs[] = {
		{ 0, "function", OPTION_TEXT, &name, "NAME",
		  "only this function (or the one at this hexadecimal address)" },
		{ 0, "starts", OPTION_FLAG, &starts, NULL, "use unwind entries and symbols (default)" },
		{ 0 },
	};
	struct command_line line = {
		.command = request->command, .usage = "[options] ELF", .about = request->about, .specs = specs
	};
	struct code_file file;
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage(request->command, "give one ELF file");
	if (code_file_open(&file, line.operands[0], &diag) < 0) {
		code_file_close(&file);
		return cmd_fail(&diag);
	}
	struct function_options hide = { .hide_symbols = !starts, .hide_frames = !starts };
	struct functions *functions = functions_new(file.image, file.symbols, file.frames, &hide);
	functions_survey(functions);
	uint32_t only = name ? code_file_function(&file, functions, name) : FUNCTION_NONE;
	if (name && only == FUNCTION_NONE)
		code = cmd_usage(request->command, "no function '%s'", name);
	else
		inspect_code_print_all(request, &file, functions, only);
	functions_free(functions);
	code_file_close(&file);
	return code < 0 ? EXIT_OK : code;
}
