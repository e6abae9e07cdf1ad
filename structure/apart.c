/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart: loops on one line that are no copies of each other.
 *
 * `sum(a) + maxval(a)` is two nests of loops in one statement, to which gfortran gives one column. But it
 * numbers the blocks of a line before it optimises (discriminators), and whoever copies a block copies the
 * number: two loops that have numbered blocks of one line, and none in common, were two from the start.
 */
#include "base/hash.h"
#include "structure/nest.h"

static void apart_merge(struct line_marks *into, const struct line_marks *from)
{
	into->lines |= from->lines;
	for (unsigned i = 0; i < 4; i++)
		into->blocks[i] |= from->blocks[i];
}

void apart_find(struct nest *nest)
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
		uint32_t block = known->number + known->line * 37; /* no two of one line are taken for one */
		marks->lines |= 1ull << (hash_u64(known->line) & 63);
		marks->blocks[block >> 6 & 3] |= 1ull << (block & 63);
	}
	for (size_t i = nest->marks.n; i-- > 0;) /* inside out */
		if (machine->loops.at[i].parent != LOOP_NONE)
			apart_merge(&nest->marks.at[machine->loops.at[i].parent], &nest->marks.at[i]);
}

bool apart_are(struct nest *nest, uint32_t a, uint32_t b)
{
	if (!nest->marks.n)
		return false;
	const struct line_marks *x = &nest->marks.at[nest_leader(nest, a)];
	const struct line_marks *y = &nest->marks.at[nest_leader(nest, b)];
	uint64_t common = 0;
	for (unsigned i = 0; i < 4; i++)
		common |= x->blocks[i] & y->blocks[i];
	return (x->lines & y->lines) && !common;
}

void apart_join(struct nest *nest, uint32_t leader, uint32_t other)
{
	if (nest->marks.n)
		apart_merge(&nest->marks.at[leader], &nest->marks.at[other]);
}
