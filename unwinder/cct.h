/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cct: the calling context tree. node[0] is the root, node[1] the root of incomplete stacks; a parent always
 * precedes its children. Nodes carry only their key; metric values live in side arrays. It contains no names
 * and no information about reliability.
 */
#pragma once

#include <stdint.h>

#include "base/slots.h"
#include "base/vec.h"
#include "binary/elf/image.h"
#include "unwinder/stack.h"

#define CCT_ROOT 0u
#define CCT_INCOMPLETE 1u /* child of the root; stacks that did not reach theirs hang below it */

enum cct_flag { CCT_IS_RETURN = 1, CCT_IS_KERNEL = 2 };

struct cct_node {
	uint32_t parent;
	image_id image; /* IMAGE_NONE for the two roots */
	uint64_t vaddr; /* as sampled; callers hold return addresses and CCT_IS_RETURN */
	uint32_t flags;
	uint32_t value; /* where to look for its values first: one of metric 0, the others' behind it; of a
			   node without, CCT_ACTIVATIONS less than that of its calls */
};

/* What a thread spent in a node: one row per (node, thread, metric) with a value. */
struct cct_value {
	uint32_t node, thread;
	uint32_t metric;
	uint64_t value;
};

/*
 * Samples of one round hang beside the metrics, under CCT_ROUND + its number modulo CCT_ROUNDS: how shares
 * vary among them says how sure they are. They are no metric: who adds up metrics leaves them out.
 */
#define CCT_ROUND 0x10000u
#define CCT_ROUNDS 32u

/* Beside them, too: how many calls of a node's frame were seen to be new (activations.h). */
#define CCT_ACTIVATIONS (CCT_ROUND + CCT_ROUNDS)

/*
 * How long calls that were measured took, each with all that it called, in ns: likewise beside the metrics.
 */
enum {
	CCT_DURATION = 0x20000,
	CCT_DURATION_LEAST = CCT_DURATION,
	CCT_DURATION_MOST,
	CCT_DURATION_SUM,
	CCT_DURATION_CLASS, /* + a class of base/log_scale.h: how many of them there were */
};

/* How far estimates may be off: the variances of four of them, which add up. */
enum {
	CCT_DOUBT = 0x30000,
	CCT_DOUBT_BYTES = CCT_DOUBT, /* that were asked for */
	CCT_DOUBT_CALLS,             /* for them */
	CCT_DOUBT_HELD_BYTES,        /* the same of what was not given back */
	CCT_DOUBT_HELD_CALLS,
	CCT_DOUBT_END,
};

/* Two values of one metric as one: all but the least and the greatest are added up. */
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
	VEC(struct cct_value) values; /* in order of first sight; thread is the caller's own index */
	VEC(uint64_t) told; /* by value: how much of it was told before (cct_tell); at the end 0 each */
	struct slots node_slots, value_slots;
};

void cct_init(struct cct *cct);
void cct_done(struct cct *cct);
/* All values have been told now, to whoever wants to know what comes later. */
void cct_tell(struct cct *cct);
/* Nothing will be added any more: frees what only adding needs. */
void cct_forget_hash(struct cct *cct);
/* The child of parent at (image, vaddr, flags), made if need be. */
uint32_t cct_child(struct cct *cct, uint32_t parent, image_id image, uint64_t vaddr, uint32_t flags);
/* The node of a stack's innermost frame. Allocates nothing once its nodes exist. */
uint32_t cct_add_stack(struct cct *cct, const struct stack *stack);
/* The same below a node of the tree, whatever the stack's root. */
uint32_t cct_add_frames(struct cct *cct, uint32_t node, const struct stack *stack);
/*
 * The same for the stacks of one thread, each with the path of the one before: frames that they share are not
 * looked for again. The path belongs to this tree; start with an empty one.
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
/* All of them are gone; nodes stay. */
void cct_clear_values(struct cct *cct);
/* n calls that took that long. */
void cct_add_duration(struct cct *cct, uint32_t node, uint32_t thread, uint64_t ns, uint64_t n);
/* All values of one metric, times this. */
void cct_scale(struct cct *cct, uint32_t metric, double factor);
