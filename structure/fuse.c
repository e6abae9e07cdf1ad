/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/fuse.h"

#include <string.h>

#include "base/hash.h"
#include "structure/fuse_private.h"

/* ---- scopes, each once -------------------------------------------------------------------------- */

static bool same_call(const struct fuse *fuse, uint32_t left, uint32_t right)
{
	const struct scope_call *a = &fuse->tree->calls.at[left], *b = &fuse->tree->calls.at[right];

	switch (fuse->options->calls) {
	case FUSE_CALLS_BY_ADDRESS:
		return left == right;
	case FUSE_CALLS_BY_LINE:
		return a->file == b->file && a->line == b->line;
	default:
		return true;
	}
}

static bool scope_same(const void *owner, uint32_t index, const void *key)
{
	const struct fuse *fuse = owner;
	const struct scope_row *a = &fuse->tree->scopes.at[index], *b = key;

	return a->parent == b->parent && a->frame == b->frame && same_call(fuse, a->call, b->call);
}

static size_t scope_hash(const struct fuse *fuse, const struct scope_row *row)
{
	const struct scope_call *call = &fuse->tree->calls.at[row->call];
	uint64_t h = hash_u64(hash_secret() ^ ((uint64_t)row->parent << 32 | row->frame));

	if (fuse->options->calls != FUSE_CALLS_MERGED)
		h = hash_u64(h) ^ ((uint64_t)call->file << 32 | call->line);
	if (fuse->options->calls == FUSE_CALLS_BY_ADDRESS)
		h = hash_u64(h) ^ call->vaddr;
	return (size_t)hash_u64(h);
}

static uint64_t scope_hash_at(const void *owner, uint32_t index)
{
	const struct fuse *fuse = owner;

	return scope_hash(fuse, &fuse->tree->scopes.at[index]);
}

/* Merged calls have no common call site. */
static void merge_calls(struct fuse *fuse, struct scope_row *known, uint32_t other)
{
	struct scope_call call = fuse->tree->calls.at[known->call];
	const struct scope_call *b = &fuse->tree->calls.at[other];

	if (known->call == other)
		return;
	if (call.vaddr != b->vaddr)
		call.vaddr = 0;
	if (call.file != b->file || call.line != b->line)
		call.file = call.line = 0;
	known->call = scope_maker_call(&fuse->maker, call);
}

static void fuse_pay(struct fuse *fuse, uint64_t steps)
{
	fuse->steps_left -= steps < fuse->steps_left ? steps : fuse->steps_left;
}

uint32_t fuse_add_row(struct fuse *fuse, struct scope_row row)
{
	size_t slot = slots_find(&fuse->slots, scope_hash(fuse, &row), scope_same, fuse, &row);
	uint32_t known = fuse->slots.at[slot];

	if (known != SLOT_FREE) {
		merge_calls(fuse, &fuse->tree->scopes.at[known], row.call);
		fuse_pay(fuse, 1);
		return known;
	}
	fuse_pay(fuse, FUSE_STEP_NEW);

	uint32_t index = (uint32_t)fuse->tree->scopes.n;
	vec_push(&fuse->tree->scopes, row);
	slots_put(&fuse->slots, slot, index, scope_hash_at, fuse);
	return index;
}

static uint32_t fuse_add_scope(struct fuse *fuse, uint32_t parent, const struct scope_frame *frame,
			       uint32_t call)
{
	uint32_t number = scope_maker_frame(&fuse->maker, *frame);

	fuse_places_step(&fuse->places, number, call);
	return fuse_add_row(fuse, (struct scope_row){ parent, number, call });
}

/* ---- one frame ---------------------------------------------------------------------------------- */

static const struct function_map *find_map(const struct fuse_input *input, image_id image, uint64_t vaddr)
{
	return function_maps_find(input->functions, input->n_functions, image, vaddr);
}

/* A piece that was split off is attributed to the function it was split from, if that is known. */
static const struct function_map *whole_of(const struct fuse_input *input, const struct function_map *map)
{
	const struct function_map *whole = map;

	if (map->parent_vaddr != map->vaddr)
		whole = find_map(input, map->image, map->parent_vaddr);
	return whole && whole->vaddr == map->parent_vaddr ? whole : map;
}

static image_id fuse_image(const struct fuse *fuse, const struct cct_node *node)
{
	bool is_itself = node->image == IMAGE_NONE || !fuse->input->shown_as;

	return is_itself ? node->image : fuse->input->shown_as[node->image];
}

static struct landing land_nowhere(struct fuse *fuse, const struct cct_node *node, uint64_t vaddr)
{
	const struct landing *caller = &fuse->landings[node->parent];
	struct scope_frame frame = { .kind = SCOPE_UNKNOWN,
				     .flags = node->flags & CCT_IS_KERNEL ? SCOPE_KERNEL : 0,
				     .image = fuse_image(fuse, node),
				     .vaddr = vaddr };

	return (struct landing){ .scope = fuse_add_scope(fuse, caller->scope, &frame, caller->call),
				 .call = scope_maker_call(&fuse->maker,
							  (struct scope_call){ .vaddr = node->vaddr }) };
}

/* Is the call of this function in the source? */
static bool is_written(const struct fuse *fuse, uint32_t name)
{
	const struct join_notes *notes = fuse->input->notes;

	for (size_t i = 0; notes && i < notes->wrapped.n; i++)
		if (notes->wrapped.at[i] == name)
			return false;
	return true;
}

static uint32_t fuse_add_function(struct fuse *fuse, const struct cct_node *node,
				  const struct function_map *map)
{
	const struct landing *caller = &fuse->landings[node->parent];
	const struct join_notes *notes = fuse->input->notes;
	unsigned flags = (node->flags & CCT_IS_KERNEL ? SCOPE_KERNEL : 0u) |
			 (map->source == MAP_FROM_NOTHING ? SCOPE_RECOVERED_NAME : 0u) |
			 (notes && notes->flags ? notes->flags[map - fuse->input->functions] : 0u);
	struct scope_frame frame = { .kind = SCOPE_FUNCTION,
				     .flags = (uint16_t)flags,
				     .name = map->name,
				     .linkage = map->linkage,
				     .file = map->decl_file,
				     .line = map->decl_line,
				     .end_line = map->end_line,
				     .image = fuse_image(fuse, node),
				     .vaddr = map->parent_vaddr };

	bool is_hidden = !is_written(fuse, map->name);
	fuse->places.is_varying |= is_hidden;
	if (is_hidden && scope_kind(fuse->tree, caller->scope) == SCOPE_FUNCTION)
		return caller->scope;
	return fuse_add_scope(fuse, caller->scope, &frame, caller->call);
}

static uint32_t call_at(struct fuse *fuse, uint32_t file, uint32_t line)
{
	return scope_maker_call(&fuse->maker, (struct scope_call){ .file = file, .line = line });
}

/* `call` is the place in the outer function from which `inner` was inlined. */
static uint32_t add_inline(struct fuse *fuse, uint32_t parent, const struct location *call,
			   const struct location *inner)
{
	const struct scope_frame *outer = scope_frame(fuse->tree, parent);
	struct scope_frame frame = { .kind = SCOPE_INLINE,
				     .flags = outer->flags & SCOPE_KERNEL,
				     .name = inner->function,
				     .linkage = inner->linkage,
				     .file = inner->decl_file,
				     .line = inner->decl_line,
				     .image = outer->image };

	return fuse_add_scope(fuse, parent, &frame, call_at(fuse, call->file, call->line));
}

/* ---- loops and inlined calls, where the function's structure is known ---------------------------- */

static bool is_shown(const struct fuse *fuse, const struct static_scope *scope)
{
	if (scope->kind == SCOPE_LOOP)
		return !fuse->options->no_loops;
	return !fuse->options->no_inlines && is_written(fuse, scope->name);
}

static uint32_t add_static(struct fuse *fuse, uint32_t parent, const struct static_scope *from)
{
	const struct scope_frame *outer = scope_frame(fuse->tree, parent);
	struct scope_frame frame = { .kind = from->kind,
				     .flags = (uint16_t)(from->flags | (outer->flags & SCOPE_KERNEL)),
				     .name = from->name,
				     .linkage = from->linkage,
				     .file = from->file,
				     .line = from->line,
				     .end_line = from->end_line,
				     .image = outer->image,
				     .vaddr = from->kind == SCOPE_LOOP ? from->vaddr : 0 };

	return fuse_add_scope(fuse, parent, &frame, call_at(fuse, from->call_file, from->call_line));
}

/* The scopes around a static scope, outermost first, below the function's own. A short frame has two of them.
 */
static uint32_t add_static_chain(struct fuse *fuse, uint32_t function, const struct structure *structure,
				 uint32_t innermost)
{
	const struct static_scope *chain[STRUCTURE_MAX_DEPTH], *scope;
	size_t n = 0, depth = 0, inlined = 0;
	bool is_short = fuse_is_short(fuse);

	for (uint32_t at = innermost; at != 0 && depth < STRUCTURE_MAX_DEPTH; at = scope->parent, depth++) {
		scope = &structure->scopes.at[at];
		if (is_shown(fuse, scope))
			chain[n++] = scope;
	}
	while (inlined < n && chain[inlined]->kind != SCOPE_INLINE)
		inlined++;
	while (n-- > 0) {
		if (!is_short || n == 0 || n == inlined)
			function = add_static(fuse, function, chain[n]);
		else
			fuse->places.is_shortened = true;
	}
	return function;
}

/* The same from the inlined calls at an address, innermost first, the function itself last. */
static uint32_t add_inline_chain(struct fuse *fuse, uint32_t function, const struct location *chain, size_t n)
{
	bool is_short = fuse_is_short(fuse);
	size_t innermost = 0;

	while (innermost + 1 < n && !is_written(fuse, chain[innermost].function))
		innermost++;
	for (size_t i = n - 1; i-- > innermost;) {
		if (is_short && i > innermost)
			fuse->places.is_shortened = true;
		else if (is_written(fuse, chain[i].function))
			function = add_inline(fuse, function, &chain[i + 1], &chain[i]);
	}
	return function;
}

/* From one address to the chain of scopes that contain it. */
static struct landing expand_frame(struct fuse *fuse, const struct cct_node *node)
{
	uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
	const struct function_map *map =
		node->image == IMAGE_NONE ? NULL : find_map(fuse->input, node->image, vaddr);
	struct location chain[LOCATION_MAX_DEPTH];

	if (!map)
		return land_nowhere(fuse, node, vaddr);

	uint64_t offset = vaddr - map->vaddr;
	size_t n = function_map_locate(map, offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset, chain,
				       LOCATION_MAX_DEPTH);
	const struct function_map *whole = whole_of(fuse->input, map);
	const struct structure *structure = structures_find(
		fuse->input->structures, fuse->input->n_structures, node->image, whole->vaddr);
	uint32_t scope = fuse_add_function(fuse, node, whole);
	const struct location *place = &chain[fuse->options->no_inlines ? n - 1 : 0];
	if (fuse->options->no_inlines)
		n = 1;
	if (structure)
		scope = add_static_chain(fuse, scope, structure, structure_find(structure, vaddr));
	else
		scope = add_inline_chain(fuse, scope, chain, n);
	struct scope_call call = { node->vaddr, place->file, place->line };
	return (struct landing){ scope, scope_maker_call(&fuse->maker, call) };
}

/* ---- the whole tree ----------------------------------------------------------------------------- */

static void add_roots(struct fuse *fuse)
{
	fuse_add_scope(fuse, 0, &(struct scope_frame){ .kind = SCOPE_ROOT, .image = IMAGE_NONE }, 0);
	fuse_add_scope(fuse, 0, &(struct scope_frame){ .kind = SCOPE_INCOMPLETE, .image = IMAGE_NONE }, 0);
	fuse->landings[CCT_ROOT] = (struct landing){ .scope = 0 };
	fuse->landings[CCT_INCOMPLETE] = (struct landing){ .scope = 1 };
}

/* Everything except the values. */
static void make_tree(struct fuse *fuse)
{
	const struct cct *cct = fuse->input->cct;

	*fuse->tree = (struct scope_tree){ .n_metrics = fuse->input->n_metrics };
	if (fuse->options->activations)
		fuse->tree->activations = fuse->tree->n_metrics++;
	fuse->tree->has_addresses = fuse->options->lines && fuse->options->addresses;
	scope_maker_init(&fuse->maker, fuse->tree);
	fuse->landings = alloc_zero(cct->nodes.n, sizeof(*fuse->landings));
	slots_init(&fuse->slots);
	fuse->steps_left = FUSE_STEPS_FREE + (uint64_t)FUSE_STEPS_PER_NODE * cct->nodes.n;
	fuse_places_init(&fuse->places);
	add_roots(fuse);
	for (size_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++)
		fuse->landings[i] = fuse_places_land(fuse, &cct->nodes.at[i], expand_frame);
	fuse_places_done(&fuse->places);
	slots_done(&fuse->slots);
	if (fuse->options->rounds &&
	    fuse->tree->scopes.n <= FUSE_ROUNDS_FREE + FUSE_ROUNDS_PER_NODE * cct->nodes.n)
		fuse->tree->n_metrics += fuse->tree->n_rounds = CCT_ROUNDS;
	if (fuse->options->lines)
		fuse_add_lines(fuse);
	scope_maker_done(&fuse->maker);
}

/* Calls belong to the function, wherever in it they were first seen. */
static uint32_t fuse_function_of(const struct fuse *fuse, uint32_t scope)
{
	while (scope &&
	       (scope_kind(fuse->tree, scope) == SCOPE_INLINE ||
		scope_kind(fuse->tree, scope) == SCOPE_LOOP || scope_kind(fuse->tree, scope) == SCOPE_LINE))
		scope = fuse->tree->scopes.at[scope].parent;
	return scope;
}

/* The tree's number of a metric, or of what is stored like one; UINT32_MAX if it has none. */
static uint32_t fuse_metric(const struct fuse *fuse, uint32_t metric)
{
	const struct scope_tree *tree = fuse->tree;

	if (metric == CCT_ACTIVATIONS)
		return tree->activations ? tree->activations : UINT32_MAX;
	if (metric >= CCT_ROUND)
		return tree->n_rounds ? metric - CCT_ROUND + tree->n_metrics - tree->n_rounds : UINT32_MAX;
	return metric < fuse->input->n_metrics ? metric : UINT32_MAX;
}

/* Converts values of nodes to values of scopes; both may be in the same place. Returns how many there are. */
static size_t fuse_move_values(const struct fuse *fuse, const struct cct_value *from, size_t n,
			       struct scope_value *to)
{
	size_t n_moved = 0;

	for (size_t i = 0; i < n; i++) {
		struct cct_value value = from[i];
		if (value.metric >= CCT_DURATION) {
			if (fuse->options->durations)
				vec_push(
					&fuse->tree->durations,
					((struct scope_value){ fuse->landings[value.node].scope, value.thread,
							       value.metric - CCT_DURATION, value.value }));
			continue;
		}
		uint32_t scope = fuse->landings[value.node].scope, metric = fuse_metric(fuse, value.metric);
		if (metric == UINT32_MAX)
			continue;
		if (value.metric == CCT_ACTIVATIONS)
			scope = fuse_function_of(fuse, scope);
		to[n_moved++] = (struct scope_value){ scope, value.thread, metric, value.value };
	}
	return n_moved;
}

static void fuse_settle(struct scope_tree *tree, size_t n)
{
	tree->values.n = scope_values_settle(tree->values.at, n, tree->scopes.n);
}

void fuse(const struct fuse_input *input, const struct fuse_options *options, struct scope_tree *ret)
{
	struct fuse fuse = { .input = input, .options = options, .tree = ret };
	const struct cct *cct = input->cct;

	make_tree(&fuse);
	vec_reserve(&ret->values, cct->values.n);
	size_t n = fuse_move_values(&fuse, cct->values.at, cct->values.n, ret->values.at);
	free(fuse.landings);
	fuse_settle(ret, n);
}

void fuse_consume(const struct fuse_input *input, const struct fuse_options *options, struct cct *cct,
		  struct scope_tree *ret)
{
	struct fuse fuse = { .input = input, .options = options, .tree = ret };
	size_t n = cct->values.n;

	_Static_assert(sizeof(struct scope_value) == sizeof(struct cct_value),
		       "one takes the place of the other");
	cct_forget_hash(cct);
	make_tree(&fuse);
	ret->values.at = (void *)cct->values.at;
	ret->values.cap = cct->values.cap;
	n = fuse_move_values(&fuse, cct->values.at, n, ret->values.at);
	cct->values.at = NULL;
	free(fuse.landings);
	cct_done(cct);
	fuse_settle(ret, n);
}
