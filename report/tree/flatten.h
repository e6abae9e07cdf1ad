/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flatten: the cost of each static thing (function, inlined function, loop, line) over the whole program.
 * Recursion is counted once: a thing below itself adds nothing to its total. The self cost of a function or
 * loop includes the loops inside it, but not calls.
 */
#pragma once

#include "report/tree/document.h"

struct flat_row {
	uint32_t frame;      /* index into document.frames; UINT32_MAX for a line */
	uint32_t file, line; /* of a line; otherwise of the frame */
	image_id image;
	uint64_t *self, *total; /* [metric]; point into the table */
};

struct flat_table {
	VEC(struct flat_row) rows;
	uint64_t *values;
};

/* One row per frame, in the order of document.frames. */
void flatten_frames(const struct document *document, struct flat_table *ret);
/*
 * The same for groups of frames that are treated as one thing: group[frame] < n_groups. A row's frame, file,
 * line and image are those of the first frame of its group.
 */
void flatten_groups(const struct document *document, const uint32_t *group, uint32_t n_groups,
		    struct flat_table *ret);
/* One row per source line that has a self cost; total = self. */
void flatten_lines(const struct document *document, struct flat_table *ret);
void flat_table_done(struct flat_table *table);
/* Heaviest self value of the metric first. */
void flat_table_sort(struct flat_table *table, uint32_t metric);
