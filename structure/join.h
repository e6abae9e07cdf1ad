/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join: what worker threads spend in a parallel region, put where the region is written.
 *
 * A worker's stack starts in the OpenMP runtime: nothing in it says who asked for the region. The thread that
 * did runs the same outlined function below the call that started the team. So the workers' part of the tree
 * is moved there, and the frames of the runtime between that call and the region are left out, of all
 * threads. Where a region is started from several contexts, the workers' cost is dealt out among them in the
 * proportion of what the starting thread spent in each: an estimate, as no sample says it. A region whose
 * start was never sampled is left where it is; so are stacks that are not complete.
 *
 * Values move, each exactly once: the sums stay, of every thread and metric.
 */
#pragma once

#include "base/intern.h"
#include "structure/scope.h"
#include "structure/structure.h"
#include "symbolize/function_map.h"
#include "unwinder/cct.h"

struct join_input {
	const struct cct *cct;
	const struct function_map *functions; /* sorted by (image, vaddr) */
	size_t n_functions;
	const struct structure *structures; /* sorted by (image, function); may be fewer */
	size_t n_structures;
	const struct intern *strings;
	const uint32_t *process; /* by thread; NULL = all are of one */
	size_t n_threads;
};

/* What is known of functions besides their maps. */
struct join_notes {
	uint16_t *flags; /* by function: SCOPE_PARALLEL, SCOPE_JOINED, SCOPE_WAITING; NULL = nothing */
	VEC(uint32_t)
	wrapped; /* names of functions that nobody wrote a call of: they are part of their caller */
};

/* Fills notes, and if there is anything to move and `joins` is set fills ret, which is just from cct_init.
 * True if it did. */
bool join_regions(const struct join_input *input, bool joins, struct join_notes *notes, struct cct *ret);
void join_notes_done(struct join_notes *notes);
