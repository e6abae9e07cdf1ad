/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk: unwinds one stack. From a sample's registers, step by step, each step checked before it is accepted,
 * until a root is reached or there is a reason to stop.
 */
#pragma once

#include "recipes/knowledge.h"
#include "unwinder/cursor.h"
#include "unwinder/depend.h"
#include "unwinder/hotspot.h"
#include "unwinder/jit.h"
#include "unwinder/managed.h"
#include "unwinder/pc_table.h"
#include "unwinder/recall.h"
#include "unwinder/space.h"
#include "unwinder/walk_types.h"

struct walker {
	struct images *images;
	const struct isa *isa;
	enum unwind_mode mode;
	struct knowledge *knowledge;
	struct code_pages *code;
	struct jit *jit;
	struct hotspot *hotspot;
	uint32_t managed[MANAGED_N]; /* recipes by kind of frame */
	struct pc_table pcs;
	struct sample_place next; /* of the sample after the one being walked */
	image_id unknown;         /* pseudo-image of addresses in no mapping; IMAGE_NONE = not needed yet */
	struct cursor cursor;
	struct recalls *recalls; /* NULL = every stack is walked in full, without the fast path */
	struct depend *depend;   /* what the last walk depended on; NULL = not recorded */
	struct unwinder_stats stats;
	walk_observer observer;
	void *observer_context;
};

void walker_init(struct walker *walker, struct images *images, const struct isa *isa,
		 const struct unwinder_options *options);
void walker_done(struct walker *walker);

/* Appends the user frames of a sample and sets ret->end. space may be NULL. */
void walk_sample(struct walker *walker, struct space *space, const struct event *event, struct stack *ret);
/* The same for a call chain that the kernel unwound by frame pointers. */
void walk_chain(struct walker *walker, struct space *space, const struct event *event, struct stack *ret);
