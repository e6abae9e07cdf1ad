/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct: the static structure of a binary: its procedures, their loops, what was inlined where.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "binary/function.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "structure/structurer.h"
#include "symbolize/symbolizer.h"

struct struct_run {
	struct images *images;
	image_id id;
	struct image *image;
	struct intern strings;
	function_maps maps;
	VEC(uint64_t) starts;
	const char *only; /* --function */
	bool pieces;
	struct structure_options options;
	struct json json;
	bool as_json;
	size_t n_functions, n_loops, n_inlines;
};

static const char *text_of(const struct struct_run *run, uint32_t id)
{
	return intern_text(&run->strings, id);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void print_place(const struct struct_run *run, uint32_t file, uint32_t line, uint32_t end_line)
{
	if (!line)
		return;
	printf(" %s:%u", base_name(text_of(run, file)), line);
	if (end_line > line)
		printf("-%u", end_line);
}

static void print_flags(uint16_t flags)
{
	if (flags & SCOPE_IRREDUCIBLE)
		printf(" [irreducible]");
	if (flags & SCOPE_COMPILER_MADE)
		printf(" [compiler-made]");
	if (flags & SCOPE_VECTOR)
		printf(" [vector]");
}

static void print_scope(const struct struct_run *run, const struct structure *structure, uint32_t index)
{
	const struct static_scope *scope = &structure->scopes.at[index];

	if (scope->kind == SCOPE_FUNCTION) {
		printf("%s", text_of(run, scope->name));
		print_place(run, scope->file, scope->line, scope->end_line);
	} else if (scope->kind == SCOPE_INLINE) {
		printf("inlined %s", text_of(run, scope->name));
		print_place(run, scope->file, scope->line, 0);
		if (scope->call_line) {
			printf(" at");
			print_place(run, scope->call_file, scope->call_line, 0);
		}
	} else if (scope->line) {
		printf("loop");
		print_place(run, scope->file, scope->line, scope->end_line);
	} else {
		printf("loop at %s+0x%llx", text_of(run, structure->scopes.at[0].name),
		       (unsigned long long)(scope->vaddr - structure->function));
	}
	print_flags(scope->flags);
}

static uint32_t count_pieces(const struct structure *structure, uint32_t scope)
{
	uint32_t n = 0;

	for (size_t i = 0; i < structure->pieces.n; i++)
		n += structure->pieces.at[i].scope == scope;
	return n;
}

static void print_piece(const struct loop_piece *piece, unsigned depth)
{
	printf("%*spiece at 0x%llx, %u blocks", (int)depth * 2 + 2, "", (unsigned long long)piece->header, piece->n_blocks);
	print_flags((uint16_t)piece->flags);
	putchar('\n');
}

static void print_pieces(const struct structure *structure, uint32_t scope, unsigned depth)
{
	for (size_t i = 0; i < structure->pieces.n; i++)
		if (structure->pieces.at[i].scope == scope)
			print_piece(&structure->pieces.at[i], depth);
}

/* The lines of a scope, each once, in the order of the code. */
static void print_lines(const struct struct_run *run, const struct structure *structure, uint32_t scope, unsigned depth)
{
	const struct statement *at = structure->statements.at;

	for (size_t i = 0; i < structure->statements.n; i++) {
		bool is_known = at[i].scope != scope || !at[i].line;
		for (size_t k = 0; k < i && !is_known; k++)
			is_known = at[k].scope == scope && at[k].line == at[i].line && at[k].file == at[i].file;
		if (is_known)
			continue;
		printf("%*sline", (int)depth * 2 + 2, "");
		print_place(run, at[i].file, at[i].line, 0);
		putchar('\n');
	}
}

/* Scopes below one, depth first; the scopes of a function are few. */
static void print_below(const struct struct_run *run, const struct structure *structure, uint32_t index, unsigned depth)
{
	uint32_t pieces = count_pieces(structure, index);

	printf("%*s", (int)depth * 2, "");
	print_scope(run, structure, index);
	if (pieces > 1)
		printf(" (%u pieces)", pieces);
	putchar('\n');
	if (run->pieces && pieces > 1)
		print_pieces(structure, index, depth);
	print_lines(run, structure, index, depth);
	for (uint32_t i = index + 1; i < structure->scopes.n; i++)
		if (structure->scopes.at[i].parent == index)
			print_below(run, structure, i, depth + 1);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void write_scope(struct struct_run *run, const struct structure *structure, uint32_t index)
{
	static const char *const kinds[] = { [SCOPE_FUNCTION] = "function", [SCOPE_INLINE] = "inline", [SCOPE_LOOP] = "loop" };
	const struct static_scope *scope = &structure->scopes.at[index];
	struct json *json = &run->json;

	json_object(json);
	json_int_of(json, "parent", index ? (int64_t)scope->parent : -1);
	json_text_of(json, "kind", kinds[scope->kind]);
	json_text_of(json, "name", text_of(run, scope->name));
	json_text_of(json, "file", text_of(run, scope->file));
	json_uint_of(json, "line", scope->line);
	json_uint_of(json, "end_line", scope->end_line);
	json_text_of(json, "call_file", text_of(run, scope->call_file));
	json_uint_of(json, "call_line", scope->call_line);
	json_uint_of(json, "vaddr", scope->vaddr);
	json_uint_of(json, "flags", scope->flags);
	if (scope->kind == SCOPE_LOOP)
		json_uint_of(json, "pieces", count_pieces(structure, index));
	json_end_object(json);
}

static void write_statements(struct struct_run *run, const struct structure *structure)
{
	struct json *json = &run->json;

	json_name(json, "statements");
	json_array(json);
	for (size_t i = 0; i < structure->statements.n; i++) {
		const struct statement *statement = &structure->statements.at[i];
		json_array(json);
		json_uint(json, statement->vaddr);
		json_uint(json, statement->len);
		json_uint(json, statement->scope);
		json_text(json, text_of(run, statement->file));
		json_uint(json, statement->line);
		json_end_array(json);
	}
	json_end_array(json);
}

static void write_structure(struct struct_run *run, const struct structure *structure)
{
	struct json *json = &run->json;

	json_object(json);
	json_text_of(json, "function", text_of(run, structure->scopes.at[0].name));
	json_text_of(json, "linkage", text_of(run, structure->scopes.at[0].linkage ? structure->scopes.at[0].linkage : structure->scopes.at[0].name));
	json_uint_of(json, "vaddr", structure->function);
	json_name(json, "scopes");
	json_array(json);
	for (uint32_t i = 0; i < structure->scopes.n; i++)
		write_scope(run, structure, i);
	json_end_array(json);
	json_name(json, "ranges");
	json_array(json);
	for (size_t i = 0; i < structure->ranges.n; i++) {
		json_array(json);
		json_uint(json, structure->ranges.at[i].start);
		json_uint(json, structure->ranges.at[i].len);
		json_uint(json, structure->ranges.at[i].scope);
		json_end_array(json);
	}
	json_end_array(json);
	if (run->options.statements)
		write_statements(run, structure);
	json_end_object(json);
	json_line(json);
}

/* ---- all functions ------------------------------------------------------------------------------- */

static void find_starts(struct struct_run *run, struct structurer *structurer)
{
	structurer_survey(structurer);
	const struct functions *functions = structurer_functions(structurer);
	for (size_t i = 0; i < functions->n; i++)
		if (functions->at[i].kind == FUNCTION_WHOLE || functions->at[i].kind == FUNCTION_PART)
			vec_push(&run->starts, functions->at[i].start);
}

static bool is_wanted(const struct struct_run *run, const struct function_map *map)
{
	if (map->parent_vaddr != map->vaddr)
		return false;
	if (!run->only)
		return true;
	return strcmp(text_of(run, map->name), run->only) == 0 || strcmp(text_of(run, map->linkage), run->only) == 0 ||
	       (strncmp(text_of(run, map->name), run->only, strlen(run->only)) == 0 && text_of(run, map->name)[strlen(run->only)] == '(');
}

static void show(struct struct_run *run, const struct structure *structure)
{
	run->n_functions++;
	for (size_t i = 0; i < structure->scopes.n; i++) {
		run->n_loops += structure->scopes.at[i].kind == SCOPE_LOOP;
		run->n_inlines += structure->scopes.at[i].kind == SCOPE_INLINE;
	}
	if (run->as_json)
		write_structure(run, structure);
	else
		print_below(run, structure, 0, 0);
}

static void show_progress(size_t done, size_t total)
{
	if (isatty(STDERR_FILENO) && done % 256 == 0)
		fprintf(stderr, "\r%zu of %zu functions", done, total);
	if (isatty(STDERR_FILENO) && done == total)
		fprintf(stderr, "\r\033[K");
}

static int analyse(struct struct_run *run, const struct symbolizer_options *options)
{
	struct structurer *structurer = structurer_new(run->image);

	if (!structurer)
		return cmd_usage("struct", "'%s' is for a machine cpprof does not know", run->image->path);
	find_starts(run, structurer);
	struct symbolizer_request request = { .id = run->id, .image = run->image, .vaddrs = run->starts.at, .n = run->starts.n };
	symbolize(options, &request, 1, &run->strings, &run->maps);
	free(request.how);
	json_init(&run->json, stdout);
	for (size_t i = 0; i < run->maps.n; i++) {
		struct structure structure;
		if (!is_wanted(run, &run->maps.at[i]))
			continue;
		if (structurer_build(structurer, run->maps.at[i].vaddr, run->maps.at, run->maps.n, &run->strings, &run->options, &structure))
			show(run, &structure);
		structure_done(&structure);
		show_progress(i, run->maps.n);
	}
	show_progress(run->maps.n, run->maps.n);
	structurer_free(structurer);
	if (!run->as_json)
		fprintf(stderr, "%zu functions, %zu loops, %zu inlined calls\n", run->n_functions, run->n_loops, run->n_inlines);
	if (run->only && !run->n_functions)
		return cmd_usage("struct", "no function '%s' in '%s'", run->only, run->image->path);
	return EXIT_OK;
}

int cmd_struct(int argc, char **argv)
{
	struct struct_run run = { 0 };
	struct symbolizer_options options = { 0 };
	struct diag diag = { 0 };
	int format = 0;
	const struct option_spec specs[] = {
		{ 0, "function", OPTION_TEXT, &run.only, "NAME", "only this function" },
		{ 0, "format", OPTION_CHOICE, &format, "text|json", "how to print it; json is one object a line" },
		{ 0, "pieces", OPTION_FLAG, &run.pieces, NULL, "show the machine loops that make up a source loop" },
		{ 0, "lines", OPTION_FLAG, &run.options.statements, NULL, "show the source lines in every scope" },
		{ 0, "alien-only", OPTION_FLAG, &run.options.alien_only, NULL, "do not believe what the compiler says of inlined calls" },
		{ 0 },
	};
	struct command_line line = {
		.command = "struct",
		.usage = "[options] ELF",
		.about = "Prints the loops and inlined calls of every function of a binary, as recovered from its machine code "
			 "and debug information.",
		.examples = "  cpprof struct ./app\n  cpprof struct --function main --pieces ./app\n",
		.specs = specs,
	};

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (!line.operands[0] || line.operands[1])
		return cmd_usage("struct", "name one ELF file");
	run.as_json = format == 1;
	run.images = images_new();
	intern_init(&run.strings);
	if (images_open(run.images, line.operands[0], &run.id, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		run.image = images_get(run.images, run.id);
		code = analyse(&run, &options);
	}
	function_maps_done(&run.maps);
	vec_done(&run.starts);
	intern_done(&run.strings);
	images_free(run.images);
	return code;
}
