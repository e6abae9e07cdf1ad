/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/procedures.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

static void procedures_add(struct procedures *procedures, struct procedure procedure)
{
	procedure.host = PROCEDURE_NONE;
	procedure.end_line = UINT32_MAX;
	if (procedure.file && procedure.line)
		vec_push(&procedures->list, procedure);
}

#define ORDER(a, b, what)           \
	if ((a)->what != (b)->what) \
	return (a)->what < (b)->what ? -1 : 1

static int procedures_compare(const void *left, const void *right)
{
	const struct procedure *a = left, *b = right;

	ORDER(a, b, file);
	ORDER(a, b, line);
	ORDER(b, a, known_end); /* the one of which most is known first */
	ORDER(b, a, host_name);
	ORDER(a, b, name);
	ORDER(a, b, linkage);
	return 0;
}

/* Instances of one template, a function and its inlined copies: keep one of each. */
static void drop_copies(struct procedures *procedures)
{
	size_t kept = 0;
	struct procedure *at = procedures->list.at;

	for (size_t i = 0; i < procedures->list.n; i++)
		if (kept == 0 || at[i].file != at[kept - 1].file || at[i].line != at[kept - 1].line)
			at[kept++] = at[i];
	procedures->list.n = kept;
}

/* Does the outer procedure continue after the line where the inner one starts, or is it known to contain it?
 */
static bool contains(const struct procedure *outer, const struct procedure *inner)
{
	return outer->file == inner->file &&
	       (outer->known_end >= inner->line || (inner->host_name && inner->host_name == outer->name));
}

/* One pass: open procedures are on a stack; one that is not in the innermost of them ends it. */
static void bound(struct procedures *procedures)
{
	struct procedure *at = procedures->list.at;
	VEC(uint32_t) open = { 0 };

	for (uint32_t i = 0; i < procedures->list.n; i++) {
		while (open.n && !contains(&at[open.at[open.n - 1]], &at[i])) {
			struct procedure *ended = &at[open.at[--open.n]];
			if (ended->file == at[i].file)
				ended->end_line = at[i].line - 1;
		}
		at[i].host = open.n ? open.at[open.n - 1] : PROCEDURE_NONE;
		vec_push(&open, i);
	}
	vec_done(&open);
	/* After a procedure that it contains, a host continues if code of it was seen there. */
	for (size_t i = 0; i < procedures->list.n; i++) {
		uint32_t own_end = at[i].known_end > at[i].line ? at[i].known_end : at[i].line;
		if (at[i].host != PROCEDURE_NONE && at[at[i].host].known_end > own_end &&
		    own_end < at[i].end_line)
			at[i].end_line = own_end;
	}
}

/* The last line of each inlined procedure of which the function has code. */
static void find_inlined_ends(const struct function_map *map, uint32_t *ends)
{
	for (size_t i = 0; i < map->lines.n; i++) {
		const struct line_row *row = &map->lines.at[i];
		uint32_t call = function_map_inline(map, row->offset);
		if (call != INLINE_NONE && row->file == map->inlines.at[call].decl_file &&
		    row->line > ends[call])
			ends[call] = row->line;
	}
}

static void procedures_add_inlined(struct procedures *procedures, const struct function_map *map)
{
	uint32_t *ends = alloc_zero(map->inlines.n, sizeof(uint32_t));

	find_inlined_ends(map, ends);
	for (size_t k = 0; k < map->inlines.n; k++) {
		const struct inline_call *call = &map->inlines.at[k];
		procedures_add(procedures, (struct procedure){ .file = call->decl_file,
							       .line = call->decl_line,
							       .name = call->name,
							       .known_end = ends[k],
							       .linkage = call->linkage });
	}
	free(ends);
}

void procedures_find_all(struct procedures *procedures, const struct function_map *maps, size_t n)
{
	vec_clear(&procedures->list);
	for (size_t i = 0; i < n; i++) {
		const struct function_map *map = &maps[i];
		procedures_add(procedures, (struct procedure){ .file = map->decl_file,
							       .line = map->decl_line,
							       .known_end = map->end_line,
							       .name = map->name,
							       .linkage = map->linkage,
							       .host_name = map->scope });
		if (map->inlines.n)
			procedures_add_inlined(procedures, map);
	}
	if (procedures->list.n)
		qsort(procedures->list.at, procedures->list.n, sizeof(procedures->list.at[0]),
		      procedures_compare);
	drop_copies(procedures);
	bound(procedures);
}

void procedures_done(struct procedures *procedures)
{
	vec_done(&procedures->list);
}

const struct procedure *procedures_at(const struct procedures *procedures, uint32_t file, uint32_t line)
{
	const struct procedure *at = procedures->list.at;
	size_t behind = search_first(i, procedures->list.n,
				     at[i].file > file || (at[i].file == file && at[i].line > line));

	if (behind == 0 || at[behind - 1].file != file)
		return NULL;
	const struct procedure *found = &at[behind - 1];
	while (found && line > found->end_line)
		found = found->host == PROCEDURE_NONE ? NULL : &at[found->host];
	return found;
}
