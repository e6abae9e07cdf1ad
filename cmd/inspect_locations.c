/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect locations: what stands at given addresses of an ELF file, one JSON object a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/inspect.h"
#include "cmd/symbol_options.h"
#include "symbolize/locator.h"

struct addresses {
	VEC(uint64_t) asked;  /* as they came */
	VEC(uint64_t) sorted; /* no two alike */
};

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void sort(struct addresses *addresses)
{
	size_t n = 0;

	for (size_t i = 0; i < addresses->asked.n; i++)
		vec_push(&addresses->sorted, addresses->asked.at[i]);
	if (addresses->sorted.n)
		qsort(addresses->sorted.at, addresses->sorted.n, sizeof(uint64_t), compare);
	for (size_t i = 0; i < addresses->sorted.n; i++)
		if (n == 0 || addresses->sorted.at[n - 1] != addresses->sorted.at[i])
			addresses->sorted.at[n++] = addresses->sorted.at[i];
	addresses->sorted.n = n;
}

static int read_addresses(FILE *from, struct addresses *addresses, struct diag *diag)
{
	CLEANUP(freep) char *line = NULL;
	size_t size = 0;

	for (size_t number = 1; getline(&line, &size, from) >= 0; number++) {
		char *end;
		line[strcspn(line, "\n")] = '\0';
		if (!line[0])
			continue;
		errno = 0;
		uint64_t vaddr = strtoull(line, &end, 16);
		if (*end || errno || line[0] == '-') {
			diag_set(diag, -EINVAL, "cannot read the addresses");
			diag_why(diag, "line %zu, '%.40s', is not a hexadecimal number", number, line);
			return -EINVAL;
		}
		vec_push(&addresses->asked, vaddr);
	}
	sort(addresses);
	return 0;
}

static void print_location(struct json *json, const struct locator *locator, uint64_t vaddr)
{
	struct location chain[LOCATION_MAX_DEPTH];
	size_t n = locator_find(locator, vaddr, chain, LOCATION_MAX_DEPTH);

	json_object(json);
	json_name(json, "vaddr");
	json_hex(json, vaddr);
	json_name(json, "frames");
	json_array(json);
	for (size_t i = 0; i < n; i++) {
		json_object(json);
		json_text_of(json, "function", locator_text(locator, chain[i].function));
		json_text_of(json, "file", chain[i].file ? locator_text(locator, chain[i].file) : NULL);
		json_uint_of(json, "line", chain[i].line);
		json_bool_of(json, "inlined", chain[i].is_inlined);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	json_line(json);
}

static int print_all(const struct locator *locator, const struct addresses *addresses, struct diag *diag)
{
	struct json json;

	json_init(&json, stdout);
	for (size_t i = 0; i < addresses->asked.n; i++)
		print_location(&json, locator, addresses->asked.at[i]);
	int error = json_done(&json);
	if (error < 0)
		diag_set(diag, error, "cannot write the locations");
	return error;
}

static int print_locations(const char *path, const struct symbolizer_options *options, struct diag *diag)
{
	struct addresses addresses = { 0 };
	struct images *images = images_new();
	image_id id;

	int error = images_open_mapped(images, path, &id, diag);
	if (error == 0)
		error = read_addresses(stdin, &addresses, diag);
	if (error == 0) {
		struct locator *locator = locator_new(options, images_get(images, id), addresses.sorted.at, addresses.sorted.n);
		error = print_all(locator, &addresses, diag);
		locator_free(locator);
	}
	vec_done(&addresses.asked);
	vec_done(&addresses.sorted);
	images_free(images);
	return error;
}

int inspect_locations(int argc, char **argv)
{
	struct symbol_options symbols = SYMBOL_DEFAULTS;
	int verbosity = 0;
	struct option_spec specs[] = {
		SYMBOL_SPECS(symbols),
		{ 'v', "verbose", OPTION_COUNT, &verbosity, NULL, "say where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = { .command = "inspect locations",
				     .usage = "[options] ELF < ADDRESSES",
				     .about = "Prints the functions, inlined and real, the files and the lines at the\n"
					      "addresses given one a line in hexadecimal, innermost first.",
				     .specs = specs };
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = symbol_options_check(&symbols, line.command);
	if (code < 0 && line.n_operands != 1)
		code = cmd_usage(line.command, "one ELF file is needed");
	if (code < 0) {
		struct symbolizer_options options = symbol_options_open(&symbols, verbosity);
		code = print_locations(line.operands[0], &options, &diag) < 0 ? cmd_fail(&diag) : EXIT_OK;
	}
	symbol_options_done(&symbols);
	return code;
}
