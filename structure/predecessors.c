/* SPDX-License-Identifier: Apache-2.0 */
#include "structure/predecessors.h"

#include <stdlib.h>

#include "base/alloc.h"

void predecessors_find(const struct cfg *cfg, struct predecessors *ret)
{
	uint32_t *first = alloc_zero(cfg->n_blocks + 2, sizeof(uint32_t));

	ret->blocks = alloc_resize(NULL, cfg->n_edges + 1, sizeof(uint32_t));
	/* Two positions further, so that filling moves each start to its final value. */
	for (size_t e = 0; e < cfg->n_edges; e++)
		first[cfg->edges[e].to + 2]++;
	for (size_t b = 2; b < cfg->n_blocks + 2; b++)
		first[b] += first[b - 1];
	for (uint32_t b = 0; b < cfg->n_blocks; b++)
		for (uint32_t e = 0; e < cfg->blocks[b].n_edges; e++)
			ret->blocks[first[cfg->edges[cfg->blocks[b].first_edge + e].to + 1]++] = b;
	ret->first = first;
}

void predecessors_done(struct predecessors *predecessors)
{
	free(predecessors->first);
	free(predecessors->blocks);
}
