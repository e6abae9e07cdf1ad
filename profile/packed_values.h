/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_values: the values of a tree in a few bytes each, by node, in the order in which they were added.
 *
 * A merge of thousands of profiles has a value for each node of each thread: as rows of a table they would
 * take five times as much memory, and they are not accessed before they are written.
 */
#pragma once

#include "unwinder/cct.h"

#define PACKED_CHUNK 28

struct packed_chunk {
	uint32_t next;
	uint8_t bytes[PACKED_CHUNK];
};

struct packed_list {
	uint32_t first, last; /* chunks; UINT32_MAX for an empty list */
	uint32_t used;        /* bytes of the last chunk */
	uint32_t thread;      /* of the last value */
};

typedef VEC(struct cct_value) packed_rows;

/* Values that are written to different tables are stored separately, so that each is unpacked once. */
enum packed_part { PACKED_METRICS, PACKED_ROUNDS, PACKED_REST, PACKED_PARTS };

struct packed_values {
	VEC(struct packed_list) lists[PACKED_PARTS]; /* by node */
	VEC(struct packed_chunk) chunks;
	size_t n; /* values that were added */
	/* Once the tree has its final order: */
	uint32_t *list;            /* by node: the number of its list; NULL = same as that of the node */
	uint32_t *thread, *metric; /* by number in the lists: the final number */
};

void packed_values_done(struct packed_values *values);
void packed_values_add(struct packed_values *values, uint32_t node, uint32_t thread, uint32_t metric,
		       uint64_t value);
/* The values of list number i, in the order in which they were added. */
void packed_values_list(const struct packed_values *values, size_t i, packed_rows *ret);
/* The values of a node by its final number, sorted by thread and metric, each once. */
void packed_values_of(const struct packed_values *values, uint32_t node, packed_rows *ret);
/* The same for one part. */
void packed_values_part(const struct packed_values *values, enum packed_part part, uint32_t node,
			packed_rows *ret);
enum packed_part packed_part_of(uint32_t metric);
/* Sorts rows of one node by thread and metric; fast if they consist of a few sorted runs. spare: memory that
 * is reused. */
void packed_rows_sort(packed_rows *rows, packed_rows *spare);
