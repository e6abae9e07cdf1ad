/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_profile: compares the sections of profiles, except for the order of strings, the version and command
 * line that made the profile, and the cost of making it.
 *
 *     same_profile FIRST OTHER...
 *     same_profile --reorder PROFILE OUT    writes the same profile with its strings in a different order
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/section.h"

/* Renumbers strings. */
struct renumbering {
	const struct intern *from;
	struct intern into;
};

static void renumber(struct renumbering *r, uint32_t *id)
{
	*id = intern_add_n(&r->into, r->from->strings.at[*id], r->from->lengths.at[*id]);
}

static void renumber_run(struct renumbering *r, struct profile *p)
{
	uint32_t *fields[] = { &p->run.tool_version, &p->run.command_line, &p->run.mode, &p->run.host,
			       &p->run.kernel,       &p->run.cpu,          &p->run.arch, &p->run.target };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		renumber(r, fields[i]);
	for (size_t i = 0; i < p->notes.n; i++)
		renumber(r, &p->notes.at[i]);
}

static void renumber_tables(struct renumbering *r, struct profile *p)
{
	for (size_t i = 0; i < p->events.n; i++) {
		renumber(r, &p->events.at[i].name);
		renumber(r, &p->events.at[i].unit);
	}
	for (size_t i = 0; i < p->metrics.n; i++) {
		renumber(r, &p->metrics.at[i].name);
		renumber(r, &p->metrics.at[i].unit);
	}
	for (size_t i = 0; i < p->images.n; i++) {
		renumber(r, &p->images.at[i].path);
		renumber(r, &p->images.at[i].debug);
	}
	for (size_t i = 0; i < p->processes.n; i++) {
		renumber(r, &p->processes.at[i].comm);
		renumber(r, &p->processes.at[i].command_line);
	}
	for (size_t i = 0; i < p->threads.n; i++)
		renumber(r, &p->threads.at[i].comm);
}

static void renumber_function(struct renumbering *r, struct function_map *map)
{
	uint32_t *fields[] = { &map->name, &map->linkage, &map->decl_file, &map->scope };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		renumber(r, fields[i]);
	for (size_t i = 0; i < map->lines.n; i++)
		renumber(r, &map->lines.at[i].file);
	for (size_t i = 0; i < map->inlines.n; i++) {
		struct inline_call *call = &map->inlines.at[i];
		renumber(r, &call->name);
		renumber(r, &call->linkage);
		renumber(r, &call->decl_file);
		renumber(r, &call->call_file);
	}
}

static void renumber_structure(struct renumbering *r, struct structure *structure)
{
	for (size_t i = 0; i < structure->scopes.n; i++) {
		struct static_scope *scope = &structure->scopes.at[i];
		renumber(r, &scope->name);
		renumber(r, &scope->linkage);
		renumber(r, &scope->file);
		renumber(r, &scope->call_file);
	}
}

/* Strings are numbered in order of reference, after those already in r->into. */
static void renumber_profile(struct renumbering *r, struct profile *p)
{
	renumber_run(r, p);
	renumber_tables(r, p);
	for (size_t i = 0; i < p->functions.n; i++)
		renumber_function(r, &p->functions.at[i]);
	for (size_t i = 0; i < p->structures.n; i++)
		renumber_structure(r, &p->structures.at[i]);
	intern_done(&p->strings);
	p->strings = r->into;
}

static struct profile *read_or_say(const char *path)
{
	struct profile *p = NULL;
	struct diag diag = { 0 };

	if (profile_read(path, &p, &diag) < 0)
		printf("unreadable: %s: %s\n", diag.what, diag.why);
	return p;
}

static struct profile *read_comparable(const char *path)
{
	struct profile *p = read_or_say(path);

	if (!p)
		return NULL;

	struct renumbering r = { .from = &p->strings };
	intern_init(&r.into);
	p->run.tool_version = p->run.command_line = 0;
	p->quality.own_cpu_ns = p->quality.own_peak_kb = 0;
	renumber_profile(&r, p);
	printf("%s: %" PRIu64 " samples, %zu threads, %zu nodes, %zu values\n", path, p->quality.samples,
	       p->threads.n, p->cct.nodes.n, p->cct.values.n);
	return p;
}

/* Prints which sections differ. */
static bool is_same(const struct profile *first, const char *first_path, const struct profile *other,
		    const char *other_path)
{
	size_t n;
	const struct section_type *types = section_types(&n);
	bool same = true;

	for (size_t i = 0; i < n; i++) {
		struct writer a = { 0 }, b = { 0 };
		section_encode(&types[i], first, &a);
		section_encode(&types[i], other, &b);
		if (a.len != b.len || (a.len && memcmp(a.at, b.at, a.len) != 0)) {
			printf("%s differs from %s: %s\n", other_path, first_path, types[i].name);
			same = false;
		}
		writer_done(&a);
		writer_done(&b);
	}
	return same;
}

static int write_reordered(const char *path, const char *out)
{
	struct profile *p = read_or_say(path);
	struct diag diag = { 0 };

	if (!p)
		return 2;

	struct renumbering r = { .from = &p->strings };
	intern_init(&r.into);
	for (size_t i = p->strings.strings.n; i-- > 0;) {
		uint32_t id = (uint32_t)i;
		renumber(&r, &id);
	}
	renumber_profile(&r, p);
	int error = profile_write(p, out, &diag);
	if (error < 0)
		printf("cannot write: %s: %s\n", diag.what, diag.why);
	profile_free(p);
	return error < 0 ? 2 : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int code = EXIT_SUCCESS;

	if (argc == 4 && strcmp(argv[1], "--reorder") == 0)
		return write_reordered(argv[2], argv[3]);

	struct profile *first = argc < 3 ? NULL : read_comparable(argv[1]);
	if (!first)
		return 2;
	for (int i = 2; i < argc; i++) {
		struct profile *other = read_comparable(argv[i]);
		if (!other)
			return 2;
		if (!is_same(first, argv[1], other, argv[i]))
			code = EXIT_FAILURE;
		profile_free(other);
	}
	profile_free(first);
	return code;
}
