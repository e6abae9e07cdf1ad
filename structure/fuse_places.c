/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of fuse that remembers the scopes around the addresses of nodes.
 */
#include "base/hash.h"
#include "structure/fuse_private.h"

#define PLACES_MAX 65536 /* more than most programs have; then it forgets all and starts again */
#define STEPS_MAX (1u << 20)

void fuse_places_init(struct fuse_places *places)
{
	*places = (struct fuse_places){ 0 };
	slots_init(&places->slots);
}

void fuse_places_done(struct fuse_places *places)
{
	slots_done(&places->slots);
	vec_done(&places->all);
	vec_done(&places->steps);
}

static void fuse_places_forget(struct fuse_places *places)
{
	slots_done(&places->slots);
	slots_init(&places->slots);
	vec_clear(&places->all);
	vec_clear(&places->steps);
}

void fuse_places_step(struct fuse_places *places, uint32_t frame, uint32_t call)
{
	vec_push(&places->steps, ((struct fuse_step){ frame, call }));
}

static uint64_t place_hash(uint64_t vaddr, image_id image, uint32_t flags)
{
	return hash_pair_secret(vaddr, (uint64_t)image << 32 | flags);
}

static uint64_t place_hash_at(const void *owner, uint32_t index)
{
	const struct fuse_place *place = &((const struct fuse_places *)owner)->all.at[index];

	return place_hash(place->vaddr, place->image, place->flags);
}

static bool place_same(const void *owner, uint32_t index, const void *key)
{
	const struct fuse_place *place = &((const struct fuse_places *)owner)->all.at[index];
	const struct cct_node *node = key;

	return place->vaddr == node->vaddr && place->image == node->image && place->flags == node->flags;
}

static struct landing place_land(struct fuse *fuse, const struct fuse_place *place,
				 const struct landing *caller)
{
	const struct fuse_step *steps = fuse->places.steps.at + place->first;
	struct landing landing = { caller->scope, place->call };
	bool is_short = fuse_is_short(fuse), is_shortened = place->is_shortened;

	for (uint32_t i = 0; i < place->n; i++) {
		if (is_short && i && i != place->inlined && i + 1 != place->n)
			is_shortened = true;
		else
			landing.scope =
				fuse_add_row(fuse, (struct scope_row){ landing.scope, steps[i].frame,
								       i ? steps[i].call : caller->call });
	}
	fuse->tree->n_shortened += is_shortened;
	return landing;
}

/* The step to the innermost inlined call, after that to the function; 0 = there is none. */
static uint32_t place_inlined(const struct fuse *fuse, uint32_t first)
{
	const struct fuse_places *places = &fuse->places;
	uint32_t at = (uint32_t)places->steps.n - first;

	while (at-- > 1)
		if (fuse->tree->frames.at[places->steps.at[first + at].frame].kind == SCOPE_INLINE)
			return at;
	return 0;
}

struct landing fuse_places_land(struct fuse *fuse, const struct cct_node *node,
				struct landing (*expand)(struct fuse *, const struct cct_node *))
{
	struct fuse_places *places = &fuse->places;

	if (places->all.n == PLACES_MAX || places->steps.n > STEPS_MAX)
		fuse_places_forget(places);
	size_t slot = slots_find(&places->slots, place_hash(node->vaddr, node->image, node->flags),
				 place_same, places, node);

	if (places->slots.at[slot] != SLOT_FREE)
		return place_land(fuse, &places->all.at[places->slots.at[slot]],
				  &fuse->landings[node->parent]);

	uint32_t first = (uint32_t)places->steps.n, index = (uint32_t)places->all.n;
	places->is_varying = places->is_shortened = false;
	struct landing landing = expand(fuse, node);
	fuse->tree->n_shortened += places->is_shortened;
	if (places->is_varying) {
		places->steps.n = first;
		return landing;
	}
	vec_push(&places->all, ((struct fuse_place){ .vaddr = node->vaddr,
						     .image = node->image,
						     .flags = node->flags,
						     .first = first,
						     .n = (uint32_t)places->steps.n - first,
						     .inlined = place_inlined(fuse, first),
						     .is_shortened = places->is_shortened,
						     .call = landing.call }));
	slots_put(&places->slots, slot, index, place_hash_at, places);
	return landing;
}
