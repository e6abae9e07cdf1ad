/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/insn_loops.h"

#include "base/search.h"
#include "binary/isa/isa.h"

/* The target of a back edge. */
struct loop_head {
	uint32_t scope;
	uint64_t vaddr;
};

struct follower {
	struct insn_loops *to;
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

static bool is_in_scope(const struct structure *structure, uint32_t at, uint32_t scope)
{
	while (at > scope)
		at = structure->scopes.at[at].parent;
	return at == scope;
}

static void follow_to(struct follower *f, uint64_t vaddr, uint32_t loop)
{
	size_t index = insn_loops_index(f->to, vaddr);
	struct insn_place *place = &f->to->places.at[index];

	if (index == f->to->places.n || place->vaddr != vaddr || place->seen == loop ||
	    !is_in_scope(f->to->structure, place->scope, loop))
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
	for (size_t i = 0; f->is_open && i < f->to->places.n; i++)
		if (is_in_scope(f->to->structure, f->to->places.at[i].scope, loop))
			f->to->places.at[i].loop = loop;
	f->is_open = false;
}

static int by_scope(const void *left, const void *right)
{
	const struct loop_head *a = left, *b = right;

	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* Outer loops come first, so the innermost one remains. */
static void follow_loops(struct insn_loops *loops)
{
	const struct structure *structure = loops->structure;
	struct follower follower = { .to = loops };
	VEC(struct loop_head) heads = { 0 };

	for (uint32_t i = 1; i < structure->scopes.n; i++)
		if (structure->scopes.at[i].kind == SCOPE_LOOP)
			vec_push(&heads, (struct loop_head){ i, structure->scopes.at[i].vaddr });
	for (size_t i = 0; i < structure->pieces.n; i++)
		if (structure->scopes.at[structure->pieces.at[i].scope].kind == SCOPE_LOOP)
			vec_push(&heads, (struct loop_head){ structure->pieces.at[i].scope,
							     structure->pieces.at[i].header });
	if (heads.n)
		qsort(heads.at, heads.n, sizeof(*heads.at), by_scope);
	for (size_t i = 0; i < heads.n; i++) {
		follow_to(&follower, heads.at[i].vaddr, heads.at[i].scope);
		if (i + 1 == heads.n || heads.at[i + 1].scope != heads.at[i].scope)
			follow_all(&follower, heads.at[i].scope);
	}
	vec_done(&follower.todo);
	vec_done(&heads);
}

void insn_loops_find(const struct profile *profile, image_id image, uint64_t function, struct insn_loops *ret)
{
	*ret = (struct insn_loops){ .structure = profile_structure(profile, image, function) };
	if (!ret->structure)
		return;
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *map = &profile->functions.at[i];
		if (map->image == image && map->parent_vaddr == function)
			insn_loops_decode(ret, profile, map);
	}
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
