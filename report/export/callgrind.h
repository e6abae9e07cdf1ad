/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind: writes the tree as a call graph, function by function: the whole graph is never in memory.
 *
 * A function is identified as in the readers of the format: by image, file and name. A call has its inclusive
 * cost, but only if the called function is not already further out on the path: so the sum over all callers
 * of a function is its total, and recursion is counted once. That requires that the outermost functions also
 * have a caller: "total" calls them.
 */
#pragma once

#include <stdbool.h>

#include "report/tree/document.h"
#include "report/tree/scope_calls.h"

#define NO_CALL 0 /* in entry.callee: the cost is the function's own; otherwise the callee + 1 */

/* One number of a cost line or of a call. */
struct callgrind_entry {
	uint32_t function, callee, file, line, column;
	uint64_t value;
};

struct callgrind_function {
	uint32_t frame; /* one of the frames it represents */
	uint32_t file;  /* the frame's, otherwise the first in which it has costs */
	bool is_named;  /* its name has already been written */
};

/* Nodes by function: those of function i are at node[first[i]] to node[first[i + 1]]. */
struct callgrind_nodes {
	uint32_t *first, *node;
};

struct callgrind {
	const struct document *document;
	uint32_t n_columns;             /* the metrics, and after them the number of calls */
	uint32_t first;                 /* metric of the first column: readers sort by it */
	const struct scope_calls *seen; /* borrowed: lower bounds of the numbers of calls */
	uint32_t *function;             /* of each frame */
	struct callgrind_function *functions;
	uint32_t n_functions;
	uint64_t *file_from; /* for a function without a file: the callee and file of the first place that has
				one */
	struct callgrind_nodes own,
		calls;      /* by the node's function; by that of the node above, which called it */
	bool *is_recursive; /* by node: its function is also above it */
	VEC(struct callgrind_entry) entries; /* of the current function, by place and column */
	size_t settle_at;                    /* number of entries at which they are combined */
};

void callgrind_init(struct callgrind *callgrind, const struct document *document,
		    const struct scope_calls *seen, uint32_t first_metric);
void callgrind_done(struct callgrind *callgrind);
/* Fills entries with the lines to write for one function, each place and column once. */
void callgrind_add_up(struct callgrind *callgrind, uint32_t function);
/* The metric of a column other than the number of calls. */
uint32_t callgrind_metric(const struct callgrind *callgrind, uint32_t column);
