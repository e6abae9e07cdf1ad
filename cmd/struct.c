/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct: the static structure of a binary: its procedures, their loops and inlined calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "binary/functions/function.h"
#include "cmd/cmd.h"
#include "cmd/confine.h"
#include "cmd/struct_print.h"
#include "cmd/symbol_options.h"
#include "structure/structurer.h"

struct struct_run {
	struct images *images;
	image_id id;
	struct image *image;
	const struct symbolizer_options *symbols;
	struct structure_options options;
	const char *only; /* --function */
	/* While it is computed: */
	struct intern strings;
	function_maps maps;
	VEC(uint64_t) starts;   /* possible functions */
	VEC(uint64_t) wanted;   /* functions that are requested */
	VEC(uint64_t) parts;    /* nameless code without certain entry: a function, or part of one */
	VEC(uint64_t) absorbed; /* where parts of functions start */
	struct structure_packer *packer;
};

/* ---- computing it -------------------------------------------------------------------------- */

static void find_starts(struct struct_run *run, struct structurer *structurer)
{
	structurer_survey(structurer);
	const struct functions *functions = structurer_functions(structurer);
	for (size_t i = 0; i < functions->n; i++)
		if (functions->at[i].kind == FUNCTION_WHOLE || functions->at[i].kind == FUNCTION_PART)
			vec_push(&run->starts, functions->at[i].start);
}

static bool struct_cmd_is_wanted(const struct struct_run *run, const struct function_map *map)
{
	const char *name = intern_text(&run->strings, map->name);

	if (map->parent_vaddr != map->vaddr)
		return false;
	if (!run->only)
		return true;
	return strcmp(name, run->only) == 0 ||
	       strcmp(intern_text(&run->strings, map->linkage), run->only) == 0 ||
	       (strncmp(name, run->only, strlen(run->only)) == 0 && name[strlen(run->only)] == '(');
}

static void struct_cmd_take(void *context, size_t index, const struct structure *structure)
{
	struct struct_run *run = context;

	structure_pack(run->packer, structure, &run->strings);
	for (size_t i = 1; i < structure->extents.n; i++)
		vec_push(&run->absorbed, structure->extents.at[i].start);
	if (isatty(STDERR_FILENO) && index % 256 == 0)
		fprintf(stderr, "\r%zu of %zu functions", index, run->wanted.n);
}

static int struct_cmd_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void struct_cmd_choose(struct struct_run *run, const struct functions *functions)
{
	for (size_t i = 0; i < run->maps.n; i++) {
		const struct function_map *map = &run->maps.at[i];
		uint32_t index = functions_index(functions, map->vaddr);
		bool is_part = map->source == MAP_FROM_NOTHING && index != FUNCTION_NONE &&
			       !function_is_sure(&functions->at[index]);
		if (struct_cmd_is_wanted(run, map) && is_part)
			vec_push(&run->parts, map->vaddr);
		else if (struct_cmd_is_wanted(run, map))
			vec_push(&run->wanted, map->vaddr);
	}
}

/* Of the possible parts, those that belong to no function: first those that look like functions themselves,
 * which may own the others. */
static void choose_orphans(struct struct_run *run, struct structurer *structurer, bool is_partial)
{
	vec_clear(&run->wanted);
	if (run->absorbed.n)
		qsort(run->absorbed.at, run->absorbed.n, sizeof(*run->absorbed.at), struct_cmd_compare);
	for (size_t i = 0; i < run->parts.n; i++)
		if (structurer_is_part(structurer, run->parts.at[i]) == is_partial &&
		    (!run->absorbed.n || !bsearch(&run->parts.at[i], run->absorbed.at, run->absorbed.n,
						  sizeof(uint64_t), struct_cmd_compare)))
			vec_push(&run->wanted, run->parts.at[i]);
}

static void build_wanted(struct struct_run *run, struct structurer *structurer)
{
	structurer_build_all(structurer, &(struct structure_batch){ .vaddrs = run->wanted.at,
								    .n = run->wanted.n,
								    .maps = run->maps.at,
								    .n_maps = run->maps.n,
								    .strings = &run->strings,
								    .options = &run->options,
								    .n_threads = run->symbols->n_threads,
								    .take = struct_cmd_take,
								    .context = run });
}

static struct functions *struct_cmd_give_functions(void *context)
{
	return structurer_functions(context);
}

static void work_out(struct struct_run *run, struct structurer *structurer, struct writer *ret)
{
	struct symbolizer_request request = { .id = run->id, .image = run->image };

	find_starts(run, structurer);
	request.functions = struct_cmd_give_functions;
	request.context = structurer;
	request.vaddrs = run->starts.at;
	request.n = run->starts.n;
	symbolize(run->symbols, &request, 1, &run->strings, &run->maps);
	free(request.how);
	struct_cmd_choose(run, structurer_functions(structurer));
	run->packer = structure_packer_new();
	build_wanted(run, structurer);
	for (int is_partial = 0; is_partial < 2; is_partial++) {
		choose_orphans(run, structurer, is_partial);
		build_wanted(run, structurer);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	structure_packer_finish(run->packer, ret);
	structure_packer_free(run->packer);
}

/* ---- results of earlier runs ----------------------------------------------------------------- */

/* Only the whole image: a part of it, or rewritten paths, are of no use to another run. */
static bool struct_cmd_is_storable(const struct struct_run *run)
{
	return run->symbols->store && !run->only && run->symbols->n_source_maps == 0;
}

static struct store_key struct_cmd_key_of(const struct struct_run *run)
{
	struct symbolizer_request request = { .id = run->id, .image = run->image };
	struct intern strings;
	function_maps none = { 0 };

	intern_init(&strings);
	symbolize(run->symbols, &request, 1, &strings, &none); /* without addresses: only finds the files */
	free(request.how);
	function_maps_done(&none);
	intern_done(&strings);
	return structure_store_key(request.identity, !run->symbols->keeps_mangled, &run->options);
}

/* ---- the command --------------------------------------------------------------------------- */

static int struct_cmd_show(const struct struct_run *run, struct bytes bytes, bool as_json, bool pieces)
{
	struct structure_entry *entry = structure_entry_open(bytes);

	if (!entry)
		return -1;
	if (run->only && structure_entry_count(entry) == 0) {
		structure_entry_close(entry);
		return cmd_usage("struct", "no function '%s' in '%s'", run->only, run->image->path);
	}
	struct struct_print print = { entry, run->image->path, pieces, run->options.statements };
	struct struct_tally tally =
		as_json ? struct_print_json(&print, stdout) : struct_print_text(&print, stdout);
	structure_entry_close(entry);
	if (!as_json)
		fprintf(stderr, "%zu functions, %zu loops, %zu inlined calls\n", tally.n_functions,
			tally.n_loops, tally.n_inlines);
	return EXIT_OK;
}

static int run_struct(struct struct_run *run, bool as_json, bool pieces)
{
	bool stores = struct_cmd_is_storable(run);
	struct store_key key = { 0 };
	struct writer found = { 0 };
	int code = -1;

	if (stores) {
		key = struct_cmd_key_of(run);
		struct bytes entry = store_get(run->symbols->store, &key);
		if (entry.len)
			code = struct_cmd_show(run, entry, as_json, pieces);
		store_release(entry);
	}
	if (code >= 0)
		return code;
	struct structurer *structurer = structurer_new(run->image);
	if (!structurer)
		return cmd_usage("struct", "'%s' is for an architecture that cpprof does not support",
				 run->image->path);
	work_out(run, structurer, &found);
	structurer_free(structurer);
	if (stores && !run->image->is_changed)
		store_put(run->symbols->store, &key, writer_bytes(&found));
	code = struct_cmd_show(run, writer_bytes(&found), as_json, pieces);
	writer_done(&found);
	return code;
}

static int open_and_run(struct struct_run *run, const char *path, bool as_json, bool pieces)
{
	struct diag diag = { 0 };
	int code;

	run->images = images_new();
	intern_init(&run->strings);
	if (images_open(run->images, path, &run->id, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		run->image = images_get(run->images, run->id);
		code = run_struct(run, as_json, pieces);
	}
	function_maps_done(&run->maps);
	vec_done(&run->starts);
	vec_done(&run->wanted);
	vec_done(&run->parts);
	vec_done(&run->absorbed);
	intern_done(&run->strings);
	images_free(run->images);
	return code;
}

int cmd_struct(int argc, char **argv)
{
	struct struct_run run = { 0 };
	struct symbol_options symbols = SYMBOL_DEFAULTS;
	int format = 0, verbosity = 0;
	bool pieces = false;
	const struct option_spec specs[] = {
		{ 0, "function", OPTION_TEXT, &run.only, "NAME", "show only this function" },
		{ 0, "format", OPTION_CHOICE, &format, "text|json",
		  "output format; json is one object per line" },
		{ 0, "pieces", OPTION_FLAG, &pieces, NULL,
		  "show the machine-code loops that belong to each source loop" },
		{ 0, "lines", OPTION_FLAG, &run.options.statements, NULL,
		  "show the source lines in every scope" },
		{ 0, "alien-only", OPTION_FLAG, &run.options.alien_only, NULL,
		  "ignore the inlined calls in the debug information and infer them from line numbers" },
		SYMBOL_SPECS(symbols),
		{ 'v', "verbose", OPTION_COUNT, &verbosity, NULL,
		  "print where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = {
		.command = "struct",
		.usage = "[options] ELF",
		.about = "Prints the loops and inlined calls of every function of a binary, as recovered "
			 "from its machine code "
			 "and debug information.",
		.examples = "  cpprof struct ./app\n  cpprof struct --function main --pieces ./app\n",
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = symbol_options_check(&symbols, line.command);
	if (code < 0 && line.n_operands != 1)
		code = cmd_usage("struct", "give one ELF file");
	if (code < 0) {
		struct symbolizer_options options = symbol_options_open(&symbols, verbosity);
		run.symbols = &options;
		confine_to_code(symbols.store, NULL);
		code = open_and_run(&run, line.operands[0], format == 1, pieces);
	}
	symbol_options_done(&symbols);
	return code;
}
