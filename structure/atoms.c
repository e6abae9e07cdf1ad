/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/atoms.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/search.h"

static const struct function_map *atoms_map_at(const struct function_map *const *maps, size_t n,
					       uint64_t vaddr)
{
	for (size_t i = 0; i < n; i++)
		if (vaddr >= maps[i]->vaddr && vaddr - maps[i]->vaddr < maps[i]->size)
			return maps[i];
	return NULL;
}

/* The offset after `offset` at which the line row or the inlined call changes next. */
static uint32_t next_change(const struct function_map *map, uint32_t offset, const struct line_row *row)
{
	uint32_t next = UINT32_MAX;

	while (row && row + 1 < map->lines.at + map->lines.n && row[1].block != row->block &&
	       row[1].line == row->line && row[1].file == row->file &&
	       row[1].is_statement == row->is_statement)
		row++;
	if (row && row + 1 < map->lines.at + map->lines.n)
		next = row[1].offset;
	else if (!row && map->lines.n && map->lines.at[0].offset > offset)
		next = map->lines.at[0].offset;
	size_t first = search_first(i, map->ranges.n, map->ranges.at[i].end > offset);
	if (first < map->ranges.n) {
		const struct inline_range *range = &map->ranges.at[first];
		uint32_t edge = range->start > offset ? range->start : range->end;
		next = edge < next ? edge : next;
	}
	return next;
}

/*
 * If an inlined call ends and the compiler gives no position for the following code, the last line of the
 * call continues. It cannot be right if it is above the name of the procedure.
 */
static bool is_left_over(struct contexts *contexts, const struct function_map *map, const struct atom *atom,
			 const struct line_row *row)
{
	const struct context *own = &contexts->list.at[atom->context];

	if (atom->loop == LOOP_NONE || !contexts->describes_inlines || row->file != own->file ||
	    row->line >= own->line || row == map->lines.at)
		return false;
	return row[-1].line == row->line && row[-1].file == row->file &&
	       contexts_of(contexts, map, row[-1].offset, &row[-1]) != atom->context;
}

/* Is it a block of one or two copies, not reached from the preceding code? */
static bool atoms_is_aside(const struct cfg *cfg, uint32_t block)
{
	const struct cfg_block *own = &cfg->blocks[block], *before = block ? own - 1 : NULL;
	bool leads_on = own->end_kind == BLOCK_RUNS_ON || own->end_kind == BLOCK_JUMPS;

	return before && leads_on && own->n_insns <= 2 && !own->n_calls &&
	       (!before->is_reached ||
		(before->end_kind != BLOCK_RUNS_ON && before->end_kind != BLOCK_BRANCHES));
}

/* Does the position at an offset only continue that of the preceding code? */
static bool atoms_goes_on(const struct function_map *map, const struct line_row *row, uint32_t offset)
{
	if (row->offset < offset)
		return true;
	return row > map->lines.at && !row->is_statement && row[-1].line == row->line &&
	       row[-1].file == row->file;
}

/* Records the numbers of a line's blocks from a row up to an offset. */
static void atoms_note_blocks(struct atoms *atoms, const struct function_map *map, const struct line_row *row,
			      uint64_t end, uint32_t block)
{
	const struct line_row *behind = map->lines.at + map->lines.n;

	do
		if (row->block)
			vec_push(&atoms->line_blocks, ((struct line_block){ block, row->line, row->block }));
	while (++row < behind && row->offset < end);
}

/* How much of the code at the end of a block says nothing: padding, and a jump, which has the line of
 * whatever is before it. */
static uint32_t atoms_weightless(const struct cfg_block *block, uint32_t most)
{
	uint64_t len = block->end_kind == BLOCK_JUMPS ? block->end - block->last : block->n_padding;

	return len < most ? (uint32_t)len : most;
}

static void cut_block(struct atoms *atoms, const struct cfg *cfg, uint32_t index, uint32_t loop,
		      const struct function_map *map, struct contexts *contexts)
{
	const struct cfg_block *block = &cfg->blocks[index];
	bool is_aside = loop != LOOP_NONE && atoms_is_aside(cfg, index);
	uint64_t at = block->start;

	while (at < block->end) {
		struct atom atom = { .start = at, .block = index, .loop = loop };
		uint64_t end = block->end;
		if (map && at - map->vaddr < map->size) {
			uint32_t offset = (uint32_t)(at - map->vaddr);
			const struct line_row *row = function_map_line(map, offset);
			uint32_t next = next_change(map, offset, row);
			if (next > offset && next < end - map->vaddr)
				end = map->vaddr + next;
			atom.context = contexts_of(contexts, map, offset, row);
			if (row && !is_left_over(contexts, map, &atom, row)) {
				atom.file = row->file;
				atom.line = row->line;
				atom.column = row->column;
				atom.is_run_on =
					is_aside && at == block->start && atoms_goes_on(map, row, offset);
				if (loop != LOOP_NONE)
					atoms_note_blocks(atoms, map, row, end - map->vaddr, index);
			}
		}
		atom.len = (uint32_t)(end - at);
		atom.weight = atom.len;
		if (end == block->end)
			atom.weight -= atoms_weightless(block, atom.len);
		vec_push(&atoms->list, atom);
		at = end;
	}
}

/*
 * A macro that generates a whole function leaves it a single source position, that of its name: it neither
 * distinguishes loops and statements, nor shows that two are the same.
 */
static void atoms_blur(struct atoms *atoms, const struct cfg *cfg, const struct contexts *contexts)
{
	const struct context *own = &contexts->list.at[0];
	uint32_t at = atoms->first.at[cfg->entry], end = atoms->first.at[cfg->entry + 1];

	while (at < end && !atoms->list.at[at].line)
		at++;
	struct atom opening = at < end ? atoms->list.at[at] : (struct atom){ 0 };
	if (!opening.line || !opening.column || opening.context || opening.line != own->line ||
	    opening.file != own->file)
		return;
	for (size_t i = 0; i < atoms->list.n; i++) {
		struct atom *atom = &atoms->list.at[i];
		atom->is_blurred = atom->line == opening.line && atom->column == opening.column &&
				   atom->context == 0 && atom->file == opening.file;
	}
}

/*
 * For code without a counterpart in the source, compilers use the line that opens the procedure: clang
 * without a column, GCC with that of an opening brace on a separate line. In a loop, such code has no line.
 */
static void atoms_clear_openings(struct atoms *atoms, const struct contexts *contexts)
{
	const struct context *own = &contexts->list.at[0];
	bool has_columns = false;

	for (size_t i = 0; !has_columns && i < atoms->list.n; i++)
		has_columns = atoms->list.at[i].column;
	for (size_t i = 0; has_columns && own->line && i < atoms->list.n; i++) {
		struct atom *atom = &atoms->list.at[i];
		bool is_brace = atom->column == 1 && atom->line == own->line + 1;
		if (atom->loop != LOOP_NONE && !atom->context && atom->file == own->file &&
		    (is_brace || (!atom->column && (atom->line == own->line || atom->line == own->line + 1))))
			atom->file = atom->line = 0;
	}
}

static uint64_t atoms_key(const struct atom *atom)
{
	return hash_u64(hash_u64((uint64_t)atom->context << 32 | atom->file) ^ (uint64_t)atom->line << 32 ^
			(uint64_t)atom->column << 16) ^
	       atom->loop;
}

/*
 * Compilers give no position for some instructions, mostly copies between registers. After a jump, such code
 * seems to continue the line of the code that happens to precede it. It gets no line if nothing else in the
 * loop is on that line, and other code in the loop has a line.
 */
static void atoms_clear_run_ons(struct atoms *atoms)
{
	struct map seen = { 0 };
	bool any = false;

	for (size_t i = 0; !any && i < atoms->list.n; i++)
		any = atoms->list.at[i].is_run_on;
	for (size_t i = 0; any && i < atoms->list.n; i++) {
		const struct atom *atom = &atoms->list.at[i];
		if (atom->loop == LOOP_NONE || !atom->line || atom->is_run_on)
			continue;
		map_put(&seen, atoms_key(atom), 1);
		map_put(&seen, hash_u64(atom->loop), 1);
	}
	for (size_t i = 0; any && i < atoms->list.n; i++) {
		struct atom *atom = &atoms->list.at[i];
		if (atom->is_run_on && map_find(&seen, atoms_key(atom)) == MAP_NONE &&
		    map_find(&seen, hash_u64(atom->loop)) != MAP_NONE)
			atom->file = atom->line = atom->column = 0;
	}
	map_done(&seen);
}

void atoms_cut(struct atoms *atoms, const struct cfg *cfg, const struct loop_forest *loops,
	       const struct function_map *const *maps, size_t n_maps, struct contexts *contexts)
{
	vec_clear(&atoms->list);
	vec_clear(&atoms->first);
	vec_clear(&atoms->line_blocks);
	for (uint32_t i = 0; i < cfg->n_blocks; i++) {
		const struct cfg_block *block = &cfg->blocks[i];
		vec_push(&atoms->first, (uint32_t)atoms->list.n);
		if (block->is_reached)
			cut_block(atoms, cfg, i, loops->innermost.at[i],
				  atoms_map_at(maps, n_maps, block->start), contexts);
	}
	vec_push(&atoms->first, (uint32_t)atoms->list.n);
	if (loops->loops.n) {
		atoms_clear_openings(atoms, contexts);
		atoms_clear_run_ons(atoms);
	}
	if (cfg->entry < cfg->n_blocks)
		atoms_blur(atoms, cfg, contexts);
}

static bool atoms_are_one(const struct atom *a, const struct atom *b)
{
	return a->context == b->context && a->file == b->file && a->line == b->line &&
	       a->column == b->column && a->is_blurred == b->is_blurred &&
	       (!a->is_blurred || a->block == b->block);
}

void atoms_number(struct atoms *atoms)
{
	size_t cap = 16, mask;
	struct atom *list = atoms->list.at;

	while (cap < atoms->list.n * 2)
		cap *= 2;
	mask = cap - 1;
	uint32_t *slots = alloc_resize(NULL, cap, sizeof(*slots)); /* of the first atom of each statement */
	memset(slots, 0xff, cap * sizeof(*slots));
	atoms->n_statements = 0;
	for (uint32_t i = 0; i < atoms->list.n; i++) {
		struct atom *atom = &list[i];
		uint64_t place = (uint64_t)atom->context << 44 ^ (uint64_t)atom->file << 32 ^
				 (uint64_t)atom->column << 20 ^ atom->line;
		place ^= atom->is_blurred ? (atom->block + 1ull) << 40 : 0;
		size_t slot = (size_t)hash_u64(place) & mask;
		while (slots[slot] != UINT32_MAX && !atoms_are_one(&list[slots[slot]], atom))
			slot = (slot + 1) & mask;
		if (slots[slot] == UINT32_MAX) {
			slots[slot] = i;
			atom->statement = atoms->n_statements++;
		} else {
			atom->statement = list[slots[slot]].statement;
		}
	}
	free(slots);
}

void atoms_done(struct atoms *atoms)
{
	vec_done(&atoms->list);
	vec_done(&atoms->first);
	vec_done(&atoms->line_blocks);
}

const struct atom *atoms_at(const struct atoms *atoms, uint32_t block, uint64_t vaddr)
{
	for (uint32_t i = atoms->first.at[block]; i < atoms->first.at[block + 1]; i++)
		if (vaddr - atoms->list.at[i].start < atoms->list.at[i].len)
			return &atoms->list.at[i];
	return NULL;
}
