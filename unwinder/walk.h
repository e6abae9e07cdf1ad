/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk: one stack. From a sample's registers, step by step, each step checked before it is believed,
 * until a root is reached or there is a reason to stop.
 */
#pragma once

#include "unwinder/jit.h"
#include "unwinder/managed.h"
#include "unwinder/plain.h"
#include "unwinder/recall.h"
#include "unwinder/recipe_cache.h"
#include "unwinder/space.h"
#include "unwinder/unwinder.h"

/*
 * A small table in front of the recipe cache: what was found out about a pc of an address space. What every step
 * looks at stands in the first 64 bytes.
 */
struct pc_entry {
	_Alignas(64) uint64_t pc;
	uint64_t generation;
	uint64_t bias;
	image_id image;
	bool is_return;
	bool is_mapped; /* executable, that is */
	bool is_jit;    /* its code is in no file */
	uint8_t leads;  /* enum leads: of the call before it, if that is direct */
	struct place place;
	uint64_t epoch;   /* of the code's pages, if it is in no file; else 0: it stays what it is */
	uint64_t version; /* of its page, then */
};

struct walker {
	struct images *images;
	const struct isa *isa;
	enum unwind_mode mode;
	struct recipe_cache *cache;
	struct code_pages *code;
	struct jit *jit;
	uint32_t managed[MANAGED_N]; /* recipes by kind of frame */
	void *entries_room;
	struct pc_entry *entries; /* in it */
	image_id unknown; /* pseudo-image of addresses in no mapping; IMAGE_NONE = not needed yet */
	struct memory memory;
	struct recalls *recalls; /* NULL = every stack is walked in full */
	struct plain_steps plain;
	bool walks_in_full; /* and every step is made by walk and step alone */
	struct unwinder_stats stats;
	walk_observer observer;
	void *observer_context;
};

void walker_init(struct walker *walker, struct images *images, const struct isa *isa,
		 const struct unwinder_options *options);
void walker_done(struct walker *walker);

/* Appends the user frames of a sample and sets ret->end. space may be NULL. */
void walk_sample(struct walker *walker, struct space *space, const struct event *event, struct stack *ret);
/* The same for a chain that the kernel walked by frame pointers. */
void walk_chain(struct walker *walker, struct space *space, const struct event *event, struct stack *ret);
