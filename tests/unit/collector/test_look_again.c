/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "collector/mapping.h"
#include "collector/perf_live.h"
#include "tests/support/own_maps.h"
#include "tests/test.h"

static bool holds_us(const struct perf_live *live)
{
	uint64_t pc = (uint64_t)(uintptr_t)holds_us;

	for (size_t i = 0; i < live->known.n; i++) {
		const struct mapping *m = &live->known.at[i].mapping;
		if (live->known.at[i].kind == EVENT_MAPPING && live->known.at[i].pid == getpid() &&
		    pc - m->start < m->len)
			return m->is_executable && m->image != IMAGE_NONE;
	}
	return false;
}

TEST(look_again_reads_mappings_once_after_each_loss)
{
	if (!own_code_is_mapped())
		SKIP(NO_OWN_CODE);
	struct images *images = images_new();
	struct perf_live live = { .mapper = mapper_new(images) };

	perf_source_look_again(&live.source, getpid());
	CHECK_EQ(live.known.n, 0); /* nothing was lost */
	live.n_losses = 1;
	perf_source_look_again(&live.source, getpid());
	CHECK(holds_us(&live));
	size_t n = live.known.n;
	perf_source_look_again(&live.source, getpid());
	CHECK_EQ(live.known.n, n);
	live.n_losses = 2;
	perf_source_look_again(&live.source, getpid());
	CHECK(live.known.n > n);
	for (size_t i = 0; i < live.known.n; i++)
		free((char *)live.known.at[i].mapping.path);
	vec_done(&live.known);
	map_done(&live.looked_for);
	mapper_free(live.mapper);
	images_free(images);
}
