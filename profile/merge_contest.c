/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that chooses between two profiles with different information about one function: by its
 * content, not by the order of the profiles.
 */
#include <string.h>

#include "profile/merge_private.h"

/* Debug information, then the tables of kernel and JIT, then symbols, then nothing. */
int merge_goodness(const struct function_map *map)
{
	static const int by_source[] = {
		[MAP_FROM_NOTHING] = 0,  [MAP_FROM_SYMBOL] = 1,     [MAP_FROM_PERFMAP] = 2,
		[MAP_FROM_KALLSYMS] = 2, [MAP_FROM_FLAT_DWARF] = 3, [MAP_FROM_DWARF] = 3
	};

	return map->source < ARRAY_LEN(by_source) ? by_source[map->source] : 0;
}

/* Lists of numbers and texts, compared one by one until they differ. Texts are compared by content: their ids
 * depend on the order of the profiles. */
struct contest {
	const struct intern *strings;
	int order;
};

static void contest_number(struct contest *contest, uint64_t a, uint64_t b)
{
	if (!contest->order && a != b)
		contest->order = a < b ? -1 : 1;
}

static void contest_text(struct contest *contest, uint32_t a, uint32_t b)
{
	if (!contest->order && a != b)
		contest->order = strcmp(intern_text(contest->strings, a), intern_text(contest->strings, b));
}

static void contest_lines(struct contest *contest, const struct function_map *a, const struct function_map *b)
{
	contest_number(contest, a->lines.n, b->lines.n);
	for (size_t i = 0; !contest->order && i < a->lines.n; i++) {
		const struct line_row *x = &a->lines.at[i], *y = &b->lines.at[i];
		contest_number(contest, x->offset, y->offset);
		contest_text(contest, x->file, y->file);
		contest_number(contest, x->line, y->line);
		contest_number(contest, x->column, y->column);
		contest_number(contest, x->is_statement, y->is_statement);
	}
}

static void contest_inlines(struct contest *contest, const struct function_map *a,
			    const struct function_map *b)
{
	contest_number(contest, a->inlines.n, b->inlines.n);
	for (size_t i = 0; !contest->order && i < a->inlines.n; i++) {
		const struct inline_call *x = &a->inlines.at[i], *y = &b->inlines.at[i];
		contest_number(contest, x->parent, y->parent);
		contest_text(contest, x->name, y->name);
		contest_text(contest, x->linkage, y->linkage);
		contest_text(contest, x->decl_file, y->decl_file);
		contest_number(contest, x->decl_line, y->decl_line);
		contest_text(contest, x->call_file, y->call_file);
		contest_number(contest, x->call_line, y->call_line);
		contest_number(contest, x->call_column, y->call_column);
	}
	contest_number(contest, a->ranges.n, b->ranges.n);
	for (size_t i = 0; !contest->order && i < a->ranges.n; i++) {
		const struct inline_range *x = &a->ranges.at[i], *y = &b->ranges.at[i];
		contest_number(contest, x->start, y->start);
		contest_number(contest, x->end, y->end);
		contest_number(contest, x->call, y->call);
	}
}

/* The better source, then the larger one; then by an arbitrary but fixed rule. */
int merge_contest_maps(const struct intern *strings, const struct function_map *a,
		       const struct function_map *b)
{
	struct contest contest = { .strings = strings };

	contest_number(&contest, (uint64_t)merge_goodness(b), (uint64_t)merge_goodness(a));
	contest_number(&contest, b->size, a->size);
	contest_number(&contest, a->source, b->source);
	contest_text(&contest, a->name, b->name);
	contest_text(&contest, a->linkage, b->linkage);
	contest_text(&contest, a->decl_file, b->decl_file);
	contest_number(&contest, a->decl_line, b->decl_line);
	contest_number(&contest, a->end_line, b->end_line);
	contest_text(&contest, a->scope, b->scope);
	contest_number(&contest, a->parent_vaddr, b->parent_vaddr);
	contest_lines(&contest, a, b);
	contest_inlines(&contest, a, b);
	return contest.order;
}

static void contest_pieces(struct contest *contest, const struct structure *a, const struct structure *b)
{
	contest_number(contest, a->ranges.n, b->ranges.n);
	for (size_t i = 0; !contest->order && i < a->ranges.n; i++) {
		contest_number(contest, a->ranges.at[i].start, b->ranges.at[i].start);
		contest_number(contest, a->ranges.at[i].len, b->ranges.at[i].len);
		contest_number(contest, a->ranges.at[i].scope, b->ranges.at[i].scope);
	}
	contest_number(contest, a->pieces.n, b->pieces.n);
	for (size_t i = 0; !contest->order && i < a->pieces.n; i++) {
		contest_number(contest, a->pieces.at[i].scope, b->pieces.at[i].scope);
		contest_number(contest, a->pieces.at[i].header, b->pieces.at[i].header);
		contest_number(contest, a->pieces.at[i].n_blocks, b->pieces.at[i].n_blocks);
		contest_number(contest, a->pieces.at[i].flags, b->pieces.at[i].flags);
		contest_number(contest, a->pieces.at[i].start, b->pieces.at[i].start);
		contest_number(contest, a->pieces.at[i].len, b->pieces.at[i].len);
		contest_number(contest, a->pieces.at[i].n_calls, b->pieces.at[i].n_calls);
		contest_number(contest, a->pieces.at[i].width, b->pieces.at[i].width);
	}
}

int merge_contest_structures(const struct intern *strings, const struct structure *a,
			     const struct structure *b)
{
	struct contest contest = { .strings = strings };

	contest_number(&contest, b->scopes.n, a->scopes.n); /* the one with more information */
	for (size_t i = 0; !contest.order && i < a->scopes.n; i++) {
		const struct static_scope *x = &a->scopes.at[i], *y = &b->scopes.at[i];
		contest_number(&contest, x->parent, y->parent);
		contest_number(&contest, x->kind, y->kind);
		contest_number(&contest, x->flags, y->flags);
		contest_text(&contest, x->name, y->name);
		contest_text(&contest, x->linkage, y->linkage);
		contest_text(&contest, x->file, y->file);
		contest_number(&contest, x->line, y->line);
		contest_number(&contest, x->end_line, y->end_line);
		contest_text(&contest, x->call_file, y->call_file);
		contest_number(&contest, x->call_line, y->call_line);
		contest_number(&contest, x->vaddr, y->vaddr);
	}
	contest_pieces(&contest, a, b);
	return contest.order;
}
