/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_silent: branches that need no probe, because the next probe shows their direction.
 *
 * If the two successors of a branch lead to different probes, the next probe that is hit shows the direction,
 * and does the work of the branch's own probe. (A spanning tree of the graph would omit the same probes: they
 * are on its chords, and since a probe on a branch sees both of its edges, a branch has none if both its
 * edges are in the tree.) If the two successors meet before the next probe, or a path ends in between, the
 * branch needs its own probe. So does a branch near a call, which may not return: the probe after the call
 * must know that it was passed.
 */
#pragma once

#include "binary/flow/cfg.h"
#include "structure/ways.h"

#define PATHS_SILENT_NONE UINT32_MAX

/* The block with the next probe after the edge, if no path ends and nothing is called on the way there;
 * PATHS_SILENT_NONE if there is none. is_probed: by block, as in the plan. */
uint32_t paths_silent_next(const struct cfg *cfg, const struct ways *ways, const bool *is_probed,
			   const struct way_edge *edge);
/* Sets ret_is_silent of those blocks; the most frequently executed first, because each rules out its
 * neighbours. rates: executions by block; if they are not known, or NULL, those in the innermost loops come
 * first. */
void paths_silent_find(const struct cfg *cfg, const struct ways *ways, const bool *is_probed,
		       const double *rates, bool *ret_is_silent);
