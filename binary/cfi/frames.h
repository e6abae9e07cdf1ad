/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames: finds and reads the compiler's unwind entries (CIE, FDE) and exception tables (LSDA) of an image.
 * Lookups are bounded and do not allocate. This code knows the layout of .eh_frame, .eh_frame_hdr and
 * .debug_frame, but not the meaning of the CFA programs (recipes/cfi interprets those), except for how they
 * begin.
 */
#pragma once

#include "binary/elf/image.h"

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	uint8_t address_encoding, lsda_encoding;
	bool is_signal_frame, has_augmentation_data;
	bool ra_signed_with_b_key;
	struct bytes program; /* initial instructions */
};

struct fde {
	uint64_t start, size; /* vaddrs */
	uint64_t lsda;        /* vaddr, 0 = none */
	struct cie cie;
	struct bytes program;
	uint64_t
		program_vaddr; /* of its first byte; pc-relative DW_CFA_set_loc needs it. 0 in .debug_frame */
};

struct frames;
/* Never faults: an image without unwind entries gives an empty table. Valid as long as the image. */
struct frames *frames_read(struct image *image);
void frames_free(struct frames *frames);

size_t frames_count(const struct frames *frames);
/* By index, sorted by start; -EBADMSG if the entry is damaged. */
int frames_get(const struct frames *frames, size_t index, struct fde *ret);
/*
 * The same for callers that iterate over all entries: neighbours often share their CIE, and the memo saves
 * reading it again. The memo is private to the caller and initially zero.
 */
struct cie_memo {
	bool is_full, is_debug;
	uint64_t offset;
	struct cie cie;
};
int frames_get_next(const struct frames *frames, size_t index, struct cie_memo *memo, struct fde *ret);
/* Start vaddr of an entry, without parsing it. */
uint64_t frames_start(const struct frames *frames, size_t index);
/* The number of entries that start at vaddr or before it, also without parsing. */
size_t frames_count_up_to(const struct frames *frames, uint64_t vaddr);
/*
 * The entry that covers vaddr: 0, -ENOENT if there is none, -EBADMSG if it is damaged. ret_index may be NULL.
 * If entries overlap, the one that starts last wins.
 */
int frames_find(const struct frames *frames, uint64_t vaddr, struct fde *ret);
int frames_find_index(const struct frames *frames, uint64_t vaddr, struct fde *ret, size_t *ret_index);

/* Does the entry start with a frame in place? Then it describes a part of a function, not a whole one. */
bool fde_starts_in_frame(const struct fde *fde);

struct landing_site {
	uint64_t start, end; /* vaddrs of the calls covered */
	uint64_t pad;        /* vaddr of the landing pad */
};
/* Call-site entries with a landing pad. Returns their total number; writes at most max. */
size_t frames_landing_pads(const struct frames *frames, const struct fde *fde, struct landing_site *ret,
			   size_t max);
