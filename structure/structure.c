/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/search.h"
#include "structure/nest.h"
#include "structure/openmp.h"
#include "structure/split.h"

void structure_done(struct structure *structure)
{
	vec_done(&structure->extents);
	vec_done(&structure->scopes);
	vec_done(&structure->ranges);
	vec_done(&structure->pieces);
	vec_done(&structure->statements);
}

const struct structure *structures_find(const struct structure *structures, size_t n, image_id image,
					uint64_t function)
{
	size_t at = search_first(i, n,
				 structures[i].image > image || (structures[i].image == image &&
								 structures[i].function >= function));

	return at < n && structures[at].image == image && structures[at].function == function
		       ? &structures[at]
		       : NULL;
}

uint32_t structure_find(const struct structure *structure, uint64_t vaddr)
{
	size_t behind = search_first(i, structure->ranges.n, structure->ranges.at[i].start > vaddr);

	if (behind == 0)
		return 0;
	const struct static_range *range = &structure->ranges.at[behind - 1];
	return vaddr - range->start < range->len ? range->scope : 0;
}

/* ---- the graph for the loop finder --------------------------------------------------------------- */

/*
 * `while (1) trap();` has a backward jump after a trap that never returns: nothing else leads to it. It is a
 * loop in the source.
 */
static bool runs_on_behind_trap(const struct cfg *cfg, size_t b)
{
	const struct cfg_block *block = &cfg->blocks[b], *next = block + 1;

	if (block->end_kind != BLOCK_STOPS || b + 1 == cfg->n_blocks || next->start != block->end)
		return false;
	bool is_call =
		block->n_calls && cfg->calls[block->first_call + block->n_calls - 1].vaddr == block->last;
	return !is_call && next->is_guess && next->n_insns == 1 && next->end_kind == BLOCK_JUMPS &&
	       next->n_edges && cfg->edges[next->first_edge].to <= b;
}

static void structure_find_loops(const struct cfg *cfg, struct loop_forest *ret)
{
	uint32_t *first = alloc_resize(NULL, cfg->n_blocks + 1, sizeof(uint32_t));
	uint32_t *successors = alloc_resize(NULL, cfg->n_edges + cfg->n_blocks, sizeof(uint32_t));
	uint32_t n = 0;

	for (size_t b = 0; b < cfg->n_blocks; b++) {
		first[b] = n;
		for (uint32_t e = 0; e < cfg->blocks[b].n_edges; e++)
			successors[n++] = cfg->edges[cfg->blocks[b].first_edge + e].to;
		if (runs_on_behind_trap(cfg, b))
			successors[n++] = (uint32_t)b + 1;
	}
	first[cfg->n_blocks] = n;
	struct loop_graph graph = { (uint32_t)cfg->n_blocks, cfg->entry, first, successors };
	loops_find(&graph, ret);
	free(first);
	free(successors);
}

/* ---- scopes ------------------------------------------------------------------------------------ */

struct assembler {
	const struct nest *nest;
	struct structure *to;
	struct map known;       /* (parent scope, context) -> scope of that inlined call there */
	VEC(uint32_t) scope_of; /* per source loop, LOOP_NONE = not made yet */
	bool statements;
};

static uint32_t structure_add_scope(struct assembler *a, struct static_scope scope)
{
	vec_push(&a->to->scopes, scope);
	return (uint32_t)a->to->scopes.n - 1;
}

/* The scope of context `inner` below `scope`, which is in context `outer`: a chain of inlined calls. */
static uint32_t descend(struct assembler *a, uint32_t scope, uint32_t outer, uint32_t inner, uint64_t vaddr)
{
	const struct contexts *contexts = a->nest->contexts;

	while (outer != inner) {
		uint32_t next = contexts_below(contexts, outer, inner);
		uint64_t key = (uint64_t)scope << 32 | next;
		uint32_t known = map_find(&a->known, key);
		if (known == MAP_NONE) {
			const struct context *c = &contexts->list.at[next];
			known = structure_add_scope(
				a, (struct static_scope){ .parent = scope,
							  .kind = SCOPE_INLINE,
							  .flags = c->is_alien ? SCOPE_ALIEN : 0,
							  .name = c->name,
							  .linkage = c->linkage,
							  .file = c->file,
							  .line = c->line,
							  .call_file = c->call_file,
							  .call_line = c->call_line,
							  .vaddr = vaddr });
			map_put(&a->known, key, known);
		}
		scope = known;
		outer = next;
	}
	return scope;
}

static uint32_t loop_scope(struct assembler *a, uint32_t loop)
{
	VEC(uint32_t) missing = { 0 };

	for (uint32_t at = loop; at != LOOP_NONE && a->scope_of.at[at] == LOOP_NONE;
	     at = a->nest->loops.at[at].parent)
		vec_push(&missing, at);
	while (missing.n) { /* outermost first */
		uint32_t at = missing.at[--missing.n];
		const struct source_loop *l = &a->nest->loops.at[at];
		uint32_t around = l->parent == LOOP_NONE ? 0 : a->scope_of.at[l->parent];
		uint32_t outer = l->parent == LOOP_NONE ? 0 : a->nest->loops.at[l->parent].context;
		bool is_flat = a->nest->contexts->list.at[l->context].is_alien && outer != l->context;
		uint32_t parent = descend(a, around, is_flat ? 0 : outer, l->context, l->vaddr);
		a->scope_of.at[at] = structure_add_scope(
			a, (struct static_scope){ .parent = parent,
						  .kind = SCOPE_LOOP,
						  .flags = l->flags,
						  .name = a->nest->contexts->list.at[l->context].name,
						  .file = l->file,
						  .line = l->line,
						  .end_line = l->end_line,
						  .vaddr = l->vaddr });
	}
	vec_done(&missing);
	return a->scope_of.at[loop];
}

static void add_statement(struct assembler *a, const struct atom *atom, uint32_t scope)
{
	struct statement *last = a->to->statements.n ? &a->to->statements.at[a->to->statements.n - 1] : NULL;

	if (last && last->scope == scope && last->file == atom->file && last->line == atom->line &&
	    last->vaddr + last->len == atom->start)
		last->len += atom->len;
	else
		vec_push(&a->to->statements,
			 (struct statement){ atom->start, atom->len, scope, atom->file, atom->line });
}

/* Atoms in the order of their addresses: blocks are sorted, atoms within them too. */
static void add_ranges(struct assembler *a)
{
	const struct nest *nest = a->nest;

	for (size_t i = 0; i < nest->atoms->list.n; i++) {
		const struct atom *atom = &nest->atoms->list.at[i];
		uint32_t loop = nest->loop_of.at[i];
		uint32_t around = loop == LOOP_NONE ? 0 : loop_scope(a, loop);
		uint32_t outer = loop == LOOP_NONE ? 0 : nest->loops.at[loop].context;
		uint32_t scope = around;
		if (nest->contexts->list.at[atom->context].is_alien && outer != atom->context)
			scope = descend(a, around, 0, atom->context, atom->start);
		else if (contexts_common(nest->contexts, outer, atom->context) == outer)
			scope = descend(a, around, outer, atom->context, atom->start);
		if (a->statements)
			add_statement(a, atom, scope);
		struct static_range *last = a->to->ranges.n ? &a->to->ranges.at[a->to->ranges.n - 1] : NULL;
		if (scope == 0)
			continue;
		if (last && last->scope == scope && last->start + last->len == atom->start)
			last->len += atom->len;
		else
			vec_push(&a->to->ranges, (struct static_range){ atom->start, atom->len, scope });
	}
}

/* Adds a block of a machine loop to its piece. */
static void add_to_piece(struct loop_piece *piece, const struct cfg_block *block)
{
	uint64_t end = piece->n_blocks ? piece->start + piece->len : block->end;

	if (piece->n_blocks++ == 0 || block->start < piece->start)
		piece->start = block->start;
	end = block->end > end ? block->end : end;
	piece->len = end - piece->start > UINT32_MAX ? UINT32_MAX : (uint32_t)(end - piece->start);
	piece->n_calls += block->n_calls;
	uint8_t width = block->packed_width ? block->packed_width : block->stored_width;
	if ((piece->flags & SCOPE_VECTOR) && width > piece->width)
		piece->width = width;
}

static void add_pieces(struct assembler *a)
{
	const struct nest *nest = a->nest;
	size_t first = a->to->pieces.n;

	for (uint32_t i = 0; i < nest->machine->loops.n; i++) {
		const struct loop *loop = &nest->machine->loops.at[i];
		vec_push(&a->to->pieces,
			 (struct loop_piece){ .scope = loop_scope(a, nest->source.at[i]),
					      .header = nest->cfg->blocks[loop->known_by].start,
					      .flags = nest->flags.at[i] });
	}
	for (uint32_t b = 0; b < nest->cfg->n_blocks; b++)
		if (nest->machine->innermost.at[b] != LOOP_NONE)
			add_to_piece(&a->to->pieces.at[first + nest->machine->innermost.at[b]],
				     &nest->cfg->blocks[b]);
}

static void assemble(const struct nest *nest, const struct function_map *own, bool statements,
		     struct structure *ret)
{
	struct assembler a = { .nest = nest, .to = ret, .statements = statements };
	struct static_scope self = { .kind = SCOPE_FUNCTION, .vaddr = nest->cfg->function };

	if (own) {
		self.name = own->name;
		self.linkage = own->linkage;
		self.file = own->decl_file;
		self.line = own->decl_line;
		self.end_line = own->end_line;
	}
	structure_add_scope(&a, self);
	for (size_t i = 0; i < nest->loops.n; i++)
		vec_push(&a.scope_of, LOOP_NONE);
	add_ranges(&a);
	add_pieces(&a);
	map_done(&a.known);
	vec_done(&a.scope_of);
}

void structure_build(const struct cfg *cfg, const struct function_map *const *maps, size_t n_maps,
		     const struct structure_options *options, struct structure *ret)
{
	struct loop_forest forest = { 0 };
	struct contexts contexts;
	struct atoms atoms = { 0 };
	const struct function_map *own = n_maps ? maps[0] : NULL;
	bool describes_inlines = false;

	*ret = (struct structure){ .image = own ? own->image : IMAGE_NONE, .function = cfg->function };
	for (size_t i = 0; i < cfg->n_parts; i++)
		vec_push(&ret->extents, (struct code_extent){ cfg->parts[i].start, cfg->parts[i].end });
	for (size_t i = 0; i < n_maps; i++)
		describes_inlines |= contexts_are_described(maps[i]);
	structure_find_loops(cfg, &forest);
	contexts_init(&contexts, own, describes_inlines && !(options && options->alien_only),
		      options ? options->procedures : NULL);
	atoms_cut(&atoms, cfg, &forest, maps, n_maps, &contexts);
	split_loops(cfg, &forest, &atoms, &contexts);
	struct nest nest = { .cfg = cfg, .machine = &forest, .contexts = &contexts, .atoms = &atoms };
	nest_build(&nest);
	assemble(&nest, own, options && options->statements, ret);
	nest_done(&nest);
	atoms_done(&atoms);
	contexts_done(&contexts);
	loop_forest_done(&forest);
}

static void structure_name_aliens(struct structure *structure, struct intern *strings)
{
	struct static_scope *scopes = structure->scopes.at;

	for (size_t i = 1; i < structure->scopes.n; i++) {
		char name[256];
		if (scopes[i].name)
			continue;
		if (scopes[i].kind == SCOPE_LOOP && scopes[scopes[i].parent].kind != SCOPE_FUNCTION)
			scopes[i].name = scopes[scopes[i].parent].name;
		if (scopes[i].kind != SCOPE_INLINE || !(scopes[i].flags & SCOPE_ALIEN))
			continue;
		const char *path = intern_text(strings, scopes[i].file), *slash = strrchr(path, '/');
		snprintf(name, sizeof(name), "code of %s", slash ? slash + 1 : path);
		scopes[i].name = intern_add(strings, name);
	}
}

/* A schedule splits a loop in two: one for the chunks, which asks the runtime for the next one, on the same
 * line. */
static void structure_mark_schedules(struct structure *structure)
{
	struct static_scope *scopes = structure->scopes.at;
	CLEANUP(freep) bool *is_cut = alloc_zero(structure->scopes.n + 1, sizeof(bool));

	for (size_t i = 1; i < structure->scopes.n; i++) {
		const struct static_scope *outer = &scopes[scopes[i].parent];
		if (scopes[i].kind == SCOPE_LOOP && outer->kind == SCOPE_LOOP && scopes[i].line &&
		    scopes[i].file == outer->file && scopes[i].line == outer->line)
			is_cut[scopes[i].parent] = true;
	}
	for (size_t i = 0; i < structure->pieces.n; i++)
		if (structure->pieces.at[i].n_calls && is_cut[structure->pieces.at[i].scope])
			scopes[structure->pieces.at[i].scope].flags |= SCOPE_SCHEDULE;
}

void structure_name(struct structure *structure, struct intern *strings)
{
	const struct static_scope *self = &structure->scopes.at[0];
	const char *name = intern_text(strings, self->linkage ? self->linkage : self->name);

	structure_name_aliens(structure, strings);
	if (openmp_is_region(name))
		structure_mark_schedules(structure);
}
