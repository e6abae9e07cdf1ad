/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree/loop_code.h"

/* The scope of the loop whose header is there; 0 = none. */
static uint32_t loop_code_scope(const struct structure *structure, uint64_t header)
{
	for (size_t i = 0; i < structure->pieces.n; i++)
		if (structure->pieces.at[i].header == header)
			return structure->pieces.at[i].scope;
	return 0;
}

static bool loop_code_is_innermost(const struct structure *structure, uint32_t scope)
{
	for (size_t i = (size_t)scope + 1; i < structure->scopes.n; i++) {
		uint32_t at = structure->scopes.at[i].parent;
		while (at > scope)
			at = structure->scopes.at[at].parent;
		if (structure->scopes.at[i].kind == SCOPE_LOOP && at == scope)
			return false;
	}
	return true;
}

static uint32_t loop_code_procedure(const struct structure *structure, uint32_t scope)
{
	while (structure->scopes.at[scope].kind == SCOPE_LOOP)
		scope = structure->scopes.at[scope].parent;
	return scope;
}

/* A nest that a macro makes, or two loops on one line: they would look the same. */
static void loop_code_count_line(struct loop_code *loop)
{
	const struct structure *structure = loop->structure;
	const struct static_scope *own = &structure->scopes.at[loop->scope];
	uint32_t procedure = loop_code_procedure(structure, loop->scope);

	for (uint32_t i = 1; own->line && i < structure->scopes.n; i++) {
		const struct static_scope *other = &structure->scopes.at[i];
		if (other->kind != SCOPE_LOOP || other->line != own->line || other->file != own->file ||
		    loop_code_procedure(structure, i) != procedure)
			continue;
		loop->n_on_line++;
		loop->index_on_line += i <= loop->scope;
	}
}

bool loop_code_find(const struct profile *profile, image_id image, uint64_t header, struct loop_code *ret)
{
	const struct function_map *map = profile_function(profile, image, header);
	const struct structure *structure = map ? profile_structure(profile, image, map->parent_vaddr) : NULL;
	uint32_t scope = structure ? loop_code_scope(structure, header) : 0;

	if (scope == 0)
		return false;
	*ret = (struct loop_code){ .structure = structure,
				   .scope = scope,
				   .is_innermost = loop_code_is_innermost(structure, scope) };
	loop_code_count_line(ret);
	for (size_t i = 0; i < structure->pieces.n; i++) {
		const struct loop_piece *piece = &structure->pieces.at[i];
		if (piece->scope != scope)
			continue;
		ret->n_copies++;
		ret->n_calls += piece->n_calls;
		ret->width = piece->width > ret->width ? piece->width : ret->width;
	}
	return true;
}

bool loop_code_is_vector(const struct loop_code *loop, uint64_t vaddr)
{
	const struct loop_piece *nearest = NULL;

	for (size_t i = 0; i < loop->structure->pieces.n; i++) {
		const struct loop_piece *piece = &loop->structure->pieces.at[i];
		if (piece->scope == loop->scope && vaddr - piece->start < piece->len &&
		    (!nearest || piece->len < nearest->len))
			nearest = piece;
	}
	return nearest && (nearest->flags & SCOPE_VECTOR);
}
