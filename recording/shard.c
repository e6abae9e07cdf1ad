/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/shard.h"

/* Rows of a tree, in the order in which samples added them. */
struct line {
	const uint64_t *since;
	size_t n, at;
};

/* The line whose next row is the oldest of all; n if there is none left. */
static size_t shard_oldest(const struct line *lines, size_t n)
{
	size_t found = n;

	for (size_t i = 0; i < n; i++)
		if (lines[i].at < lines[i].n &&
		    (found == n || lines[i].since[lines[i].at] < lines[found].since[lines[found].at]))
			found = i;
	return found;
}

static void shard_merge_nodes(const struct shard *shards, size_t n, uint32_t **ids, struct cct *ret)
{
	struct line *lines = alloc_zero(n, sizeof(*lines));
	size_t i;

	for (i = 0; i < n; i++)
		lines[i] = (struct line){ shards[i].node_since, shards[i].cct->nodes.n, CCT_INCOMPLETE + 1 };
	while ((i = shard_oldest(lines, n)) < n) {
		const struct cct_node *node = &shards[i].cct->nodes.at[lines[i].at];
		ids[i][lines[i].at++] =
			cct_child(ret, ids[i][node->parent], node->image, node->vaddr, node->flags);
	}
	free(lines);
}

static void shard_merge_values(const struct shard *shards, size_t n, uint32_t *const *ids, struct cct *ret)
{
	struct line *lines = alloc_zero(n, sizeof(*lines));
	size_t i;

	for (i = 0; i < n; i++)
		lines[i] = (struct line){ shards[i].value_since, shards[i].cct->values.n, 0 };
	while ((i = shard_oldest(lines, n)) < n) {
		const struct cct *cct = shards[i].cct;
		size_t row = lines[i].at++;
		const struct cct_value *value = &cct->values.at[row];
		uint32_t at =
			cct_add_value(ret, ids[i][value->node], value->thread, value->metric, value->value);
		while (cct->told.n && ret->told.n <= at)
			vec_push(&ret->told, 0);
		if (row < cct->told.n)
			ret->told.at[at] += cct->told.at[row];
	}
	free(lines);
}

void shards_merge(const struct shard *shards, size_t n, struct cct *ret)
{
	uint32_t **ids = alloc_zero(n, sizeof(*ids)); /* the id in ret of each node of each tree */

	for (size_t i = 0; i < n; i++) {
		ids[i] = alloc_zero(shards[i].cct->nodes.n, sizeof(**ids));
		ids[i][CCT_INCOMPLETE] = CCT_INCOMPLETE;
	}
	shard_merge_nodes(shards, n, ids, ret);
	shard_merge_values(shards, n, ids, ret);
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
}
