/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve: adds symbols, lines, inlined calls and loops of the sampled code to a profile, so that it can be
 * read anywhere. It is the interface to symbolize/ and structure/: it decides what is looked up; they do the
 * lookup.
 */
#pragma once

#include "profile/profile.h"
#include "symbolize/symbolizer.h"

/* Which images are asked about; what is known of the others stays. */
enum resolve_part {
	RESOLVE_ALL,
	RESOLVE_KERNEL, /* the kernel's own word, which needs rights */
	RESOLVE_OURS,   /* everything else, but for images that are asked about `alone` */
	RESOLVE_IMAGE,  /* one of those, or one of these */
	RESOLVE_BARE,   /* the same, without a look at its file: made-up names */
};

struct resolve_options {
	struct symbolizer_options symbolize;
	enum resolve_part part;
	image_id image; /* of RESOLVE_IMAGE and RESOLVE_BARE */
	/* Of RESOLVE_OURS: by image, whether it is asked about by itself. */
	const bool *alone;
	/* By image, whether it is asked about at all; NULL = all are. */
	const bool *only;
	/* Of resolve_apart: large files are read one after the other, so that what one takes is gone when the
	 * next one comes. */
	bool is_frugal;
	/* The functions of an image, if the caller has them and does not need them meanwhile; NULL: they are
	 * found out. May be NULL. */
	struct functions *(*functions)(void *context, image_id image);
	void *context;
};

/*
 * Replaces profile->functions by maps that cover every (image, vaddr) of the tree and counts what
 * stayed without name or line. Image ids are those of the registry; images without bytes keep the
 * maps they have, or get made-up names. options may be NULL. Fails only where going on makes no sense.
 */
void resolve_count(struct profile *profile); /* the counting alone, of maps that came from elsewhere */
int resolve(struct profile *profile, struct images *images, const struct resolve_options *options,
	    struct diag *diag);
bool resolve_is_asked(const struct resolve_options *options, const struct images *images, image_id id);
/* When each part was asked about by itself: adds the code, and counts what stayed without name or line. */
void resolve_finish(struct profile *profile, struct images *images);
/* Adds a note, unless it is there. */
void resolve_note(struct profile *profile, const char *sentence);
