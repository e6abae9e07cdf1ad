/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define EMPTY UINT32_MAX
#define FIRST_SLOTS 1024

static void reset_slots(uint32_t **slots, size_t n)
{
	*slots = alloc_resize(*slots, n, sizeof(**slots));
	memset(*slots, 0xff, n * sizeof(**slots));
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* One multiplication between parent and place suffices: both are mixed once more by hash_u64. */
static size_t node_hash(uint32_t parent, image_id image, uint64_t vaddr, uint32_t flags)
{
	return (size_t)hash_u64(vaddr + (((uint64_t)image << 32 | parent) ^ (uint64_t)flags << 62) *
						0x9e3779b97f4a7c15u);
}

static void grow_nodes(struct cct *cct)
{
	cct->n_node_slots *= 2;
	reset_slots(&cct->node_slots, cct->n_node_slots);
	size_t mask = cct->n_node_slots - 1;
	for (size_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		size_t slot = node_hash(node->parent, node->image, node->vaddr, node->flags) & mask;
		while (cct->node_slots[slot] != EMPTY)
			slot = (slot + 1) & mask;
		cct->node_slots[slot] = (uint32_t)i;
	}
}

uint32_t cct_child(struct cct *cct, uint32_t parent, image_id image, uint64_t vaddr, uint32_t flags)
{
	size_t mask = cct->n_node_slots - 1;
	size_t slot = node_hash(parent, image, vaddr, flags) & mask;

	for (; cct->node_slots[slot] != EMPTY; slot = (slot + 1) & mask) {
		const struct cct_node *node = &cct->nodes.at[cct->node_slots[slot]];
		if (node->vaddr == vaddr && node->parent == parent && node->image == image &&
		    node->flags == flags)
			return cct->node_slots[slot];
	}

	uint32_t index = (uint32_t)cct->nodes.n;
	vec_push(&cct->nodes, ((struct cct_node){ parent, image, vaddr, flags, 0 }));
	cct->node_slots[slot] = index;
	if (cct->nodes.n * 2 > cct->n_node_slots)
		grow_nodes(cct);
	return index;
}

static uint32_t root_of(const struct stack *stack)
{
	return stack->end == STACK_COMPLETE ? CCT_ROOT : CCT_INCOMPLETE;
}

/* Where the tree goes on for frame i of the stack; the node is still to be found. */
static struct cct_step step_of(const struct stack *stack, size_t i)
{
	const struct frame *frame = &stack->frames.at[i];

	return (struct cct_step){ .vaddr = frame->vaddr,
				  .image = frame->image,
				  .flags = (frame->is_return ? CCT_IS_RETURN : 0u) |
					   (i < stack->n_kernel ? CCT_IS_KERNEL : 0u) };
}

static uint32_t take_step(struct cct *cct, uint32_t parent, const struct cct_step *step)
{
	return cct_child(cct, parent, step->image, step->vaddr, step->flags);
}

uint32_t cct_add_stack(struct cct *cct, const struct stack *stack)
{
	uint32_t node = root_of(stack);

	for (size_t i = stack->frames.n; i-- > 0;) {
		struct cct_step step = step_of(stack, i);
		node = take_step(cct, node, &step);
	}
	return node;
}

static bool is_same_step(const struct cct_step *a, const struct cct_step *b)
{
	return a->vaddr == b->vaddr && a->image == b->image && a->flags == b->flags;
}

/* How many of the outermost frames are those of the path: some are known to be, the others are looked at. */
static size_t count_shared(const struct stack *stack, const struct cct_path *path)
{
	size_t n = stack->frames.n < path->steps.n ? stack->frames.n : path->steps.n;
	bool is_next = stack->n_shared && path->serial == stack->shared_serial && stack->n_shared <= n;

	if (path->root != root_of(stack))
		return 0;
	for (size_t i = is_next ? stack->n_shared : 0; i < n; i++) {
		struct cct_step step = step_of(stack, stack->frames.n - 1 - i);
		if (!is_same_step(&step, &path->steps.at[i]))
			return i;
	}
	return n;
}

uint32_t cct_follow_stack(struct cct *cct, const struct stack *stack, struct cct_path *path)
{
	uint32_t node = root_of(stack);

	path->steps.n = count_shared(stack, path);
	path->serial = stack->serial;
	path->root = node;
	if (path->steps.n)
		node = path->steps.at[path->steps.n - 1].node;
	for (size_t i = stack->frames.n - path->steps.n; i-- > 0;) {
		struct cct_step step = step_of(stack, i);
		step.node = node = take_step(cct, node, &step);
		vec_push(&path->steps, step);
	}
	return node;
}

/* ---- values ------------------------------------------------------------------------------------- */

static size_t value_hash(uint32_t node, uint32_t thread, uint32_t metric)
{
	return (size_t)hash_u64(((uint64_t)node << 32 | thread) + (uint64_t)metric * 0x9e3779b97f4a7c15u);
}

static void grow_values(struct cct *cct)
{
	cct->n_value_slots *= 2;
	reset_slots(&cct->value_slots, cct->n_value_slots);
	size_t mask = cct->n_value_slots - 1;
	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		size_t slot = value_hash(value->node, value->thread, value->metric) & mask;
		while (cct->value_slots[slot] != EMPTY)
			slot = (slot + 1) & mask;
		cct->value_slots[slot] = (uint32_t)i;
	}
}

static bool is_value_of(const struct cct_value *value, uint32_t node, uint32_t thread, uint32_t metric)
{
	return value->node == node && value->thread == thread && value->metric == metric;
}

void cct_add_value(struct cct *cct, uint32_t node, uint32_t thread, uint32_t metric, uint64_t value)
{
	size_t mask = cct->n_value_slots - 1, likely = cct->nodes.at[node].value + metric;

	if (likely < cct->values.n && is_value_of(&cct->values.at[likely], node, thread, metric)) {
		cct->values.at[likely].value += value;
		return;
	}
	size_t slot = value_hash(node, thread, metric) & mask;
	for (; cct->value_slots[slot] != EMPTY; slot = (slot + 1) & mask) {
		struct cct_value *known = &cct->values.at[cct->value_slots[slot]];
		if (is_value_of(known, node, thread, metric)) {
			known->value += value;
			if (metric == 0)
				cct->nodes.at[node].value = cct->value_slots[slot];
			return;
		}
	}
	if (metric == 0)
		cct->nodes.at[node].value = (uint32_t)cct->values.n;
	cct->value_slots[slot] = (uint32_t)cct->values.n;
	vec_push(&cct->values, ((struct cct_value){ node, thread, metric, value }));
	if (cct->values.n * 2 > cct->n_value_slots)
		grow_values(cct);
}

/* ---- life --------------------------------------------------------------------------------------- */

void cct_init(struct cct *cct)
{
	*cct = (struct cct){ .n_node_slots = FIRST_SLOTS, .n_value_slots = FIRST_SLOTS };
	reset_slots(&cct->node_slots, cct->n_node_slots);
	reset_slots(&cct->value_slots, cct->n_value_slots);
	/* The two roots are reached by their numbers, never through the hash: nobody is their child by
	 * accident. */
	vec_push(&cct->nodes, ((struct cct_node){ CCT_ROOT, IMAGE_NONE, 0, 0, 0 }));
	vec_push(&cct->nodes, ((struct cct_node){ CCT_ROOT, IMAGE_NONE, 0, 0, 0 }));
}

void cct_forget_hash(struct cct *cct)
{
	free(cct->node_slots);
	free(cct->value_slots);
	cct->node_slots = cct->value_slots = NULL;
	cct->n_node_slots = cct->n_value_slots = 0;
}

void cct_done(struct cct *cct)
{
	vec_done(&cct->nodes);
	vec_done(&cct->values);
	cct_forget_hash(cct);
	*cct = (struct cct){ 0 };
}
