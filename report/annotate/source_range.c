/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_range.h"

#define CONTEXT 3 /* lines shown around a line with costs */
#define ALL_LINES 1000000

/* Lines are added in order; what is there already, or not in the range, is left out. */
static void source_range_add(struct source_range *range, uint64_t from, uint64_t to)
{
	uint64_t next = range->shown.n ? (uint64_t)range->shown.at[range->shown.n - 1] + 1 : range->first;

	for (uint64_t line = from > next ? from : next; line <= to && line <= range->last; line++)
		vec_push(&range->shown, (uint32_t)line);
}

void source_range_find(const struct annotation *annotation, uint32_t metric, bool all, size_t n_source,
		       struct source_range *ret)
{
	const struct function_map *map = annotation->map;
	const struct annotated_line *lines = annotation->lines.at;
	size_t n = annotation->lines.n;
	uint64_t declared = map->decl_line;

	*ret = (struct source_range){ declared, map->end_line > declared ? map->end_line : declared, { 0 } };
	if (n && lines[n - 1].line > ret->last)
		ret->last = lines[n - 1].line;
	if (n && lines[0].line < ret->first)
		ret->first = lines[0].line;
	uint64_t most = ret->first + ALL_LINES;
	if (all)
		source_range_add(ret, ret->first, n_source > most ? n_source : most);
	for (size_t i = 0; i < n; i++) {
		uint64_t line = lines[i].line, from = line > CONTEXT ? line - CONTEXT : 0;
		if (!lines[i].self[metric] && !lines[i].calls[metric])
			continue;
		if (declared < from)
			source_range_add(ret, declared, declared);
		source_range_add(ret, from, line + CONTEXT);
	}
	source_range_add(ret, declared, declared);
}

void source_range_done(struct source_range *range)
{
	vec_done(&range->shown);
}
