/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch: copies of events, with all data they point to, for another thread.
 */
#pragma once

#include "base/vec.h"
#include "collector/event.h"
#include "unwinder/stack.h"

/* What the walk of a sample's stack says about the memory to be copied with the next samples. */
struct stack_use {
	enum stack_end end;
	uint64_t reach, elsewhere; /* as in struct stack */
	bool has_jit;
};

struct batch_item {
	struct event event;
	uint64_t number;      /* of the sample, among all samples */
	uint32_t thread;      /* its row in the profile */
	struct stack_use use; /* the result */
};

struct batch {
	VEC(struct batch_item) items;
	VEC(uint8_t) bytes; /* what the events point to, in order */
	size_t next, next_byte;
};

/* Names and paths are not copied. */
void batch_add(struct batch *batch, const struct event *event, uint64_t number, uint32_t thread);
/* In order; NULL at the end. To be called only when all have been added. */
struct batch_item *batch_next(struct batch *batch);
void batch_clear(struct batch *batch);
void batch_done(struct batch *batch);
