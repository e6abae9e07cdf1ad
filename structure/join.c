/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/search.h"
#include "structure/join_private.h"

void join_notes_done(struct join_notes *notes)
{
	free(notes->flags);
	vec_done(&notes->wrapped);
	*notes = (struct join_notes){ 0 };
}

/* ---- the role of every node ---------------------------------------------------------------------- */

/* The map of the function of a node, not of a part that was split off. */
static uint32_t join_map_of(const struct join_input *input, const struct cct_node *node)
{
	uint64_t vaddr = node->vaddr - (node->flags & CCT_IS_RETURN ? 1 : 0);
	const struct function_map *map =
		node->image == IMAGE_NONE
			? NULL
			: function_maps_find(input->functions, input->n_functions, node->image, vaddr);
	const struct function_map *whole = map;

	if (map && map->parent_vaddr != map->vaddr)
		whole = function_maps_find(input->functions, input->n_functions, map->image,
					   map->parent_vaddr);
	whole = whole ? whole : map;
	return whole ? (uint32_t)(whole - input->functions) : JOIN_NONE;
}

static void join_look_at(struct joiner *j, uint32_t node)
{
	const struct cct_node *n = &j->input->cct->nodes.at[node];
	const struct join_node *parent = &j->nodes[n->parent];
	uint32_t map = join_map_of(j->input, n);
	enum openmp_role role = map == JOIN_NONE ? OPENMP_NOT : (enum openmp_role)j->roles[map];
	bool is_called = openmp_is_runtime(parent->role);
	bool is_worker = role == OPENMP_REGION && is_called && !parent->is_forked && !parent->is_in_region &&
			 !parent->is_incomplete;

	j->nodes[node] = (struct join_node){ .map = map,
					     .role = (uint8_t)role,
					     .anchor = is_called ? parent->anchor : n->parent,
					     .root = parent->root != JOIN_NONE ? parent->root
						     : is_worker               ? node
									       : JOIN_NONE,
					     .is_forked = parent->is_forked || role == OPENMP_FORK,
					     .is_in_region = parent->is_in_region || role == OPENMP_REGION,
					     .is_incomplete = parent->is_incomplete };
	j->n_workers += is_worker;
}

static void join_look(struct joiner *j)
{
	size_t n = j->input->cct->nodes.n;

	j->nodes = alloc_zero(n + 1, sizeof(*j->nodes));
	for (uint32_t root = 0; root <= CCT_INCOMPLETE && root < n; root++)
		j->nodes[root] = (struct join_node){ .map = JOIN_NONE,
						     .root = JOIN_NONE,
						     .is_incomplete = root == CCT_INCOMPLETE };
	for (uint32_t i = CCT_INCOMPLETE + 1; i < n; i++)
		join_look_at(j, i);
}

/* ---- who waits ---------------------------------------------------------------------------------- */

/* Is the call in the loop that a schedule adds? Then it asks for more work: there can be no barrier there. */
static bool join_is_scheduling(const struct joiner *j, uint32_t caller)
{
	const struct cct_node *node = &j->input->cct->nodes.at[caller];
	uint32_t map = j->nodes[caller].map;
	const struct structure *structure =
		map == JOIN_NONE ? NULL
				 : structures_find(j->input->structures, j->input->n_structures, node->image,
						   j->input->functions[map].parent_vaddr);
	uint32_t scope = structure ? structure_find(structure, node->vaddr - 1) : 0;

	for (; scope; scope = structure->scopes.at[scope].parent)
		if (structure->scopes.at[scope].flags & SCOPE_SCHEDULE)
			return true;
	return false;
}

/* Is the runtime called only for the region itself, or for a barrier? */
static bool join_waits(const struct joiner *j, uint32_t node)
{
	const struct join_node *at = &j->nodes[node];

	if (at->role == OPENMP_WAIT)
		return true;
	while (at->role == OPENMP_UNNAMED)
		at = &j->nodes[node = j->input->cct->nodes.at[node].parent];
	if (!openmp_is_runtime(at->role))
		return !join_is_scheduling(j, node);
	return at->role == OPENMP_FORK || at->role == OPENMP_WAIT;
}

/* A function of the runtime waits if it is called only for that, and runs no code of the program meanwhile.
 */
static void join_note_waits(struct joiner *j)
{
	const struct cct *cct = j->input->cct;
	CLEANUP(freep) bool *is_other = alloc_zero(j->input->n_functions + 1, sizeof(bool));

	for (uint32_t i = (uint32_t)cct->nodes.n; i-- > CCT_INCOMPLETE + 1;) {
		const struct join_node *node = &j->nodes[i];
		uint32_t up = cct->nodes.at[i].parent;
		if (node->role != OPENMP_REGION)
			continue;
		for (; openmp_is_runtime(j->nodes[up].role); up = cct->nodes.at[up].parent)
			is_other[j->nodes[up].map] = true;
	}
	for (uint32_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		const struct join_node *node = &j->nodes[i];
		if (node->role != OPENMP_UNNAMED && node->role != OPENMP_WAIT)
			continue;
		if (join_waits(j, i))
			j->notes->flags[node->map] |= SCOPE_WAITING;
		else
			is_other[node->map] = true;
	}
	for (size_t i = 0; i < j->input->n_functions; i++)
		if (is_other[i])
			j->notes->flags[i] &= (uint16_t)~SCOPE_WAITING;
}

/* ---- the tree, rearranged ----------------------------------------------------------------------- */

/* The new parent of a node: a region is below the code that started it, without the runtime in between. */
static uint32_t join_outer(const struct joiner *j, uint32_t node)
{
	const struct join_node *n = &j->nodes[node];
	uint32_t parent = j->input->cct->nodes.at[node].parent;
	bool skips = n->role == OPENMP_REGION && openmp_is_runtime(j->nodes[parent].role) &&
		     (n->is_forked || (n->root != JOIN_NONE && n->root != node));

	return skips ? n->anchor : parent;
}

static void join_mark_live(const struct joiner *j, uint32_t node, bool *is_live)
{
	for (; !is_live[node]; node = join_outer(j, node))
		is_live[node] = true;
}

/* Everything that stays where it is, in the same order. */
static void join_keep(struct joiner *j, struct cct *to)
{
	const struct cct *cct = j->input->cct;
	CLEANUP(freep) bool *is_live = alloc_zero(cct->nodes.n + 1, sizeof(bool));

	is_live[CCT_ROOT] = is_live[CCT_INCOMPLETE] = true;
	for (size_t i = 0; i < cct->values.n; i++)
		if (!join_moves(j, cct->values.at[i].node))
			join_mark_live(j, cct->values.at[i].node, is_live);
	for (size_t i = 0; i < j->contexts.n; i++)
		join_mark_live(j, j->contexts.at[i].node, is_live);
	j->kept = alloc_zero(cct->nodes.n + 1, sizeof(*j->kept));
	j->kept[CCT_INCOMPLETE] = CCT_INCOMPLETE;
	for (uint32_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		const struct cct_node *n = &cct->nodes.at[i];
		if (is_live[i])
			j->kept[i] = cct_child(to, j->kept[join_outer(j, i)], n->image, n->vaddr, n->flags);
	}
	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		if (!join_moves(j, value->node))
			cct_add_value(to, j->kept[value->node], value->thread, value->metric, value->value);
	}
}

uint32_t join_copy(struct joiner *j, uint32_t node, uint32_t context, struct cct *to)
{
	uint32_t root = j->nodes[node].root, at = j->kept[context];

	vec_clear(&j->path);
	for (;; node = join_outer(j, node)) {
		vec_push(&j->path, node);
		if (node == root)
			break;
	}
	while (j->path.n) {
		const struct cct_node *n = &j->input->cct->nodes.at[j->path.at[--j->path.n]];
		at = cct_child(to, at, n->image, n->vaddr, n->flags);
	}
	return at;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

/* Roles of all functions; false if none is a region. */
static bool join_find_roles(struct joiner *j)
{
	const struct join_input *input = j->input;
	bool has_regions = false;

	j->roles = alloc_zero(input->n_functions + 1, sizeof(*j->roles));
	for (size_t i = 0; i < input->n_functions; i++) {
		j->roles[i] = (uint8_t)openmp_role(&input->functions[i], input->strings);
		has_regions |= j->roles[i] == OPENMP_REGION;
	}
	return has_regions;
}

static void join_note_regions(struct joiner *j)
{
	const struct join_input *input = j->input;

	j->notes->flags = alloc_zero(input->n_functions + 1, sizeof(*j->notes->flags));
	for (size_t i = 0; i < input->n_functions; i++) {
		const struct function_map *map = &input->functions[i];
		if (j->roles[i] != OPENMP_REGION)
			continue;
		if (openmp_is_wrapped(intern_text(input->strings, map->name))) {
			vec_push(&j->notes->wrapped, map->name);
			continue;
		}
		j->notes->flags[i] = SCOPE_PARALLEL;
		for (size_t k = 0; k < map->inlines.n; k++)
			if (openmp_is_wrapped(intern_text(input->strings, map->inlines.at[k].name)))
				vec_push(&j->notes->wrapped, map->inlines.at[k].name);
	}
}

bool join_regions(const struct join_input *input, bool joins, struct join_notes *notes, struct cct *ret)
{
	struct joiner j = { .input = input, .notes = notes };
	bool has_regions = join_find_roles(&j);

	*notes = (struct join_notes){ 0 };
	if (has_regions) {
		join_note_regions(&j);
		join_look(&j);
		join_note_waits(&j);
	}
	if (has_regions && joins) {
		join_find_contexts(&j);
		join_keep(&j, ret);
		join_deal(&j, ret);
	}
	free(j.roles);
	free(j.nodes);
	free(j.kept);
	free(j.first_context);
	vec_done(&j.contexts);
	vec_done(&j.path);
	return has_regions && joins;
}
