/* SPDX-License-Identifier: Apache-2.0 */
/* How many scopes frames may have together. */
#include "base/cleanup.h"
#include "structure/fuse.h"
#include "tests/test.h"

enum { FILE_A = 6, FILE_B };

struct world {
	struct cct cct;
	struct function_map map;
	struct scope_tree tree;
};

static void world_done(struct world *w)
{
	scope_tree_done(&w->tree);
	function_map_done(&w->map);
	cct_done(&w->cct);
}
#define WORLD CLEANUP(world_done) struct world

static void world_fuse(struct world *w, const struct structure *structure, struct fuse_options options)
{
	struct fuse_input input = { .cct = &w->cct,
				    .functions = &w->map,
				    .n_functions = 1,
				    .structures = structure,
				    .n_structures = structure != NULL,
				    .n_metrics = 1 };

	fuse(&input, &options, &w->tree);
}

#define DEEP 250

/* One function, in which DEEP calls are inlined into each other; calls of it in calls of it, n times. */
static void deep_init(struct world *w, uint32_t n)
{
	struct function_map *map = &w->map;
	uint32_t node = CCT_ROOT;

	*w = (struct world){ .map = { .vaddr = 0x1000, .size = 0x100, .name = 10, .parent_vaddr = 0x1000 } };
	cct_init(&w->cct);
	for (uint32_t i = 0; i < DEEP; i++)
		vec_push(&map->inlines, ((struct inline_call){ i ? i - 1 : INLINE_NONE, 100 + i, 0, FILE_B, 1,
							       FILE_A, 7, 0 }));
	vec_push(&map->ranges, ((struct inline_range){ 0x20, 0x40, DEEP - 1 }));
	for (uint32_t i = 0; i < n; i++) {
		node = cct_child(&w->cct, node, 0, 0x1020 + i % 4, 0);
		cct_add_value(&w->cct, node, 0, 0, 1);
	}
}

/* The functions among the scopes from here up to the root. */
static size_t count_functions(const struct scope_tree *tree, uint32_t scope)
{
	size_t n = 0;

	for (; scope; scope = tree->scopes.at[scope].parent)
		n += scope_kind(tree, scope) == SCOPE_FUNCTION;
	return n;
}

TEST(frames_that_ask_for_too_many_scopes_keep_their_function_and_innermost_call)
{
	const uint32_t n = 4000;
	const size_t most =
		(FUSE_STEPS_FREE + (size_t)FUSE_STEPS_PER_NODE * (n + 2)) / FUSE_STEP_NEW + 2 * n + DEEP;
	WORLD w;

	deep_init(&w, n);
	world_fuse(&w, NULL, (struct fuse_options){ 0 });
	CHECK(w.tree.scopes.n < most);
	CHECK(w.tree.n_shortened > 0 && w.tree.n_shortened < n);
	CHECK_EQ(w.tree.values.n, n);
	for (uint32_t i = 0; i < n; i++) { /* every sample is in the same code, below all its callers */
		uint32_t at = w.tree.values.at[i].scope;
		CHECK_EQ(w.tree.values.at[i].value, 1);
		CHECK_EQ(scope_frame(&w.tree, at)->name, 100 + DEEP - 1);
		CHECK_EQ(count_functions(&w.tree, at), i + 1);
	}
	uint32_t last = w.tree.values.at[n - 1].scope;
	CHECK_EQ(scope_kind(&w.tree, w.tree.scopes.at[last].parent), SCOPE_FUNCTION);
}

TEST(frames_of_usual_depth_are_complete)
{
	WORLD w;

	deep_init(&w, 1000);
	world_fuse(&w, NULL, (struct fuse_options){ 0 });
	CHECK_EQ(w.tree.n_shortened, 0);
	CHECK_EQ(w.tree.scopes.n, 2 + 1000 * (DEEP + 1));
}

/* Of nested loops and inlined calls: the innermost call, and the innermost loop in it. */
TEST(a_shortened_frame_keeps_the_loop_in_its_innermost_call)
{
	struct structure structure = { .function = 0x1000 };
	const uint32_t n = 4000;
	WORLD w;

	deep_init(&w, n);
	vec_push(&structure.scopes, ((struct static_scope){ .kind = SCOPE_FUNCTION }));
	for (uint32_t i = 0; i < 400; i++)
		vec_push(&structure.scopes,
			 ((struct static_scope){
				 .parent = i, .kind = i < 397 ? SCOPE_INLINE : SCOPE_LOOP, .name = i }));
	vec_push(&structure.ranges, ((struct static_range){ 0x1020, 4, 400 }));
	world_fuse(&w, &structure, (struct fuse_options){ .calls = FUSE_CALLS_BY_LINE });
	CHECK(w.tree.n_shortened > 0);
	uint32_t loop = w.tree.values.at[w.tree.values.n - 1].scope, call = w.tree.scopes.at[loop].parent;
	CHECK_EQ(scope_kind(&w.tree, loop), SCOPE_LOOP);
	CHECK_EQ(scope_frame(&w.tree, loop)->name, 399);
	CHECK_EQ(scope_kind(&w.tree, call), SCOPE_INLINE);
	CHECK_EQ(scope_frame(&w.tree, call)->name, 396);
	CHECK_EQ(scope_kind(&w.tree, w.tree.scopes.at[call].parent), SCOPE_FUNCTION);
	structure_done(&structure);
}
