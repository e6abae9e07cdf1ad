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

static const struct function_map *find_map(const function_maps *maps, uint64_t vaddr)
{
	size_t low = 0, high = maps->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (maps->at[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr - maps->at[low - 1].vaddr < maps->at[low - 1].size ? &maps->at[low - 1] : NULL;
}

static void print_location(struct json *json, const struct intern *strings, const function_maps *maps, uint64_t vaddr)
{
	const struct function_map *map = find_map(maps, vaddr);
	struct location chain[LOCATION_MAX_DEPTH];
	size_t n = map ? function_map_locate(map, (uint32_t)(vaddr - map->vaddr), chain, LOCATION_MAX_DEPTH) : 0;

	json_object(json);
	json_name(json, "vaddr");
	json_printf(json, "0x%llx", (unsigned long long)vaddr);
	json_name(json, "frames");
	json_array(json);
	for (size_t i = 0; i < n; i++) {
		json_object(json);
		json_text_of(json, "function", intern_text(strings, chain[i].function));
		json_text_of(json, "file", chain[i].file ? intern_text(strings, chain[i].file) : NULL);
		json_uint_of(json, "line", chain[i].line);
		json_bool_of(json, "inlined", chain[i].is_inlined);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	json_line(json);
}

static int print_locations(const char *path, const struct symbolizer_options *options, struct diag *diag)
{
	struct addresses addresses = { 0 };
	struct images *images = images_new();
	struct intern strings;
	function_maps maps = { 0 };
	struct json json;
	image_id id;

	int error = images_open_mapped(images, path, &id, diag);
	if (error == 0)
		error = read_addresses(stdin, &addresses, diag);
	intern_init(&strings);
	if (error == 0) {
		struct symbolizer_request request = { .id = id,
						      .image = images_get(images, id),
						      .vaddrs = addresses.sorted.at,
						      .n = addresses.sorted.n };
		symbolize(options, &request, 1, &strings, &maps);
		free(request.how);
		json_init(&json, stdout);
		for (size_t i = 0; i < addresses.asked.n; i++)
			print_location(&json, &strings, &maps, addresses.asked.at[i]);
		error = json_done(&json);
		if (error < 0)
			diag_set(diag, error, "cannot write the locations");
	}
	function_maps_done(&maps);
	intern_done(&strings);
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
