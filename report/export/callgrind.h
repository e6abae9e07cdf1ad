/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind: the tree as a call graph, written function by function: the whole graph is never in memory.
 *
 * A function is what the readers of the format take for one: an image, a file and a name. A call carries what
 * was spent in it, but only where the called function does not already stand further out on the path: so what
 * arrives at a function from all its callers is its total, and recursion counts once. That holds only if the
 * outermost functions have a caller too: "total" calls them.
 */
#pragma once

#include <stdbool.h>

#include "report/tree/document.h"
#include "report/tree/scope_calls.h"

#define NO_CALL 0 /* in entry.callee: the cost is the function's own; else the callee + 1 */

/* One number of a cost line or of a call. */
struct callgrind_entry {
	uint32_t function, callee, file, line, column;
	uint64_t value;
};

struct callgrind_function {
	uint32_t frame; /* one of those it stands for */
	uint32_t file;  /* the frame's, else the first in which it has costs */
	bool is_named;  /* its number was given its name */
};

/* Nodes by function: those of function i are at node[first[i]] to node[first[i + 1]]. */
struct callgrind_nodes {
	uint32_t *first, *node;
};

struct callgrind {
	const struct document *document;
	uint32_t n_columns;             /* the metrics, and after them the number of calls */
	uint32_t first;                 /* metric of the first column: readers sort by it */
	const struct scope_calls *seen; /* borrowed: calls that were seen, at least */
	uint32_t *function;             /* of each frame */
	struct callgrind_function *functions;
	uint32_t n_functions;
	uint64_t *file_from; /* of a function without a file: the callee and file of the first place that has
				one */
	struct callgrind_nodes own,
		calls;      /* by the node's function; by that of the node above, which called it */
	bool *is_recursive; /* of each node: its function stands above it, too */
	VEC(struct callgrind_entry) entries; /* of the function that was added up last, by place and column */
	size_t settle_at;                    /* so many entries are added up before more come */
};

void callgrind_init(struct callgrind *callgrind, const struct document *document,
		    const struct scope_calls *seen, uint32_t first_metric);
void callgrind_done(struct callgrind *callgrind);
/* Fills entries with the lines to write for one function, each place and column once. */
void callgrind_add_up(struct callgrind *callgrind, uint32_t function);
/* Of a column that is not the calls. */
uint32_t callgrind_metric(const struct callgrind *callgrind, uint32_t column);
