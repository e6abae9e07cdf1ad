/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve: adds symbols, lines, inlined calls and loops of the sampled code to a profile, so that it can be
 * read anywhere. It is the interface to symbolize/ and structure/: it decides what is looked up; they do the
 * lookup.
 */
#pragma once

#include "profile/profile.h"
#include "profile/resolve_limits.h"
#include "symbolize/symbolizer.h"

/* Which images are looked up; what is known about the others is kept. */
enum resolve_part {
	RESOLVE_ALL,
	RESOLVE_KERNEL, /* the kernel, whose symbols need privileges */
	RESOLVE_OURS,   /* everything else, except for images in `alone` */
	RESOLVE_IMAGE,  /* one image */
	RESOLVE_BARE,   /* the same without reading its file: synthetic names */
};

struct resolve_options {
	struct symbolizer_options symbolize;
	enum resolve_part part;
	image_id image; /* for RESOLVE_IMAGE and RESOLVE_BARE */
	/* For RESOLVE_OURS: by image, whether it is looked up separately. */
	const bool *alone;
	/* By image, whether it is asked about at all; NULL = all are. */
	const bool *only;
	/* For resolve_apart: large files are read one at a time, so that the memory of one is free before the
	 * next. */
	bool is_frugal;
	/* For resolve_apart: the results are kept for all files with the same build-id and writer, so debug
	 * files that others can write are not read. */
	bool is_for_all;
	uint64_t max_ns; /* for resolve_apart: for each child; 0 = an hour */
	/* The same for CPU time of files that others made: what earlier calls learned; NULL = nothing. */
	struct patience *patience;
	/* Returns the functions of an image, if the caller has them and does not use them meanwhile; NULL:
	 * they are searched. May be NULL. */
	struct functions *(*functions)(void *context, image_id image);
	void *context;
};

/*
 * Replaces profile->functions by maps that cover every (image, vaddr) of the tree, and counts samples that
 * have no name or line. Image ids are those of the registry; images without bytes keep the maps they have, or
 * get synthetic names. options may be NULL. Fails only if there is no point in continuing.
 */
void resolve_count(struct profile *profile); /* only counts; for maps that came from elsewhere */
int resolve(struct profile *profile, struct images *images, const struct resolve_options *options,
	    struct diag *diag);
bool resolve_is_asked(const struct resolve_options *options, const struct images *images, image_id id);
/* To be called after all parts were looked up separately: adds the code, and counts samples without name or
 * line. */
void resolve_finish(struct profile *profile, struct images *images);
/* Adds a note, unless the profile already has it. */
void resolve_note(struct profile *profile, const char *sentence);
