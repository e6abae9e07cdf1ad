/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/cct_fold.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define MANY 4095                         /* contexts with at least this many samples are not distinguished */
#define SLOT_BYTES (4 * sizeof(uint32_t)) /* per row: it has two to four slots */
#define KEPT_PART 4 /* the part kept; each node may get another one, for what is folded below it */

size_t cct_bytes(const struct cct *cct)
{
	return cct->nodes.n * sizeof(*cct->nodes.at) + cct->values.n * sizeof(*cct->values.at) +
	       cct->told.n * sizeof(*cct->told.at) +
	       (cct->node_slots.n + cct->value_slots.n) * sizeof(uint32_t);
}

uint64_t cct_other_samples(const struct cct *cct)
{
	uint64_t n = 0;

	for (size_t i = 0; i < cct->values.n; i++) {
		const struct cct_value *value = &cct->values.at[i];
		n += value->metric == 0 && cct_is_other(cct, value->node) ? value->value : 0;
	}
	return n;
}

static void fold_count(uint16_t *samples, uint64_t n)
{
	uint64_t sum = *samples + (n < MANY ? n : MANY);

	*samples = (uint16_t)(sum < MANY ? sum : MANY);
}

/* Samples in each node and below it, at most MANY. */
static uint16_t *fold_samples(const struct cct *cct)
{
	uint16_t *samples = alloc_zero(cct->nodes.n, sizeof(*samples));

	for (size_t i = 0; i < cct->values.n; i++)
		if (cct->values.at[i].metric == 0)
			fold_count(&samples[cct->values.at[i].node], cct->values.at[i].value);
	for (size_t i = cct->nodes.n; i-- > 1;)
		fold_count(&samples[cct->nodes.at[i].parent], samples[i]);
	return samples;
}

/* Nodes with more samples than this are kept: the lowest number for which they fit into the memory. */
static unsigned fold_threshold(const struct cct *cct, const uint16_t *samples, size_t max_bytes)
{
	CLEANUP(freep) size_t *bytes = alloc_zero(MANY + 1, sizeof(*bytes));
	size_t kept = 0;
	unsigned least = MANY;

	for (size_t i = 0; i < cct->nodes.n; i++)
		bytes[samples[i]] += sizeof(struct cct_node) + SLOT_BYTES;
	for (size_t i = 0; i < cct->values.n; i++)
		bytes[samples[cct->values.at[i].node]] += sizeof(struct cct_value) + SLOT_BYTES;
	for (; least > 0 && kept + bytes[least] <= max_bytes / KEPT_PART; least--)
		kept += bytes[least];
	return least < MANY ? least : MANY - 1; /* nodes of unknown weight (MANY or more) are all kept */
}

/*
 * Rewrites all nodes in their order. None is moved behind its old position, so no row is overwritten before
 * it is read. A child has no more samples than its parent, so the parents of kept nodes are kept.
 */
static uint64_t fold_nodes(struct cct *cct, const uint16_t *samples, unsigned least, uint64_t *since,
			   uint32_t *place)
{
	size_t n = cct->nodes.n;
	uint64_t n_folded = 0;

	cct->nodes.n = CCT_INCOMPLETE + 1;
	place[CCT_INCOMPLETE] = CCT_INCOMPLETE;
	slots_done(&cct->node_slots);
	slots_init(&cct->node_slots);
	for (size_t i = CCT_INCOMPLETE + 1; i < n; i++) {
		struct cct_node node = cct->nodes.at[i];
		uint32_t parent = place[node.parent], before = (uint32_t)cct->nodes.n;

		if (samples[i] > least)
			place[i] = cct_child(cct, parent, node.image, node.vaddr, node.flags);
		else if (cct_is_other(cct, parent))
			place[i] = parent;
		else
			place[i] = cct_child(cct, parent, IMAGE_NONE, 0, 0);
		n_folded += samples[i] <= least && node.image != IMAGE_NONE;
		if (since && place[i] == before)
			since[before] = since[i];
	}
	return n_folded;
}

static void fold_values(struct cct *cct, const uint32_t *place, uint64_t *since)
{
	size_t n = cct->values.n, n_told = cct->told.n;

	vec_clear(&cct->values);
	slots_done(&cct->value_slots);
	slots_init(&cct->value_slots);
	for (size_t i = 0; i < n; i++) {
		struct cct_value value = cct->values.at[i];
		uint64_t told = i < n_told ? cct->told.at[i] : 0;
		size_t before = cct->values.n;
		uint32_t at = cct_add_value(cct, place[value.node], value.thread, value.metric, value.value);

		if (i < n_told) {
			cct->told.at[at] = (at == before ? 0 : cct->told.at[at]) + told;
			cct->told.n = cct->values.n;
		}
		if (since && at == before)
			since[before] = since[i];
	}
}

uint64_t cct_fold(struct cct *cct, size_t max_bytes, const struct cct_since *since, uint32_t **ret_place)
{
	CLEANUP(freep) uint16_t *samples = fold_samples(cct);
	uint32_t *place = alloc_zero(cct->nodes.n, sizeof(*place));
	unsigned least = fold_threshold(cct, samples, max_bytes);
	uint64_t n_folded = fold_nodes(cct, samples, least, since ? since->nodes : NULL, place);

	fold_values(cct, place, since ? since->values : NULL);
	*ret_place = place;
	return n_folded;
}
