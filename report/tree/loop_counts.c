/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/loop_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "report/number.h"

void loop_counts_done(struct loop_counts *counts)
{
	for (size_t i = 0; i < counts->modules.n; i++)
		free(counts->modules.at[i].name);
	vec_done(&counts->modules);
	vec_done(&counts->headers);
	vec_done(&counts->functions);
	vec_done(&counts->ways);
	vec_done(&counts->way_blocks);
}

static const char *loop_counts_module(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct counted_function *counted_function_find(const struct loop_counts *counts, const char *module,
						     uint64_t vaddr)
{
	for (size_t i = 0; counts && i < counts->functions.n; i++) {
		const struct counted_function *f = &counts->functions.at[i];
		if (f->vaddr == vaddr &&
		    strcmp(counts->modules.at[f->module].name, loop_counts_module(module)) == 0)
			return f;
	}
	return NULL;
}

static const struct header_count *loop_counts_header(const struct loop_counts *counts, const char *module,
						     uint64_t vaddr)
{
	const struct header_count *list = counts->headers.at;
	size_t at = search_first(i, counts->headers.n, list[i].vaddr >= vaddr);

	for (; at < counts->headers.n && list[at].vaddr == vaddr; at++)
		if (strcmp(counts->modules.at[list[at].module].name, module) == 0)
			return &list[at];
	return NULL;
}

/* Does a loop around it have a different header? If not, both may jump back to the same block. */
static bool loop_counts_is_apart(const struct loop_counts *counts, const char *module,
				 const struct loop_code *loop)
{
	const struct structure *structure = loop->structure;

	for (uint32_t at = structure->scopes.at[loop->scope].parent; at; at = structure->scopes.at[at].parent)
		for (size_t i = 0; i < structure->pieces.n; i++) {
			const struct header_count *header =
				structure->pieces.at[i].scope == at
					? loop_counts_header(counts, module, structure->pieces.at[i].header)
					: NULL;
			if (header && header->count > 0 && header->back <= 0)
				return false;
		}
	return true;
}

struct loop_rounds loop_counts_find(const struct loop_counts *counts, const char *module,
				    const struct loop_code *loop)
{
	const struct loop_rounds unknown = { -1, -1, false };
	struct loop_rounds rounds = { 0, -1, false };

	module = loop_counts_module(module);
	for (size_t i = 0; counts && i < loop->structure->pieces.n; i++) {
		const struct loop_piece *piece = &loop->structure->pieces.at[i];
		if (piece->scope != loop->scope)
			continue;
		const struct header_count *header = loop_counts_header(counts, module, piece->header);
		if (!header)
			return unknown;
		rounds.rounds += header->count;
		bool is_known = loop->n_copies == 1 && header->has_back && header->back > 0 &&
				header->count > header->back && loop_counts_is_apart(counts, module, loop);
		if (is_known)
			rounds.each = header->count / (header->count - header->back);
		rounds.is_relative |= header->is_relative;
	}
	return rounds.rounds > 0 ? rounds : unknown;
}

void loop_rounds_tell(const struct loop_rounds *rounds, const struct loop_code *loop, struct text *ret)
{
	unsigned flags = rounds->rounds < 0 ? 0 : loop->structure->scopes.at[loop->scope].flags;
	bool is_plain = loop->n_copies == 1 && !(flags & (SCOPE_VECTOR | SCOPE_UNROLLED));
	const char *what = is_plain ? "iterations" : "passes";
	char text[NUMBER_MAX];

	if (rounds->rounds < 0 || (rounds->is_relative && rounds->each < 0))
		return;
	if (rounds->is_relative) {
		text_printf(ret, " [~%.1f %s each time]", rounds->each, what);
		return;
	}
	text_printf(ret, " [%s %s", number_count((uint64_t)rounds->rounds, text), what);
	if (rounds->each >= 0)
		text_printf(ret, ", ~%.1f each time", rounds->each);
	text_printf(ret, "]");
}
