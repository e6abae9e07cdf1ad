/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common declarations of frames.c (where the tables are, which entry covers an address), frame_entry.c (one
 * CIE, one FDE) and lsda.c.
 */
#pragma once

#include "binary/cfi/frames.h"

/* One run of entries: .eh_frame or .debug_frame. */
struct frame_table {
	const struct image *image;
	struct bytes bytes;
	uint64_t vaddr;    /* of the first byte; 0 for .debug_frame, which is not loaded */
	bool is_debug;     /* .debug_frame: other marks, no encodings */
	bool has_true_end; /* the bytes end where the table does; otherwise it ends at a zero length */
};

struct frame_entry {
	uint64_t cie;  /* offset of the CIE; of a CIE itself: its own */
	uint64_t next; /* offset after the entry */
	uint64_t body; /* offset of what follows the id */
	bool is_cie;
	bool is_terminator; /* length zero */
};

/* The layout of an entry: -EBADMSG if it does not fit into the table. */
int frame_entry_read(const struct frame_table *table, uint64_t offset, struct frame_entry *ret);
int frame_cie_read(const struct frame_table *table, uint64_t offset, struct cie *ret);
int frame_fde_read(const struct frame_table *table, uint64_t offset, struct fde *ret);
/* The same for a CIE that has already been read. */
int frame_fde_read_with(const struct frame_table *table, const struct frame_entry *entry,
			const struct cie *cie, struct fde *ret);

const struct image *frames_image(const struct frames *frames);
