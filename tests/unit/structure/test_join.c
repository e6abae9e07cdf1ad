/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "structure/fuse.h"
#include "tests/test.h"

enum { MAIN, SMALL, LARGE, HOST, FORK, REGION, START, WORKER, BARRIER, IDLE, OUTLINED, BODY, N_FUNCTIONS };

/* Function k starts at 0x1000 * (k + 1) and is 0x100 long. */
static uint64_t at(unsigned k)
{
	return 0x1000 * (k + 1) + 0x20;
}

struct world {
	struct cct cct, joined;
	struct intern strings;
	struct function_map maps[N_FUNCTIONS];
	struct join_notes notes;
	struct scope_tree tree;
	uint32_t process[4];
	const struct structure *structure; /* of the region; NULL = none */
};
#define WORLD CLEANUP(world_done) struct world

static void world_init(struct world *w)
{
	static const char *const names[] = { "main",           "small",
					     "large",          "host",
					     "GOMP_parallel",  "host._omp_fn.0",
					     "start_thread",   "gomp_thread_start",
					     "GOMP_barrier",   "libgomp.so.1+0x1d9c0",
					     ".omp_outlined.", ".omp_outlined._debug__" };

	*w = (struct world){ 0 };
	cct_init(&w->cct);
	cct_init(&w->joined);
	intern_init(&w->strings);
	for (uint32_t k = 0; k < N_FUNCTIONS; k++) {
		uint64_t start = 0x1000 * (k + 1);
		w->maps[k] = (struct function_map){ .vaddr = start,
						    .size = 0x100,
						    .name = intern_add(&w->strings, names[k]),
						    .decl_file = 1,
						    .decl_line = 100 * k,
						    .end_line = 100 * k + 90,
						    .parent_vaddr = start,
						    .source = k == IDLE ? MAP_FROM_NOTHING : MAP_FROM_DWARF };
	}
	w->maps[OUTLINED].decl_line = 100 * HOST + 5; /* its source is within the host function */
}

static void world_done(struct world *w)
{
	scope_tree_done(&w->tree);
	join_notes_done(&w->notes);
	intern_done(&w->strings);
	cct_done(&w->cct);
	cct_done(&w->joined);
}

/* A stack, outermost first, ended by -1; all but the last are callers. */
static void world_add(struct world *w, uint32_t root, uint32_t thread, uint64_t samples, const int *stack)
{
	uint32_t node = root;

	for (; *stack >= 0; stack++)
		node = cct_child(&w->cct, node, 0, at((unsigned)*stack), stack[1] >= 0 ? CCT_IS_RETURN : 0);
	cct_add_value(&w->cct, node, thread, 0, samples);
	cct_add_value(&w->cct, node, thread, 1, samples * 1000);
}
#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })
#define SAW(w, thread, samples, ...) world_add(w, CCT_ROOT, thread, samples, STACK(__VA_ARGS__))

static bool world_join(struct world *w, bool joins)
{
	struct join_input input = { .cct = &w->cct,
				    .functions = w->maps,
				    .n_functions = N_FUNCTIONS,
				    .structures = w->structure,
				    .n_structures = w->structure != NULL,
				    .strings = &w->strings,
				    .process = w->process,
				    .n_threads = 4 };
	bool has = join_regions(&input, joins, &w->notes, &w->joined);
	struct fuse_input fused = { .cct = has ? &w->joined : &w->cct,
				    .functions = w->maps,
				    .n_functions = N_FUNCTIONS,
				    .n_metrics = 2,
				    .notes = &w->notes };

	fuse(&fused, &(struct fuse_options){ 0 }, &w->tree);
	return has;
}

static void world_path(const struct world *w, uint32_t index, struct text *ret)
{
	const struct scope scope = scope_at(&w->tree, index);

	if (index > 0)
		world_path(w, scope.parent, ret);
	if (scope.kind == SCOPE_FUNCTION)
		text_printf(ret, "/%s", intern_text(&w->strings, scope.name));
}

/* The self cost of a thread, or of all (-1), in the scope at a path. */
static uint64_t spent(const struct world *w, const char *path, int thread, uint32_t metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->tree.values.n; i++) {
		const struct scope_value *value = &w->tree.values.at[i];
		CLEANUP(text_done) struct text name = { 0 };
		world_path(w, value->scope, &name);
		if (value->metric == metric && (thread < 0 || value->thread == (uint32_t)thread) && name.at &&
		    strcmp(name.at, path) == 0)
			sum += value->value;
	}
	return sum;
}

TEST(costs_of_workers_in_a_region_are_moved_to_where_it_is_started)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 10, MAIN, HOST, FORK, REGION);
	SAW(&w, 1, 12, START, WORKER, REGION);
	SAW(&w, 1, 2, START, WORKER, REGION, LARGE);
	CHECK(world_join(&w, true));
	CHECK_EQ(spent(&w, "/main/host/host._omp_fn.0", 0, 0), 10);
	CHECK_EQ(spent(&w, "/main/host/host._omp_fn.0", 1, 0), 12);
	CHECK_EQ(spent(&w, "/main/host/host._omp_fn.0", 1, 1), 12000);
	CHECK_EQ(spent(&w, "/main/host/host._omp_fn.0/large", 1, 0), 2);
	CHECK_EQ(w.notes.flags[REGION], SCOPE_PARALLEL | SCOPE_JOINED);
	for (size_t i = 2; i < w.tree.scopes.n; i++) /* the workers' own stacks are gone */
		CHECK(scope_at(&w.tree, i).name != w.maps[START].name);
}

TEST(threads_are_not_joined_on_request)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 10, MAIN, HOST, FORK, REGION);
	SAW(&w, 1, 12, START, WORKER, REGION);
	CHECK(!world_join(&w, false));
	CHECK_EQ(spent(&w, "/main/host/GOMP_parallel/host._omp_fn.0", 0, 0), 10);
	CHECK_EQ(spent(&w, "/start_thread/gomp_thread_start/host._omp_fn.0", 1, 0), 12);
	CHECK_EQ(w.notes.flags[REGION], SCOPE_PARALLEL);
}

TEST(a_region_whose_start_was_not_sampled_stays)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 10, MAIN, SMALL);
	SAW(&w, 1, 12, START, WORKER, REGION);
	CHECK(world_join(&w, true));
	CHECK_EQ(spent(&w, "/start_thread/gomp_thread_start/host._omp_fn.0", 1, 0), 12);
	CHECK(!(w.notes.flags[REGION] & SCOPE_JOINED));
}

TEST(incomplete_stacks_stay)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 10, MAIN, HOST, FORK, REGION);
	world_add(&w, CCT_INCOMPLETE, 1, 5, STACK(WORKER, REGION));
	CHECK(world_join(&w, true));
	CHECK_EQ(spent(&w, "/gomp_thread_start/host._omp_fn.0", 1, 0), 5);
}

TEST(costs_are_divided_among_contexts_like_those_of_the_starting_thread)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 30, MAIN, SMALL, HOST, FORK, REGION);
	SAW(&w, 0, 60, MAIN, LARGE, HOST, FORK, REGION);
	SAW(&w, 0, 30, MAIN, LARGE, HOST, FORK, BARRIER);
	SAW(&w, 1, 101, START, WORKER, REGION);
	for (int i = 0; i < 40; i++) /* one sample in each of many places */
		world_add(&w, CCT_ROOT, 1, 1, STACK(START, WORKER, REGION, i % 2 ? MAIN : SMALL));
	CHECK(world_join(&w, true));
	uint64_t small = spent(&w, "/main/small/host/host._omp_fn.0", 1, 0);
	CHECK(small >= 25 && small <= 26);
	CHECK_EQ(spent(&w, "/main/large/host/host._omp_fn.0", 1, 0), 101 - small);
	CHECK_EQ(spent(&w, "/main/small/host/host._omp_fn.0", 1, 1) +
			 spent(&w, "/main/large/host/host._omp_fn.0", 1, 1),
		 101000);
	uint64_t ones = spent(&w, "/main/small/host/host._omp_fn.0/main", 1, 0) +
			spent(&w, "/main/small/host/host._omp_fn.0/small", 1, 0);
	CHECK(ones >= 9 && ones <= 11);
	/* A sample is not split: its time moves with it. */
	CHECK_EQ(spent(&w, "/main/small/host/host._omp_fn.0/main", 1, 1),
		 1000 * spent(&w, "/main/small/host/host._omp_fn.0/main", 1, 0));
}

/* Without optimisation, clang's function for debuggers is a separate frame. */
TEST(a_region_and_its_body_are_one_scope)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 30, MAIN, HOST, FORK, OUTLINED, BODY, SMALL);
	SAW(&w, 1, 20, START, WORKER, OUTLINED, BODY, SMALL);
	SAW(&w, 1, 4, START, WORKER, OUTLINED, BODY);
	CHECK(world_join(&w, true));
	CHECK_EQ(spent(&w, "/main/host/.omp_outlined./small", 0, 0), 30);
	CHECK_EQ(spent(&w, "/main/host/.omp_outlined./small", 1, 0), 20);
	CHECK_EQ(spent(&w, "/main/host/.omp_outlined.", 1, 0), 4);
	CHECK_EQ(w.notes.flags[BODY], 0);
}

TEST(only_contexts_of_the_same_process_are_used)
{
	WORLD w;

	world_init(&w);
	w.process[2] = w.process[3] = 1;
	SAW(&w, 0, 30, MAIN, SMALL, HOST, FORK, REGION);
	SAW(&w, 2, 30, MAIN, LARGE, HOST, FORK, REGION);
	SAW(&w, 1, 7, START, WORKER, REGION);
	SAW(&w, 3, 9, START, WORKER, REGION);
	CHECK(world_join(&w, true));
	CHECK_EQ(spent(&w, "/main/small/host/host._omp_fn.0", 1, 0), 7);
	CHECK_EQ(spent(&w, "/main/large/host/host._omp_fn.0", 3, 0), 9);
}

TEST(a_region_is_matched_to_its_host_if_the_starting_thread_only_waits)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 10, MAIN, HOST, FORK, BARRIER);
	SAW(&w, 1, 12, START, WORKER, REGION);
	CHECK(world_join(&w, true));
	CHECK_EQ(spent(&w, "/main/host/host._omp_fn.0", 1, 0), 12);

	WORLD by_lines;
	world_init(&by_lines);
	SAW(&by_lines, 0, 10, MAIN, HOST, FORK, BARRIER);
	SAW(&by_lines, 1, 12, START, WORKER, OUTLINED);
	CHECK(world_join(&by_lines, true));
	CHECK_EQ(spent(&by_lines, "/main/host/.omp_outlined.", 1, 0), 12);

	WORLD other;
	world_init(&other);
	SAW(&other, 0, 10, MAIN, SMALL, FORK, BARRIER);
	SAW(&other, 1, 12, START, WORKER, OUTLINED);
	CHECK(world_join(&other, true));
	CHECK_EQ(spent(&other, "/start_thread/gomp_thread_start/.omp_outlined.", 1, 0), 12);
}

TEST(waiting_is_marked_and_work_is_not)
{
	WORLD w;

	world_init(&w);
	SAW(&w, 0, 10, MAIN, HOST, FORK, REGION, BARRIER, IDLE);
	SAW(&w, 1, 12, START, WORKER, IDLE);
	SAW(&w, 1, 12, START, WORKER, REGION);
	CHECK(world_join(&w, true));
	CHECK_EQ(w.notes.flags[IDLE], SCOPE_WAITING);
	CHECK_EQ(w.notes.flags[BARRIER], SCOPE_WAITING);
	CHECK_EQ(w.notes.flags[WORKER], 0); /* it also calls regions */
	CHECK_EQ(spent(&w, "/start_thread/gomp_thread_start/libgomp.so.1+0x1d9c0", 1, 0), 12);
}

static uint16_t idle_flags(const struct structure *structure)
{
	WORLD w;

	world_init(&w);
	w.structure = structure;
	SAW(&w, 0, 10, MAIN, HOST, FORK, REGION, IDLE);
	world_join(&w, true);
	return w.notes.flags[IDLE];
}

/* If the runtime has no symbols: GOMP_barrier and GOMP_loop_dynamic_next continue in internal functions. */
TEST(requesting_the_next_chunk_is_not_waiting)
{
	struct structure region = { .function = 0x1000 * (REGION + 1) };

	vec_push(&region.scopes, ((struct static_scope){ .kind = SCOPE_FUNCTION }));
	vec_push(&region.scopes, ((struct static_scope){ .kind = SCOPE_LOOP }));
	vec_push(&region.ranges, ((struct static_range){ region.function, 0x100, 1 }));
	CHECK_EQ(idle_flags(NULL), SCOPE_WAITING);
	CHECK_EQ(idle_flags(&region), SCOPE_WAITING);
	region.scopes.at[1].flags = SCOPE_SCHEDULE;
	CHECK_EQ(idle_flags(&region), 0);
	structure_done(&region);
}

TEST(nothing_is_lost_or_added_whatever_the_stacks)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		uint64_t before[4][2] = { 0 }, after[4][2] = { 0 };
		unsigned random = seed * 2654435761u;
		WORLD w;

		world_init(&w);
		for (int i = 0; i < 40; i++) {
			int stack[8] = { 0 }, depth = 1 + (int)(random >> 8) % 6;
			for (int k = 0; k < depth; k++) {
				random = random * 1664525 + 1013904223;
				stack[k] = (int)(random >> 10) % N_FUNCTIONS;
			}
			stack[depth] = -1;
			world_add(&w, random & 0x40 ? CCT_ROOT : CCT_INCOMPLETE, random >> 30,
				  1 + (random >> 4) % 9, stack);
		}
		for (size_t i = 0; i < w.cct.values.n; i++)
			before[w.cct.values.at[i].thread][w.cct.values.at[i].metric] +=
				w.cct.values.at[i].value;
		world_join(&w, true);
		for (size_t i = 0; i < w.tree.values.n; i++)
			after[w.tree.values.at[i].thread][w.tree.values.at[i].metric] +=
				w.tree.values.at[i].value;
		CHECK(memcmp(before, after, sizeof(before)) == 0);
	}
}
