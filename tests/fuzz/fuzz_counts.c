/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_counts: counts of blocks and paths, as read by `annotate --cycles --counts`: the blocks of every path
 * must exist.
 */
#include <stdlib.h>

#include "report/cycles/counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cycles_counts counts;
	uint64_t sum = 0;
	int error = cycles_counts_parse((struct bytes){ data, size }, "fuzz", NULL, 0x4006c4, &counts, NULL);

	for (size_t i = 0; i < counts.ways.n; i++) {
		const struct cycles_way *way = &counts.ways.at[i];
		if (way->first_block + way->n_blocks > counts.way_blocks.n)
			abort();
		for (size_t k = 0; k < way->n_blocks; k++)
			sum += counts.way_blocks.at[way->first_block + k];
	}
	for (size_t i = 1; !error && i < counts.blocks.n; i++)
		if (counts.blocks.at[i - 1].vaddr > counts.blocks.at[i].vaddr)
			abort();
	if (cycles_counts_of(&counts, sum) < -1)
		abort();
	cycles_counts_done(&counts);
	return 0;
}
