/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct.h"

#include "base/hash.h"
#include "base/log_scale.h"

/*
 * The two roots are found by their numbers, not through the hash: no node can become their child by accident.
 * Slots count from the first node after them.
 */
#define FIRST_HASHED (CCT_INCOMPLETE + 1)

/* ---- nodes -------------------------------------------------------------------------------------- */

/* One multiplication between parent and place suffices: both are mixed once more. */
static inline uint64_t cct_node_hash(uint32_t parent, image_id image, uint64_t vaddr, uint32_t flags)
{
	return hash_pair_secret(vaddr, ((uint64_t)image << 32 | parent) ^ (uint64_t)flags << 62);
}

static uint64_t cct_node_hash_at(const void *owner, uint32_t index)
{
	const struct cct_node *node = &((const struct cct *)owner)->nodes.at[FIRST_HASHED + index];

	return cct_node_hash(node->parent, node->image, node->vaddr, node->flags);
}

static bool cct_node_same(const void *owner, uint32_t index, const void *key)
{
	const struct cct_node *a = &((const struct cct *)owner)->nodes.at[FIRST_HASHED + index], *b = key;

	return a->vaddr == b->vaddr && a->parent == b->parent && a->image == b->image && a->flags == b->flags;
}

uint32_t cct_child(struct cct *cct, uint32_t parent, image_id image, uint64_t vaddr, uint32_t flags)
{
	struct cct_node node = { parent, image, vaddr, flags, 0 };
	size_t slot = slots_find(&cct->node_slots, cct_node_hash(parent, image, vaddr, flags), cct_node_same,
				 cct, &node);

	if (cct->node_slots.at[slot] != SLOT_FREE)
		return FIRST_HASHED + cct->node_slots.at[slot];

	uint32_t index = (uint32_t)cct->nodes.n;
	vec_push(&cct->nodes, node);
	slots_put(&cct->node_slots, slot, index - FIRST_HASHED, cct_node_hash_at, cct);
	return index;
}

/*
 * Of a large tree, everything is far from the processor: a few dozen searches are begun before the first one
 * is finished.
 */
#define AT_ONCE 64

static void cct_prefetch_slot(const struct slots *slots, uint64_t hash)
{
	__builtin_prefetch(&slots->at[hash & (slots->n - 1)]);
}

/* The first entry that a search would compare; some index if there is none. */
static size_t cct_first_entry(const struct slots *slots, uint64_t hash)
{
	uint32_t index = slots->at[hash & (slots->n - 1)];

	return index == SLOT_FREE ? 0 : index;
}

static void cct_add_some(struct cct *cct, const struct cct *from, const image_id *image,
			 const uint32_t *order, size_t n, uint32_t *ret_node)
{
	struct cct_node nodes[AT_ONCE];
	uint64_t hashes[AT_ONCE];

	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&from->nodes.at[order[i]]);
	for (size_t i = 0; i < n; i++) {
		struct cct_node node = from->nodes.at[order[i]];
		node.parent = ret_node[node.parent];
		node.image = node.image == IMAGE_NONE ? IMAGE_NONE : image[node.image];
		nodes[i] = node;
		hashes[i] = cct_node_hash(node.parent, node.image, node.vaddr, node.flags);
		cct_prefetch_slot(&cct->node_slots, hashes[i]);
	}
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(
			&cct->nodes.at[FIRST_HASHED + cct_first_entry(&cct->node_slots, hashes[i])]);
	for (size_t i = 0; i < n; i++)
		ret_node[order[i]] =
			cct_child(cct, nodes[i].parent, nodes[i].image, nodes[i].vaddr, nodes[i].flags);
}

/* The nodes behind the roots by depth, so that neighbours do not depend on each other. starts: by depth, and
 * the end. */
static uint32_t *cct_by_depth(const struct cct *cct, size_t **ret_starts, size_t *ret_n)
{
	uint32_t *order = alloc_zero(cct->nodes.n, sizeof(*order)), deepest = 0;
	uint32_t *depth = alloc_zero(cct->nodes.n, sizeof(*depth));

	for (size_t i = FIRST_HASHED; i < cct->nodes.n; i++) {
		depth[i] = depth[cct->nodes.at[i].parent] + 1;
		deepest = depth[i] > deepest ? depth[i] : deepest;
	}
	size_t *starts = alloc_zero((size_t)deepest + 2, sizeof(*starts));
	for (size_t i = FIRST_HASHED; i < cct->nodes.n; i++)
		starts[depth[i]]++; /* those of depth 1 begin at 0 */
	for (size_t i = 1; i <= deepest; i++)
		starts[i] += starts[i - 1];
	for (size_t i = cct->nodes.n; i-- > FIRST_HASHED;)
		order[--starts[depth[i]]] = (uint32_t)i;
	starts[deepest + 1] = cct->nodes.n - FIRST_HASHED;
	free(depth);
	*ret_starts = starts;
	*ret_n = deepest;
	return order;
}

void cct_add_nodes(struct cct *cct, const struct cct *from, const image_id *image, uint32_t *ret_node)
{
	size_t *starts, n_levels;
	uint32_t *order = cct_by_depth(from, &starts, &n_levels);

	ret_node[CCT_ROOT] = CCT_ROOT;
	ret_node[CCT_INCOMPLETE] = CCT_INCOMPLETE;
	for (size_t level = 1; level <= n_levels; level++)
		for (size_t at = starts[level], end = starts[level + 1]; at < end; at += AT_ONCE)
			cct_add_some(cct, from, image, order + at, end - at < AT_ONCE ? end - at : AT_ONCE,
				     ret_node);
	free(order);
	free(starts);
}

static uint32_t cct_root_of(const struct stack *stack)
{
	return stack->end == STACK_COMPLETE ? CCT_ROOT : CCT_INCOMPLETE;
}

/* The next step of the path for frame i of the stack; the node is not known yet. */
static struct cct_step cct_step_of(const struct stack *stack, size_t i)
{
	const struct frame *frame = &stack->frames.at[i];

	return (struct cct_step){ .vaddr = frame->vaddr,
				  .image = frame->image,
				  .flags = (frame->is_return ? CCT_IS_RETURN : 0u) |
					   (i < stack->n_kernel && !stack->has_callee ? CCT_IS_KERNEL : 0u) };
}

static uint32_t cct_take_step(struct cct *cct, uint32_t parent, const struct cct_step *step)
{
	return cct_child(cct, parent, step->image, step->vaddr, step->flags);
}

uint32_t cct_add_frames(struct cct *cct, uint32_t node, const struct stack *stack)
{
	for (size_t i = stack->frames.n; i-- > 0;) {
		struct cct_step step = cct_step_of(stack, i);
		node = cct_take_step(cct, node, &step);
	}
	return node;
}

uint32_t cct_add_stack(struct cct *cct, const struct stack *stack)
{
	return cct_add_frames(cct, cct_root_of(stack), stack);
}

static bool cct_is_same_step(const struct cct_step *a, const struct cct_step *b)
{
	return a->vaddr == b->vaddr && a->image == b->image && a->flags == b->flags;
}

/* How many of the outermost frames are the same as in the path: some are known to be, the others are
 * compared. */
static size_t cct_count_shared(const struct stack *stack, const struct cct_path *path)
{
	size_t n = stack->frames.n < path->steps.n ? stack->frames.n : path->steps.n;
	bool is_next = stack->n_shared && path->serial == stack->shared_serial && stack->n_shared <= n;

	if (path->root != cct_root_of(stack))
		return 0;
	for (size_t i = is_next ? stack->n_shared : 0; i < n; i++) {
		struct cct_step step = cct_step_of(stack, stack->frames.n - 1 - i);
		if (!cct_is_same_step(&step, &path->steps.at[i]))
			return i;
	}
	return n;
}

uint32_t cct_follow_stack(struct cct *cct, const struct stack *stack, struct cct_path *path)
{
	uint32_t node = cct_root_of(stack);

	path->steps.n = cct_count_shared(stack, path);
	path->serial = stack->serial;
	path->root = node;
	if (path->steps.n)
		node = path->steps.at[path->steps.n - 1].node;
	for (size_t i = stack->frames.n - path->steps.n; i-- > 0;) {
		struct cct_step step = cct_step_of(stack, i);
		step.node = node = cct_take_step(cct, node, &step);
		vec_push(&path->steps, step);
	}
	return node;
}

/* ---- values ------------------------------------------------------------------------------------- */

static inline uint64_t cct_value_hash(uint32_t node, uint32_t thread, uint32_t metric)
{
	return hash_pair_secret((uint64_t)node << 32 | thread, metric);
}

static uint64_t cct_value_hash_at(const void *owner, uint32_t index)
{
	const struct cct_value *value = &((const struct cct *)owner)->values.at[index];

	return cct_value_hash(value->node, value->thread, value->metric);
}

static bool is_same_value(const struct cct_value *a, const struct cct_value *b)
{
	return a->node == b->node && a->thread == b->thread && a->metric == b->metric;
}

static bool cct_value_same(const void *owner, uint32_t index, const void *key)
{
	return is_same_value(&((const struct cct *)owner)->values.at[index], key);
}

uint32_t cct_add_value(struct cct *cct, uint32_t node, uint32_t thread, uint32_t metric, uint64_t value)
{
	struct cct_value added = { node, thread, metric, value };
	uint32_t likely = cct->nodes.at[node].value + metric;

	if (likely < cct->values.n && is_same_value(&cct->values.at[likely], &added)) {
		cct->values.at[likely].value += value;
		return likely;
	}
	size_t slot = slots_find(&cct->value_slots, cct_value_hash(node, thread, metric), cct_value_same, cct,
				 &added);
	uint32_t index = cct->value_slots.at[slot];
	if (index == SLOT_FREE) {
		index = (uint32_t)cct->values.n;
		vec_push(&cct->values, added);
		slots_put(&cct->value_slots, slot, index, cct_value_hash_at, cct);
	} else {
		cct->values.at[index].value = cct_join(metric, cct->values.at[index].value, value);
	}
	uint32_t hint = cct->nodes.at[node].value;
	if (metric == 0 ||
	    (metric == CCT_ACTIVATIONS && (hint >= cct->values.n || cct->values.at[hint].node != node)))
		cct->nodes.at[node].value = index - metric;
	return index;
}

/* Values of a node that were added at the same time are next to each other, beginning with the hint. */
#define NEIGHBOURS 6

/* Adds to a value that is where the hint says, or close behind it. */
static bool cct_add_near(struct cct *cct, const struct cct_value *added)
{
	uint32_t hint = cct->nodes.at[added->node].value, likely = hint + added->metric;

	if (likely < cct->values.n && is_same_value(&cct->values.at[likely], added)) {
		cct->values.at[likely].value =
			cct_join(added->metric, cct->values.at[likely].value, added->value);
		return true;
	}
	for (uint32_t i = hint; i < cct->values.n && i - hint < NEIGHBOURS; i++) {
		struct cct_value *value = &cct->values.at[i];
		if (value->node != added->node)
			return false;
		if (value->metric == added->metric && value->thread == added->thread) {
			value->value = cct_join(added->metric, value->value, added->value);
			return true;
		}
	}
	return false;
}

static void cct_add_some_values(struct cct *cct, const struct cct_value **some, size_t n)
{
	uint64_t hashes[AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		hashes[i] = cct_value_hash(some[i]->node, some[i]->thread, some[i]->metric);
		cct_prefetch_slot(&cct->value_slots, hashes[i]);
	}
	for (size_t i = 0; cct->values.n && i < n; i++)
		__builtin_prefetch(&cct->values.at[cct_first_entry(&cct->value_slots, hashes[i])]);
	for (size_t i = 0; i < n; i++)
		cct_add_value(cct, some[i]->node, some[i]->thread, some[i]->metric, some[i]->value);
}

void cct_add_values(struct cct *cct, const struct cct_value *values, size_t n)
{
	const struct cct_value *others[AT_ONCE];

	for (size_t first = 0; first < n; first += AT_ONCE) {
		const struct cct_value *some = values + first;
		size_t n_some = n - first < AT_ONCE ? n - first : AT_ONCE, n_others = 0;
		for (size_t i = 0; i < n_some; i++)
			__builtin_prefetch(&cct->nodes.at[some[i].node].value);
		for (size_t i = 0; cct->values.n && i < n_some; i++) {
			uint32_t hint = cct->nodes.at[some[i].node].value, likely = hint + some[i].metric;
			__builtin_prefetch(&cct->values.at[hint < cct->values.n ? hint : likely]);
		}
		for (size_t i = 0; i < n_some; i++)
			if (!cct_add_near(cct, &some[i]))
				others[n_others++] = &some[i];
		cct_add_some_values(cct, others, n_others);
	}
}

void cct_tell(struct cct *cct)
{
	vec_clear(&cct->told);
	for (size_t i = 0; i < cct->values.n; i++)
		vec_push(&cct->told, cct->values.at[i].value);
}

void cct_clear_values(struct cct *cct)
{
	vec_clear(&cct->values);
	slots_done(&cct->value_slots);
	slots_init(&cct->value_slots);
}

void cct_add_duration(struct cct *cct, uint32_t node, uint32_t thread, uint64_t ns, uint64_t n)
{
	cct_add_value(cct, node, thread, CCT_DURATION_LEAST, ns);
	cct_add_value(cct, node, thread, CCT_DURATION_MOST, ns);
	cct_add_value(cct, node, thread, CCT_DURATION_SUM, ns * n);
	cct_add_value(cct, node, thread, CCT_DURATION_CLASS + log_scale_class(ns), n);
}

void cct_scale(struct cct *cct, uint32_t metric, double factor)
{
	for (size_t i = 0; i < cct->values.n; i++)
		if (cct->values.at[i].metric == metric)
			cct->values.at[i].value = (uint64_t)((double)cct->values.at[i].value * factor + 0.5);
}

/* ---- creation and destruction ------------------------------------------------------------------- */

bool *cct_incomplete(const struct cct *cct)
{
	bool *is_incomplete = alloc_zero(cct->nodes.n, sizeof(*is_incomplete));

	is_incomplete[CCT_INCOMPLETE] = true;
	for (size_t i = CCT_INCOMPLETE + 1; i < cct->nodes.n; i++)
		is_incomplete[i] = is_incomplete[cct->nodes.at[i].parent];
	return is_incomplete;
}

void cct_init(struct cct *cct)
{
	*cct = (struct cct){ 0 };
	slots_init(&cct->node_slots);
	slots_init(&cct->value_slots);
	vec_push(&cct->nodes, ((struct cct_node){ CCT_ROOT, IMAGE_NONE, 0, 0, 0 }));
	vec_push(&cct->nodes, ((struct cct_node){ CCT_ROOT, IMAGE_NONE, 0, 0, 0 }));
}

void cct_forget_hash(struct cct *cct)
{
	slots_done(&cct->node_slots);
	slots_done(&cct->value_slots);
}

void cct_done(struct cct *cct)
{
	vec_done(&cct->nodes);
	vec_done(&cct->values);
	vec_done(&cct->told);
	cct_forget_hash(cct);
	*cct = (struct cct){ 0 };
}
