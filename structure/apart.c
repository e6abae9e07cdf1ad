/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart: loops on one line that are not copies of each other.
 *
 * `sum(a) + maxval(a)` is two nests of loops in one statement, to which gfortran gives one column. But it
 * numbers the blocks of a line before it optimises (discriminators), and copies of a block keep its number.
 * So two loops that have numbered blocks of one line, and none in common, were different loops from the
 * start.
 *
 * The code with which OpenMP combines reductions at the end of a region has the line of the pragma, and so
 * has the head of the region's loop. One is a loop that retries an atomic operation; the other also has code
 * on other lines. Copies of a loop have the same statements and no others: a loop on a single line that calls
 * a function or modifies memory atomically there is not a copy of a loop that does neither on that line.
 */
#include "base/hash.h"
#include "structure/nest.h"

static void apart_merge(struct line_marks *into, const struct line_marks *from)
{
	into->lines |= from->lines;
	for (unsigned i = 0; i < 4; i++)
		into->blocks[i] |= from->blocks[i];
}

static void apart_find_marks(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;

	for (size_t i = 0; nest->atoms->line_blocks.n && i < machine->loops.n; i++)
		vec_push(&nest->marks, (struct line_marks){ 0 });
	for (size_t i = 0; i < nest->atoms->line_blocks.n; i++) {
		const struct line_block *known = &nest->atoms->line_blocks.at[i];
		uint32_t loop = machine->innermost.at[known->block];
		if (loop == LOOP_NONE)
			continue;
		struct line_marks *marks = &nest->marks.at[loop];
		uint32_t block = known->number +
				 known->line * 37; /* so that two blocks of one line get different bits */
		marks->lines |= 1ull << (hash_u64(known->line) & 63);
		marks->blocks[block >> 6 & 3] |= 1ull << (block & 63);
	}
	for (size_t i = nest->marks.n; i-- > 0;) /* from inner to outer loops */
		if (machine->loops.at[i].parent != LOOP_NONE)
			apart_merge(&nest->marks.at[machine->loops.at[i].parent], &nest->marks.at[i]);
}

static uint64_t apart_hash(uint32_t context, uint32_t file, uint32_t line)
{
	return 1ull << (hash_u64(hash_u64((uint64_t)context << 32 | file) ^ line) & 63);
}

static bool apart_acts(const struct nest *nest, const struct atom *atom)
{
	const struct cfg_block *block = &nest->cfg->blocks[atom->block];

	for (uint32_t i = 0; i < block->n_calls; i++)
		if (nest->cfg->calls[block->first_call + i].vaddr - atom->start < atom->len)
			return true;
	return block->atomic && block->atomic - atom->start < atom->len;
}

static void apart_add_line(struct loop_deeds *deeds, uint32_t context, uint32_t file, uint32_t line)
{
	if (!deeds->line) {
		deeds->context = context;
		deeds->file = file;
		deeds->line = line;
	}
	deeds->has_others |= deeds->line != line || deeds->file != file || deeds->context != context;
}

static void apart_add_deeds(struct loop_deeds *into, const struct loop_deeds *from)
{
	if (from->line)
		apart_add_line(into, from->context, from->file, from->line);
	into->has_others |= from->has_others;
	into->acting |= from->acting;
}

static void apart_find_deeds(struct nest *nest)
{
	const struct loop_forest *machine = nest->machine;

	for (size_t i = 0; machine->loops.n > 1 && i < machine->loops.n; i++)
		vec_push(&nest->deeds, (struct loop_deeds){ 0 });
	for (size_t i = 0; nest->deeds.n && i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		if (atom->loop == LOOP_NONE || !atom->line)
			continue;
		apart_add_line(&nest->deeds.at[atom->loop], atom->context, atom->file, atom->line);
		if (apart_acts(nest, atom))
			nest->deeds.at[atom->loop].acting |=
				apart_hash(atom->context, atom->file, atom->line);
	}
	for (size_t i = nest->deeds.n; i-- > 0;) /* from inner to outer loops */
		if (machine->loops.at[i].parent != LOOP_NONE)
			apart_add_deeds(&nest->deeds.at[machine->loops.at[i].parent], &nest->deeds.at[i]);
}

void apart_find(struct nest *nest)
{
	apart_find_marks(nest);
	apart_find_deeds(nest);
}

/* Does it do something on its single line that the other, which has more lines, does not do there? */
static bool apart_by_deeds(const struct loop_deeds *one, const struct loop_deeds *other)
{
	uint64_t line = apart_hash(one->context, one->file, one->line);

	return one->line && !one->has_others && (one->acting & line) && other->has_others &&
	       !(other->acting & line);
}

static bool apart_by_marks(const struct line_marks *x, const struct line_marks *y)
{
	uint64_t common = 0;

	for (unsigned i = 0; i < 4; i++)
		common |= x->blocks[i] & y->blocks[i];
	return (x->lines & y->lines) && !common;
}

bool apart_are(struct nest *nest, uint32_t a, uint32_t b)
{
	a = nest_leader(nest, a);
	b = nest_leader(nest, b);
	if (nest->deeds.n && (apart_by_deeds(&nest->deeds.at[a], &nest->deeds.at[b]) ||
			      apart_by_deeds(&nest->deeds.at[b], &nest->deeds.at[a])))
		return true;
	return nest->marks.n && apart_by_marks(&nest->marks.at[a], &nest->marks.at[b]);
}

void apart_join(struct nest *nest, uint32_t leader, uint32_t other)
{
	if (nest->marks.n)
		apart_merge(&nest->marks.at[leader], &nest->marks.at[other]);
	if (nest->deeds.n)
		apart_add_deeds(&nest->deeds.at[leader], &nest->deeds.at[other]);
}
