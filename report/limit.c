/* SPDX-License-Identifier: Apache-2.0 */
#include "report/limit.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "report/number.h"
#include "report/tree/totals.h"

#define FOLDED UINT32_MAX

/* The number of scopes that cost more than this. */
static size_t count_above(const struct totals *totals, size_t n, uint64_t value)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += totals_of(totals, i, 0) > value;
	return count;
}

/* The lowest inclusive value that at most max scopes exceed. */
static uint64_t threshold(const struct totals *totals, size_t n, uint32_t max)
{
	return search_first(value, n ? totals_of(totals, 0, 0) : 0, count_above(totals, n, value) <= max);
}

struct limiter {
	struct scope_tree *tree;
	struct totals totals;
	uint64_t least;             /* scopes that cost more than this are kept */
	uint32_t *place;            /* old scope -> new scope, where its values go */
	VEC(struct scope_row) rows; /* of an "other": frame is FOLDED, call the number of scopes in it */
	VEC(uint32_t) other;        /* new scope -> its "other" child, FOLDED = none yet */
};

static uint32_t limit_add_row(struct limiter *limiter, struct scope_row row)
{
	vec_push(&limiter->rows, row);
	vec_push(&limiter->other, FOLDED);
	return (uint32_t)limiter->rows.n - 1;
}

static uint32_t other_below(struct limiter *limiter, uint32_t parent)
{
	if (limiter->other.at[parent] == FOLDED) {
		uint32_t id = limit_add_row(limiter, (struct scope_row){ parent, FOLDED, 0 });
		limiter->other.at[parent] = id;
		limiter->other.at[id] = id; /* everything below it stays there */
	}
	uint32_t id = limiter->other.at[parent];
	limiter->rows.at[id].call++;
	return id;
}

/* A child's inclusive value never exceeds its parent's, so the parents of kept scopes are kept. */
static void move_scope(struct limiter *limiter, size_t scope, bool is_kept)
{
	struct scope_row row = limiter->tree->scopes.at[scope];

	row.parent = scope ? limiter->place[row.parent] : 0;
	limiter->place[scope] = is_kept ? limit_add_row(limiter, row) : other_below(limiter, row.parent);
}

static bool is_folded(const struct limiter *limiter, uint32_t place)
{
	return limiter->rows.at[place].frame == FOLDED;
}

/* A line is kept with its scope. It is not counted, because it is not a context. */
static void move_line(struct limiter *limiter, size_t line)
{
	struct scope_row row = limiter->tree->scopes.at[line];

	row.parent = limiter->place[row.parent];
	limiter->place[line] = is_folded(limiter, row.parent) ? row.parent : limit_add_row(limiter, row);
}

static void limit_move_scopes(struct limiter *limiter, size_t n_nodes)
{
	/* What was folded during the recording is added to what is folded now. */
	for (size_t i = 0; i < n_nodes; i++)
		move_scope(limiter, i,
			   i == 0 || (totals_of(&limiter->totals, i, 0) > limiter->least &&
				      !limit_is_other(scope_frame(limiter->tree, i))));
	for (size_t i = n_nodes; i < limiter->tree->scopes.n; i++)
		move_line(limiter, i);
}

/* The remaining frames, in the order of the scopes that show them. */
static void renumber_frames(struct limiter *limiter)
{
	struct scope_tree *tree = limiter->tree, frames = { 0 };
	uint32_t *moved_to = alloc_resize(NULL, tree->frames.n, sizeof(uint32_t));
	struct scope_maker maker;

	for (size_t i = 0; i < tree->frames.n; i++)
		moved_to[i] = FOLDED;
	scope_maker_init(&maker, &frames);
	for (size_t i = 0; i < limiter->rows.n; i++) {
		struct scope_row *row = &limiter->rows.at[i];
		if (row->frame == FOLDED) {
			row->frame = scope_maker_frame(&maker, (struct scope_frame){ .kind = SCOPE_UNKNOWN,
										     .image = IMAGE_NONE,
										     .end_line = row->call });
			row->call = 0;
			continue;
		}
		if (moved_to[row->frame] == FOLDED)
			moved_to[row->frame] = scope_maker_frame(&maker, tree->frames.at[row->frame]);
		row->frame = moved_to[row->frame];
	}
	scope_maker_done(&maker);
	vec_done(&frames.calls);
	vec_done(&tree->frames);
	free(moved_to);
	tree->frames.at = frames.frames.at;
	tree->frames.n = frames.frames.n;
	tree->frames.cap = frames.frames.cap;
}

void scope_tree_limit(struct scope_tree *tree, uint32_t metric, uint32_t max_scopes)
{
	size_t n_nodes = scope_tree_n_nodes(tree);
	struct limiter limiter = { .tree = tree };

	totals_init(&limiter.totals, tree, &(struct totals_options){ .n_scopes = n_nodes, .metric = metric });
	limiter.place = alloc_zero(tree->scopes.n + 1, sizeof(*limiter.place));
	limiter.least = threshold(&limiter.totals, n_nodes, max_scopes);
	limit_move_scopes(&limiter, n_nodes);
	totals_done(&limiter.totals);
	for (size_t i = 0; i < tree->values.n; i++)
		tree->values.at[i].scope = limiter.place[tree->values.at[i].scope];
	free(limiter.place);
	vec_done(&limiter.other);
	renumber_frames(&limiter);
	free(tree->scopes.at);
	tree->scopes.at = limiter.rows.at;
	tree->scopes.n = limiter.rows.n;
	tree->scopes.cap = limiter.rows.cap;
	tree->values.n = scope_values_settle(tree->values.at, tree->values.n, tree->scopes.n);
}

bool limit_is_other(const struct scope_frame *frame)
{
	return frame->kind == SCOPE_UNKNOWN && !frame->name && !frame->vaddr;
}

uint64_t limit_count(const struct scope_tree *tree)
{
	uint64_t n = 0;

	for (size_t i = 0; i < tree->scopes.n; i++)
		n += limit_is_other(scope_frame(tree, i)) ? scope_frame(tree, i)->end_line : 0;
	return n;
}

void limit_note(const struct scope_tree *tree, const struct profile *profile, struct text *ret)
{
	uint32_t metric = profile->metrics.n > 1 ? 1 : 0;
	uint64_t n = limit_count(tree), cost = 0, all = 0;
	char count[NUMBER_MAX], share[NUMBER_MAX];

	if (n == 0)
		return;
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (value->metric != metric)
			continue;
		all += value->value;
		cost += limit_is_other(scope_frame(tree, value->scope)) ? value->value : 0;
	}
	text_printf(ret, "%s contexts, %s of %s, are folded into <other>", number_count(n, count),
		    number_percent(number_share(cost, all), share),
		    intern_text(&profile->strings, profile->metrics.at[metric].name));
}
