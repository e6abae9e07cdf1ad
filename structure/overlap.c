/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap: copies of a loop that share no statement.
 *
 * A vector body may have only one source position, such as that of `i++`, and its remainder all others. Two
 * loops in a source text follow each other or are nested, but never overlap: siblings that start on one line
 * and whose lines and columns overlap are copies of one loop. Inlined code is at the position of its call.
 * Two loops on one line are distinguished by their columns.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "structure/nest.h"

struct span {
	uint32_t parent, context, file, line; /* of the loop */
	uint64_t from, to;                    /* source positions: line and column */
	uint32_t member;                      /* one of its machine loops */
};

static void overlap_widen(struct span *span, uint32_t file, uint32_t line, uint32_t column)
{
	uint64_t at = (uint64_t)line << 32 | column;

	if (file != span->file || line < span->line)
		return;
	span->from = at < span->from ? at : span->from;
	span->to = at > span->to ? at : span->to;
}

/* Adds the position of some code as seen from the loop's procedure. */
static void overlap_add(const struct nest *nest, struct span *span, const struct atom *atom)
{
	const struct contexts *contexts = nest->contexts;

	if (atom->context == span->context) {
		overlap_widen(span, atom->file, atom->line, atom->column);
		return;
	}
	if (contexts_common(contexts, atom->context, span->context) != span->context)
		return;
	const struct context *call =
		&contexts->list.at[contexts_below(contexts, span->context, atom->context)];
	overlap_widen(span, call->call_file, call->call_line, call->call_column);
}

static void overlap_find_spans(const struct nest *nest, struct span *spans)
{
	for (size_t i = 0; i < nest->loops.n; i++) {
		const struct source_loop *l = &nest->loops.at[i];
		spans[i] = (struct span){ .parent = l->parent,
					  .context = l->context,
					  .file = l->file,
					  .line = l->line,
					  .from = UINT64_MAX };
	}
	for (uint32_t i = (uint32_t)nest->source.n; i-- > 0;)
		spans[nest->source.at[i]].member = i;
	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = atom->loop == LOOP_NONE || !atom->line || atom->is_blurred
					? LOOP_NONE
					: nest->source.at[atom->loop];
		for (; loop != LOOP_NONE; loop = nest->loops.at[loop].parent)
			overlap_add(nest, &spans[loop], atom);
	}
}

#define ORDER(a, b, what)           \
	if ((a)->what != (b)->what) \
	return (a)->what < (b)->what ? -1 : 1

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	ORDER(a, b, parent);
	ORDER(a, b, context);
	ORDER(a, b, file);
	ORDER(a, b, line);
	ORDER(a, b, from);
	ORDER(a, b, member);
	return 0;
}

static bool are_siblings(const struct span *a, const struct span *b)
{
	return a->parent == b->parent && a->context == b->context && a->file == b->file &&
	       a->line == b->line && a->line != 0;
}

bool normalize_overlap(struct nest *nest)
{
	struct span *spans = alloc_zero(nest->loops.n, sizeof(*spans));
	bool any = false;
	size_t first = 0; /* of those that overlap; its `to` is that of all of them */

	overlap_find_spans(nest, spans);
	if (nest->loops.n)
		qsort(spans, nest->loops.n, sizeof(*spans), compare_spans);
	for (size_t i = 1; i < nest->loops.n; i++) {
		if (!are_siblings(&spans[first], &spans[i]) || spans[i].from > spans[first].to ||
		    apart_are(nest, spans[first].member, spans[i].member)) {
			first = i;
			continue;
		}
		nest_unite(nest, spans[first].member, spans[i].member);
		spans[first].to = spans[i].to > spans[first].to ? spans[i].to : spans[first].to;
		any = true;
	}
	free(spans);
	return any;
}
