/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/insn_loops.h"

#include "base/cleanup.h"
#include "base/search.h"
#include "binary/isa/isa.h"

#define MAX_DEPTH 64 /* loops in each other; the code of further ones belongs to the last of these */

/* The target of a back edge. */
struct loop_head {
	uint32_t scope;
	uint64_t vaddr;
};

typedef VEC(struct loop_head) loop_heads;

struct follower {
	struct insn_loops *to;
	uint32_t *start, *size; /* by scope: its number in a walk through the scopes, how many are in it */
	size_t *first, *order;  /* by such a number: the first of its places, in the order of these numbers */
	VEC(size_t) todo;
	bool is_open; /* found a jump whose targets are not known here */
};

static void insn_loops_decode(struct insn_loops *loops, const struct profile *profile,
			      const struct function_map *map)
{
	struct bytes code = profile_code_at(profile, map->image, map->vaddr);
	const struct isa *isa = isa_for_machine((uint16_t)profile->images.at[map->image].elf_machine);

	for (uint64_t at = 0; isa && at < code.len;) {
		struct insn insn;
		uint64_t vaddr = map->vaddr + at;
		if (isa->decode(bytes_from(code, at), vaddr, &insn) != 0)
			insn = (struct insn){ .len = isa->min_insn, .flow = FLOW_NEXT };
		vec_push(&loops->places,
			 (struct insn_place){ vaddr, insn.target, structure_find(loops->structure, vaddr), 0,
					      0, insn.len, insn.flow });
		at += insn.len;
	}
}

static size_t insn_loops_index(const struct insn_loops *loops, uint64_t vaddr)
{
	return search_first(i, loops->places.n, loops->places.at[i].vaddr >= vaddr);
}

/* Numbers the scopes in the order of a walk through them: those in a scope follow it. */
static void insn_loops_walk(struct follower *f)
{
	const struct structure *structure = f->to->structure;
	size_t n = structure->scopes.n;
	CLEANUP(freep) uint32_t *next = alloc_zero(n + 1, sizeof(*next));

	f->start = alloc_zero(n + 1, sizeof(*f->start));
	f->size = alloc_zero(n + 1, sizeof(*f->size));
	for (size_t i = n; i-- > 0;) {
		f->size[i]++;
		if (i)
			f->size[structure->scopes.at[i].parent] += f->size[i];
	}
	next[0] = 1;
	for (size_t i = 1; i < n; i++) {
		f->start[i] = next[structure->scopes.at[i].parent];
		next[structure->scopes.at[i].parent] += f->size[i];
		next[i] = f->start[i] + 1;
	}
}

/* Sorts the places by the starts of their scopes: those in a scope are in one piece. */
static void insn_loops_sort(struct follower *f)
{
	size_t n = f->to->structure->scopes.n, n_places = f->to->places.n;

	f->first = alloc_zero(n + 2, sizeof(*f->first));
	f->order = alloc_zero(n_places + 1, sizeof(*f->order));
	for (size_t i = 0; i < n_places; i++)
		f->first[f->start[f->to->places.at[i].scope] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		f->first[i] += f->first[i - 1];
	for (size_t i = 0; i < n_places; i++)
		f->order[f->first[f->start[f->to->places.at[i].scope] + 1]++] = i;
}

static bool is_in_scope(const struct follower *f, uint32_t at, uint32_t scope)
{
	return f->start[at] - f->start[scope] < f->size[scope];
}

static void follow_to(struct follower *f, uint64_t vaddr, uint32_t loop)
{
	size_t index = insn_loops_index(f->to, vaddr);
	struct insn_place *place = &f->to->places.at[index];

	if (index == f->to->places.n || place->vaddr != vaddr || place->seen == loop ||
	    !is_in_scope(f, place->scope, loop))
		return;
	place->seen = loop;
	place->loop = loop;
	vec_push(&f->todo, index);
}

/* Everything that the headers in the list lead to, inside the loop. */
static void follow_all(struct follower *f, uint32_t loop)
{
	while (f->todo.n) {
		const struct insn_place *place = &f->to->places.at[f->todo.at[--f->todo.n]];
		if (place->flow == FLOW_JUMP || place->flow == FLOW_BRANCH)
			follow_to(f, place->target, loop);
		if (place->flow != FLOW_JUMP && place->flow != FLOW_JUMP_INDIRECT &&
		    place->flow != FLOW_RETURN && place->flow != FLOW_STOP)
			follow_to(f, place->vaddr + place->len, loop);
		f->is_open |= place->flow == FLOW_JUMP_INDIRECT;
	}
	/* Any code of the loop may be a case of its switch. */
	size_t from = f->first[f->start[loop]], to = f->first[f->start[loop] + f->size[loop]];
	for (size_t i = from; f->is_open && i < to; i++)
		f->to->places.at[f->order[i]].loop = loop;
	f->is_open = false;
}

static int by_scope(const void *left, const void *right)
{
	const struct loop_head *a = left, *b = right;

	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* The heads of the loops, those in too many others left out: each place is looked at once for each loop. */
static void insn_loops_heads(const struct structure *structure, loop_heads *ret)
{
	CLEANUP(freep) uint32_t *depth = alloc_zero(structure->scopes.n + 1, sizeof(*depth));

	for (uint32_t i = 1; i < structure->scopes.n; i++) {
		const struct static_scope *scope = &structure->scopes.at[i];
		bool is_loop = scope->kind == SCOPE_LOOP;
		depth[i] = depth[scope->parent] + is_loop;
		if (is_loop && depth[i] <= MAX_DEPTH)
			vec_push(ret, ((struct loop_head){ i, scope->vaddr }));
	}
	for (size_t i = 0; i < structure->pieces.n; i++) {
		const struct loop_piece *piece = &structure->pieces.at[i];
		if (structure->scopes.at[piece->scope].kind == SCOPE_LOOP && depth[piece->scope] <= MAX_DEPTH)
			vec_push(ret, ((struct loop_head){ piece->scope, piece->header }));
	}
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), by_scope);
}

/* Outer loops come first, so the innermost one remains. */
static void follow_loops(struct insn_loops *loops)
{
	struct follower follower = { .to = loops };
	loop_heads heads = { 0 };

	insn_loops_heads(loops->structure, &heads);
	insn_loops_walk(&follower);
	insn_loops_sort(&follower);
	for (size_t i = 0; i < heads.n; i++) {
		follow_to(&follower, heads.at[i].vaddr, heads.at[i].scope);
		if (i + 1 == heads.n || heads.at[i + 1].scope != heads.at[i].scope)
			follow_all(&follower, heads.at[i].scope);
	}
	free(follower.start);
	free(follower.size);
	free(follower.first);
	free(follower.order);
	vec_done(&follower.todo);
	vec_done(&heads);
}

void insn_loops_find(const struct function_parts *parts, image_id image, uint64_t function,
		     struct insn_loops *ret)
{
	const struct profile *profile = parts->profile;
	size_t from, to;

	*ret = (struct insn_loops){ .structure = profile_structure(profile, image, function) };
	if (!ret->structure)
		return;
	function_parts_find(parts, image, function, &from, &to);
	for (size_t i = from; i < to; i++)
		insn_loops_decode(ret, profile, &profile->functions.at[parts->maps.at[i]]);
	follow_loops(ret);
}

void insn_loops_done(struct insn_loops *loops)
{
	vec_done(&loops->places);
}

uint32_t insn_loops_at(const struct insn_loops *loops, uint64_t vaddr)
{
	size_t index = insn_loops_index(loops, vaddr);

	return index < loops->places.n && loops->places.at[index].vaddr == vaddr
		       ? loops->places.at[index].loop
		       : 0;
}
