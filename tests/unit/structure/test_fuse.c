/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "structure/fuse.h"
#include "tests/support/tree_sums.h"
#include "tests/test.h"

#define N_FUNCTIONS 8
enum { INNER = 4, INNERMOST, FILE_A, FILE_B };

/*
 * Function k starts at 0x1000 * (k + 1) and is 0x100 long; its name is 10 + k. In every odd function
 * the call INNER is inlined at [0x40, 0x80), and INNERMOST into that at [0x60, 0x80).
 */
struct world {
	struct cct cct;
	struct function_map maps[N_FUNCTIONS];
	struct scope_tree tree;
};

static void world_init(struct world *w)
{
	*w = (struct world){ 0 };
	cct_init(&w->cct);
	for (uint32_t k = 0; k < N_FUNCTIONS; k++) {
		struct function_map *map = &w->maps[k];
		uint64_t start = 0x1000 * (k + 1);
		*map = (struct function_map){ .vaddr = start,
					      .size = 0x100,
					      .name = 10 + k,
					      .decl_file = FILE_A,
					      .decl_line = 100 * k,
					      .parent_vaddr = start,
					      .source = MAP_FROM_DWARF };
		for (uint32_t i = 0; i < 16; i++)
			vec_push(&map->lines, ((struct line_row){ 16 * i, FILE_A, 100 * k + i, 0, 1, 0 }));
		if (k % 2 == 0)
			continue;
		vec_push(&map->inlines,
			 ((struct inline_call){ INLINE_NONE, INNER, 0, FILE_B, 1, FILE_A, 100 * k + 3, 0 }));
		vec_push(&map->inlines, ((struct inline_call){ 0, INNERMOST, 0, FILE_B, 2, FILE_B, 7, 0 }));
		vec_push(&map->ranges, ((struct inline_range){ 0x40, 0x60, 0 }));
		vec_push(&map->ranges, ((struct inline_range){ 0x60, 0x80, 1 }));
	}
}

static void world_done(struct world *w)
{
	scope_tree_done(&w->tree);
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		function_map_done(&w->maps[i]);
	cct_done(&w->cct);
}
#define WORLD CLEANUP(world_done) struct world

static void world_fuse(struct world *w, struct fuse_options options)
{
	struct fuse_input input = {
		.cct = &w->cct, .functions = w->maps, .n_functions = N_FUNCTIONS, .n_metrics = 2
	};

	scope_tree_done(&w->tree);
	fuse(&input, &options, &w->tree);
}

/* "10/11/4:7": names from the root down, with lines after colons. */
static void scope_path(const struct scope_tree *tree, uint32_t index, struct text *ret)
{
	const struct scope scope = scope_at(tree, index);

	if (index > 0)
		scope_path(tree, scope.parent, ret);
	if (scope.kind == SCOPE_LINE)
		text_printf(ret, ":%u", scope.line);
	else if (scope.kind == SCOPE_UNKNOWN)
		text_printf(ret, "/?%llx", (unsigned long long)scope.vaddr);
	else if (scope.kind == SCOPE_INCOMPLETE)
		text_printf(ret, "~");
	else if (index > 0)
		text_printf(ret, "/%u", scope.name);
}

static void check_path(const struct world *w, uint32_t scope, const char *want)
{
	CLEANUP(text_done) struct text path = { 0 };

	scope_path(&w->tree, scope, &path);
	CHECK_STR(path.at, want);
}

TEST(addresses_of_one_function_share_a_scope)
{
	WORLD w;

	world_init(&w);
	uint32_t caller = cct_child(&w.cct, CCT_ROOT, 0, 0x1010, CCT_IS_RETURN);
	cct_add_value(&w.cct, cct_child(&w.cct, caller, 0, 0x3000, 0), 0, 0, 5);
	cct_add_value(&w.cct, cct_child(&w.cct, caller, 0, 0x3004, 0), 0, 0, 7);
	world_fuse(&w, (struct fuse_options){ 0 });

	CHECK_EQ(w.tree.scopes.n, 4);
	check_path(&w, 3, "/10/12");
	CHECK_EQ(scope_at(&w.tree, 3).kind, SCOPE_FUNCTION);
	CHECK_EQ(scope_at(&w.tree, 3).relation, RELATION_CALL);
	CHECK_EQ(scope_at(&w.tree, 3).vaddr, 0x3000);
	CHECK_EQ(scope_at(&w.tree, 3).call_vaddr, 0x1010);
	CHECK_EQ(scope_at(&w.tree, 3).call_line, 0); /* 0x100f is in the first row: line 0 */
	CHECK_EQ(w.tree.values.n, 1);
	CHECK_EQ(w.tree.values.at[0].value, 12);
}

TEST(a_return_address_after_the_end_of_a_function_belongs_to_its_call)
{
	WORLD w;

	world_init(&w);
	/* A call to a function that never returns may be the last instruction. */
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x1100, CCT_IS_RETURN), 0, 0, 1);
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x1100, 0), 0, 0, 1);
	world_fuse(&w, (struct fuse_options){ 0 });
	check_path(&w, 2, "/10");
	check_path(&w, 3, "/?1100");
}

TEST(inlined_calls_are_between_function_and_callee)
{
	WORLD w;

	world_init(&w);
	uint32_t inside = cct_child(&w.cct, CCT_ROOT, 0, 0x2071, CCT_IS_RETURN);
	cct_add_value(&w.cct, cct_child(&w.cct, inside, 0, 0x1000, 0), 0, 0, 1);
	world_fuse(&w, (struct fuse_options){ 0 });

	CHECK_EQ(w.tree.scopes.n, 6);
	check_path(&w, 5, "/11/4/5/10");
	const struct scope inner = scope_at(&w.tree, 3), callee = scope_at(&w.tree, 5);
	CHECK_EQ(inner.kind, SCOPE_INLINE);
	CHECK_EQ(inner.relation, RELATION_INLINE);
	CHECK_EQ(inner.file, FILE_B);
	CHECK_EQ(inner.call_file, FILE_A);
	CHECK_EQ(inner.call_line, 103);
	CHECK_EQ(scope_at(&w.tree, 4).call_line, 7);
	CHECK_EQ(callee.call_line, 107); /* the row of 0x2070 */

	world_fuse(&w, (struct fuse_options){ .no_inlines = true });
	CHECK_EQ(w.tree.scopes.n, 4);
	check_path(&w, 3, "/11/10");
	CHECK_EQ(scope_at(&w.tree, 3).call_line, 103);
}

TEST(calls_are_distinguished_as_requested)
{
	static const struct {
		enum fuse_calls calls;
		size_t n_scopes;
	} cases[] = { { FUSE_CALLS_MERGED, 4 }, { FUSE_CALLS_BY_LINE, 5 }, { FUSE_CALLS_BY_ADDRESS, 6 } };
	static const uint64_t sites[] = { 0x1014, 0x1018, 0x1024 }; /* two on one line, one on the next */
	WORLD w;

	world_init(&w);
	for (size_t i = 0; i < 3; i++) {
		uint32_t caller = cct_child(&w.cct, CCT_ROOT, 0, sites[i], CCT_IS_RETURN);
		cct_add_value(&w.cct, cct_child(&w.cct, caller, 0, 0x3000, 0), 0, 0, 1);
	}
	for (size_t i = 0; i < 3; i++) {
		world_fuse(&w, (struct fuse_options){ .calls = cases[i].calls });
		CHECK_EQ(w.tree.scopes.n, cases[i].n_scopes);
	}
	world_fuse(&w, (struct fuse_options){ .calls = FUSE_CALLS_MERGED });
	CHECK_EQ(scope_at(&w.tree, 3).call_vaddr, 0); /* merged calls have no common call site */
}

TEST(lines_have_the_self_costs_of_the_scope)
{
	WORLD w;

	world_init(&w);
	uint32_t caller = cct_child(&w.cct, CCT_ROOT, 0, 0x1011, CCT_IS_RETURN);
	cct_add_value(&w.cct, cct_child(&w.cct, caller, 0, 0x3010, 0), 0, 0, 1);
	cct_add_value(&w.cct, cct_child(&w.cct, caller, 0, 0x3014, 0), 0, 0, 2);
	cct_add_value(&w.cct, cct_child(&w.cct, caller, 0, 0x3020, 0), 0, 0, 4);
	world_fuse(&w, (struct fuse_options){ .lines = true });
	CHECK_EQ(w.tree.scopes.n, 6);
	check_path(&w, 4, "/10/12:201");
	check_path(&w, 5, "/10/12:202");
	CHECK_EQ(w.tree.values.n, 2);
	CHECK_EQ(w.tree.values.at[0].value, 3);
	CHECK_EQ(w.tree.values.at[1].value, 4);
}

TEST(addresses_are_distinguished_on_request)
{
	WORLD w;

	world_init(&w);
	w.maps[4].lines.n = 0;
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x3010, 0), 0, 0, 1);
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x3014, 0), 0, 0, 2);
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x5014, 0), 0, 0, 4); /* without a line */
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0xf014, 0), 0, 0, 8); /* in no function */
	world_fuse(&w, (struct fuse_options){ .lines = true, .addresses = true });
	CHECK_EQ(w.tree.scopes.n, 8);
	CHECK_EQ(scope_tree_n_nodes(&w.tree), 5);
	CHECK_EQ(scope_at(&w.tree, 5).vaddr, 0x3010);
	CHECK_EQ(scope_at(&w.tree, 6).vaddr, 0x3014);
	CHECK_EQ(scope_at(&w.tree, 6).line, scope_at(&w.tree, 5).line);
	CHECK_EQ(scope_at(&w.tree, 7).vaddr, 0x5014);
	CHECK_EQ(scope_at(&w.tree, 7).line, 0);
}

TEST(a_cold_part_belongs_to_its_function)
{
	WORLD w;

	world_init(&w);
	w.maps[4].parent_vaddr = 0x1000;
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x1000, 0), 0, 0, 1);
	cct_add_value(&w.cct, cct_child(&w.cct, CCT_ROOT, 0, 0x5000, 0), 0, 0, 2);
	world_fuse(&w, (struct fuse_options){ 0 });
	CHECK_EQ(w.tree.scopes.n, 3);
	CHECK_EQ(w.tree.values.at[0].value, 3);
}

TEST(incomplete_stacks_and_the_kernel_are_marked)
{
	WORLD w;

	world_init(&w);
	uint32_t user = cct_child(&w.cct, CCT_INCOMPLETE, 0, 0x1000, CCT_IS_RETURN);
	cct_add_value(&w.cct, cct_child(&w.cct, user, 0, 0x1000, CCT_IS_KERNEL), 0, 0, 1);
	cct_add_value(&w.cct, CCT_ROOT, 0, 0, 9);
	world_fuse(&w, (struct fuse_options){ 0 });
	CHECK_EQ(scope_at(&w.tree, 1).kind, SCOPE_INCOMPLETE);
	check_path(&w, 3, "~/?fff/10");
	CHECK_EQ(scope_at(&w.tree, 3).flags, SCOPE_KERNEL);
	CHECK_EQ(w.tree.values.at[0].scope, 0);
	CHECK_EQ(w.tree.values.at[0].value, 9);
}

/* ---- against a naive reference ------------------------------------------------------------------ */

struct tally {
	char *path;
	uint32_t thread, metric;
	uint64_t value;
};
typedef VEC(struct tally) tallies;

static void tally(tallies *list, const char *path, uint32_t thread, uint32_t metric, uint64_t value)
{
	for (size_t i = 0; i < list->n; i++) {
		struct tally *t = &list->at[i];
		if (t->thread == thread && t->metric == metric && strcmp(t->path, path) == 0) {
			t->value += value;
			return;
		}
	}
	vec_push(list, ((struct tally){ alloc_text(path), thread, metric, value }));
}

static void tallies_done(tallies *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->at[i].path);
	vec_done(list);
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	if (order == 0)
		order = (int)x->thread - (int)y->thread;
	return order ? order : (int)x->metric - (int)y->metric;
}

/* The same path directly from the CCT. */
static void node_path(const struct world *w, uint32_t index, struct text *ret)
{
	const struct cct_node *node = &w->cct.nodes.at[index];
	uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN);

	if (index == CCT_ROOT)
		return;
	if (index == CCT_INCOMPLETE) {
		text_printf(ret, "~");
		return;
	}
	node_path(w, node->parent, ret);
	uint64_t k = vaddr / 0x1000 - 1, offset = vaddr % 0x1000;
	if (offset >= 0x100 || k >= N_FUNCTIONS) {
		text_printf(ret, "/?%llx", (unsigned long long)vaddr);
		return;
	}
	text_printf(ret, "/%u", (unsigned)(10 + k));
	if (k % 2 && offset >= 0x40 && offset < 0x80)
		text_printf(ret, offset < 0x60 ? "/%u" : "/%u/%u", INNER, INNERMOST);
}

static void random_cct(struct world *w, unsigned seed)
{
	srandom(seed);
	for (int i = 0; i < 400; i++) {
		uint32_t n = (uint32_t)w->cct.nodes.n;
		uint32_t parent = random() % 3 ? n - 1 : (uint32_t)random() % n;
		uint64_t vaddr = 0x1000 * (1 + (uint64_t)random() % 9) + (uint64_t)random() % 0x108;
		cct_child(&w->cct, parent, 0, vaddr, random() % 2 ? CCT_IS_RETURN : 0);
	}
	for (int i = 0; i < 600; i++)
		cct_add_value(&w->cct, (uint32_t)random() % (uint32_t)w->cct.nodes.n, (uint32_t)random() % 3,
			      (uint32_t)random() % 2, 1 + (uint64_t)random() % 9);
}

static void check_against_reference(unsigned seed)
{
	WORLD w;
	CLEANUP(tallies_done) tallies want = { 0 };
	CLEANUP(tallies_done) tallies got = { 0 };
	CLEANUP(text_done) struct text path = { 0 };

	world_init(&w);
	random_cct(&w, seed);
	world_fuse(&w, (struct fuse_options){ 0 });
	for (size_t i = 0; i < w.cct.values.n; i++) {
		const struct cct_value *v = &w.cct.values.at[i];
		text_clear(&path);
		node_path(&w, v->node, &path);
		tally(&want, path.len ? path.at : "", v->thread, v->metric, v->value);
	}
	for (size_t i = 0; i < w.tree.values.n; i++) {
		const struct scope_value *v = &w.tree.values.at[i];
		text_clear(&path);
		scope_path(&w.tree, v->scope, &path);
		tally(&got, path.len ? path.at : "", v->thread, v->metric, v->value);
	}
	CHECK_EQ(got.n, w.tree.values.n); /* each combination of scope, thread and metric occurs once */
	CHECK_EQ(got.n, want.n);
	qsort(got.at, got.n, sizeof(*got.at), compare_tallies);
	qsort(want.at, want.n, sizeof(*want.at), compare_tallies);
	for (size_t i = 0; i < got.n; i++) {
		CHECK_STR(got.at[i].path, want.at[i].path);
		CHECK_EQ(got.at[i].value, want.at[i].value);
	}
}

TEST(random_trees_fuse_as_in_a_naive_computation)
{
	for (unsigned seed = 1; seed <= 20; seed++)
		check_against_reference(seed);
}

TEST(totals_are_those_of_the_cct_however_it_is_fused)
{
	static const struct fuse_options options[] = {
		{ .calls = FUSE_CALLS_MERGED },
		{ .calls = FUSE_CALLS_BY_LINE, .lines = true },
		{ .calls = FUSE_CALLS_BY_ADDRESS, .no_inlines = true },
		{ .calls = FUSE_CALLS_MERGED, .lines = true, .no_inlines = true },
	};

	for (unsigned i = 0; i < 4; i++) {
		WORLD w;
		uint64_t total[2] = { 0 };
		world_init(&w);
		random_cct(&w, 100 + i);
		world_fuse(&w, options[i]);
		for (size_t v = 0; v < w.cct.values.n; v++)
			total[w.cct.values.at[v].metric] += w.cct.values.at[v].value;
		CLEANUP(freep) uint64_t *self = sums_self(&w.tree);
		CLEANUP(freep) uint64_t *inclusive = sums_inclusive(&w.tree, self);
		CHECK_EQ(inclusive[0], total[0]);
		CHECK_EQ(inclusive[1], total[1]);
		for (size_t s = 1; s < w.tree.scopes.n; s++)
			CHECK(w.tree.scopes.at[s].parent < s);
	}
}

/* Lines after everything else, in the order of their parents. */
static void check_order(const struct scope_tree *tree)
{
	size_t n_nodes = scope_tree_n_nodes(tree);

	for (size_t i = 0; i < tree->scopes.n; i++)
		CHECK_EQ(scope_kind(tree, i) == SCOPE_LINE, i >= n_nodes);
	for (size_t i = n_nodes; i < tree->scopes.n; i++) {
		CHECK(tree->scopes.at[i].parent < n_nodes);
		CHECK(i == n_nodes || tree->scopes.at[i - 1].parent <= tree->scopes.at[i].parent);
	}
	for (size_t i = 1; i < tree->frames.n; i++)
		CHECK(tree->frames.at[i - 1].kind != SCOPE_LINE || tree->frames.at[i].kind == SCOPE_LINE);
	for (size_t i = 1; i < tree->values.n; i++)
		CHECK(tree->values.at[i - 1].scope <= tree->values.at[i].scope);
}

static void check_same(const struct scope_tree *a, const struct scope_tree *b)
{
	CHECK_EQ(a->scopes.n, b->scopes.n);
	CHECK_EQ(a->frames.n, b->frames.n);
	CHECK_EQ(a->values.n, b->values.n);
	CHECK_EQ(a->has_addresses, b->has_addresses);
	for (size_t i = 0; i < a->scopes.n; i++) {
		const struct scope x = scope_at(a, i), y = scope_at(b, i);
		CHECK_EQ(x.parent, y.parent);
		CHECK_EQ(x.kind, y.kind);
		CHECK_EQ(x.name, y.name);
		CHECK_EQ(x.file, y.file);
		CHECK_EQ(x.line, y.line);
		CHECK_EQ(x.vaddr, y.vaddr);
	}
	for (size_t i = 0; i < a->values.n; i++) {
		CHECK_EQ(a->values.at[i].scope, b->values.at[i].scope);
		CHECK_EQ(a->values.at[i].thread, b->values.at[i].thread);
		CHECK_EQ(a->values.at[i].metric, b->values.at[i].metric);
		CHECK_EQ(a->values.at[i].value, b->values.at[i].value);
	}
}

TEST(a_cct_that_is_consumed_gives_the_same_tree)
{
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct fuse_options options = { .calls = FUSE_CALLS_BY_LINE, .lines = seed % 2 };
		struct scope_tree taken;
		WORLD w;

		world_init(&w);
		random_cct(&w, seed);
		world_fuse(&w, options);
		check_order(&w.tree);
		fuse_consume(&(struct fuse_input){ .cct = &w.cct,
						   .functions = w.maps,
						   .n_functions = N_FUNCTIONS,
						   .n_metrics = 2 },
			     &options, &w.cct, &taken);
		CHECK_EQ(w.cct.nodes.n, 0);
		CHECK_EQ(w.cct.values.n, 0);
		check_same(&taken, &w.tree);
		scope_tree_done(&taken);
	}
}

/* With addresses, and then as if it had been fused without. */
TEST(lines_can_be_removed_from_a_tree)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		bool has_lines = seed % 2;
		struct scope_tree fine;
		WORLD w;

		world_init(&w);
		w.maps[3].lines.n = 0; /* addresses without a line */
		random_cct(&w, seed);
		world_fuse(&w, (struct fuse_options){ .lines = true, .addresses = true });
		CHECK(w.tree.has_addresses);
		fine = w.tree;
		w.tree = (struct scope_tree){ 0 };
		world_fuse(&w, (struct fuse_options){ .lines = has_lines });
		CHECK(fine.scopes.n > w.tree.scopes.n);
		if (has_lines)
			scope_tree_merge_addresses(&fine);
		else
			scope_tree_drop_lines(&fine);
		check_order(&fine);
		check_same(&fine, &w.tree);
		scope_tree_done(&fine);
	}
}
