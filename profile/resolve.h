/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve: adds to a profile what is known of the code that was sampled, so that it can be read
 * anywhere. The seam to symbolize/ and structure/: what is asked is decided here, how it is
 * answered there.
 */
#pragma once

#include "profile/profile.h"
#include "symbolize/symbolizer.h"

struct resolve_options {
	struct symbolizer_options symbolize;
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
