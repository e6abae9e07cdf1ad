/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cct: the calling context tree. node[0] is the root, node[1] the root of incomplete stacks; a parent always
 * precedes its children. Nodes contain only their key; metric values are in separate arrays. There are no
 * names and no information about reliability.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/slots.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "unwinder/stack.h"

#define CCT_ROOT 0u
#define CCT_INCOMPLETE 1u /* child of the root; incomplete stacks are below it */

enum cct_flag { CCT_IS_RETURN = 1, CCT_IS_KERNEL = 2 };

struct cct_node {
	uint32_t parent;
	image_id image; /* IMAGE_NONE for the two roots */
	uint64_t vaddr; /* as sampled; callers have return addresses and CCT_IS_RETURN */
	uint32_t flags;
	uint32_t value; /* hint for finding its values: index of one of metric 0, those of other metrics
			   follow; if it has none, the index of its CCT_ACTIVATIONS minus CCT_ACTIVATIONS */
};

/* What a thread spent in a node: one row per (node, thread, metric) with a value. */
struct cct_value {
	uint32_t node, thread;
	uint32_t metric;
	uint64_t value;
};

/*
 * Samples of one round are stored like a metric, under CCT_ROUND + its number modulo CCT_ROUNDS: the
 * variation of shares among rounds gives their confidence intervals. They are not metrics, and are excluded
 * when metrics are added up.
 */
#define CCT_ROUND 0x10000u
#define CCT_ROUNDS 32u

/* Stored in the same way: how many calls of a node's frame were recognised as new (activations.h). */
#define CCT_ACTIVATIONS (CCT_ROUND + CCT_ROUNDS)

/*
 * Durations of measured calls, including their callees, in ns: stored in the same way.
 */
enum {
	CCT_DURATION = 0x20000,
	CCT_DURATION_LEAST = CCT_DURATION,
	CCT_DURATION_MOST,
	CCT_DURATION_SUM,
	CCT_DURATION_CLASS, /* + a class of base/log_scale.h: the number of calls in it */
};

/* The variances of four estimates; variances can be added up. */
enum {
	CCT_DOUBT = 0x30000,
	CCT_DOUBT_BYTES = CCT_DOUBT, /* that were allocated */
	CCT_DOUBT_CALLS,             /* of allocation functions */
	CCT_DOUBT_HELD_BYTES,        /* the same for memory that was not freed */
	CCT_DOUBT_HELD_CALLS,
	CCT_DOUBT_END,
};

/* Combines two values of one metric: adds them up, except for minimum and maximum. */
static inline uint64_t cct_join(uint32_t metric, uint64_t a, uint64_t b)
{
	if (metric == CCT_DURATION_LEAST)
		return a < b ? a : b;
	if (metric == CCT_DURATION_MOST)
		return a > b ? a : b;
	return a + b;
}

struct cct {
	VEC(struct cct_node) nodes;
	VEC(struct cct_value)
	values; /* in the order of their first use; thread is an index chosen by the caller */
	VEC(uint64_t)
	told; /* by value: how much of it was already reported (cct_tell); 0 for values beyond the end */
	struct slots node_slots, value_slots;
};

void cct_init(struct cct *cct);
void cct_done(struct cct *cct);
/* Marks all values as reported, so that later only the difference is reported. */
void cct_tell(struct cct *cct);
/* Frees what is only needed for adding; nothing can be added afterwards. */
void cct_forget_hash(struct cct *cct);
/* The child of parent at (image, vaddr, flags), created if necessary. */
uint32_t cct_child(struct cct *cct, uint32_t parent, image_id image, uint64_t vaddr, uint32_t flags);
/*
 * Adds the nodes of another tree. image: by number there, the number here. ret_node: likewise, for its nodes.
 */
void cct_add_nodes(struct cct *cct, const struct cct *from, const image_id *image, uint32_t *ret_node);
/* The node of a stack's innermost frame. Allocates nothing once its nodes exist. */
uint32_t cct_add_stack(struct cct *cct, const struct stack *stack);
/* The same below a node of the tree, whatever the stack's root. */
uint32_t cct_add_frames(struct cct *cct, uint32_t node, const struct stack *stack);
/*
 * The same for the stacks of one thread, each with the path of the previous one: shared frames are not looked
 * up again. The path belongs to this tree; start with an empty one.
 */
struct cct_step {
	uint64_t vaddr;
	image_id image;
	uint32_t flags, node;
};
struct cct_path {
	uint64_t serial; /* of the stack; 0 = not numbered */
	uint32_t root;
	VEC(struct cct_step) steps; /* its frames, outermost first */
};
uint32_t cct_follow_stack(struct cct *cct, const struct stack *stack, struct cct_path *path);
/* node: one of the tree's. Returns the number of the value. */
uint32_t cct_add_value(struct cct *cct, uint32_t node, uint32_t thread, uint32_t metric, uint64_t value);
/* Several, of any nodes of the tree: faster than one by one. */
void cct_add_values(struct cct *cct, const struct cct_value *values, size_t n);
/* Removes all values; keeps the nodes. */
void cct_clear_values(struct cct *cct);
/* Adds n calls of this duration. */
void cct_add_duration(struct cct *cct, uint32_t node, uint32_t thread, uint64_t ns, uint64_t n);
/* By node: is it the root of incomplete stacks, or below it? Allocated. */
bool *cct_incomplete(const struct cct *cct);
/* Multiplies all values of one metric. */
void cct_scale(struct cct *cct, uint32_t metric, double factor);
