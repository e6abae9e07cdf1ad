/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/diff/stem.h"
#include "report/label.h"

#define NONE UINT32_MAX

enum path_step { PATH_FUNCTION, PATH_INLINE, PATH_LOOP };

struct path_key {
	uint32_t parent, step, what;
};

/* What identifies a loop of a function in a frame. */
struct loop_key {
	uint64_t vaddr;
	uint32_t image, name, line, end_line;
};

/* A profile whose loops are looked up. */
struct loops_work {
	struct loops *loops;
	const struct functions_from *from;
	struct numbering functions; /* image and address of each function in the tree ... */
	VEC(uint32_t) joint;        /* ... by number: the joint function */
	bool *is_done;              /* by structure */
	struct numbering keys;      /* struct loop_key of loops of those functions ... */
	VEC(uint32_t) found;        /* ... by number */
};

void loops_init(struct loops *loops, struct functions *functions)
{
	*loops = (struct loops){ .functions = functions };
	numbering_init(&loops->paths, sizeof(struct path_key));
	numbering_init(&loops->places, 4 * sizeof(uint32_t));
}

void loops_done(struct loops *loops)
{
	for (size_t i = 0; i < loops->lists.n; i++)
		vec_done(&loops->lists.at[i].at);
	vec_done(&loops->lists);
	vec_done(&loops->all);
	vec_done(&loops->at_place);
	numbering_done(&loops->paths);
	numbering_done(&loops->places);
}

static uint32_t loops_path(struct loops *loops, uint32_t parent, enum path_step step, uint32_t what)
{
	struct path_key key = { parent, step, what };
	uint32_t path = numbering_add(&loops->paths, &key);

	while (loops->lists.n <= path) {
		vec_push(&loops->lists, (__typeof__(*loops->lists.at)){ { 0 } });
	}
	return path;
}

/* ---- one function --------------------------------------------------------------------------------- */

/* The scopes of a structure by their parents. */
struct nest {
	const struct structure *structure;
	uint32_t *first, *order;    /* children of i: order[first[i]] to order[first[i + 1]] */
	uint32_t *path, *procedure; /* by scope; procedure: the innermost function or inlined call it is in */
};

static struct nest nest_of(const struct structure *structure)
{
	size_t n = structure->scopes.n;
	struct nest nest = { structure, alloc_zero(n + 2, sizeof(uint32_t)),
			     alloc_zero(n + 1, sizeof(uint32_t)), alloc_zero(n + 1, sizeof(uint32_t)),
			     alloc_zero(n + 1, sizeof(uint32_t)) };

	for (size_t i = 1; i < n; i++)
		nest.first[structure->scopes.at[i].parent + 2]++;
	for (size_t i = 2; i <= n; i++)
		nest.first[i] += nest.first[i - 1];
	for (uint32_t i = 1; i < n; i++) {
		const struct static_scope *scope = &structure->scopes.at[i];
		nest.order[nest.first[scope->parent + 1]++] = i;
		nest.procedure[i] = scope->kind == SCOPE_LOOP ? nest.procedure[scope->parent] : i;
	}
	return nest;
}

static void nest_done(struct nest *nest)
{
	free(nest->first);
	free(nest->order);
	free(nest->path);
	free(nest->procedure);
}

/* In lines of the procedure that contains the loop, or in bytes of the function if there are none. */
static struct order_place loop_place(const struct nest *nest, uint32_t scope)
{
	const struct static_scope *loop = &nest->structure->scopes.at[scope];
	const struct static_scope *in = &nest->structure->scopes.at[nest->procedure[scope]];
	bool is_inside = in->file == loop->file && in->line && in->line <= loop->line;

	if (!loop->line)
		return (struct order_place){ (uint32_t)(loop->vaddr - nest->structure->function),
					     ORDER_NONE };
	return (struct order_place){ loop->line - (is_inside ? in->line : 0),
				     is_inside && in->end_line >= loop->line ? in->end_line - loop->line
									     : ORDER_NONE };
}

static uint32_t loops_new(struct loops_work *work, const struct static_scope *scope, image_id image)
{
	struct loops *loops = work->loops;
	const struct functions_from *from = work->from;
	struct scope_frame frame = { .kind = SCOPE_LOOP,
				     .flags = scope->flags,
				     .vaddr = scope->vaddr,
				     .name = functions_string(loops->functions, from, scope->name),
				     .linkage = functions_string(loops->functions, from, scope->linkage),
				     .file = functions_string(loops->functions, from, scope->file),
				     .line = scope->line,
				     .end_line = scope->end_line,
				     .image = from->places[image].module };

	vec_push(&loops->all, frame);
	return (uint32_t)loops->all.n - 1;
}

static void loops_remember(struct loops_work *work, image_id image, const struct static_scope *scope,
			   uint32_t loop)
{
	struct loop_key key = { scope->vaddr, image, scope->name, scope->line, scope->end_line };

	if (numbering_add(&work->keys, &key) == work->found.n)
		vec_push(&work->found, loop);
}

/* Matches the loops directly inside one scope. */
static void loops_match(struct loops_work *work, struct nest *nest, const uint32_t *scopes, size_t m,
			uint32_t path)
{
	struct loops *loops = work->loops;
	size_t n = loops->lists.at[path].at.n;
	CLEANUP(freep) struct order_place *known = alloc_zero(n + 1, sizeof(*known));
	CLEANUP(freep) struct order_place *ours = alloc_zero(m + 1, sizeof(*ours));
	CLEANUP(freep) uint32_t *pairs = alloc_zero(m + 1, sizeof(*pairs));

	for (size_t i = 0; i < n; i++)
		known[i] = loops->lists.at[path].at.at[i].place;
	for (size_t i = 0; i < m; i++)
		ours[i] = loop_place(nest, scopes[i]);
	order_match(known, n, ours, m, pairs);
	for (size_t i = 0; i < m; i++) {
		const struct static_scope *scope = &nest->structure->scopes.at[scopes[i]];
		uint32_t loop = pairs[i] != ORDER_NONE ? loops->lists.at[path].at.at[pairs[i]].loop
						       : loops_new(work, scope, nest->structure->image);
		if (pairs[i] == ORDER_NONE)
			vec_push(&loops->lists.at[path].at, (struct loop_known){ ours[i], loop });
		nest->path[scopes[i]] = loops_path(loops, path, PATH_LOOP, loop);
		loops_remember(work, nest->structure->image, scope, loop);
	}
}

static uint32_t loops_inline_path(struct loops_work *work, const struct static_scope *scope, uint32_t path)
{
	const struct intern *strings = &work->from->profile->strings;
	const char *name = intern_text(strings, scope->linkage ? scope->linkage : scope->name);

	return loops_path(
		work->loops, path, PATH_INLINE,
		intern_add_n(&work->loops->functions->modules->names->strings, name, stem_function(name)));
}

static void loops_add_structure(struct loops_work *work, const struct structure *structure, uint32_t function)
{
	CLEANUP(nest_done) struct nest nest = nest_of(structure);
	VEC(uint32_t) siblings = { 0 };

	nest.path[0] = loops_path(work->loops, NONE, PATH_FUNCTION, function);
	for (uint32_t i = 0; i < structure->scopes.n; i++) {
		vec_clear(&siblings);
		for (uint32_t k = nest.first[i]; k < nest.first[i + 1]; k++) {
			uint32_t child = nest.order[k];
			if (structure->scopes.at[child].kind == SCOPE_LOOP)
				vec_push(&siblings, child);
			else
				nest.path[child] =
					loops_inline_path(work, &structure->scopes.at[child], nest.path[i]);
		}
		if (siblings.n)
			loops_match(work, &nest, siblings.at, siblings.n, nest.path[i]);
	}
	vec_done(&siblings);
}

/* ---- all of a profile ----------------------------------------------------------------------------- */

static void loops_note_functions(struct loops_work *work, const struct scope_tree *tree,
				 const uint32_t *functions)
{
	for (size_t i = 0; i < tree->frames.n; i++) {
		const struct scope_frame *frame = &tree->frames.at[i];
		const uint64_t place[] = { frame->image, frame->vaddr };
		if (frame->kind == SCOPE_FUNCTION && numbering_add(&work->functions, place) == work->joint.n)
			vec_push(&work->joint, functions[i]);
	}
}

static void loops_look_into(struct loops_work *work, const struct scope_frame *frame)
{
	const struct profile *profile = work->from->profile;
	const struct function_map *map = profile_function(profile, frame->image, frame->vaddr);
	const struct structure *structure =
		map ? profile_structure(profile, frame->image, map->parent_vaddr) : NULL;
	const uint64_t place[] = { frame->image, map ? map->parent_vaddr : 0 };
	uint32_t function = numbering_find(&work->functions, place);

	if (!structure || function == NONE || work->is_done[structure - profile->structures.at])
		return;
	work->is_done[structure - profile->structures.at] = true;
	loops_add_structure(work, structure, work->joint.at[function]);
}

/* Without a structure: by name, file and line. */
static uint32_t loops_by_line(struct loops_work *work, const struct scope_frame *frame)
{
	struct loops *loops = work->loops;
	struct intern *strings = &loops->functions->modules->names->strings;
	const char *file = label_file(intern_text(&work->from->profile->strings, frame->file));
	uint32_t module =
		frame->image < work->from->profile->images.n ? work->from->places[frame->image].module : NONE;
	const uint32_t key[] = { module, functions_string(loops->functions, work->from, frame->name),
				 intern_add(strings, file), frame->line };
	uint32_t number = numbering_add(&loops->places, key);

	if (number == loops->at_place.n) {
		struct scope_frame joint = *frame;
		joint.image = module;
		joint.name = key[1];
		joint.linkage = functions_string(loops->functions, work->from, frame->linkage);
		joint.file = functions_string(loops->functions, work->from, frame->file);
		vec_push(&loops->at_place, (uint32_t)loops->all.n);
		vec_push(&loops->all, joint);
	}
	return loops->at_place.at[number];
}

static uint32_t loops_find(struct loops_work *work, const struct scope_frame *frame)
{
	struct loop_key key = { frame->vaddr, frame->image, frame->name, frame->line, frame->end_line };

	loops_look_into(work, frame);
	uint32_t number = numbering_find(&work->keys, &key);
	return number != NONE ? work->found.at[number] : loops_by_line(work, frame);
}

void loops_add(struct loops *loops, const struct functions_from *from, const struct scope_tree *tree,
	       const uint32_t *functions, uint32_t *ret)
{
	struct loops_work work = { .loops = loops,
				   .from = from,
				   .is_done = alloc_zero(from->profile->structures.n + 1, sizeof(bool)) };

	numbering_init(&work.functions, 2 * sizeof(uint64_t));
	numbering_init(&work.keys, sizeof(struct loop_key));
	loops_note_functions(&work, tree, functions);
	for (size_t i = 0; i < tree->frames.n; i++)
		ret[i] =
			tree->frames.at[i].kind == SCOPE_LOOP ? loops_find(&work, &tree->frames.at[i]) : NONE;
	numbering_done(&work.functions);
	numbering_done(&work.keys);
	vec_done(&work.joint);
	vec_done(&work.found);
	free(work.is_done);
}
