/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are the leaves of a tree, and its last scopes: they can be merged or removed without touching the
 * others.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "structure/scope.h"

/* Moves the costs of each line to `to`, by line. */
static void scope_lines_move(struct scope_tree *tree, size_t first, const uint32_t *to)
{
	for (size_t i = 0; i < tree->values.n; i++)
		if (tree->values.at[i].scope >= first)
			tree->values.at[i].scope = to[tree->values.at[i].scope - first];
	for (size_t i = 0; i < tree->durations.n; i++)
		if (tree->durations.at[i].scope >= first)
			tree->durations.at[i].scope = to[tree->durations.at[i].scope - first];
	tree->values.n = scope_values_settle(tree->values.at, tree->values.n, tree->scopes.n);
}

void scope_tree_drop_lines(struct scope_tree *tree)
{
	size_t first = scope_tree_n_nodes(tree), n = tree->scopes.n - first;
	CLEANUP(freep) uint32_t *to = alloc_zero(n + 1, sizeof(*to));

	tree->has_addresses = false;
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		to[i] = tree->scopes.at[first + i].parent;
	tree->frames.n = tree->scopes.at[first].frame; /* those of lines come last */
	tree->scopes.n = first;
	scope_lines_move(tree, first, to);
}

/* The number for a key, or `next` if it is new. */
static uint32_t scope_lines_number(struct map *map, uint64_t key, size_t next)
{
	uint32_t number = map_find(map, key);

	if (number == MAP_NONE)
		map_put(map, key, number = (uint32_t)next);
	return number;
}

/* Creates the frames of lines again, in the order of the remaining lines. */
static void scope_lines_renumber(struct scope_tree *tree, size_t first, size_t first_frame)
{
	VEC(struct scope_frame) frames = { 0 };
	struct map numbers = { 0 };

	for (size_t i = first; i < tree->scopes.n; i++) {
		struct scope_row *line = &tree->scopes.at[i];
		uint32_t number = scope_lines_number(&numbers, line->frame, frames.n);
		if (number == frames.n)
			vec_push(&frames, tree->frames.at[line->frame]);
		line->frame = (uint32_t)first_frame + number;
	}
	for (size_t i = 0; i < frames.n; i++)
		tree->frames.at[first_frame + i] = frames.at[i];
	tree->frames.n = first_frame + frames.n;
	vec_done(&frames);
	map_done(&numbers);
}

void scope_tree_merge_addresses(struct scope_tree *tree)
{
	size_t first = scope_tree_n_nodes(tree), n = tree->scopes.n - first, n_places = 0;
	CLEANUP(freep) uint32_t *to = alloc_zero(n + 1, sizeof(*to));
	struct map places = { 0 }; /* file << 32 | line -> number */
	struct map lines = { 0 };  /* scope around it << 32 | number of its place -> line */

	tree->has_addresses = false;
	if (n == 0)
		return;
	size_t first_frame = tree->scopes.at[first].frame;
	tree->scopes.n = first;
	for (size_t i = 0; i < n; i++) {
		struct scope_row line = tree->scopes.at[first + i];
		const struct scope_frame *frame = &tree->frames.at[line.frame];
		uint32_t place =
			scope_lines_number(&places, (uint64_t)frame->file << 32 | frame->line, n_places);
		n_places += place == n_places;
		to[i] = line.parent; /* an address without a line */
		if (frame->line)
			to[i] = scope_lines_number(&lines, (uint64_t)line.parent << 32 | place,
						   tree->scopes.n);
		if (to[i] == tree->scopes.n)
			tree->scopes.at[tree->scopes.n++] = line;
	}
	scope_lines_renumber(tree, first, first_frame);
	scope_lines_move(tree, first, to);
	map_done(&places);
	map_done(&lines);
}
