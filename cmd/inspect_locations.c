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
#include "cmd/options.h"
#include "symbolize/symbolizer.h"

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

	int error = images_open(images, path, &id, diag);
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

static void note(void *context, bool is_warning, const char *text)
{
	const int *verbose = context;

	if (is_warning || *verbose)
		fprintf(stderr, "cpprof: %s%s\n", is_warning ? "warning: " : "", text);
}

int inspect_locations(int argc, char **argv)
{
	struct option_list directories = { 0 };
	struct symbolizer_options options = { 0 };
	bool demangles = true;
	uint64_t threads = 0;
	int verbose = 0;
	struct option_spec specs[] = {
		{ 0, "demangle", OPTION_FLAG, &demangles, NULL, "names as a programmer writes them (default)" },
		{ 0, "debug-dir", OPTION_TEXTS, &directories, "DIR", "where debug files are, besides /usr/lib/debug" },
		{ 0, "symfs", OPTION_TEXT, &options.search.symfs, "DIR", "root that holds the files of another machine" },
		{ 0, "threads", OPTION_NUMBER, &threads, "N", "how many to use; all CPUs if not given" },
		{ 'v', "verbose", OPTION_COUNT, &verbose, NULL, "say where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = { .command = "inspect locations",
				     .usage = "[options] ELF < ADDRESSES",
				     .about = "Prints the functions, inlined and real, the files and the lines at the\n"
					      "addresses given one a line in hexadecimal, innermost first.",
				     .specs = specs };
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage("inspect locations", "one ELF file is needed");
	options.keeps_mangled = !demangles;
	options.n_threads = (unsigned)(threads < 256 ? threads : 256);
	options.search.directories = (const char *const *)directories.values.at;
	options.search.n_directories = directories.values.n;
	options.search.asks_debuginfod = true;
	options.search.note = note;
	options.search.context = &verbose;
	int error = print_locations(line.operands[0], &options, &diag);
	option_list_done(&directories);
	return error < 0 ? cmd_fail(&diag) : EXIT_OK;
}
