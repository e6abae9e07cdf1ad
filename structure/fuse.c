/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/fuse.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"

#define FREE_SLOT UINT32_MAX

/* Where a node of the CCT went. */
struct landing {
	uint32_t scope;      /* the innermost one: callees hang below it */
	uint32_t self;       /* what was spent here: that scope, or a line in it */
	uint32_t file, line; /* of the address: the call site of its callees */
};

struct fuse {
	const struct fuse_input *input;
	const struct fuse_options *options;
	struct scope_tree *tree;
	uint32_t *slots; /* open hash of scopes */
	size_t n_slots;  /* a power of two */
	struct landing *landings; /* by node */
};

/* ---- scopes, each once -------------------------------------------------------------------------- */

static bool same_call(const struct fuse *fuse, const struct scope *a, const struct scope *b)
{
	switch (fuse->options->calls) {
	case FUSE_CALLS_BY_ADDRESS:
		if (a->call_vaddr != b->call_vaddr)
			return false;
		return a->call_file == b->call_file && a->call_line == b->call_line;
	case FUSE_CALLS_BY_LINE:
		return a->call_file == b->call_file && a->call_line == b->call_line;
	default:
		return true;
	}
}

/* A line is where it is; anything else is who it is, and how it was called. */
static bool same_scope(const struct fuse *fuse, const struct scope *a, const struct scope *b)
{
	if (a->parent != b->parent || a->kind != b->kind || a->name != b->name || a->image != b->image)
		return false;
	if (a->kind == SCOPE_LINE)
		return a->file == b->file && a->line == b->line;
	return a->linkage == b->linkage && a->vaddr == b->vaddr && same_call(fuse, a, b);
}

static size_t hash_scope(const struct fuse *fuse, const struct scope *scope)
{
	uint64_t h = hash_u64((uint64_t)scope->parent << 32 | (uint64_t)scope->kind << 24) ^ scope->name;

	h = hash_u64(h) ^ scope->image;
	if (scope->kind == SCOPE_LINE)
		return (size_t)hash_u64(h ^ ((uint64_t)scope->file << 32 | scope->line));
	h = hash_u64(h) ^ scope->vaddr;
	if (fuse->options->calls != FUSE_CALLS_MERGED)
		h = hash_u64(h) ^ ((uint64_t)scope->call_file << 32 | scope->call_line);
	if (fuse->options->calls == FUSE_CALLS_BY_ADDRESS)
		h = hash_u64(h) ^ scope->call_vaddr;
	return (size_t)hash_u64(h);
}

static size_t slot_of(const struct fuse *fuse, const struct scope *scope)
{
	size_t mask = fuse->n_slots - 1, i = hash_scope(fuse, scope) & mask;

	while (fuse->slots[i] != FREE_SLOT && !same_scope(fuse, &fuse->tree->scopes.at[fuse->slots[i]], scope))
		i = (i + 1) & mask;
	return i;
}

static void grow(struct fuse *fuse)
{
	fuse->n_slots = fuse->n_slots ? fuse->n_slots * 2 : 1024;
	fuse->slots = alloc_resize(fuse->slots, fuse->n_slots, sizeof(*fuse->slots));
	memset(fuse->slots, 0xff, fuse->n_slots * sizeof(*fuse->slots));
	for (size_t i = 0; i < fuse->tree->scopes.n; i++)
		fuse->slots[slot_of(fuse, &fuse->tree->scopes.at[i])] = (uint32_t)i;
}

/* Calls that were merged have no site in common. */
static void merge_calls(struct scope *known, const struct scope *scope)
{
	if (known->call_vaddr != scope->call_vaddr)
		known->call_vaddr = 0;
	if (known->call_file != scope->call_file || known->call_line != scope->call_line)
		known->call_file = known->call_line = 0;
}

static uint32_t add_scope(struct fuse *fuse, const struct scope *scope)
{
	size_t slot = slot_of(fuse, scope);
	uint32_t known = fuse->slots[slot];

	if (known != FREE_SLOT) {
		merge_calls(&fuse->tree->scopes.at[known], scope);
		return known;
	}

	uint32_t index = (uint32_t)fuse->tree->scopes.n;
	vec_push(&fuse->tree->scopes, *scope);
	fuse->slots[slot] = index;
	if (fuse->tree->scopes.n * 2 > fuse->n_slots)
		grow(fuse);
	return index;
}

/* ---- one frame ---------------------------------------------------------------------------------- */

static const struct function_map *find_map(const struct fuse_input *input, image_id image, uint64_t vaddr)
{
	size_t low = 0, high = input->n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct function_map *map = &input->functions[middle];
		if (map->image < image || (map->image == image && map->vaddr <= vaddr))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;

	const struct function_map *map = &input->functions[low - 1];
	return map->image == image && vaddr - map->vaddr < map->size ? map : NULL;
}

/* A piece that was split off counts as the function it was split from, where that is known. */
static const struct function_map *whole_of(const struct fuse_input *input, const struct function_map *map)
{
	const struct function_map *whole = map;

	if (map->parent_vaddr != map->vaddr)
		whole = find_map(input, map->image, map->parent_vaddr);
	return whole && whole->vaddr == map->parent_vaddr ? whole : map;
}

/* The scope a frame enters, before it is known which function that is. */
static struct scope scope_of_call(const struct fuse *fuse, const struct cct_node *node)
{
	const struct landing *caller = &fuse->landings[node->parent];
	struct scope scope = { .parent = caller->scope,
			       .relation = RELATION_CALL,
			       .flags = node->flags & CCT_IS_KERNEL ? SCOPE_KERNEL : 0,
			       .image = node->image,
			       .call_file = caller->file,
			       .call_line = caller->line };

	if (node->parent > CCT_INCOMPLETE)
		scope.call_vaddr = fuse->input->cct->nodes.at[node->parent].vaddr;
	return scope;
}

static struct landing land_nowhere(struct fuse *fuse, struct scope scope, uint64_t vaddr)
{
	scope.kind = SCOPE_UNKNOWN;
	scope.vaddr = vaddr;
	uint32_t index = add_scope(fuse, &scope);
	return (struct landing){ .scope = index, .self = index };
}

static uint32_t add_function(struct fuse *fuse, struct scope scope, const struct function_map *map)
{
	scope.kind = SCOPE_FUNCTION;
	scope.name = map->name;
	scope.linkage = map->linkage;
	scope.file = map->decl_file;
	scope.line = map->decl_line;
	scope.end_line = map->end_line;
	scope.vaddr = map->parent_vaddr;
	if (map->source == MAP_FROM_NOTHING)
		scope.flags |= SCOPE_RECOVERED_NAME;
	return add_scope(fuse, &scope);
}

/* `call` is the place in the outer function from which `inner` was inlined. */
static uint32_t add_inline(struct fuse *fuse, uint32_t parent, const struct location *call,
			   const struct location *inner)
{
	const struct scope *outer = &fuse->tree->scopes.at[parent];
	struct scope scope = { .parent = parent,
			       .kind = SCOPE_INLINE,
			       .relation = RELATION_INLINE,
			       .flags = outer->flags & SCOPE_KERNEL,
			       .name = inner->function,
			       .linkage = inner->linkage,
			       .file = inner->decl_file,
			       .line = inner->decl_line,
			       .call_file = call->file,
			       .call_line = call->line,
			       .image = outer->image };

	return add_scope(fuse, &scope);
}

static uint32_t add_line(struct fuse *fuse, const struct landing *landing, uint64_t vaddr)
{
	const struct scope *outer = &fuse->tree->scopes.at[landing->scope];
	struct scope scope = { .parent = landing->scope,
			       .kind = SCOPE_LINE,
			       .relation = RELATION_LEXICAL,
			       .flags = outer->flags & SCOPE_KERNEL,
			       .name = outer->name,
			       .file = landing->file,
			       .line = landing->line,
			       .image = outer->image,
			       .vaddr = vaddr };

	return add_scope(fuse, &scope);
}

/* ---- loops and inlined calls, where the function's structure is known ---------------------------- */

static const struct structure *find_structure(const struct fuse_input *input, image_id image, uint64_t function)
{
	size_t low = 0, high = input->n_structures;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct structure *s = &input->structures[middle];
		if (s->image < image || (s->image == image && s->function < function))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == input->n_structures)
		return NULL;
	const struct structure *found = &input->structures[low];
	return found->image == image && found->function == function ? found : NULL;
}

static bool is_shown(const struct fuse *fuse, const struct static_scope *scope)
{
	return scope->kind == SCOPE_LOOP ? !fuse->options->no_loops : !fuse->options->no_inlines;
}

static uint32_t add_static(struct fuse *fuse, uint32_t parent, const struct static_scope *from)
{
	const struct scope *outer = &fuse->tree->scopes.at[parent];
	bool is_loop = from->kind == SCOPE_LOOP;
	struct scope scope = { .parent = parent,
			       .kind = from->kind,
			       .relation = is_loop ? RELATION_LEXICAL : RELATION_INLINE,
			       .flags = (uint16_t)(from->flags | (outer->flags & SCOPE_KERNEL)),
			       .name = from->name,
			       .linkage = from->linkage,
			       .file = from->file,
			       .line = from->line,
			       .end_line = from->end_line,
			       .call_file = from->call_file,
			       .call_line = from->call_line,
			       .image = outer->image,
			       .vaddr = is_loop ? from->vaddr : 0 };

	return add_scope(fuse, &scope);
}

/* The scopes around a static scope, outermost first, below the function's own. */
static uint32_t add_static_chain(struct fuse *fuse, uint32_t function, const struct structure *structure, uint32_t innermost)
{
	uint32_t chain[STRUCTURE_MAX_DEPTH];
	size_t n = 0;

	for (uint32_t at = innermost; at != 0 && n < STRUCTURE_MAX_DEPTH; at = structure->scopes.at[at].parent)
		chain[n++] = at;
	while (n-- > 0)
		if (is_shown(fuse, &structure->scopes.at[chain[n]]))
			function = add_static(fuse, function, &structure->scopes.at[chain[n]]);
	return function;
}

/* From one address to the chain of scopes it stands in. */
static struct landing expand_frame(struct fuse *fuse, const struct cct_node *node)
{
	uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
	const struct function_map *map =
		node->image == IMAGE_NONE ? NULL : find_map(fuse->input, node->image, vaddr);
	struct scope scope = scope_of_call(fuse, node);
	struct location chain[LOCATION_MAX_DEPTH];

	if (!map)
		return land_nowhere(fuse, scope, vaddr);

	uint64_t offset = vaddr - map->vaddr;
	size_t n = function_map_locate(map, offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset, chain,
				       LOCATION_MAX_DEPTH);
	const struct function_map *whole = whole_of(fuse->input, map);
	const struct structure *structure = find_structure(fuse->input, node->image, whole->vaddr);
	struct landing landing = { .scope = add_function(fuse, scope, whole),
				   .file = chain[0].file,
				   .line = chain[0].line };
	if (fuse->options->no_inlines) {
		landing.file = chain[n - 1].file;
		landing.line = chain[n - 1].line;
		n = 1;
	}
	if (structure)
		landing.scope = add_static_chain(fuse, landing.scope, structure, structure_find(structure, vaddr));
	for (size_t i = n - 1; !structure && i-- > 0;)
		landing.scope = add_inline(fuse, landing.scope, &chain[i + 1], &chain[i]);
	landing.self = landing.scope;
	return landing;
}

/* ---- the whole tree ----------------------------------------------------------------------------- */

static void add_roots(struct fuse *fuse)
{
	add_scope(fuse, &(struct scope){ .kind = SCOPE_ROOT, .image = IMAGE_NONE });
	add_scope(fuse, &(struct scope){ .kind = SCOPE_INCOMPLETE, .image = IMAGE_NONE });
	fuse->landings[CCT_ROOT] = (struct landing){ .scope = 0, .self = 0 };
	fuse->landings[CCT_INCOMPLETE] = (struct landing){ .scope = 1, .self = 1 };
}

/* Only nodes in which something was spent get a line: the others' lines are call sites. */
static void add_lines(struct fuse *fuse)
{
	const struct cct *cct = fuse->input->cct;
	CLEANUP(freep) bool *is_leaf = alloc_zero(cct->nodes.n, sizeof(*is_leaf));

	/* In the order of nodes, so that the tree does not depend on that of the values. */
	for (size_t i = 0; i < cct->values.n; i++)
		is_leaf[cct->values.at[i].node] = true;
	for (size_t i = 0; i < cct->nodes.n; i++) {
		struct landing *landing = &fuse->landings[i];
		if (is_leaf[i] && landing->line != 0)
			landing->self = add_line(fuse, landing, cct->nodes.at[i].vaddr);
	}
}

static int compare_values(const void *a, const void *b)
{
	const struct scope_value *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Sorts one scope's values and adds up those of the same thread and metric; returns how many are left. */
static size_t settle_scope(struct scope_value *values, size_t n)
{
	size_t last = 0;

	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare_values);
	for (size_t i = 1; i < n; i++) {
		if (compare_values(&values[last], &values[i]) == 0)
			values[last].value += values[i].value;
		else
			values[++last] = values[i];
	}
	return last + 1;
}

static void move_values(struct fuse *fuse)
{
	const struct cct *cct = fuse->input->cct;
	struct scope_tree *tree = fuse->tree;
	CLEANUP(freep) size_t *end = alloc_zero(tree->scopes.n + 1, sizeof(*end));

	if (cct->values.n == 0)
		return;
	/* By scope in linear time, then each scope's few values by thread and metric. */
	for (size_t i = 0; i < cct->values.n; i++)
		end[fuse->landings[cct->values.at[i].node].self + 1]++;
	for (size_t scope = 0; scope < tree->scopes.n; scope++)
		end[scope + 1] += end[scope];
	vec_reserve(&tree->values, cct->values.n);
	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		uint32_t scope = fuse->landings[value->node].self;
		tree->values.at[end[scope]++] =
			(struct scope_value){ scope, value->thread, value->metric, value->value };
	}
	for (size_t scope = 0, from = 0; scope < tree->scopes.n; from = end[scope++]) {
		size_t n = settle_scope(tree->values.at + from, end[scope] - from);
		if (n)
			memmove(tree->values.at + tree->values.n, tree->values.at + from, n * sizeof(*tree->values.at));
		tree->values.n += n;
	}
}

void fuse(const struct fuse_input *input, const struct fuse_options *options, struct scope_tree *ret)
{
	struct fuse fuse = { .input = input, .options = options, .tree = ret };

	*ret = (struct scope_tree){ .n_metrics = input->n_metrics };
	fuse.landings = alloc_zero(input->cct->nodes.n, sizeof(*fuse.landings));
	grow(&fuse);
	add_roots(&fuse);
	for (size_t i = CCT_INCOMPLETE + 1; i < input->cct->nodes.n; i++)
		fuse.landings[i] = expand_frame(&fuse, &input->cct->nodes.at[i]);
	if (options->lines)
		add_lines(&fuse);
	move_values(&fuse);
	free(fuse.landings);
	free(fuse.slots);
}
