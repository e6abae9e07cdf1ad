/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits: exit code that is written inside a loop.
 *
 * A `return`, a `throw` or a call of abort between the lines of a loop is not part of any cycle. But in the
 * source it is in the loop, so users expect its cost there. Code that is entered from a loop, and whose lines
 * are between the loop's first and last line, belongs to the loop. This is so even if it is also entered from
 * elsewhere: the first iteration may have been peeled off.
 */
#include "structure/nest.h"
#include "structure/predecessors.h"

#define MAX_ROUNDS 4 /* blocks of one exit that are not in the order of the code */

struct exits {
	struct nest *nest;
	struct predecessors before;
};

/* The loop that control leaves at the end of a block. */
static uint32_t loop_behind(const struct nest *nest, uint32_t block)
{
	uint32_t end = nest->atoms->first.at[block + 1];

	return end > nest->atoms->first.at[block] ? nest->loop_of.at[end - 1] : LOOP_NONE;
}

/* The innermost loop that contains all predecessors of the block which are in a loop inside `own`. */
static uint32_t loop_before(const struct exits *exits, uint32_t block, uint32_t own)
{
	uint32_t found = own;

	for (uint32_t i = exits->before.first[block]; i < exits->before.first[block + 1]; i++) {
		uint32_t loop = loop_behind(exits->nest, exits->before.blocks[i]);
		if (loop == own || !nest_holds(exits->nest, own, loop))
			continue;
		found = found == own ? loop : nest_common(exits->nest, found, loop);
	}
	return found;
}

static bool exits_is_inside(const struct nest *nest, uint32_t loop, const struct atom *atom)
{
	const struct source_loop *l = &nest->loops.at[loop];
	struct native_line line = nest_native_line(nest, l->context, atom);

	return line.file == l->file && line.line > l->line && line.line <= l->end_line;
}

/* Moves the atoms of a block into `loop` or one around it, but not out of `own`. True if any was moved. */
static bool pull(struct nest *nest, uint32_t block, uint32_t loop, uint32_t own)
{
	bool any = false;

	for (uint32_t i = nest->atoms->first.at[block]; i < nest->atoms->first.at[block + 1]; i++) {
		uint32_t to = loop;
		while (to != own && !exits_is_inside(nest, to, &nest->atoms->list.at[i]))
			to = nest->loops.at[to].parent;
		if (to == nest->loop_of.at[i] || !nest_holds(nest, nest->loop_of.at[i], to))
			continue;
		nest->loop_of.at[i] = to;
		any = true;
	}
	return any;
}

void normalize_exits(struct nest *nest)
{
	struct exits exits = { .nest = nest };
	bool any = true;

	if (nest->loops.n == 0)
		return;
	predecessors_find(nest->cfg, &exits.before);
	for (unsigned round = 0; any && round < MAX_ROUNDS; round++) {
		any = false;
		for (uint32_t b = 0; b < nest->cfg->n_blocks; b++) {
			uint32_t machine = nest->machine->innermost.at[b];
			uint32_t own = machine == LOOP_NONE ? LOOP_NONE : nest->source.at[machine];
			uint32_t loop = loop_before(&exits, b, own);
			if (loop != own)
				any |= pull(nest, b, loop, own);
		}
	}
	predecessors_done(&exits.before);
}
