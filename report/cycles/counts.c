/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_reader.h"

struct counts_reader {
	struct json_reader json;
	struct cycles_counts *to;
	uint64_t wanted, vaddr; /* functions */
	struct cycles_counts current;
	const char *command; /* that of the profile, as written in JSON; NULL = none */
	bool is_ours;        /* it is marked as a file of cpprof */
	bool is_other;       /* another command was counted */
	void (*take)(void *context,
		     const struct cycles_counts *counts); /* NULL = one function is requested */
	void *context;
};

static double counts_number(const struct json_reader *json)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)(json->text.len < 63 ? json->text.len : 63),
		 (const char *)json->text.at);
	return strtod(text, NULL);
}

/* Addresses are texts, "0x..." */
static uint64_t counts_address(const struct json_reader *json)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)(json->text.len < 31 ? json->text.len : 31),
		 (const char *)json->text.at);
	return strtoull(text, NULL, 16);
}

/* Calls visit for each member of the object that has begun; the reader is after its name. */
static bool counts_each(struct counts_reader *r, bool (*visit)(struct counts_reader *r))
{
	for (;;) {
		enum json_event event = json_reader_next(&r->json);
		if (event == JSON_CLOSE)
			return true;
		if (event != JSON_NAME || !visit(r))
			return false;
	}
}

static bool counts_skip(struct counts_reader *r)
{
	return json_reader_skip(&r->json, json_reader_next(&r->json));
}

static bool counts_block_member(struct counts_reader *r)
{
	struct cycles_count *block = &r->current.blocks.at[r->current.blocks.n - 1];

	if (json_reader_is(&r->json, "vaddr")) {
		bool is_text = json_reader_next(&r->json) == JSON_STRING;
		block->vaddr = is_text ? counts_address(&r->json) : 0;
		return is_text;
	}
	if (json_reader_is(&r->json, "count")) {
		bool is_number = json_reader_next(&r->json) == JSON_NUMBER;
		block->count = is_number ? counts_number(&r->json) : 0;
		return is_number;
	}
	return counts_skip(r);
}

/* Calls visit for each object of the next array. */
static bool counts_array(struct counts_reader *r, bool (*visit)(struct counts_reader *r))
{
	if (json_reader_next(&r->json) != JSON_ARRAY)
		return false;
	for (;;) {
		enum json_event event = json_reader_next(&r->json);
		if (event == JSON_CLOSE)
			return true;
		if (event != JSON_OBJECT || !visit(r))
			return false;
	}
}

static bool counts_block(struct counts_reader *r)
{
	vec_push(&r->current.blocks, ((struct cycles_count){ 0 }));
	return counts_each(r, counts_block_member);
}

static bool counts_way_blocks(struct counts_reader *r, struct cycles_way *way)
{
	if (json_reader_next(&r->json) != JSON_ARRAY)
		return false;
	for (;;) {
		enum json_event event = json_reader_next(&r->json);
		if (event == JSON_CLOSE)
			return true;
		if (event != JSON_STRING)
			return false;
		vec_push(&r->current.way_blocks, counts_address(&r->json));
		way->n_blocks++;
	}
}

static bool counts_way_member(struct counts_reader *r)
{
	struct cycles_way *way = &r->current.ways.at[r->current.ways.n - 1];

	if (json_reader_is(&r->json, "blocks"))
		return counts_way_blocks(r, way);
	if (json_reader_is(&r->json, "leaves")) {
		way->leaves = json_reader_next(&r->json) == JSON_TRUE;
		return true;
	}
	if (json_reader_is(&r->json, "count")) {
		bool is_number = json_reader_next(&r->json) == JSON_NUMBER;
		way->count = is_number ? counts_number(&r->json) : 0;
		return is_number;
	}
	if (json_reader_is(&r->json, "next")) {
		bool is_text = json_reader_next(&r->json) == JSON_STRING;
		way->next = is_text ? counts_address(&r->json) : 0;
		return is_text;
	}
	if (json_reader_is(&r->json, "caller")) {
		bool is_text = json_reader_next(&r->json) == JSON_STRING;
		way->caller = is_text ? counts_address(&r->json) : 0;
		return is_text;
	}
	return counts_skip(r);
}

static bool counts_way(struct counts_reader *r)
{
	vec_push(&r->current.ways, ((struct cycles_way){ .first_block = r->current.way_blocks.n }));
	return counts_each(r, counts_way_member);
}

static void counts_module(struct counts_reader *r)
{
	struct bytes path = r->json.text;
	size_t first = path.len;

	while (first > 0 && path.at[first - 1] != '/')
		first--;
	size_t len = path.len - first;
	len = len < sizeof(r->current.module) ? len : sizeof(r->current.module) - 1;
	memcpy(r->current.module, path.at + first, len);
	r->current.module[len] = 0;
}

static bool counts_function_member(struct counts_reader *r)
{
	if (json_reader_is(&r->json, "vaddr")) {
		bool is_text = json_reader_next(&r->json) == JSON_STRING;
		r->vaddr = is_text ? counts_address(&r->json) : 0;
		return is_text;
	}
	if (json_reader_is(&r->json, "module")) {
		if (json_reader_next(&r->json) == JSON_STRING)
			counts_module(r);
		return true;
	}
	if (json_reader_is(&r->json, "build_id")) {
		if (json_reader_next(&r->json) == JSON_STRING)
			snprintf(r->current.build_id, sizeof(r->current.build_id), "%.*s",
				 (int)r->json.text.len, (const char *)r->json.text.at);
		return true;
	}
	if (json_reader_is(&r->json, "total")) {
		r->current.total = json_reader_next(&r->json) == JSON_NUMBER ? counts_number(&r->json) : -1;
		return true;
	}
	if (json_reader_is(&r->json, "cuts")) {
		r->current.is_cut = json_reader_next(&r->json) != JSON_NUMBER || counts_number(&r->json) != 0;
		return true;
	}
	if (json_reader_is(&r->json, "blocks"))
		return counts_array(r, counts_block);
	if (json_reader_is(&r->json, "ways"))
		return counts_array(r, counts_way);
	return counts_skip(r);
}

static void counts_forget(struct cycles_counts *counts)
{
	vec_clear(&counts->blocks);
	vec_clear(&counts->ways);
	vec_clear(&counts->way_blocks);
	counts->module[0] = counts->build_id[0] = 0;
	counts->total = 0;
	counts->is_cut = false;
}

static bool counts_function(struct counts_reader *r)
{
	counts_forget(&r->current);
	r->vaddr = 0;
	if (!counts_each(r, counts_function_member))
		return false;
	r->current.function = r->vaddr;
	if (r->take) {
		r->current.is_relative = r->to->is_relative;
		r->take(r->context, &r->current);
		r->to->is_found = true;
		return true;
	}
	if (r->vaddr != r->wanted || r->to->is_found)
		return true;
	/* Passes the ownership of what was read. */
	bool is_relative = r->to->is_relative;
	*r->to = r->current;
	r->to->is_relative = is_relative;
	r->to->is_found = true;
	r->current = (struct cycles_counts){ 0 };
	return true;
}

static bool counts_member(struct counts_reader *r)
{
	if (json_reader_is(&r->json, "functions"))
		return counts_array(r, counts_function);
	if (json_reader_is(&r->json, "whole")) {
		r->to->is_relative = json_reader_next(&r->json) != JSON_TRUE || r->is_other;
		return true;
	}
	if (json_reader_is(&r->json, "command")) {
		bool is_text = json_reader_next(&r->json) == JSON_STRING;
		r->is_other = !is_text || !r->command || !json_reader_is(&r->json, r->command);
		r->to->is_relative |= r->is_other;
		return is_text;
	}
	if (json_reader_is(&r->json, "schema")) {
		r->is_ours =
			json_reader_next(&r->json) == JSON_STRING && json_reader_is(&r->json, "cpprof-paths");
		return r->is_ours;
	}
	return counts_skip(r);
}

static int counts_compare(const void *left, const void *right)
{
	const struct cycles_count *a = left, *b = right;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* The reader must be initialised, and is done afterwards. */
static int counts_read(struct counts_reader *r, const char *name, struct diag *diag)
{
	bool is_good =
		json_reader_next(&r->json) == JSON_OBJECT && counts_each(r, counts_member) && r->is_ours;

	json_reader_done(&r->json);
	cycles_counts_done(&r->current);
	if (!is_good) {
		diag_set(diag, -EBADMSG, "'%s' has no counts", name);
		diag_why(diag, "it was not written by `cpprof paths --format json`");
		diag_hint(diag, "create it with: cpprof paths -f FUNCTION --format json -o FILE ...");
		return -EBADMSG;
	}
	if (!r->to->is_found) {
		diag_set(diag, -ENOENT, "'%s' has no counts of this function", name);
		diag_why(diag, "it contains counts of other functions, or of another build");
		diag_hint(diag, "count it with: cpprof paths -f FUNCTION --format json -o FILE ...");
		return -ENOENT;
	}
	if (r->to->blocks.n)
		qsort(r->to->blocks.at, r->to->blocks.n, sizeof(*r->to->blocks.at), counts_compare);
	return 0;
}

/* The command of the profile, with JSON's escapes; NULL if it is not of a command. */
static char *counts_command(const struct profile *profile)
{
	CLEANUP(freep) char *quoted = NULL;
	size_t len = 0;
	struct json json;

	if (!profile || strcmp(intern_text(&profile->strings, profile->run.mode), "record") != 0)
		return NULL;
	FILE *to = open_memstream(&quoted, &len);
	if (!to)
		return NULL;
	json_init(&json, to);
	json_text(&json, intern_text(&profile->strings, profile->run.target));
	fclose(to);
	return len >= 2 ? alloc_text_n(quoted + 1, len - 2) : NULL;
}

int cycles_counts_parse(struct bytes text, const char *name, const struct profile *profile, uint64_t function,
			struct cycles_counts *ret, struct diag *diag)
{
	CLEANUP(freep) char *command = counts_command(profile);
	struct counts_reader r = { .to = ret, .wanted = function, .command = command };

	*ret = (struct cycles_counts){ .is_relative = true };
	json_reader_init(&r.json, text, false);
	return counts_read(&r, name, diag);
}

int cycles_counts_read(const char *path, const struct profile *profile, uint64_t function,
		       struct cycles_counts *ret, struct diag *diag)
{
	CLEANUP(freep) char *command = counts_command(profile);
	struct counts_reader r = { .to = ret, .wanted = function, .command = command };
	CLEANUP(fclosep) FILE *file = fopen(path, "re");

	*ret = (struct cycles_counts){ .is_relative = true };
	if (!file)
		return diag_set(diag, -errno, "cannot read '%s'", path);
	json_reader_init_stream(&r.json, file);
	return counts_read(&r, path, diag);
}

int cycles_counts_each(const char *path, const struct profile *profile,
		       void (*take)(void *context, const struct cycles_counts *counts), void *context,
		       struct diag *diag)
{
	CLEANUP(freep) char *command = counts_command(profile);
	struct cycles_counts none = { .is_relative = true };
	struct counts_reader r = { .to = &none, .take = take, .context = context, .command = command };
	CLEANUP(fclosep) FILE *file = fopen(path, "re");

	if (!file)
		return diag_set(diag, -errno, "cannot read '%s'", path);
	json_reader_init_stream(&r.json, file);
	return counts_read(&r, path, diag);
}

double cycles_counts_of(const struct cycles_counts *counts, uint64_t vaddr)
{
	struct cycles_count key = { .vaddr = vaddr };
	const struct cycles_count *found =
		counts->blocks.n
			? bsearch(&key, counts->blocks.at, counts->blocks.n, sizeof(key), counts_compare)
			: NULL;

	return found ? found->count : -1;
}

void cycles_counts_done(struct cycles_counts *counts)
{
	vec_done(&counts->blocks);
	vec_done(&counts->ways);
	vec_done(&counts->way_blocks);
}

int cycles_counts_check(const char *path, const char *module, const char *counted,
			const struct build_id *expected, struct diag *diag)
{
	char build_id[2 * BUILD_ID_MAX + 1];

	build_id_format(expected, build_id);
	if (!counted[0] || !expected->len || strcmp(counted, build_id) == 0)
		return 0;
	diag_set(diag, -EINVAL, "'%s' contains counts of another build of %s", path, module);
	diag_why(diag, "the build ID is %s there, but %s in the profile", counted, build_id);
	diag_hint(diag, "count again: cpprof paths -f FUNCTION --format json -o FILE, with the program that "
			"was profiled");
	return -EINVAL;
}
