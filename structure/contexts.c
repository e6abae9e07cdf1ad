/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/contexts.h"

bool contexts_are_described(const struct function_map *map)
{
	return map->source == MAP_FROM_DWARF || map->inlines.n > 0;
}

void contexts_init(struct contexts *contexts, const struct function_map *own, bool describes_inlines,
		   const struct procedures *procedures)
{
	*contexts = (struct contexts){ .describes_inlines = describes_inlines, .procedures = procedures };
	struct context self = { 0 };
	if (own) {
		self = (struct context){ .name = own->name,
					 .linkage = own->linkage,
					 .file = own->decl_file,
					 .line = own->decl_line };
		contexts->end_line = own->end_line;
	}
	vec_push(&contexts->list, self);
}

void contexts_done(struct contexts *contexts)
{
	vec_done(&contexts->list);
	map_done(&contexts->known);
}

static bool same(const struct context *a, const struct context *b)
{
	return a->parent == b->parent && a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->call_file == b->call_file && a->call_line == b->call_line &&
	       a->call_column == b->call_column && a->is_alien == b->is_alien;
}

/* The context equal to this one, created if necessary. */
static uint32_t intern_context(struct contexts *contexts, struct context context)
{
	uint64_t key = hash_u64((uint64_t)context.parent << 32 | context.name);

	key = hash_u64(key ^ ((uint64_t)context.call_line << 32 | context.call_column));
	key = hash_u64(key ^ ((uint64_t)context.call_file << 32 | context.file));
	for (;; key++) {
		uint32_t at = map_find(&contexts->known, key);
		if (at == MAP_NONE)
			break;
		if (same(&contexts->list.at[at], &context))
			return at;
	}
	context.depth = contexts->list.at[context.parent].depth + 1;
	map_put(&contexts->known, key, (uint32_t)contexts->list.n);
	vec_push(&contexts->list, context);
	return (uint32_t)contexts->list.n - 1;
}

static uint32_t of_inline(struct contexts *contexts, const struct function_map *map, uint32_t call,
			  unsigned depth)
{
	const struct inline_call *c = &map->inlines.at[call];
	uint32_t parent = 0;

	/* Our own reader limits the depth; this protects against a damaged profile. */
	if (c->parent != INLINE_NONE && c->parent < call && depth < LOCATION_MAX_DEPTH)
		parent = of_inline(contexts, map, c->parent, depth + 1);
	return intern_context(contexts, (struct context){ .parent = parent,
							  .name = c->name,
							  .linkage = c->linkage,
							  .file = c->decl_file,
							  .line = c->decl_line,
							  .call_file = c->call_file,
							  .call_line = c->call_line,
							  .call_column = c->call_column });
}

static const struct procedure *procedure_at(const struct contexts *contexts, const struct line_row *row)
{
	return contexts->procedures ? procedures_at(contexts->procedures, row->file, row->line) : NULL;
}

static uint32_t of_alien(struct contexts *contexts, const struct line_row *row)
{
	const struct procedure *procedure = procedure_at(contexts, row);

	if (procedure)
		return intern_context(contexts, (struct context){ .name = procedure->name,
								  .linkage = procedure->linkage,
								  .file = procedure->file,
								  .line = procedure->line,
								  .is_alien = true });
	return intern_context(contexts, (struct context){ .file = row->file, .is_alien = true });
}

static bool is_alien(const struct contexts *contexts, const struct line_row *row)
{
	const struct context *own = &contexts->list.at[0];

	if (!row || !row->line || !own->file)
		return false;
	if (row->file != own->file)
		return true;
	const struct procedure *procedure = procedure_at(contexts, row);
	if (procedure)
		return procedure->file != own->file || procedure->line != own->line;
	return row->line < own->line || (contexts->end_line && row->line > contexts->end_line);
}

uint32_t contexts_of(struct contexts *contexts, const struct function_map *map, uint32_t offset,
		     const struct line_row *row)
{
	if (contexts->describes_inlines) {
		uint32_t call = function_map_inline(map, offset);
		return call == INLINE_NONE ? 0 : of_inline(contexts, map, call, 0);
	}
	return is_alien(contexts, row) ? of_alien(contexts, row) : 0;
}

uint32_t contexts_common(const struct contexts *contexts, uint32_t a, uint32_t b)
{
	const struct context *list = contexts->list.at;

	while (a != b) {
		if (list[a].depth >= list[b].depth)
			a = list[a].parent;
		else
			b = list[b].parent;
	}
	return a;
}

uint32_t contexts_below(const struct contexts *contexts, uint32_t outer, uint32_t inner)
{
	while (contexts->list.at[inner].parent != outer && inner != 0)
		inner = contexts->list.at[inner].parent;
	return inner;
}
