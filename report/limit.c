/* SPDX-License-Identifier: Apache-2.0 */
#include "report/limit.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "report/number.h"

#define FOLDED UINT32_MAX

static int descending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* The inclusive value a scope must exceed so that at most max scopes do. */
static uint64_t threshold(const uint64_t *inclusive, size_t n, uint32_t n_metrics, uint32_t metric, uint32_t max)
{
	uint64_t *sorted = alloc_resize(NULL, n, sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		sorted[i] = inclusive[i * n_metrics + metric];
	qsort(sorted, n, sizeof(*sorted), descending);
	uint64_t least = max < n ? sorted[max] : 0;
	free(sorted);
	return least;
}

struct limiter {
	const struct scope_tree *tree;
	struct scope_tree *to;
	uint32_t *place; /* old scope -> new scope, where its values go */
	uint32_t *other; /* new scope -> its "other" child, FOLDED = none yet */
	size_t other_cap;
};

static void note_scope(struct limiter *limiter, uint32_t scope)
{
	if (scope >= limiter->other_cap) {
		limiter->other_cap = limiter->other_cap ? limiter->other_cap * 2 : 1024;
		limiter->other = alloc_resize(limiter->other, limiter->other_cap, sizeof(uint32_t));
	}
	limiter->other[scope] = FOLDED;
}

static uint32_t keep(struct limiter *limiter, const struct scope *scope)
{
	uint32_t id = (uint32_t)limiter->to->scopes.n;

	vec_push(&limiter->to->scopes, *scope);
	note_scope(limiter, id);
	return id;
}

static uint32_t other_below(struct limiter *limiter, uint32_t parent)
{
	if (limiter->other[parent] == FOLDED) {
		struct scope other = { .parent = parent, .kind = SCOPE_UNKNOWN, .relation = RELATION_CALL, .image = IMAGE_NONE };
		uint32_t id = keep(limiter, &other);
		limiter->other[parent] = id;
		limiter->other[id] = id; /* what is below stays there */
	}
	uint32_t id = limiter->other[parent];
	limiter->to->scopes.at[id].end_line++;
	return id;
}

/* Values of folded scopes have met: add them up. */
static void move_values(const struct limiter *limiter)
{
	struct scope_tree *to = limiter->to;

	vec_reserve(&to->values, limiter->tree->values.n);
	for (size_t i = 0; i < limiter->tree->values.n; i++) {
		struct scope_value value = limiter->tree->values.at[i];
		value.scope = limiter->place[value.scope];
		to->values.at[i] = value;
	}
	to->values.n = limiter->tree->values.n;
	to->values.n = scope_values_settle(to->values.at, to->values.n);
}

void scope_tree_limit(const struct scope_tree *tree, uint32_t metric, uint32_t max_scopes, struct scope_tree *ret)
{
	size_t n = tree->scopes.n;
	uint64_t *self = scope_tree_self(tree), *inclusive = scope_tree_inclusive(tree, self);
	uint64_t least = threshold(inclusive, n, tree->n_metrics, metric, max_scopes);
	struct limiter limiter = { .tree = tree, .to = ret, .place = alloc_resize(NULL, n, sizeof(uint32_t)) };

	*ret = (struct scope_tree){ .n_metrics = tree->n_metrics };
	for (size_t i = 0; i < n; i++) {
		struct scope scope = tree->scopes.at[i];
		/* A child's inclusive value never exceeds its parent's, so parents of what stays, stay. */
		if (i == 0 || inclusive[i * tree->n_metrics + metric] > least) {
			scope.parent = i ? limiter.place[scope.parent] : 0;
			limiter.place[i] = keep(&limiter, &scope);
		} else {
			limiter.place[i] = other_below(&limiter, limiter.place[scope.parent]);
		}
	}
	move_values(&limiter);
	free(limiter.place);
	free(limiter.other);
	free(self);
	free(inclusive);
}

static bool is_other(const struct scope *scope)
{
	return scope->kind == SCOPE_UNKNOWN && !scope->name && !scope->vaddr;
}

void limit_note(const struct scope_tree *tree, const struct profile *profile, struct text *ret)
{
	uint32_t metric = profile->metrics.n > 1 ? 1 : 0;
	uint64_t n = 0, cost = 0, all = 0;
	char count[NUMBER_MAX], share[NUMBER_MAX];

	for (size_t i = 0; i < tree->scopes.n; i++)
		n += is_other(&tree->scopes.at[i]) ? tree->scopes.at[i].end_line : 0;
	if (n == 0)
		return;
	for (size_t i = 0; i < tree->values.n; i++) {
		const struct scope_value *value = &tree->values.at[i];
		if (value->metric != metric)
			continue;
		all += value->value;
		cost += is_other(&tree->scopes.at[value->scope]) ? value->value : 0;
	}
	text_printf(ret, "%s contexts, %s of %s, are folded into <other>", number_count(n, count),
		    number_percent(number_share(cost, all), share), intern_text(&profile->strings, profile->metrics.at[metric].name));
}
