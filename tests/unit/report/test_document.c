/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document is computed from the tree, without a copy of it: compared with one computed from a copy.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/limit.h"
#include "report/tree/document.h"
#include "tests/support/made_profiles.h"
#include "tests/support/tree_sums.h"
#include "tests/test.h"

struct world {
	struct profile *profile;
	struct scope_tree tree;
	struct document document;
	struct document_cursor cursor;
	uint64_t *self, *inclusive;     /* [scope * n_metrics + metric] */
	VEC(struct scope_value) values; /* as expected from the document */
};

static void copy_values(struct world *w)
{
	for (size_t i = 0; i < w->tree.values.n; i++) {
		struct scope_value value = w->tree.values.at[i];
		if (scope_kind(&w->tree, value.scope) == SCOPE_LINE)
			value.scope = w->tree.scopes.at[value.scope].parent;
		vec_push(&w->values, value);
	}
	w->values.n = scope_values_settle(w->values.at, w->values.n, w->tree.scopes.n);
}

static void world_init(struct world *w, size_t seed, uint32_t max_scopes)
{
	struct fuse_options options = { .calls = FUSE_CALLS_BY_LINE, .lines = true };

	*w = (struct world){ .profile = large_profile(1000 + 300 * seed) };
	for (size_t i = 0; i < w->profile->cct.values.n; i += 7)
		w->profile->cct.values.at[i].value += (uint64_t)1 << (28 + i % 8); /* sums beyond 32 bits */
	profile_take_tree(w->profile, &options, &w->tree);
	if (max_scopes)
		scope_tree_limit(&w->tree, 0, max_scopes);
	document_init(&w->document, w->profile, &w->tree);
	document_cursor_init(&w->cursor, &w->document);
	w->self = sums_self(&w->tree);
	w->inclusive = sums_inclusive(&w->tree, w->self);
	copy_values(w);
}

static void world_done(struct world *w)
{
	document_cursor_done(&w->cursor);
	document_done(&w->document);
	scope_tree_done(&w->tree);
	profile_free(w->profile);
	free(w->self);
	free(w->inclusive);
	vec_done(&w->values);
}
#define WORLD CLEANUP(world_done) struct world

static void check_value(struct world *w, size_t i)
{
	struct scope_value value = document_value(&w->cursor, i);

	CHECK_EQ(value.scope, w->values.at[i].scope);
	CHECK_EQ(value.thread, w->values.at[i].thread);
	CHECK_EQ(value.metric, w->values.at[i].metric);
	CHECK_EQ(value.value, w->values.at[i].value);
}

static void check_node(struct world *w, size_t node)
{
	for (uint32_t m = 0; m < w->document.n_metrics; m++) {
		uint64_t self = w->self[node * w->document.n_metrics + m];
		for (size_t i = w->document.n_nodes; i < w->tree.scopes.n; i++)
			if (w->tree.scopes.at[i].parent == node)
				self += w->self[i * w->document.n_metrics + m];
		CHECK_EQ(document_self(&w->cursor, node, m), self);
		CHECK_EQ(document_inclusive(&w->document, node, m),
			 w->inclusive[node * w->document.n_metrics + m]);
	}
}

static void check_document(struct world *w)
{
	uint32_t seed = 1;

	CHECK_EQ(w->document.n_values, w->values.n);
	CHECK(w->document.n_points > 0);
	CHECK(w->document.totals.large.n > 0);
	for (size_t i = 0; i < w->values.n; i++) {
		check_value(w, i);
		check_value(w, i ? i - 1 : 0);
	}
	for (size_t i = 0; i < w->document.n_nodes; i++)
		check_node(w, i);
	for (size_t i = 0; i < 500; i++) { /* random access */
		seed = seed * 1664525u + 1013904223u;
		check_value(w, (seed >> 8) % w->values.n);
		check_node(w, (seed >> 8) % w->document.n_nodes);
	}
}

TEST(a_document_has_the_values_and_totals_of_its_tree)
{
	for (uint32_t seed = 1; seed <= 3; seed++) {
		WORLD w;
		world_init(&w, seed, 0);
		check_document(&w);
	}
}

TEST(a_document_of_a_limited_tree_has_them_too)
{
	WORLD whole, w;

	world_init(&whole, 4, 0);
	world_init(&w, 4, 1200);
	check_document(&w);
	CHECK(w.tree.scopes.n < whole.tree.scopes.n);
	for (uint32_t m = 0; m < w.document.n_metrics; m++)
		CHECK_EQ(document_inclusive(&w.document, 0, m), document_inclusive(&whole.document, 0, m));
	for (size_t i = 0; i < w.tree.scopes.n; i++) {
		CHECK_EQ(scope_kind(&w.tree, i) == SCOPE_LINE, i >= w.document.n_nodes);
		CHECK(i == 0 || w.tree.scopes.at[i].parent < i);
		CHECK(i <= w.document.n_nodes ||
		      w.tree.scopes.at[i - 1].parent <= w.tree.scopes.at[i].parent);
	}
}

TEST(points_are_the_values_of_lines_in_order_of_nodes)
{
	WORLD w;
	uint32_t last = 0;

	world_init(&w, 5, 0);
	for (size_t i = 0; i < w.document.n_points; i++) {
		struct document_point point = document_point(&w.document, i);
		CHECK(point.node < w.document.n_nodes && point.node >= last);
		CHECK(point.line > 0);
		last = point.node;
	}
}
