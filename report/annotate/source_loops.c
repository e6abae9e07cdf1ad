/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_loops.h"

#include "base/hash.h"
#include "base/search.h"

struct finder {
	const struct profile *profile;
	const struct function_map *map; /* the function */
	bool is_inlined;
	const struct structure *structure; /* that is searched */
	uint32_t *ends;                    /* per scope: its last line; 0 = not a loop of the function */
	uint32_t *last;                    /* per scope: the last line of its code */
	struct map known;                  /* first line and level -> index of what was found */
};

/* The line at an offset as seen from the function: its own, or that of a call inlined into it. 0 = not in the
 * function's file. */
static uint32_t native_line(const struct finder *f, const struct function_map *host, uint32_t offset)
{
	struct location chain[LOCATION_MAX_DEPTH];
	size_t n = function_map_locate(host, offset, chain, LOCATION_MAX_DEPTH), level = n - 1;

	if (f->is_inlined)
		for (level = 0;
		     level < n && !(chain[level].is_inlined && chain[level].function == f->map->name);)
			level++;
	return level < n && chain[level].file == f->map->decl_file ? chain[level].line : 0;
}

/* The code's line belongs to its scope, and later to all scopes around that. */
static void stretch(struct finder *f, uint32_t scope, uint32_t line)
{
	if (line > f->last[scope])
		f->last[scope] = line;
}

/* Extends every loop of the function to the last line of its code: parents come first. */
static void source_loops_extend(struct finder *f)
{
	for (size_t i = f->structure->scopes.n; i-- > 1;) {
		stretch(f, f->structure->scopes.at[i].parent, f->last[i]);
		if (f->ends[i] && f->last[i] > f->ends[i])
			f->ends[i] = f->last[i];
	}
}

static void stretch_over(struct finder *f, const struct static_range *range)
{
	const struct function_map *host = profile_function(f->profile, f->structure->image, range->start);
	uint64_t start, end;

	if (!host)
		return;
	start = range->start - host->vaddr;
	end = start + range->len;
	/* The row before the first one inside is valid at the start of the range. */
	size_t row = search_first(i, host->lines.n, host->lines.at[i].offset > start);
	for (row -= row > 0; row < host->lines.n && host->lines.at[row].offset < end; row++) {
		uint64_t at = host->lines.at[row].offset > start ? host->lines.at[row].offset : start;
		if (host->lines.at[row].line)
			stretch(f, range->scope, native_line(f, host, (uint32_t)at));
	}
}

/* How many loops around a loop start on the same line. */
static unsigned source_loops_level(const struct finder *f, uint32_t loop)
{
	const struct static_scope *scopes = f->structure->scopes.at;
	unsigned level = 0;

	unsigned depth = 0;

	for (uint32_t at = scopes[loop].parent; at && depth++ < STRUCTURE_MAX_DEPTH; at = scopes[at].parent)
		level += f->ends[at] && scopes[at].line == scopes[loop].line;
	return level;
}

/* Copies of a loop are combined; nested loops are not. */
static void source_loops_add(struct finder *f, source_loops *loops, struct loop_lines loop)
{
	uint64_t key = (uint64_t)loop.first << 32 | loop.level;
	uint32_t known = map_find(&f->known, key);

	if (known == MAP_NONE) {
		map_put(&f->known, key, (uint32_t)loops->n);
		vec_push(loops, loop);
	} else if (loop.last > loops->at[known].last) {
		loops->at[known].last = loop.last;
	}
}

static void find_in(struct finder *f, source_loops *ret)
{
	const struct structure *structure = f->structure;
	bool any = false;

	f->last = alloc_zero(structure->scopes.n, sizeof(*f->last));
	f->ends = alloc_zero(structure->scopes.n, sizeof(*f->ends));
	for (size_t i = 1; i < structure->scopes.n; i++) {
		const struct static_scope *scope = &structure->scopes.at[i];
		if (scope->kind != SCOPE_LOOP || scope->file != f->map->decl_file || !scope->line ||
		    scope->name != f->map->name)
			continue;
		f->ends[i] = scope->end_line > scope->line ? scope->end_line : scope->line;
		any = true;
	}
	for (size_t i = 0; any && i < structure->ranges.n; i++)
		stretch_over(f, &structure->ranges.at[i]);
	source_loops_extend(f);
	for (uint32_t i = 1; i < structure->scopes.n; i++)
		if (f->ends[i])
			source_loops_add(f, ret,
					 (struct loop_lines){ structure->scopes.at[i].line, f->ends[i],
							      source_loops_level(f, i) });
	free(f->ends);
	free(f->last);
}

void source_loops_find(const struct profile *profile, const struct function_map *map, bool is_inlined,
		       source_loops *ret)
{
	struct finder finder = { .profile = profile, .map = map, .is_inlined = is_inlined };

	for (size_t i = 0; i < profile->structures.n; i++) {
		finder.structure = &profile->structures.at[i];
		if (finder.structure->image == map->image &&
		    (is_inlined || finder.structure->function == map->vaddr))
			find_in(&finder, ret);
	}
	map_done(&finder.known);
}

/* The first number from here on that is not taken; whatever was passed is led there at once the next time. */
static size_t next_free(uint32_t *next, size_t at)
{
	size_t end = at;

	while (next[end] != end)
		end = next[end];
	while (next[at] != end) {
		size_t behind = next[at];
		next[at] = (uint32_t)end;
		at = behind;
	}
	return end;
}

/* Lines that have all their marks are passed over, so a loop costs as much as it adds. */
void source_loops_mark(const source_loops *loops, const uint32_t *lines, size_t n, struct loop_marks *ret)
{
	uint32_t *next = alloc_zero(n + 1, sizeof(*next));

	for (size_t i = 0; i <= n; i++)
		next[i] = (uint32_t)i;
	for (size_t i = 0; i < loops->n; i++) {
		const struct loop_lines *loop = &loops->at[i];
		size_t at = search_first(k, n, lines[k] >= loop->first);
		for (at = next_free(next, at); at < n && lines[at] <= loop->last;
		     at = next_free(next, at + 1)) {
			ret[at].marks[ret[at].n++] = lines[at] == loop->first  ? LOOP_FIRST
						     : lines[at] == loop->last ? LOOP_LAST
									       : LOOP_INSIDE;
			if (ret[at].n == MAX_LOOP_MARKS)
				next[at] = (uint32_t)at + 1;
		}
	}
	free(next);
}
