/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect locations: functions, files and lines at given addresses of an ELF file, one JSON object per line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/search.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/inspect.h"
#include "cmd/symbol_options.h"
#include "symbolize/demangle.h"
#include "symbolize/locator.h"
#include "symbolize/witness/witness_image.h"

/* An address, and its position in the input. */
struct question {
	uint64_t vaddr;
	uint32_t position;
};

/* Where the chain of an address is. */
struct answer {
	uint64_t vaddr;
	uint32_t first, n;
};

struct addresses {
	VEC(struct question) sorted;
	VEC(uint64_t) distinct;     /* the same without duplicates */
	VEC(struct answer) answers; /* in the order of the input */
	VEC(struct location) chains;
};

static int inspect_locations_compare(const void *left, const void *right)
{
	const struct question *a = left, *b = right;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static void inspect_locations_sort(struct addresses *addresses)
{
	if (addresses->sorted.n)
		qsort(addresses->sorted.at, addresses->sorted.n, sizeof(struct question),
		      inspect_locations_compare);
	for (size_t i = 0; i < addresses->sorted.n; i++)
		if (i == 0 || addresses->sorted.at[i].vaddr != addresses->sorted.at[i - 1].vaddr)
			vec_push(&addresses->distinct, addresses->sorted.at[i].vaddr);
}

static void addresses_done(struct addresses *addresses)
{
	vec_done(&addresses->sorted);
	vec_done(&addresses->distinct);
	vec_done(&addresses->answers);
	vec_done(&addresses->chains);
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
		vec_push(&addresses->sorted, (struct question){ vaddr, (uint32_t)addresses->answers.n });
		vec_push(&addresses->answers, (struct answer){ .vaddr = vaddr });
	}
	inspect_locations_sort(addresses);
	return 0;
}

/* In the order of addresses, so that adjacent code is read together, whatever the order of the input. */
static void answer_all(const struct locator *locator, struct addresses *addresses)
{
	struct location chain[LOCATION_MAX_DEPTH];
	const struct answer *last = NULL;

	for (size_t i = 0; i < addresses->sorted.n; i++) {
		struct answer *answer = &addresses->answers.at[addresses->sorted.at[i].position];
		if (!last || last->vaddr != answer->vaddr) {
			answer->first = (uint32_t)addresses->chains.n;
			answer->n = (uint32_t)locator_find(locator, answer->vaddr, chain, LOCATION_MAX_DEPTH);
			for (uint32_t k = 0; k < answer->n; k++)
				vec_push(&addresses->chains, chain[k]);
		} else {
			*answer = *last;
		}
		last = answer;
	}
}

static void print_answer(struct json *json, const struct locator *locator, const struct answer *answer,
			 const struct location *chains)
{
	json_object(json);
	json_name(json, "vaddr");
	json_hex(json, answer->vaddr);
	json_name(json, "frames");
	json_array(json);
	for (size_t i = 0; i < answer->n; i++) {
		const struct location *at = &chains[answer->first + i];
		json_object(json);
		json_text_of(json, "function", locator_text(locator, at->function));
		json_text_of(json, "file", at->file ? locator_text(locator, at->file) : NULL);
		json_uint_of(json, "line", at->line);
		json_bool_of(json, "inlined", at->is_inlined);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	json_line(json);
}

static int inspect_locations_print_all(const struct locator *locator, const struct addresses *addresses,
				       struct diag *diag)
{
	struct json json;

	json_init(&json, stdout);
	for (size_t i = 0; i < addresses->answers.n; i++)
		print_answer(&json, locator, &addresses->answers.at[i], addresses->chains.at);
	int error = json_done(&json);
	if (error < 0)
		diag_set(diag, error, "cannot write the locations");
	return error;
}

/* A name, demangled if the user wants that. */
static void print_witness_name(struct json *json, const char *name, bool demangles)
{
	CLEANUP(text_done) struct text text = { 0 };

	json_text_of(json, "function", demangles && demangle(name, &text) ? text.at : name[0] ? name : "??");
}

static void print_testimony(struct json *json, const struct testimony *testimony, uint64_t vaddr,
			    const struct witness_answer *answer, bool demangles)
{
	json_object(json);
	json_name(json, "vaddr");
	json_hex(json, vaddr);
	json_name(json, "frames");
	json_array(json);
	for (uint32_t i = 0; i < answer->n; i++) {
		const struct witness_frame *at = &testimony->frames.at[answer->first + i];
		json_object(json);
		print_witness_name(json, intern_text(&testimony->strings, at->function), demangles);
		json_text_of(json, "file", at->file ? intern_text(&testimony->strings, at->file) : NULL);
		json_uint_of(json, "line", at->line);
		json_bool_of(json, "inlined", at->is_inlined);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	json_line(json);
}

/* The same with a library instead of our reader. It only uses debug information, not symbols. */
static int print_by_witness(enum library_kind kind, struct image *image,
			    const struct symbolizer_options *options, const struct addresses *addresses,
			    struct diag *diag)
{
	struct testimony testimony;
	struct json json;

	witness_ask_image(kind, image, &options->search, addresses->distinct.at, addresses->distinct.n,
			  &testimony);
	if (testimony.why) {
		diag_set(diag, -EIO, "cannot read '%s' with %s", image->path, witness_library_name(kind));
		diag_why(diag, "%s", testimony.why);
	}
	json_init(&json, stdout);
	for (size_t i = 0; i < addresses->answers.n && !testimony.why; i++) {
		uint64_t vaddr = addresses->answers.at[i].vaddr;
		size_t at = search_first(k, addresses->distinct.n, addresses->distinct.at[k] >= vaddr);
		print_testimony(&json, &testimony, vaddr, &testimony.answers.at[at], !options->keeps_mangled);
	}
	int error = json_done(&json);
	if (error < 0)
		diag_set(diag, error, "cannot write the locations");
	error = testimony.why ? -EIO : error;
	testimony_done(&testimony);
	return error;
}

enum dwarf_reader { READER_OWN, READER_LIBDWARF, READER_LIBDW };

static int print_locations(const char *path, enum dwarf_reader reader,
			   const struct symbolizer_options *options, struct diag *diag)
{
	struct addresses addresses = { 0 };
	struct images *images = images_new();
	image_id id;

	int error = images_open_mapped(images, path, &id, diag);
	if (error == 0)
		error = read_addresses(stdin, &addresses, diag);
	if (error == 0 && reader != READER_OWN) {
		enum library_kind kind = reader == READER_LIBDWARF ? LIBRARY_LIBDWARF : LIBRARY_LIBDW;
		error = print_by_witness(kind, images_get(images, id), options, &addresses, diag);
	} else if (error == 0) {
		struct locator *locator = locator_new(options, images_get(images, id), addresses.distinct.at,
						      addresses.distinct.n);
		answer_all(locator, &addresses);
		error = inspect_locations_print_all(locator, &addresses, diag);
		locator_free(locator);
	}
	addresses_done(&addresses);
	images_free(images);
	return error;
}

int inspect_locations(int argc, char **argv)
{
	struct symbol_options symbols = SYMBOL_DEFAULTS;
	int verbosity = 0, reader = READER_OWN;
	struct option_spec specs[] = {
		{ 0, "reader", OPTION_CHOICE, &reader, "own|libdwarf|libdw",
		  "what reads the debug information: cpprof (default) or a library" },
		SYMBOL_SPECS(symbols),
		{ 'v', "verbose", OPTION_COUNT, &verbosity, NULL,
		  "print where debug information is looked for" },
		{ 0 },
	};
	struct command_line line = {
		.command = "inspect locations",
		.usage = "[options] ELF < ADDRESSES",
		.about = "Prints the functions, inlined and real, the files and the lines at the\n"
			 "addresses given on standard input (hexadecimal, one per line), innermost first.",
		.examples = "echo 401136 | cpprof inspect locations ./program\n"
			    "echo 401136 | cpprof inspect locations --reader libdw ./program\n",
		.specs = specs
	};
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code < 0)
		code = symbol_options_check(&symbols, line.command);
	if (code < 0 && line.n_operands != 1)
		code = cmd_usage(line.command, "give one ELF file");
	if (code < 0) {
		struct symbolizer_options options = symbol_options_open(&symbols, verbosity);
		code = print_locations(line.operands[0], (enum dwarf_reader)reader, &options, &diag) < 0
			       ? cmd_fail(&diag)
			       : EXIT_OK;
	}
	symbol_options_done(&symbols);
	return code;
}
