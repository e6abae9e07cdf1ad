/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join: moves the cost of worker threads in a parallel region to where the region is written.
 *
 * A worker's stack starts in the OpenMP runtime; nothing in it says which code started the region. The thread
 * that started it executes the same outlined function below the call that created the team. So the workers'
 * part of the tree is moved there, and the frames of the runtime between that call and the region are removed
 * for all threads. If a region is started from several contexts, the workers' cost is divided among them in
 * proportion to the cost of the starting thread in each; this is an estimate, because no sample contains this
 * information. A region whose start was never sampled stays where it is, and so do incomplete stacks.
 *
 * Every value is moved exactly once, so the sums of each thread and metric do not change.
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
	const uint32_t *process; /* by thread; NULL = all threads belong to one process */
	size_t n_threads;
};

/* What is known about functions besides their maps. */
struct join_notes {
	uint16_t *flags; /* by function: SCOPE_PARALLEL, SCOPE_JOINED, SCOPE_WAITING; NULL = nothing */
	VEC(uint32_t)
	wrapped; /* names of functions that the compiler made and calls: they are part of their caller */
};

/* Fills notes. If `joins` is set and there is anything to move, also fills ret, which must be fresh from
 * cct_init, and returns true. */
bool join_regions(const struct join_input *input, bool joins, struct join_notes *notes, struct cct *ret);
void join_notes_done(struct join_notes *notes);
